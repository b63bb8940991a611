// SPDX-License-Identifier: Apache-2.0
#include "worker/halt.hpp"

#include "atomic/atomic.hpp"
#include "base/clock.hpp"
#include "worker/halt_core.hpp"
#include "worker/runtime.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::int64_t k_nap_ns = 200'000; // between looks at who has stopped: a body that is short has ended by then
halt_core<> g_halt;
std::atomic<std::uint32_t> g_nobody{0}; // what the watcher naps on

bool all_have_stopped(runtime &rt) noexcept {
  if (rt.gate.readers())
    return false;
  for (unsigned i = 0; i < rt.spare_threads.slots(); ++i)
    if (is_about(rt, i))
      return false;
  return true;
}

void let_go() noexcept {
  halt_bodies(false);
  g_halt.let_go();
}

} // namespace

bool is_about(runtime &rt, unsigned slot) noexcept {
  worker *w = rt.slots[slot].load(std::memory_order_acquire); // O1 of runtime.cpp
  if (!w || w->keeps_time.load(std::memory_order_relaxed) || !w->tid.load(std::memory_order_acquire)) // O4 of runtime.hpp
    return false;
  if (w->halted.load(std::memory_order_acquire)) // O1 of halt_core.hpp
    return false;
  if (w->stand_in && w->stand_in->seat.is() == spare_seat<>::parked)
    return false;
  return !rt.idle.announced(slot) || w->own_frame.full();
}

void halt_here() noexcept {
  worker &w = *this_worker_or_null();
  g_halt.stop(w.halted, the_runtime().gate);
}

bool try_halt(runtime &rt, std::uint64_t limit_ns) {
  const std::uint64_t until = now_ns() + limit_ns;
  g_halt.want();
  halt_bodies(true); // who begins a body learns of it, sooner or later
  do {
    if (g_halt.catch_all(rt.gate, [&rt] { return all_have_stopped(rt); }))
      return true;
    os_futex_wait(g_nobody, 0, static_cast<std::int64_t>(now_ns()) + k_nap_ns);
  } while (now_ns() < until && !rt.stopping.load(std::memory_order_acquire)); // O3 of runtime.cpp
  let_go();
  return false;
}

void go_on(runtime &rt) noexcept {
  let_go();
  rt.gate.open();
}

} // namespace rt
} // namespace weft::inline v0
