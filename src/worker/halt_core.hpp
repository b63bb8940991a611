// SPDX-License-Identifier: Apache-2.0
// How workers are stopped for a moment, so that somebody can look at what lives while tasks run: those that sleep stay asleep behind the gate, the
// others stop before the next body that they begin.
//
// Roles       The watcher: want, catch_all, let_go. A worker that is about to begin a body: stop.
// Word        m_wanted: also what those who have stopped sleep on; a hint to who has not. halted, of each worker: it has stopped.
// Invariants  I1  Who was seen halted, or asleep, after the gate was closed does nothing before the gate opens: the end of `halted` is for the gate
//                 what the end of the announcement is for one that sleeps (I1 of park/sleep_gate.hpp). So a look before the gate is closed
//                 proves nothing, and the one afterwards all.
//             I2  Who is halted or asleep holds nothing in hand but the task it is about to begin.
//             I3  Who has stopped goes on after let_go().
// Orders      O1  halted set, release, with the watcher's load, acquire (is_about): what the worker has done is seen.
//             That nothing is looked at any more, who goes on learns from the gate: m_wanted is relaxed throughout.
// Progress    Blocking, for as long as the watcher looks.
// Reclamation None.
// Checked by  tests/model/halt_models.cpp
#pragma once

#include "base/mutant.hpp"
#include "park/sleep_gate.hpp"

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class halt_core {
 public:
  using flag = typename P::template atomic<bool>;

  /// The others learn of it sooner or later.
  void want() noexcept { m_wanted.store(1, std::memory_order_relaxed); }
  /// True: nobody runs, and the gate is closed until the caller opens it, after let_go(). `all_have_stopped` asks each worker.
  template <class F>
  [[nodiscard]] bool catch_all(sleep_gate<P> &gate, F all_have_stopped) noexcept {
    if (!all_have_stopped())
      return false;
    gate.close();
    if (mutant(bug::halt_looks_before_the_gate) || all_have_stopped()) // I1: for certain now
      return true;
    gate.open();
    return false;
  }
  void let_go() noexcept {
    m_wanted.store(0, std::memory_order_relaxed);
    if (!mutant(bug::halt_wakes_nobody))
      P::futex_wake(m_wanted, INT32_MAX); // I3
  }

  void stop(flag &halted, sleep_gate<P> &gate) noexcept {
    if (!m_wanted.load(std::memory_order_relaxed))
      return;
    halted.store(true, order_unless(bug::halt_relaxed, std::memory_order_release)); // O1
    while (m_wanted.load(std::memory_order_relaxed))
      P::futex_wait(m_wanted, 1);
    halted.store(false, std::memory_order_relaxed); // I1
    if (!mutant(bug::halt_passes_no_gate))
      gate.pass();
  }

 private:
  typename P::template atomic<std::uint32_t> m_wanted{0};
};

} // namespace rt
} // namespace weft::inline v0
