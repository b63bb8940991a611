// SPDX-License-Identifier: Apache-2.0
#include "worker/halt.hpp"

#include "atomic/atomic.hpp"
#include "base/clock.hpp"
#include "worker/runtime.hpp"

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::int64_t k_nap_ns = 200'000; // between looks at who has stopped: a body that is short has ended by then
std::atomic<std::uint32_t> g_wanted{0};
std::atomic<std::uint32_t> g_nobody{0}; // what the watcher naps on

bool all_have_stopped(runtime &rt) noexcept {
  if (rt.gate.visitors())
    return false;
  for (unsigned i = 0; i < rt.crew.slots(); ++i)
    if (is_about(rt, i))
      return false;
  return true;
}

void let_go() noexcept {
  halt_bodies(false);
  g_wanted.store(0, std::memory_order_release); // O2
  os_futex_wake(g_wanted, INT32_MAX);
}

} // namespace

bool is_about(runtime &rt, unsigned slot) noexcept {
  worker *w = rt.slots[slot].load(std::memory_order_acquire); // O1 of runtime.cpp
  if (!w || w->keeps_time.load(std::memory_order_relaxed) || !w->tid.load(std::memory_order_acquire)) // O4 of runtime.hpp
    return false;
  if (w->halted.load(std::memory_order_acquire)) // O1
    return false;
  if (w->stand_in && w->stand_in->seat.load(std::memory_order_acquire) == spare::parked) // O2 of spares.hpp
    return false;
  return !rt.idle.announced(slot) || w->own_frame.full();
}

void halt_here() noexcept {
  worker &w = *this_worker_or_null();
  if (!g_wanted.load(std::memory_order_acquire)) // O2
    return;
  w.halted.store(true, std::memory_order_release); // O1
  while (g_wanted.load(std::memory_order_acquire)) // O2
    os_futex_wait(g_wanted, 1, 0);
  w.halted.store(false, std::memory_order_relaxed); // I1
  the_runtime().gate.pass();
}

bool try_halt(runtime &rt, std::uint64_t limit_ns) {
  const std::uint64_t until = now_ns() + limit_ns;
  g_wanted.store(1, std::memory_order_relaxed); // the others learn of it by the flag of bodies, sooner or later
  halt_bodies(true);
  do {
    if (all_have_stopped(rt)) {
      rt.gate.close();
      if (all_have_stopped(rt)) // for certain now
        return true;
      rt.gate.open();
    }
    os_futex_wait(g_nobody, 0, static_cast<std::int64_t>(now_ns()) + k_nap_ns);
  } while (now_ns() < until && !rt.stopping.load(std::memory_order_acquire)); // O3
  let_go();
  return false;
}

void go_on(runtime &rt) noexcept {
  let_go();
  rt.gate.open();
}

} // namespace rt
} // namespace weft::inline v0
