// SPDX-License-Identifier: Apache-2.0
// Whether a spare works, and who may change that: see spares.hpp.
//
// Roles       The watcher wakes, retires and recalls; the spare works, leaves by itself and parks; who stops the runtime wakes.
// Word        m_state, one of the states below, and what a parked spare sleeps on.
// Invariants  I1  running -> leaving is a compare-exchange, by the watcher or by the spare; only in the first case is the thread's own stack
//                 made ready, once, so it is never continued twice.
//             I2  The watcher recalls only with that stack in its hands: taken back out of the slot that it was put into. The slot hands it to one
//                 of them, so the spare goes on working, or parks.
//             I3  A parked or gone spare is touched by the watcher only.
// Orders      O1  starting and running, release; acquire: what comes before a wake-up is seen by the spare, and the frame to be continued is
//                 written before running is seen.
//             O2  parked and gone, release; acquire: what the spare did is done.
//             O3  parked, then the caller's word that all ends; that word, then a wake that finds nobody: all four seq_cst, so a spare that does not see
//                 the word is seen parked, and woken.
// Progress    park blocks; all else is wait-free.
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

  [[nodiscard]] state is() const noexcept { return static_cast<state>(m_state.load(std::memory_order_acquire)); } // O1, O2

  // ---- the watcher

  /// False: it is not parked.
  [[nodiscard]] bool wake() noexcept {
    std::uint32_t was = m_state.load(std::memory_order_seq_cst); // O2, O3
    if (was != parked || !m_state.compare_exchange_strong(was, starting, std::memory_order_release, std::memory_order_relaxed)) // O1
      return false;
    if (!mutant(bug::spare_woken_silently))
      P::futex_wake(m_state, 1);
    return true;
  }
  /// A thread begins. Of one that is gone.
  void begin() noexcept { m_state.store(starting, std::memory_order_relaxed); } // before the thread is made
  /// False: it does not work, or leaves by itself. True: its thread's own stack is to be made ready.
  [[nodiscard]] bool retire() noexcept {
    std::uint32_t was = running;
    return m_state.compare_exchange_strong(was, leaving, std::memory_order_acquire, std::memory_order_relaxed); // O1
  }
  /// Of one that was retired, with its thread's own stack taken back: the watcher knows already what `running` tells.
  void recall() noexcept { m_state.store(running, std::memory_order_relaxed); } // I2

  // ---- the spare

  /// Where its thread's own stack has been left.
  void work() noexcept { m_state.store(running, std::memory_order_release); } // O1
  /// False: the watcher was faster.
  [[nodiscard]] bool leave() noexcept {
    std::uint32_t was = running;
    return m_state.compare_exchange_strong(was, leaving, std::memory_order_relaxed, std::memory_order_relaxed); // I1
  }
  /// It has no thread, or cannot work.
  void end() noexcept { m_state.store(gone, std::memory_order_release); } // O2
  void park() noexcept { m_state.store(parked, std::memory_order_seq_cst); } // O2, O3
  /// A parked one sleeps. False: nobody has woken it by then, and it is gone.
  [[nodiscard]] bool wait(std::int64_t deadline_ns) noexcept {
    for (;;) {
      const bool in_time = P::futex_wait(m_state, parked, deadline_ns);
      if (m_state.load(std::memory_order_acquire) == starting) // O1
        return true;
      std::uint32_t was = parked;
      if (!in_time && m_state.compare_exchange_strong(was, gone, std::memory_order_release, std::memory_order_acquire)) // O2
        return false;
    }
  }

 private:
  typename P::template atomic<std::uint32_t> m_state{gone};
};

} // namespace rt
} // namespace weft::inline v0
