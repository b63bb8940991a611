// SPDX-License-Identifier: Apache-2.0
#include <weft/layer/external_report.hpp>

#include "diagnose/external.hpp"
#include "worker/rest.hpp"
#include "worker/runtime.hpp"

#include <weft/error.hpp>

#include <new>

namespace weft::inline v0 {
namespace layer {

void external_reports::announce() try {
  rt::add_external_reports(this, [](void *source, external_report &to) {
    return static_cast<external_reports *>(source)->list_tasks(to);
  });
} catch (const std::bad_alloc &) {
  throw error(errc::out_of_resources, "no memory to tell the watcher of the tasks of a layer");
}

void external_reports::withdraw() noexcept { rt::remove_external_reports(this); }

external_change::external_change() noexcept : m_gate(nullptr) {
  if (rt::runtime *const rt = rt::runtime_or_null()) {
    rt->gate.enter();
    m_gate = &rt->gate;
  }
}
external_change::~external_change() {
  if (m_gate)
    static_cast<rt::sleep_gate<> *>(m_gate)->leave();
}

void begin_rest() noexcept {
  if (const rt::worker *const w = rt::this_worker_or_null())
    rt::begin_rest(*w);
}
void end_rest() noexcept {
  if (const rt::worker *const w = rt::this_worker_or_null())
    rt::end_rest(*w);
}

std::uint64_t rest_patience() noexcept {
  const rt::runtime *const rt = rt::runtime_or_null();
  return rt && rt->cfg.watch_hang != rt::hang_kind::off ? rt::hang_patience_ns(rt->cfg) : 0;
}

void ask_for_examination() noexcept {
  if (rt::is_started())
    rt::the_runtime().watch.examine_soon();
}

} // namespace layer
} // namespace weft::inline v0
