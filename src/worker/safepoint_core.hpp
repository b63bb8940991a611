// SPDX-License-Identifier: Apache-2.0
// How all workers are stopped for a moment, so that the watcher can read what is alive while tasks
// run. Workers that sleep stay asleep behind the gate. The others stop before the next body that
// they begin.
//
// Roles       Watcher: request; try_stop_all, again and again until it is true or the time is up;
//             resume, and then, if all were stopped, it opens the gate. try_stop_all tests whether
//             all workers have stopped, closes the gate, and tests again; if the second test fails,
//             it opens the gate.
//             Worker that is about to begin a body: poll.
// Words       m_requested: whether workers are to stop; stopped workers sleep on it. To the others
//             it is a hint: a worker that sees it late stops late.
//             at_safepoint, of each worker: the worker has stopped. The worker clears it when it
//             has seen m_requested cleared, and then passes the gate.
// Invariants  I1  A worker that the watcher saw at its safepoint, or asleep, after the gate was
//                 closed does nothing before the gate opens. The gate treats the end of
//                 `at_safepoint` as it treats the end of a sleeper's announcement (I1 of
//                 park/sleep_gate.hpp). So a test before the gate is closed proves nothing; the
//                 test after that is the proof.
//             I2  A worker that is stopped or asleep holds nothing in hand but the task it is about
//                 to begin.
//             I3  A worker that has stopped goes on after resume().
// Orders      O1  at_safepoint set, release, with the watcher's load, acquire (is_active): the
//                 watcher sees what the worker has done.
//             A worker that goes on learns from the gate that the watcher has read everything:
//             m_requested is relaxed throughout.
// Progress    Blocking, for as long as the watcher reads.
// Reclamation None.
// Checked by  tests/model/safepoint_models.cpp
#pragma once

#include "base/mutant.hpp"
#include "park/sleep_gate.hpp"

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class safepoint_core {
 public:
  using flag = typename P::template atomic<bool>;

  /// Asks the workers to stop. They see the request sooner or later.
  void request() noexcept { m_requested.store(1, std::memory_order_relaxed); }
  /// Stops all workers, if all have reached their safepoint or sleep. `all_have_stopped` asks each
  /// worker.
  /// True: no worker runs, and the gate is closed until the caller opens it, after resume().
  template <class F>
  [[nodiscard]] bool try_stop_all(sleep_gate<P> &gate, F all_have_stopped) noexcept {
    if (!all_have_stopped())
      return false;
    gate.close();
    if (unless(
            bug::safepoint_checked_before_the_gate, [&] { return all_have_stopped(); },
            true)) // I1: for certain now
      return true;
    gate.open();
    return false;
  }
  void resume() noexcept {
    m_requested.store(0, std::memory_order_relaxed);
    unless(bug::safepoint_wakes_nobody, [&] { P::futex_wake(m_requested, INT32_MAX); }); // I3
  }

  void poll(flag &at_safepoint, sleep_gate<P> &gate) noexcept {
    if (!m_requested.load(std::memory_order_relaxed))
      return;
    at_safepoint.store(true, order_unless(bug::safepoint_relaxed, std::memory_order_release)); // O1
    while (m_requested.load(std::memory_order_relaxed))
      P::futex_wait(m_requested, 1);
    at_safepoint.store(false, std::memory_order_relaxed); // I1
    unless(bug::safepoint_passes_no_gate, [&] { gate.pass(); });
  }

 private:
  typename P::template atomic<std::uint32_t> m_requested{0};
};

} // namespace rt
} // namespace weft::inline v0
