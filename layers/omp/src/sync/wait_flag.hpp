// SPDX-License-Identifier: Apache-2.0
// Whether who waits in a task, or for a group, is about to sleep until there is something that it may run.
//
// Roles       Who waits: raise, lower. Who makes a task ready: is_raised.
// Invariants  I1  Who waits raises the flag before it looks for tasks; who makes one ready looks at the flag when the task can be found: one
//                 of the two sees the other.
// Orders      O1  store seq_cst, then the numbers of ready tasks (seq_cst); these are raised (seq_cst), then the flag is loaded seq_cst: I1.
// Checked by  tests/model/omp_task_models.cpp: omp_wait_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

namespace weft_omp {

template <class P = real_atomics>
class basic_wait_flag {
 public:
  void raise() noexcept { m_raised.store(true, order_unless(bug::omp_wait_unpublished, std::memory_order_seq_cst)); } // O1
  void lower() noexcept { m_raised.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool is_raised() const noexcept { return m_raised.load(std::memory_order_seq_cst); } // O1

 private:
  typename P::template atomic<bool> m_raised{false};
};
using wait_flag = basic_wait_flag<>;

} // namespace weft_omp
