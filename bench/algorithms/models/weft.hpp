// SPDX-License-Identifier: Apache-2.0
// Weft's algorithms.
#pragma once

#include <weft/algorithm.hpp>
#include <weft/numeric.hpp>
#include <weft/runtime.hpp>

#include <string>
#include <vector>

struct model {
  explicit model(int workers) {
    weft::configure("workers", std::to_string(workers).c_str());
    weft::start();
  }
  template <class F>
  void for_each(std::vector<double> &x, F f) {
    weft::for_each(weft::execution::par, x, f);
  }
  double reduce(const std::vector<double> &x) { return weft::reduce(weft::execution::par, x); }
  void scan(const std::vector<double> &x, std::vector<double> &y) {
    weft::inclusive_scan(weft::execution::par, x, y.begin());
  }
  auto find(std::vector<double> &x, double value) {
    return weft::find(weft::execution::par, x, value);
  }
  void sort(std::vector<unsigned> &v) { weft::sort(weft::execution::par, v); }
};
