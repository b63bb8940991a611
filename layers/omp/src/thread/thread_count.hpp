// SPDX-License-Identifier: Apache-2.0
// The number of threads in teams: of the process, and of each contention group, for OMP_THREAD_LIMIT.
//
// Invariants  I1  Threads of a group that ask with a limit at the same time get together at most what is left
//                 of it, and each one at least itself.
// Orders      None: the number is the only data.
// Checked by  tests/model/layers/omp_task_models.cpp: omp_threads_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <algorithm>

namespace weft_omp {

template <class P = real_atomics>
class basic_thread_count {
 public:
  [[nodiscard]] unsigned now() const noexcept { return m_busy.load(std::memory_order_relaxed); }
  void add(unsigned n) noexcept { m_busy.fetch_add(n, std::memory_order_relaxed); }
  void give_back(unsigned n) noexcept { m_busy.fetch_sub(n, std::memory_order_relaxed); }

  /// Counts up to `n` threads, and returns how many there may be. The caller is one of them, and is
  /// counted already.
  [[nodiscard]] unsigned take(unsigned n, unsigned limit) noexcept {
    unsigned busy = m_busy.load(std::memory_order_relaxed), can = 0;
    do
      can = std::min(n, limit > busy ? limit - busy + 1 : 1);
    while (can > 1 && !move(busy, busy + can - 1)); // siblings ask at the same time
    return can;
  }

 private:
  bool move(unsigned &from, unsigned to) noexcept {
    return unless(
        bug::omp_threads_over_limit,
        [&] {
          return m_busy.compare_exchange_weak(from, to, std::memory_order_relaxed,
                                              std::memory_order_relaxed);
        },
        [&] {
          m_busy.fetch_add(to - from, std::memory_order_relaxed);
          return true;
        });
  }

  typename P::template atomic<unsigned> m_busy{1};
};

} // namespace weft_omp
