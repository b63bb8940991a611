// SPDX-License-Identifier: Apache-2.0
// Records that others bring back to the thread that made them, in batches.
//
// Roles       Owner: take_all. Others: push.
// Orders      O1  compare_exchange release, with O2: the records are no longer used, and their links are written.
//             O2  exchange acquire, with O1 of every batch: each is a read-modify-write behind the older ones, so it continues their release sequences.
// Progress    Lock-free; take_all wait-free.
// Reclamation The owner takes the whole list at once, so nobody meets a record that was taken and came back.
// Checked by  tests/model/omp_task_models.cpp: omp_returned_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

namespace weft_omp {

template <class Record, class P = real_atomics>
class returned_list {
 public:
  /// A batch that is linked by `newer`, but for its last.
  void push(Record &first, Record &last) noexcept {
    Record *seen = m_first.load(std::memory_order_relaxed);
    do
      last.newer = seen;
    while (!m_first.compare_exchange_weak(seen, &first, order_unless(bug::omp_returned_relaxed, std::memory_order_release), // O1
                                          std::memory_order_relaxed));
  }
  [[nodiscard]] Record *take_all() noexcept {
    return m_first.load(std::memory_order_relaxed) ? m_first.exchange(nullptr, std::memory_order_acquire) : nullptr; // O2
  }

 private:
  typename P::template atomic<Record *> m_first{nullptr};
};

} // namespace weft_omp
