// SPDX-License-Identifier: Apache-2.0
// Promise: with the clause `wait` no access is released before all children are complete; without it each goes with the last child
// that uses it.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>

namespace {

TEST(wait_clause, keeps_accesses_until_the_children_are_complete) {
  int x = 0;
  bool child_done = false;
  weft::spawn(
      [&] {
        weft::spawn([&] {
          test::dawdle();
          child_done = true;
        });
      },
      weft::inout(x), weft::wait);
  weft::spawn([&] { EXPECT_TRUE(child_done); }, weft::in(x));
  weft::taskwait();
}

TEST(wait_clause, is_not_the_default) {
  int x = 0;
  test::gate successor;
  bool passed = false;
  weft::spawn([&] { weft::spawn([&] { passed = successor.pass(); }); }, weft::inout(x));
  weft::spawn([&] { successor.open(); }, weft::in(x));
  weft::taskwait();
  EXPECT_TRUE(passed);
}

} // namespace
