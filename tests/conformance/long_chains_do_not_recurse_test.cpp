// SPDX-License-Identifier: Apache-2.0
// Promise: the length of a chain of tasks is bounded by memory, not by a stack.
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>

namespace {

TEST(chain, of_a_hundred_thousand_successors_completes) {
  const int n = test::scaled(100'000);
  int x = 0;
  for (int i = 0; i != n; ++i)
    weft::spawn([&] { ++x; }, weft::inout(x));
  weft::taskwait();
  EXPECT_EQ(x, n);
}

struct link {
  int *left;
  void operator()() const {
    if (--*left > 0)
      weft::spawn(link{left}, weft::inout(*left));
  }
};

TEST(chain, of_tasks_that_each_spawn_the_next_completes) {
  int left = test::scaled(50'000);
  weft::spawn(link{&left}, weft::inout(left));
  weft::taskwait();
  EXPECT_EQ(left, 0);
}

TEST(chain, of_readers_released_at_once_completes) {
  const int n = test::scaled(20'000);
  int x = 0;
  std::atomic<int> readers{0};
  for (int round = 0; round != 3; ++round) {
    weft::spawn([&] { ++x; }, weft::inout(x));
    for (int i = 0; i != n; ++i)
      weft::spawn([&, round] { readers += x == round + 1; }, weft::in(x));
  }
  weft::taskwait();
  EXPECT_EQ(readers, 3 * n);
}

} // namespace
