// SPDX-License-Identifier: Apache-2.0
// Promises: commutative tasks run one at a time per address, in any order, and never wait for each
// other in a circle; a reduction of integers is exact whatever the order; a successor sees all of
// it.
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {

TEST(sharing, commutative_tasks_over_random_sets_of_addresses_all_run_and_lose_no_update) {
  std::mt19937_64 random(test::seed());
  const int n = test::scaled(3000);
  constexpr std::size_t k_cells = 8;
  std::vector<std::uint64_t> cells(k_cells), expected(k_cells);
  for (int i = 0; i != n; ++i) {
    const std::uint64_t set = random() & random() & ((1u << k_cells) - 1);
    std::vector<weft::access> list;
    for (std::size_t c = 0; c != k_cells; ++c)
      if (set >> c & 1) {
        list.push_back(weft::commutative(cells[c]));
        ++expected[c];
      }
    weft::spawn(
        [&cells, set, yields = i % 5 == 0] {
          std::uint64_t before[k_cells] = {};
          for (std::size_t c = 0; c != k_cells; ++c)
            if (set >> c & 1)
              before[c] = cells[c];
          if (yields)
            weft::taskyield();
          for (std::size_t c = 0; c != k_cells; ++c)
            if (set >> c & 1)
              cells[c] = before[c] + 1;
        },
        weft::accesses(list));
  }
  weft::taskwait();
  EXPECT_EQ(cells, expected);
}

TEST(sharing, a_reduction_of_integers_is_exact_for_every_reader_in_between) {
  const int rounds = test::scaled(300);
  std::uint64_t x = 1;
  int wrong = 0;
  std::uint64_t expected = 1;
  for (int r = 0; r != rounds; ++r) {
    for (std::uint64_t i = 0; i != 8; ++i) {
      weft::spawn([&x, i] { weft::reduction_local(x) += i * i; }, weft::reduction(x, weft::sum));
      expected += i * i;
    }
    weft::spawn([&, expected] { wrong += x != expected; }, weft::in(x));
  }
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(x, expected);
}

} // namespace
