// SPDX-License-Identifier: Apache-2.0
#include "sparselu.hpp"

#include "../support/random.hpp"

#include <cmath>

namespace inncabs {

sparselu::sparselu(const sizes &s)
    : m_blocks(s.count("blocks")), m_size(s.count("size")), m_at(m_blocks * m_blocks) {}

bool sparselu::in_pattern(std::size_t i, std::size_t j) const {
  return i == j || i + 1 == j || j + 1 == i || mix(i * m_blocks + j) % 4 == 0;
}

// The diagonal dominates, so no pivots are needed.
double sparselu::input(std::size_t row, std::size_t column) const {
  const std::size_t n = m_blocks * m_size;
  const double x = random_stream(row * n + column).unit() - 0.5;
  return row == column ? x + static_cast<double>(n) : x;
}

void sparselu::reset() {
  for (std::size_t i = 0; i < m_blocks; ++i)
    for (std::size_t j = 0; j < m_blocks; ++j) {
      std::unique_ptr<double[]> &at = m_at[i * m_blocks + j];
      at.reset(in_pattern(i, j) ? new double[m_size * m_size] : nullptr);
      for (std::size_t r = 0; at && r < m_size; ++r)
        for (std::size_t c = 0; c < m_size; ++c)
          at[r * m_size + c] = input(i * m_size + r, j * m_size + c);
    }
}

void sparselu::fill_in(std::size_t i, std::size_t j) {
  std::unique_ptr<double[]> &at = m_at[i * m_blocks + j];
  if (!at)
    at.reset(new double[m_size * m_size]());
}

void sparselu::factor(double *diagonal, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) {
      const double x = diagonal[i * n + k] /= diagonal[k * n + k];
      for (std::size_t j = k + 1; j < n; ++j)
        diagonal[i * n + j] -= x * diagonal[k * n + j];
    }
}

void sparselu::solve_row(const double *diagonal, double *right, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k + 1; i < n; ++i) {
      const double x = diagonal[i * n + k];
      for (std::size_t j = 0; j < n; ++j)
        right[i * n + j] -= x * right[k * n + j];
    }
}

void sparselu::solve_column(const double *diagonal, double *below, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) {
      const double x = below[i * n + k] /= diagonal[k * n + k];
      for (std::size_t j = k + 1; j < n; ++j)
        below[i * n + j] -= x * diagonal[k * n + j];
    }
}

void sparselu::update(const double *column, const double *row, double *inner, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) {
      const double x = column[i * n + k];
      for (std::size_t j = 0; j < n; ++j)
        inner[i * n + j] -= x * row[k * n + j];
    }
}

// L times U applied to a vector is as the input applied to it.
std::string sparselu::check() const {
  const std::size_t n = m_blocks * m_size;
  const auto value = [this](std::size_t row, std::size_t column) {
    const double *const at = block(row / m_size, column / m_size);
    return at ? at[row % m_size * m_size + column % m_size] : 0.0;
  };
  std::vector<double> x(n), right(n), upper(n), found(n);
  random_stream random(17);
  for (double &v : x)
    v = random.unit() - 0.5;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (in_pattern(i / m_size, j / m_size))
        right[i] += input(i, j) * x[j];
      if (j >= i)
        upper[i] += value(i, j) * x[j];
    }
  for (std::size_t i = 0; i < n; ++i) {
    found[i] = upper[i];
    for (std::size_t j = 0; j < i; ++j)
      found[i] += value(i, j) * upper[j];
  }
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < n; ++i)
    error += (right[i] - found[i]) * (right[i] - found[i]), norm += right[i] * right[i];
  return std::sqrt(error / norm) < 1e-12
             ? ""
             : "sparselu's residual is " + std::to_string(std::sqrt(error / norm));
}

} // namespace inncabs
