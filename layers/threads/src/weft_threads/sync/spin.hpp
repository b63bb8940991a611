// SPDX-License-Identifier: Apache-2.0
// The spin lock of common/, for threads that a signal may interrupt: it counts the locks that a
// thread holds.
//
// Orders      O1  signal fences: the thread's own signal handler sees the count before the lock is
//                 taken, and until it is free again.
// Checked by  tests/model/layers/omp_wait_models.cpp: omp_event_*
#pragma once

#include "weft_threads/sync/atomics.hpp"
#include "weft_threads/sync/hooks.hpp"

#include <weft_common/spin_lock.hpp>

namespace weft_threads {

template <class P = real_atomics>
class basic_spin_lock {
 public:
  void lock() noexcept {
    count_spin_locks(1);
    std::atomic_signal_fence(std::memory_order_seq_cst); // O1
    m_lock.lock();
  }
  void unlock() noexcept {
    m_lock.unlock();
    std::atomic_signal_fence(std::memory_order_seq_cst); // O1
    count_spin_locks(-1);
  }

 private:
  weft_common::spin_lock<P> m_lock;
};
using spin_lock = basic_spin_lock<>;

} // namespace weft_threads
