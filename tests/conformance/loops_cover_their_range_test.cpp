// SPDX-License-Identifier: Apache-2.0
// Promise: taskloop and taskfor call the body for each index once, whatever the grain, and are ordered by their accesses.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <memory>

namespace {

TEST(loops, cover_their_range) {
  constexpr int n = 1000;
  const auto hits = std::make_unique<std::atomic<int>[]>(n);
  int order = 0;
  for (const std::uint64_t grain : {1u, 7u, 64u, 2000u}) {
    weft::taskloop(
        weft::range(n), [&](int i) { ++hits[i]; }, weft::grain_size(grain), weft::nogroup,
        weft::inout(order));
    weft::taskfor(
        weft::range(n), [&](int i) { ++hits[i]; }, weft::grain_size(grain), weft::inout(order));
  }
  int right = 0;
  weft::spawn(
      [&] {
        for (int i = 0; i != n; ++i)
          right += hits[i] == 8;
      },
      weft::in(order));
  weft::taskwait();
  EXPECT_EQ(right, n);
}

} // namespace
