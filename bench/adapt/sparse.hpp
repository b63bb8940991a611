// SPDX-License-Identifier: Apache-2.0
// Square sparse matrices, row by row, whose rows differ in length as those of six kinds of problems do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace adapt {

[[nodiscard]] const std::vector<std::string> &matrix_names();

class sparse_matrix {
 public:
  /// Makes a matrix of n rows with about `mean` entries each. Equal arguments give equal matrices.
  sparse_matrix(const std::string &name, std::uint64_t n, std::uint64_t mean);

  /// Returns an element of the product with the vector.
  [[nodiscard]] double row_times_vector(std::uint64_t row) const noexcept {
    double sum = 0;
    for (std::uint64_t k = m_begins[row]; k != m_begins[row + 1]; ++k)
      sum += m_values[k] * m_vector[m_columns[k]];
    return sum;
  }

 private:
  void add_row(std::uint64_t first_column, std::uint64_t entries, std::uint64_t stride);

  std::uint64_t m_n;
  std::vector<std::uint64_t> m_begins{0};
  std::vector<std::uint32_t> m_columns;
  std::vector<double> m_values, m_vector;
};

} // namespace adapt
