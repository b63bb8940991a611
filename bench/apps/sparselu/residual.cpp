// SPDX-License-Identifier: Apache-2.0
// Solves A x = b with the factors and looks how far A x is from b.
#include "sparselu.hpp"

#include <algorithm>
#include <cmath>

std::vector<double> sparselu::multiply(const std::vector<double> &x) const {
  std::vector<double> b(x.size());
  for (long i = 0; i < m_size; ++i)
    for (long j = 0; j < m_size; ++j)
      if (in_pattern(i, j))
        b[static_cast<std::size_t>(i)] += input(i, j) * x[static_cast<std::size_t>(j)];
  return b;
}

void sparselu::solve(std::vector<double> &x) const {
  const auto entry = [this](long i, long j) {
    const double *block = at(i / m_tile, j / m_tile);
    return block ? block[i % m_tile * m_tile + j % m_tile] : 0.0;
  };
  double *const v = x.data();
  for (long i = 0; i < m_size; ++i)
    for (long j = 0; j < i; ++j)
      v[i] -= entry(i, j) * v[j];
  for (long i = m_size - 1; i >= 0; --i) {
    for (long j = i + 1; j < m_size; ++j)
      v[i] -= entry(i, j) * v[j];
    v[i] /= entry(i, i);
  }
}

double sparselu::residual() const {
  std::vector<double> b(static_cast<std::size_t>(m_size));
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = 1 + static_cast<double>(i % 5);
  std::vector<double> x = b;
  solve(x);
  const std::vector<double> again = multiply(x);
  double most = 0;
  for (std::size_t i = 0; i < b.size(); ++i)
    most = std::isnan(again[i]) ? again[i] : std::max(most, std::abs(again[i] - b[i]));
  return most;
}
