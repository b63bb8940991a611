// SPDX-License-Identifier: Apache-2.0
// Promise: a weak access delays neither its task nor that task's other children; a child that touches the data waits by itself,
// and keeps the order with what comes after its parent.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>
#include <vector>

namespace {

TEST(weak_access, holds_nobody_back) {
  int x = 0;
  std::vector<int> order;
  test::gate parent_ran, first_may_end;
  weft::spawn(
      [&] {
        EXPECT_TRUE(first_may_end.pass());
        order.push_back(1);
      },
      weft::inout(x));
  weft::spawn(
      [&] {
        weft::spawn([&] { order.push_back(2); }, weft::inout(x));
        parent_ran.open();
      },
      weft::weak_inout(x));
  weft::spawn([&] { order.push_back(3); }, weft::inout(x));
  weft::spawn([&] {
    EXPECT_TRUE(parent_ran.pass());
    first_may_end.open();
  });
  weft::taskwait();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(weak_access, of_every_depth_connects_the_innermost_tasks) {
  constexpr int depth = 20;
  int x = 0;
  struct nest {
    static void go(int *x, int level, int seen) {
      if (level == 0)
        weft::spawn(
            [=] {
              EXPECT_EQ(*x, seen);
              ++*x;
            },
            weft::inout(*x));
      else
        weft::spawn([=] { go(x, level - 1, seen); }, weft::weak_inout(*x));
    }
  };
  for (int i = 0; i != 10; ++i)
    nest::go(&x, depth, i);
  weft::taskwait();
  EXPECT_EQ(x, 10);
}

} // namespace
