// SPDX-License-Identifier: Apache-2.0
// A one-word lock for short plain sections that are hardly ever contended. Not fair, never parks: do not wait
// for anything, allocate, or call user code while holding it.
//
// Roles       Any thread. unlock is called by the thread that holds the lock.
// Word        m_held: 1 while someone holds it.
// Orders      O1  m_held exchange acquire, with O2: what the last holder wrote is seen.
//             O2  m_held store release, with O1.
// Progress    Blocking, no fairness; waiters only read, and yield their cpu after a while.
// Checked by  tests/model/lock_models.cpp: spin_lock_*
#pragma once

#include <cstdint>

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class spin_lock {
 public:
  void lock() noexcept {
    while (m_held.exchange(1, std::memory_order_acquire) != 0) // O1
      P::await(m_held, [](std::uint32_t held) { return held == 0; }, std::memory_order_relaxed);
  }

  [[nodiscard]] bool try_lock() noexcept {
    return m_held.load(std::memory_order_relaxed) == 0 && m_held.exchange(1, std::memory_order_acquire) == 0; // O1
  }

  void unlock() noexcept { m_held.store(0, order_unless(bug::spin_unlock_relaxed, std::memory_order_release)); } // O2

 private:
  typename P::template atomic<std::uint32_t> m_held{0};
};

} // namespace rt
} // namespace weft::inline v0
