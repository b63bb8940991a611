// SPDX-License-Identifier: Apache-2.0
// A spin lock for a few instructions.
//
// Roles       Any thread: lock. Holder: unlock.
// Word        m_held: true while a thread holds the lock.
// Orders      O1  exchange acquire, with O2: the holder sees what the last holder wrote.
//             O2  store release, with O1.
// Progress    Blocking, not fair. The holder never waits for anything.
// Checked by  tests/model/omp_wait_models.cpp: omp_event_*
#pragma once

#include "weft_threads/sync/atomics.hpp"
#include "weft_threads/sync/mutant.hpp"

#include <weft_threads/light_thread.hpp>

namespace weft_threads {

/// Returns how many spin locks the thread whose block is in use holds. A thread that holds one must
/// not be interrupted.
[[nodiscard]] WEFT_THREADS_API int spin_locks_held() noexcept;
/// Adds to the number of spin locks that the calling thread holds.
/// Never inlined, because between two locks the caller may move to another kernel thread, and so to
/// another block.
WEFT_THREADS_API void count_spin_locks(int by) noexcept;

template <class P = real_atomics>
class basic_spin_lock {
 public:
  void lock() noexcept {
    count_spin_locks(1);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    for (int looks = 0; m_held.exchange(true, std::memory_order_acquire);) // O1
      while (m_held.load(std::memory_order_relaxed))
        if (++looks % 64 == 0)
          P::yield(); // the holder may have lost its cpu
        else
          P::pause();
  }
  void unlock() noexcept {
    m_held.store(false,
                 order_unless(bug::omp_spin_unlock_relaxed, std::memory_order_release)); // O2
    std::atomic_signal_fence(std::memory_order_seq_cst);
    count_spin_locks(-1);
  }

 private:
  typename P::template atomic<bool> m_held{false};
};
using spin_lock = basic_spin_lock<>;

} // namespace weft_threads
