// SPDX-License-Identifier: Apache-2.0
#include "dot.hpp"

#include <algorithm>
#include <cmath>

const app::description app::about{
    .name = "dot",
    .title = "Dot product with a task reduction",
    .size = {"size", 1, 1L << 32, 1L << 25, "elements of a vector"},
    .tile = {"tile", 1, 1L << 28, 32768, "elements that a task multiplies"},
    .own = {{"period", 1, 1L << 28, 1L << 17, "elements after which a vector repeats itself"}},
    .sweep = {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072},
    .small = {200000, 500},
    .tolerance = 1e-12,
    .defect_bound = 1e-12,
};

std::unique_ptr<app::application> app::make(const settings &chosen) {
  return std::make_unique<dot>(chosen["size"], chosen["tile"], chosen["period"]);
}

namespace {

double product(long i) { return static_cast<double>(1 + i % 1000); }

} // namespace

dot::dot(long size, long tile, long period)
    : m_size(size), m_tile(tile), m_period(period), m_x(static_cast<std::size_t>(period + tile)),
      m_y(m_x.size()) {
  for (long i = 0; i < period + tile; ++i) {
    const auto at = static_cast<std::size_t>(i);
    m_x[at] = static_cast<double>(1 + i % period % 7);
    m_y[at] = product(i % period) / m_x[at];
  }
}

double dot::multiply(long block) const {
  app::count_task();
  const long n = std::min(m_tile, m_size - block * m_tile);
  const double *a = &x(block), *b = &y(block);
  double sum[4] = {}; // four chains of additions at once
  long i = 0;
  for (; i + 4 <= n; i += 4)
    for (long k = 0; k < 4; ++k)
      sum[k] += a[i + k] * b[i + k];
  for (; i < n; ++i)
    sum[0] += a[i] * b[i];
  return sum[0] + sum[1] + (sum[2] + sum[3]);
}

void dot::run_serial() {
  for (long b = 0; b < blocks(); ++b)
    m_sum += multiply(b);
}

double dot::difference() const { return std::abs(m_sum / m_kept - 1); }

/// Compares with the known sum: up to rounding, the products of the elements are whole numbers.
double dot::defect() const {
  double expected = 0;
  for (long i = 0; i < std::min(m_period, m_size); ++i)
    expected += product(i) * static_cast<double>((m_size - i - 1) / m_period + 1);
  return std::abs(m_kept / expected - 1);
}
