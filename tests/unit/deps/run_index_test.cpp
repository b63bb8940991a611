// SPDX-License-Identifier: Apache-2.0
#include "deps/regions/run_index.hpp"

#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using index_of_numbers = weft::rt::run_index<int>;

TEST(run_index, of_nothing_finds_nothing) {
  index_of_numbers index;
  index.assign({});
  index.for_each_touching(0, 1000, [](const auto &) { FAIL(); });
}

TEST(run_index, finds_each_run_that_has_a_byte_in_common) {
  std::mt19937_64 random(test::seed());
  const auto below = [&](std::uintptr_t most) { return random() % most; };
  for (int round = 0; round != 200; ++round) {
    std::vector<index_of_numbers::run> runs;
    for (int i = 0, n = static_cast<int>(below(40)); i != n; ++i) {
      const std::uintptr_t low = below(200);
      runs.push_back({low, low + 1 + below(i % 5 == 0 ? 100 : 8), i});
    }
    index_of_numbers index;
    index.assign(std::vector(runs));
    for (int ask = 0; ask != 50; ++ask) {
      const std::uintptr_t low = below(210), end = low + 1 + below(20);
      std::vector<int> expected, found;
      for (const auto &r : runs)
        if (r.low < end && low < r.end)
          expected.push_back(r.of);
      std::uintptr_t last = 0;
      index.for_each_touching(low, end, [&](const auto &r) {
        EXPECT_LE(last, r.low);
        last = r.low;
        found.push_back(r.of);
      });
      std::sort(found.begin(), found.end());
      EXPECT_EQ(found, expected);
    }
  }
}

} // namespace
