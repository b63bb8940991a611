// SPDX-License-Identifier: Apache-2.0
#include "stress/fuzz/matrix.hpp"

#include <gtest/gtest.h>

namespace {

using namespace fuzz;

std::vector<dimension> dimensions_of_sizes(const std::vector<std::size_t> &sizes) {
  std::vector<dimension> all;
  for (std::size_t n : sizes)
    all.push_back({"", std::vector<std::string>(n)});
  return all;
}

TEST(fuzz_matrix, every_allowed_pair_is_covered_and_nothing_else) {
  const auto dimensions = dimensions_of_sizes({3, 3, 5, 2, 3, 2});
  auto allowed = [](const configuration &c) { return c[2] != 4 || c[1] == 0; };
  const auto rows = pairwise(dimensions, allowed);
  std::set<value_pair> covered;
  for (const auto &row : rows) {
    EXPECT_TRUE(allowed(row));
    pairs_of(row, covered);
  }
  std::size_t pairs = 0;
  for (std::size_t a = 0; a != dimensions.size(); ++a)
    for (std::size_t b = a + 1; b != dimensions.size(); ++b)
      for (std::size_t x = 0; x != dimensions[a].values.size(); ++x)
        for (std::size_t y = 0; y != dimensions[b].values.size(); ++y) {
          const bool possible = !(a == 1 && x != 0 && b == 2 && y == 4);
          EXPECT_EQ(covered.count({a, x, b, y}), possible ? 1u : 0u) << a << x << b << y;
          pairs += possible;
        }
  EXPECT_EQ(covered.size(), pairs);
  EXPECT_LE(rows.size(), 24u) << "far more than the 15 that two of the dimensions need";
}

TEST(fuzz_matrix, one_value_each_is_one_configuration) {
  EXPECT_EQ(
      pairwise(dimensions_of_sizes({1, 1, 1}), [](const configuration &) { return true; }).size(),
      1u);
}

} // namespace
