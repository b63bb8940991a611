// SPDX-License-Identifier: Apache-2.0
// The two ends of a watched task with an event: its body ends, and its event is fulfilled.
//
// Roles       Runner: ends the body: is_fulfilled, end_body. Fulfiller, one: is_body_over, fulfil.
// Invariants  I1  Exactly one of end_body() and fulfil() returns true, or the first of them is never
//                 called because the runner has found the event fulfilled, or the fulfiller the body
//                 over. So one of the two ends the record: the one that comes second.
//             I2  The call that returns false is the caller's last access to the record. What the
//                 caller reports of the task it reports before.
// Orders      O1  fetch_or acq_rel, load acquire: the second sees what the first did.
// Progress    Wait-free.
// Checked by  tests/model/layers/omp_task_models.cpp: omp_ends_*; weft_omp_ompt_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <atomic>

namespace weft_omp {

template <class P = real_atomics>
class basic_task_ends {
 public:
  /// Returns whether the fulfiller is through with the record, which then is the runner's.
  [[nodiscard]] bool is_fulfilled() const noexcept { return has(k_fulfilled); }
  /// Returns whether the runner is through with the record, which then is the fulfiller's.
  [[nodiscard]] bool is_body_over() const noexcept { return has(k_body_is_over); }
  /// Notes the end of the body. Returns true if the caller ends the record.
  [[nodiscard]] bool end_body() noexcept { return note(k_body_is_over, k_fulfilled); }
  /// Notes the fulfilment. Returns true if the caller ends the record.
  [[nodiscard]] bool fulfil() noexcept {
    return note(k_fulfilled, unless(bug::omp_ends_missed, k_body_is_over, k_fulfilled));
  }

 private:
  static constexpr unsigned k_body_is_over = 1, k_fulfilled = 2;
  [[nodiscard]] bool has(unsigned end) const noexcept {
    return (m_ends.load(order_unless(bug::omp_ends_seen_relaxed, std::memory_order_acquire)) &
            end) != 0; // O1
  }
  [[nodiscard]] bool note(unsigned end, unsigned other) noexcept {
    return (m_ends.fetch_or(end, order_unless(bug::omp_ends_relaxed, std::memory_order_acq_rel)) &
            other) != 0; // O1
  }

  typename P::template atomic<unsigned> m_ends{0};
};
using task_ends = basic_task_ends<>;

} // namespace weft_omp
