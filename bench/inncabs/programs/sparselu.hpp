// SPDX-License-Identifier: Apache-2.0
// sparselu: LU factorisation of a sparse matrix of blocks, without pivoting. In each round, tasks
// solve the blocks beside and below the diagonal; when all are done, tasks update those between.
#pragma once

#include "../support/future_list.hpp"
#include "../support/sizes.hpp"

#include <memory>
#include <string>
#include <vector>

namespace inncabs {

class sparselu {
 public:
  static constexpr const char *k_name = "sparselu";
  static constexpr parameter k_parameters[] = {{"blocks", 16, 5, 1, 200, "rows of blocks"},
                                               {"size", 150, 8, 1, 1000, "rows of a block"}};

  explicit sparselu(const sizes &s);
  void reset();
  template <class M>
  void run() {
    for (std::size_t k = 0; k < m_blocks; ++k) {
      factor(block(k, k), m_size);
      {
        typename M::scope here;
        future_list<M, void> solved(2 * m_blocks);
        for (std::size_t j = k + 1; j < m_blocks; ++j)
          if (block(k, j))
            solved.async(here, solve_row, block(k, k), block(k, j), m_size);
        for (std::size_t i = k + 1; i < m_blocks; ++i)
          if (block(i, k))
            solved.async(here, solve_column, block(k, k), block(i, k), m_size);
        solved.get();
      }
      typename M::scope here;
      future_list<M, void> updated(m_blocks * m_blocks);
      for (std::size_t i = k + 1; i < m_blocks; ++i)
        for (std::size_t j = k + 1; block(i, k) && j < m_blocks; ++j)
          if (block(k, j)) {
            fill_in(i, j);
            updated.async(here, update, block(i, k), block(k, j), block(i, j), m_size);
          }
      updated.get();
    }
  }
  void remember() {}
  [[nodiscard]] std::string check() const;

 private:
  double *block(std::size_t i, std::size_t j) const { return m_at[i * m_blocks + j].get(); }
  [[nodiscard]] bool in_pattern(std::size_t i, std::size_t j) const;
  [[nodiscard]] double input(std::size_t row, std::size_t column) const;
  void fill_in(std::size_t i, std::size_t j);

  static void factor(double *diagonal, std::size_t n);
  static void solve_row(const double *diagonal, double *right, std::size_t n);
  static void solve_column(const double *diagonal, double *below, std::size_t n);
  static void update(const double *column, const double *row, double *inner, std::size_t n);

  std::size_t m_blocks, m_size;
  std::vector<std::unique_ptr<double[]>> m_at;
};

} // namespace inncabs
