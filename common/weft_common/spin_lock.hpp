// SPDX-License-Identifier: Apache-2.0
// A one-word lock for short plain sections with hardly any contention. The lock is not fair and
// never parks. A holder must not wait for anything, allocate, or call user code.
//
// Roles       Any thread. The thread that holds the lock calls unlock.
// Word        m_held: 1 while a thread holds the lock.
// Orders      O1  m_held exchange acquire, with O2: the new holder sees what the last holder wrote.
//             O2  m_held store release, with O1.
// Progress    Blocking, no fairness. Waiters only read, and yield their cpu after a while.
// Checked by  tests/model/lock_models.cpp: spin_lock_*,
//             tests/model/layers/omp_wait_models.cpp: omp_event_*
#pragma once

#include <weft_common/mutant.hpp>

#include <atomic>
#include <cstdint>

namespace weft_common {

template <class P>
class spin_lock {
 public:
  void lock() noexcept {
    while (m_held.exchange(1, std::memory_order_acquire) != 0) // O1
      P::await(m_held, [](std::uint32_t held) { return held == 0; }, std::memory_order_relaxed);
  }

  [[nodiscard]] bool try_lock() noexcept {
    return m_held.load(std::memory_order_relaxed) == 0 &&
           m_held.exchange(1, std::memory_order_acquire) == 0; // O1
  }

  void unlock() noexcept {
    m_held.store(0, order_unless(bug::spin_unlock_relaxed, std::memory_order_release));
  } // O2

 private:
  typename P::template atomic<std::uint32_t> m_held{0};
};

} // namespace weft_common
