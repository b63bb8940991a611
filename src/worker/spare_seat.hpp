// SPDX-License-Identifier: Apache-2.0
// The state of a spare: whether it works, and which thread may change that. See spares.hpp. A
// worker that the runtime has started has such a state, too: it leaves by itself only when the
// runtime stops, and parks without a deadline (step_back.hpp).
//
// Roles       Watcher: wakes, retires and recalls.
//             Spare: works, leaves by itself and parks.
//             Stopper: the thread that stops the runtime; it wakes.
// Word        m_state; a parked spare sleeps on it. The steps:
//             - gone -> starting: the watcher, before it makes a thread (begin).
//             - parked -> starting: the watcher or the stopper wakes the spare (wake).
//             - starting -> running: the spare has left its thread's own stack, and works (work).
//             - running -> leaving: the watcher retires the spare, or the spare leaves by itself.
//             - leaving -> running: the watcher recalls the spare.
//             - leaving -> parked: the spare is back on its thread's own stack (park).
//             - parked -> gone: no thread has woken the spare by its deadline (wait).
//             - starting, leaving -> gone: no thread, it cannot work, or the runtime stops (end).
// Invariants  I1  running -> leaving is a compare-exchange, by the watcher or by the spare. If the
//                 watcher does it, the watcher makes the frame of the thread's own stack ready: it
//                 puts the frame into a slot of the spare's worker, and the spare takes it from
//                 there. If the spare does it, the spare continues that frame itself. So the frame
//                 is never continued twice.
//             I2  The watcher recalls only after it has taken the frame back out of the slot. The
//                 slot hands the frame to one of the two. If the watcher gets it, the spare goes on
//                 working; if the spare gets it, the spare parks. The slot of a spare that leaves
//                 by itself is empty, so it is not recalled.
//             I3  Only the watcher, and the stopper after the end of the watcher, take a spare out
//                 of parked or gone, except that a parked spare becomes gone by itself. Waking and
//                 becoming gone are compare-exchanges, so one of them wins.
// Orders      O1  wake stores starting, release; wait loads it, acquire: the spare sees what comes
//                 before a wake-up, the stopper's store of O3 included. work stores running,
//                 release; retire loads it, acquire: the watcher sees the frame that it makes
//                 ready. The stores of begin and recall are relaxed: the start of the thread comes
//                 after begin, and before recall the watcher has seen what running publishes.
//             O2  parked and gone, release; acquire: the watcher sees what the spare did. A parked
//                 spare that becomes gone has done nothing since: relaxed, it continues the release
//                 of parked.
//             O3  the spare stores parked, then loads the word by which the runtime stops. The
//                 stopper stores that word, then loads m_state in wake. All four seq_cst: if the
//                 spare does not see the word, the stopper sees it parked, and wakes it.
// Progress    wait blocks; all else is wait-free, except for the system call of wake.
// Reclamation None.
// Source      A parked thread with a futex word, as usual.
// Checked by  tests/model/spare_models.cpp: spare_*
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class spare_seat {
 public:
  enum state : std::uint32_t { parked, starting, running, leaving, gone };

  [[nodiscard]] state is() const noexcept {
    return static_cast<state>(m_state.load(std::memory_order_acquire));
  } // O1, O2

  // ---- by the watcher

  /// Wakes the spare. Returns false if it is not parked.
  [[nodiscard]] bool wake() noexcept {
    std::uint32_t was = m_state.load(std::memory_order_seq_cst); // O2, O3
    if (was != parked || !m_state.compare_exchange_strong(was, starting, std::memory_order_release,
                                                          std::memory_order_relaxed)) // O1
      return false;
    unless(bug::spare_woken_silently, [&] { P::futex_wake(m_state, 1); });
    return true;
  }
  /// Notes that a thread begins. The spare was gone.
  void begin() noexcept {
    m_state.store(starting, std::memory_order_relaxed);
  } // before the thread is made
  /// Retires the spare. True: the caller makes its thread's own stack ready. False: the spare does
  /// not work, or leaves by itself.
  [[nodiscard]] bool retire() noexcept {
    std::uint32_t was = running;
    return m_state.compare_exchange_strong(was, leaving, std::memory_order_acquire,
                                           std::memory_order_relaxed); // O1
  }
  /// Returns a retired spare to work, after its thread's own stack was taken back. The watcher has
  /// seen already what `running` publishes.
  void recall() noexcept { m_state.store(running, std::memory_order_relaxed); } // I2

  // ---- by the spare

  /// Begins to work. Called when the thread's own stack has been left.
  void work() noexcept { m_state.store(running, std::memory_order_release); } // O1
  /// Leaves by itself. Returns false if the watcher was faster.
  [[nodiscard]] bool leave() noexcept {
    std::uint32_t was = running;
    return m_state.compare_exchange_strong(was, leaving, std::memory_order_relaxed,
                                           std::memory_order_relaxed); // I1
  }
  /// Ends a spare that has no thread, cannot work, or leaves for the end of the runtime.
  void end() noexcept { m_state.store(gone, std::memory_order_release); } // O2
  void park() noexcept { m_state.store(parked, std::memory_order_seq_cst); } // O2, O3
  /// Sleeps while parked. Returns false if no thread has woken the spare by the deadline: then it
  /// is gone.
  [[nodiscard]] bool wait(std::int64_t deadline_ns) noexcept {
    for (;;) {
      const bool in_time = P::futex_wait(m_state, parked, deadline_ns);
      if (m_state.load(std::memory_order_acquire) == starting) // O1
        return true;
      std::uint32_t was = parked;
      if (!in_time && m_state.compare_exchange_strong(was, gone, std::memory_order_relaxed,
                                                      std::memory_order_relaxed)) // O2
        return false;
    }
  }

 private:
  typename P::template atomic<std::uint32_t> m_state{gone};
};

} // namespace rt
} // namespace weft::inline v0
