// SPDX-License-Identifier: Apache-2.0
#include "deps/regions/region_map.hpp"
#include "deps/regions/region_scope.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using weft::rt::region_map;

region_map::iterator put(region_map &map, std::uintptr_t low, std::uintptr_t end) {
  const auto at = map.cover(low, end);
  map.unite(at, end);
  map.note(at);
  return at;
}

TEST(region_map, finds_exactly_the_bytes_that_were_noted) {
  region_map map;
  EXPECT_EQ(map.exact(64, 128), nullptr);
  const auto at = put(map, 64, 128);
  EXPECT_EQ(map.exact(64, 128), &at->second);
  EXPECT_EQ(map.exact(64, 127), nullptr);
  EXPECT_EQ(map.exact(64, 129), nullptr);
  EXPECT_EQ(map.exact(65, 128), nullptr);
}

TEST(region_map, what_was_split_is_no_longer_what_it_was) {
  region_map map;
  const auto at = put(map, 64, 128);
  map.cut(64, 96);
  EXPECT_EQ(map.exact(64, 128), nullptr);
  EXPECT_EQ(map.exact(64, 96), &at->second);
}

TEST(region_map, what_was_united_or_forgotten_is_not_found) {
  region_map map;
  put(map, 64, 96);
  put(map, 96, 128);
  EXPECT_NE(map.exact(96, 128), nullptr);
  const auto at = put(map, 64, 128);
  EXPECT_EQ(map.exact(64, 128), &at->second);
  EXPECT_EQ(map.exact(96, 128), nullptr);
  EXPECT_EQ(map.size(), 1u);
  map.prune(); // no task is alive in it
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.exact(64, 128), nullptr);
  put(map, 64, 128);
  map.clear();
  EXPECT_EQ(map.exact(64, 128), nullptr);
}

TEST(region_map, knows_most_of_many_tiles_and_never_a_wrong_one) {
  constexpr std::uintptr_t tiles = 1000, bytes = 64;
  region_map map;
  for (std::uintptr_t i = 1; i <= tiles; ++i)
    put(map, i * bytes, (i + 1) * bytes);
  std::uintptr_t known = 0;
  for (int round = 0; round < 2;
       ++round) { // the first round tells the table what it forgot as it grew
    known = 0;
    for (std::uintptr_t i = 1; i <= tiles; ++i) {
      const auto *const f = map.exact(i * bytes, (i + 1) * bytes);
      known += f ? 1 : 0;
      if (f) {
        EXPECT_EQ(f, &map.find(i * bytes)->second);
      } else {
        map.note(map.find(i * bytes));
      }
    }
  }
  EXPECT_GT(known, tiles * 9 / 10);
  map.clear();
  EXPECT_EQ(map.exact(bytes, 2 * bytes), nullptr);
}

} // namespace
