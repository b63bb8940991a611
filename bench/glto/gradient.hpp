// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients whose vectors are divided into blocks of rows, a task per block. The matrix
// has as many rows as the paper's (14,878), nine entries in most of them, and is diagonally
// dominant. Sums go block by block, so that each order of the tasks gives the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace gradient {

class system {
 public:
  static constexpr int k_rows = 14'878;

  explicit system(int rows_per_task) : m_step(rows_per_task) {
    m_first.push_back(0);
    for (int row = 0; row < k_rows; ++row) {
      for (const int offset : {-244, -122, -2, -1, 0, 1, 2, 122, 244})
        if (row + offset >= 0 && row + offset < k_rows) {
          m_column.push_back(row + offset);
          m_value.push_back(offset == 0 ? 8.05 : -1);
        }
      m_first.push_back(static_cast<int>(m_column.size()));
    }
    for (auto *v : {&m_x, &m_q})
      v->assign(k_rows, 0);
    m_r.resize(k_rows);
    for (int row = 0; row < k_rows; ++row)
      m_r[static_cast<std::size_t>(row)] = 1 + row % 7;
    m_p = m_r;
    m_parts.resize(static_cast<std::size_t>(blocks()));
    for (const double r : m_r)
      m_rr += r * r;
  }

  [[nodiscard]] int blocks() const { return (k_rows + m_step - 1) / m_step; }
  static constexpr int k_phases = 3; ///< of an iteration, each with blocks() tasks

  /// Computes an iteration; `tasks(n, f)` calls f(i) for all i below n, and waits.
  template <class Tasks>
  void iterate(Tasks tasks) {
    tasks(blocks(), [this](int b) {
      double sum = 0;
      for_rows(b, [&](std::size_t row) {
        double q = 0;
        for (int k = m_first[row]; k < m_first[row + 1]; ++k)
          q += m_value[static_cast<std::size_t>(k)] *
               m_p[static_cast<std::size_t>(m_column[static_cast<std::size_t>(k)])];
        m_q[row] = q;
        sum += m_p[row] * q;
      });
      m_parts[static_cast<std::size_t>(b)] = sum;
    });
    const double alpha = m_rr / sum_of_parts();
    tasks(blocks(), [this, alpha](int b) {
      double sum = 0;
      for_rows(b, [&](std::size_t row) {
        m_x[row] += alpha * m_p[row];
        m_r[row] -= alpha * m_q[row];
        sum += m_r[row] * m_r[row];
      });
      m_parts[static_cast<std::size_t>(b)] = sum;
    });
    const double rr = sum_of_parts(), beta = rr / m_rr;
    m_rr = rr;
    tasks(blocks(), [this, beta](int b) {
      for_rows(b, [&](std::size_t row) { m_p[row] = m_r[row] + beta * m_p[row]; });
    });
  }

  [[nodiscard]] bool same_as(const system &other) const {
    return m_x == other.m_x && m_r == other.m_r;
  }
  [[nodiscard]] double residual() const { return std::sqrt(m_rr); }

 private:
  template <class F>
  void for_rows(int block, F f) const {
    for (int row = block * m_step, end = std::min(k_rows, row + m_step); row < end; ++row)
      f(static_cast<std::size_t>(row));
  }
  [[nodiscard]] double sum_of_parts() const {
    double sum = 0;
    for (const double p : m_parts)
      sum += p;
    return sum;
  }

  const int m_step;
  std::vector<int> m_first, m_column;
  std::vector<double> m_value, m_x, m_r, m_p, m_q, m_parts;
  double m_rr = 0;
};

} // namespace gradient
