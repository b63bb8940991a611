// SPDX-License-Identifier: Apache-2.0
// Records that other threads bring back to the thread that made them, in batches.
//
// Roles       The owner: take_all. Another thread: push.
// Orders      O1  compare_exchange release, with O2: the owner finds the links written, and the
//                 records no longer in use.
//             O2  exchange acquire, with O1 of every batch: each O1 is a read-modify-write after
//                 the older ones, so it continues their release sequences.
// Progress    push is lock-free, take_all is wait-free.
// Reclamation The owner takes the whole list at once, so no thread meets a record that was taken
//             and came back.
// Checked by  tests/model/layers/omp_task_models.cpp: omp_returned_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

namespace weft_omp {

template <class Record, class P = real_atomics>
class returned_list {
 public:
  /// Brings back a batch of records, which `newer` links, except for the last one.
  void push(Record &first, Record &last) noexcept {
    Record *seen = m_first.load(std::memory_order_relaxed);
    do
      last.newer = seen;
    while (!m_first.compare_exchange_weak(
        seen, &first, order_unless(bug::omp_returned_relaxed, std::memory_order_release), // O1
        std::memory_order_relaxed));
  }
  [[nodiscard]] Record *take_all() noexcept {
    return m_first.load(std::memory_order_relaxed)
               ? m_first.exchange(nullptr, std::memory_order_acquire)
               : nullptr; // O2
  }

 private:
  typename P::template atomic<Record *> m_first{nullptr};
};

} // namespace weft_omp
