// SPDX-License-Identifier: Apache-2.0
// Promise: what a task releases, its successors may use while its body goes on.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>

namespace {

TEST(release, lets_successors_start) {
  int x = 0, y = 0;
  test::gate read;
  bool went_on = false;
  weft::spawn(
      [&] {
        x = 1;
        weft::release(weft::out(x));
        went_on = read.pass();
        y = 2;
      },
      weft::out(x), weft::out(y));
  weft::spawn(
      [&] {
        EXPECT_EQ(x, 1);
        read.open();
      },
      weft::in(x));
  weft::spawn([&] { EXPECT_EQ(y, 2); }, weft::in(y));
  weft::taskwait();
  EXPECT_TRUE(went_on);
}

} // namespace
