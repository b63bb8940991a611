// SPDX-License-Identifier: Apache-2.0
// A flag that says whether a thread that waits in a task, or for a group, is about to sleep until
// there is a task that it may run.
//
// Roles       Waiter: the thread that waits: raise, lower. Producer: a thread that makes a task
//             ready: is_raised.
// Invariants  I1  The waiter raises the flag, then looks for tasks. A producer enters the task into
//                 a list, then reads the flag. So one of the two sees the other.
// Orders      O1  The waiter stores the flag (seq_cst), then loads the numbers of ready tasks
//                 (seq_cst). A producer raises such a number (seq_cst), then loads the flag
//                 (seq_cst): I1.
// Checked by  tests/model/layers/omp_task_models.cpp: omp_wait_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

namespace weft_omp {

template <class P = real_atomics>
class basic_wait_flag {
 public:
  void raise() noexcept {
    m_raised.store(true, order_unless(bug::omp_wait_unpublished, std::memory_order_seq_cst));
  } // O1
  void lower() noexcept { m_raised.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool is_raised() const noexcept {
    return m_raised.load(std::memory_order_seq_cst);
  } // O1

 private:
  typename P::template atomic<bool> m_raised{false};
};
using wait_flag = basic_wait_flag<>;

} // namespace weft_omp
