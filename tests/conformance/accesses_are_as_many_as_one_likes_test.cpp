// SPDX-License-Identifier: Apache-2.0
// Promise: a task may have any number of accesses, known only at run time; null addresses are ignored.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>
#include <vector>

namespace {

TEST(accesses, are_as_many_as_one_likes) {
  constexpr std::size_t n = 2000;
  std::vector<int> cells(n, 0);
  std::vector<weft::access> all;
  for (int &c : cells) {
    weft::spawn([&c] { c = 1; }, weft::out(c));
    all.push_back(weft::in(c));
    all.push_back(weft::access{}); // no data
  }
  int sum = 0;
  weft::spawn(
      [&] {
        for (int c : cells)
          sum += c;
      },
      weft::accesses(all));
  for (int &c : cells)
    weft::spawn([&c] { c = 100; }, weft::out(c));
  weft::taskwait();
  EXPECT_EQ(sum, static_cast<int>(n));
}

} // namespace
