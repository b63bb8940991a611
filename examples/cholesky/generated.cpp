// SPDX-License-Identifier: Apache-2.0
#include "generated.hpp"

#include "kernels/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace demo {

namespace {

/// Returns a number in [-1, 1) that depends on the two indices alone; the mixer is SplitMix64's.
double random_number(int i, int j) {
  std::uint64_t z = (std::uint64_t(std::uint32_t(i)) << 32 | std::uint32_t(j)) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>(static_cast<std::int64_t>(z ^ (z >> 31))) * 0x1p-63;
}

/// Computes y(j): the rows of L^T that belong to block column j, times x.
void times_transposed(const tiles &l, int j, const double *x, double *y) {
  const blocking &b = l.blocks();
  y += b.first(j);
  std::copy_n(x + b.first(j), b.rows(j), y);
  kernels().trmv(transposed::yes, b.rows(j), &l(j, j), b.tile, y);
  for (int i = j + 1; i < b.count(); ++i)
    kernels().gemv(transposed::yes, b.rows(i), b.rows(j), &l(i, j), b.tile, x + b.first(i), y);
}

/// Computes z(i): block row i of L times y.
void times_factor(const tiles &l, int i, const double *y, double *z) {
  const blocking &b = l.blocks();
  std::copy_n(y + b.first(i), b.rows(i), z);
  kernels().trmv(transposed::no, b.rows(i), &l(i, i), b.tile, z);
  for (int j = 0; j < i; ++j)
    kernels().gemv(transposed::no, b.rows(i), b.rows(j), &l(i, j), b.tile, y + b.first(j), z);
}

} // namespace

double generated::entry(int i, int j) const {
  return i == j ? m_order + m_shift : random_number(std::max(i, j), std::min(i, j));
}

void generated::fill_tile(const tiles &a, int i, int j) const {
  const blocking &b = a.blocks();
  for (int c = 0; c < b.rows(j); ++c)
    for (int r = 0; r < b.rows(i); ++r)
      (&a(i, j))[c * b.tile + r] = entry(b.first(i) + r, b.first(j) + c);
}

double generated::times(int row, const double *x) const {
  double sum = 0;
  for (int j = 0; j < m_order; ++j)
    sum += entry(row, j) * x[j];
  return sum;
}

void generated::fill(work &w, const tiles &a) const {
  for (int j = 0; j < a.blocks().count(); ++j)
    for (int i = j; i < a.blocks().count(); ++i)
      w.spawn("generate", [this, &a, i, j] { fill_tile(a, i, j); }, weft::out(a(i, j)));
}

/// Computes what block row i of (A - L L^T) x adds to the squares of the error and of A x.
generated::squares generated::probe(const tiles &l, int i, const double *x, const double *y) const {
  const blocking &b = l.blocks();
  std::vector<double> z(b.rows(i));
  times_factor(l, i, y, z.data());
  squares sum;
  for (int r = 0; r < b.rows(i); ++r) {
    const double ax = times(b.first(i) + r, x);
    sum.error += (ax - z[r]) * (ax - z[r]);
    sum.size += ax * ax;
  }
  return sum;
}

double generated::residual(const tiles &l) const {
  const blocking &b = l.blocks();
  std::vector<double> x(m_order), y(m_order); // y = L^T x
  for (int i = 0; i < m_order; ++i)
    x[i] = random_number(-1, i);
  std::vector<squares> parts(b.count());
  std::vector<weft::access> reads;
  weft::task_group tasks;
  for (int j = 0; j < b.count(); ++j) {
    double &yj = y[b.first(j)];
    tasks.spawn([&, j] { times_transposed(l, j, x.data(), y.data()); }, weft::out(yj),
                weft::label("transposed"));
    reads.push_back(weft::in(yj));
    tasks.spawn([&, j] { parts[j] = probe(l, j, x.data(), y.data()); }, weft::accesses(reads),
                weft::label("probe"));
  }
  tasks.wait();
  squares sum;
  for (const squares &p : parts)
    sum.error += p.error, sum.size += p.size;
  return std::sqrt(sum.error / sum.size);
}

} // namespace demo
