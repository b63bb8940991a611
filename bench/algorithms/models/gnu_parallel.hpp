// SPDX-License-Identifier: Apache-2.0
// The parallel mode of GCC's standard library, which is OpenMP.
#pragma once

#include <parallel/algorithm>
#include <parallel/numeric>

#include <omp.h>
#include <vector>

struct model {
  explicit model(int workers) { omp_set_num_threads(workers); }
  template <class F>
  void for_each(std::vector<double> &x, F f) {
    __gnu_parallel::for_each(x.begin(), x.end(), f);
  }
  double reduce(const std::vector<double> &x) {
    return __gnu_parallel::accumulate(x.begin(), x.end(), 0.0);
  }
  void scan(const std::vector<double> &x, std::vector<double> &y) {
    __gnu_parallel::partial_sum(x.begin(), x.end(), y.begin());
  }
  auto find(std::vector<double> &x, double value) {
    return __gnu_parallel::find(x.begin(), x.end(), value);
  }
  void sort(std::vector<unsigned> &v) { __gnu_parallel::sort(v.begin(), v.end()); }
};
