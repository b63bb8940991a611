// SPDX-License-Identifier: Apache-2.0
// Promise: children of a final task run within spawn, and so do theirs; with if_(false) the creator waits for the child, which waits
// for its accesses.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>
#include <vector>

namespace {

TEST(final_task, has_its_descendants_run_in_place) {
  std::vector<int> order;
  weft::spawn(
      [&] {
        weft::spawn([&] {
          order.push_back(1);
          weft::spawn([&] { order.push_back(2); });
          order.push_back(3);
        });
        order.push_back(4);
      },
      weft::final(true));
  weft::taskwait();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST(undeferred_task, is_waited_for_by_its_creator_and_waits_for_its_accesses) {
  int x = 0;
  weft::spawn(
      [&] {
        test::dawdle();
        x = 1;
      },
      weft::out(x));
  int seen = 0;
  weft::spawn([&] { seen = x; }, weft::in(x), weft::if_(false));
  EXPECT_EQ(seen, 1);
  weft::taskwait();
}

} // namespace
