// SPDX-License-Identifier: Apache-2.0
#include "sparse.hpp"

#include "ways.hpp"

#include <algorithm>
#include <cmath>

namespace adapt {

namespace {

double unit(std::uint64_t x) noexcept { return static_cast<double>(mixed(x) >> 11) * 0x1p-53; }

} // namespace

const std::vector<std::string> &matrix_names() {
  static const std::vector<std::string> all{"banded",   "powerlaw",  "dense-row",
                                            "blocks",   "scattered", "arrow"};
  return all;
}

sparse_matrix::sparse_matrix(const std::string &name, std::uint64_t n, std::uint64_t mean) : m_n(n) {
  mean = std::min(mean, n);
  for (std::uint64_t i = 0; i < n; ++i)
    m_vector.push_back(unit(i + 1));
  for (std::uint64_t row = 0; row < n; ++row) {
    const std::uint64_t near = row - std::min(row, mean / 2);
    if (name == "powerlaw") { // one row of x^1.2 has x times as many as the least ones; shuffled
      const double of_least = std::pow(unit(3 * row + 1) + 1e-9, -1 / 1.2);
      add_row(mixed(row), static_cast<std::uint64_t>(0.25 * of_least * static_cast<double>(mean)) + 1, 7919);
    } else if (name == "dense-row") { // one row has all columns, in a band
      const bool dense = row == n / 2;
      add_row(dense ? 0 : near, dense ? n : mean, 1);
    } else if (name == "blocks") { // one group of 64 rows in eight has four times as many, the others half
      const bool full = mixed(row / 64 + 1) % 8 == 0;
      add_row(row / 64 * 64, full ? 4 * mean : mean / 2 + 1, 1);
    } else if (name == "scattered") { // by chance, as are the lengths
      add_row(mixed(row), mixed(2 * row + 1) % (2 * mean + 1), 7919);
    } else if (name == "arrow") { // some first rows and columns, and the diagonal
      add_row(0, row < mean / 4 + 1 ? n : mean / 2 + 1, 1);
    } else { // banded
      add_row(near, mean, 1);
    }
  }
}

void sparse_matrix::add_row(std::uint64_t first_column, std::uint64_t entries, std::uint64_t stride) {
  for (std::uint64_t k = 0; k < std::min(entries, m_n); ++k) {
    m_columns.push_back(static_cast<std::uint32_t>((first_column + k * stride) % m_n));
    m_values.push_back(unit(m_columns.size()) - 0.5);
  }
  m_begins.push_back(m_columns.size());
}

} // namespace adapt
