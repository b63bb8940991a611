// SPDX-License-Identifier: Apache-2.0
// oneTBB's own algorithms, with the partitioner and the grain that they choose themselves. It has no
// find.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <vector>

struct model {
  explicit model(int workers)
      : m_workers(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)) {
  }
  template <class F>
  void for_each(std::vector<double> &x, F f) {
    using range = tbb::blocked_range<std::vector<double>::iterator>;
    tbb::parallel_for(range(x.begin(), x.end()),
                      [&f](const range &part) { std::for_each(part.begin(), part.end(), f); });
  }
  double reduce(const std::vector<double> &x) {
    using range = tbb::blocked_range<std::vector<double>::const_iterator>;
    return tbb::parallel_reduce(
        range(x.begin(), x.end()), 0.0,
        [](const range &part, double sum) { return std::reduce(part.begin(), part.end(), sum); },
        std::plus<>());
  }
  void scan(const std::vector<double> &x, std::vector<double> &y) {
    using range = tbb::blocked_range<std::vector<double>::const_iterator>;
    tbb::parallel_scan(
        range(x.begin(), x.end()), 0.0,
        [&x, &y](const range &part, double sum, bool is_final) {
          if (!is_final)
            return std::reduce(part.begin(), part.end(), sum);
          const auto to = y.begin() + (part.begin() - x.begin());
          return *(std::inclusive_scan(part.begin(), part.end(), to, std::plus<>(), sum) - 1);
        },
        std::plus<>());
  }
  void sort(std::vector<unsigned> &v) { tbb::parallel_sort(v.begin(), v.end()); }

 private:
  tbb::global_control m_workers;
};
