// SPDX-License-Identifier: Apache-2.0
#include "strassen.hpp"

#include "../support/random.hpp"

#include <algorithm>
#include <cmath>

namespace inncabs {

strassen::strassen(const sizes &s)
    : m_n(std::size_t(1) << s["log2n"]), m_leaf(s.count("leaf")), m_a(m_n * m_n), m_b(m_a.size()),
      m_c(m_a.size()) {
  random_stream random(11);
  for (double &x : m_a)
    x = random.unit() - 0.5;
  for (double &x : m_b)
    x = random.unit() - 0.5;
}

void strassen::reset() { m_c.assign(m_c.size(), 0); }

void strassen::multiply_leaf(part a, part b, double *c, std::size_t c_stride, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    double *const to = c + i * c_stride;
    std::fill(to, to + n, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
      const double x = a.first[i * a.stride + k];
      const double *const from = b.first + k * b.stride;
      for (std::size_t j = 0; j < n; ++j)
        to[j] += x * from[j];
    }
  }
}

void strassen::add(factor f, double *to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      to[i * n + j] =
          f.one.first[i * f.one.stride + j] + f.sign * f.two.first[i * f.two.stride + j];
}

void strassen::combine(const buffer *p, double *c, std::size_t c_stride, std::size_t half) {
  double *const low = c + half * c_stride;
  for (std::size_t i = 0; i < half; ++i)
    for (std::size_t j = 0; j < half; ++j) {
      const std::size_t at = i * half + j, to = i * c_stride + j;
      c[to] = p[0][at] + p[3][at] - p[4][at] + p[6][at];
      c[to + half] = p[2][at] + p[4][at];
      low[to] = p[1][at] + p[3][at];
      low[to + half] = p[0][at] - p[1][at] + p[2][at] + p[5][at];
    }
}

// Freivalds' test: the product applied to vectors is as the factors applied one after the other.
std::string strassen::check() const {
  const auto apply = [this](const std::vector<double> &matrix, const std::vector<double> &x) {
    std::vector<double> y(m_n);
    for (std::size_t i = 0; i < m_n; ++i)
      for (std::size_t j = 0; j < m_n; ++j)
        y[i] += matrix[i * m_n + j] * x[j];
    return y;
  };
  random_stream random(13);
  for (int round = 0; round < 2; ++round) {
    std::vector<double> x(m_n);
    for (double &v : x)
      v = random.unit() - 0.5;
    const std::vector<double> right = apply(m_a, apply(m_b, x)), found = apply(m_c, x);
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < m_n; ++i)
      error += (right[i] - found[i]) * (right[i] - found[i]), norm += right[i] * right[i];
    if (!(std::sqrt(error / norm) < 1e-9))
      return "strassen is off by " + std::to_string(std::sqrt(error / norm));
  }
  return "";
}

} // namespace inncabs
