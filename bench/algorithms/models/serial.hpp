// SPDX-License-Identifier: Apache-2.0
// The standard's algorithms, in order.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

struct model {
  explicit model(int) {}
  template <class F>
  void for_each(std::vector<double> &x, F f) {
    std::for_each(x.begin(), x.end(), f);
  }
  double reduce(const std::vector<double> &x) { return std::reduce(x.begin(), x.end()); }
  void scan(const std::vector<double> &x, std::vector<double> &y) {
    std::inclusive_scan(x.begin(), x.end(), y.begin());
  }
  auto find(std::vector<double> &x, double value) { return std::find(x.begin(), x.end(), value); }
  void sort(std::vector<unsigned> &v) { std::sort(v.begin(), v.end()); }
};
