// SPDX-License-Identifier: Apache-2.0
// Sums whose results are known, by TBB and by OpenMP.
#pragma once

#include <functional>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

/// Adds the numbers below n, with `grain` of them per block at the least.
inline long sum_by_tbb(long n, std::size_t grain = 100) {
  return tbb::parallel_reduce(
      tbb::blocked_range<long>(0, n, grain), 0L,
      [](const tbb::blocked_range<long> &r, long s) {
        for (long i = r.begin(); i < r.end(); ++i)
          s += i;
        return s;
      },
      std::plus<>());
}

#if defined(_OPENMP)
inline long sum_by_openmp(long n, int threads) {
  long sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
  for (long i = 0; i < n; ++i)
    sum += i;
  return sum;
}
#endif
