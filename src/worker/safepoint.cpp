// SPDX-License-Identifier: Apache-2.0
#include "worker/safepoint.hpp"

#include "atomic/atomic.hpp"
#include "base/clock.hpp"
#include "task/hooks.hpp"
#include "task/run_body.hpp"
#include "worker/rest.hpp"
#include "worker/runtime.hpp"
#include "worker/safepoint_core.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::int64_t k_nap_ns =
    200'000; // between two tests which workers have stopped: a short body has ended by then
safepoint_core<> g_safepoint;
std::atomic<std::uint32_t> g_nobody{0}; // what the watcher naps on

bool all_have_stopped(runtime &rt) noexcept {
  if (rt.gate.readers())
    return false;
  for (unsigned i = 0; i < rt.spare_threads.slots(); ++i)
    if (is_active(rt, i))
      return false;
  return true;
}

void resume() noexcept {
  disarm_safepoint();
  g_safepoint.resume();
}

} // namespace

bool is_active(runtime &rt, unsigned slot) noexcept {
  worker *w = rt.slots[slot].load(std::memory_order_acquire); // O1 of runtime.cpp
  if (!w || w->keeps_time.load(std::memory_order_relaxed) ||
      !w->tid.load(std::memory_order_acquire)) // O4 of runtime.hpp
    return false;
  if (w->at_safepoint.load(std::memory_order_acquire)) // O1 of safepoint_core.hpp
    return false;
  if (has_seat(*w) && w->seat.is() == spare_seat<>::parked)
    return false;
  return !(rt.idle.announced(slot) || rt.apart.announced(slot) || w->bed.is_parked() ||
           w->nap.is_asleep() || rests(rt, slot)) ||
         w->own_frame.full();
}

void stop_at_safepoint() noexcept {
  worker &w = *this_worker_or_null();
  g_safepoint.poll(w.at_safepoint, the_runtime().gate);
}

bool try_stop_workers(runtime &rt, std::uint64_t limit_ns) {
  const std::uint64_t until = now_ns() + limit_ns;
  g_safepoint.request();
  arm_safepoint(); // a worker that begins a body sees it, sooner or later
  do {
    if (g_safepoint.try_stop_all(rt.gate, [&rt] { return all_have_stopped(rt); }))
      return true;
    os_futex_wait(g_nobody, 0, static_cast<std::int64_t>(now_ns()) + k_nap_ns);
  } while (now_ns() < until && !rt.stopping.load(std::memory_order_acquire)); // O3 of runtime.cpp
  resume();
  return false;
}

void resume_workers(runtime &rt) noexcept {
  resume();
  rt.gate.open();
}

} // namespace rt
} // namespace weft::inline v0
