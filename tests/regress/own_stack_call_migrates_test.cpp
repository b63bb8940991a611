// SPDX-License-Identifier: Apache-2.0
// A task with a stack of its own that was run in place by a user's thread suspended, was resumed by another
// worker, and then returned to the user's code on that worker's thread.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>
#include <thread>

namespace {

TEST(own_stack_call, returns_to_the_thread_that_made_it) {
  auto me = std::this_thread::get_id();
  std::thread other([] { // a second thread that could take the frame
    for (int i = 0; i != 100; ++i) {
      weft::spawn([] { test::dawdle(); });
      weft::taskwait();
    }
  });
  int moved = 0;
  for (int i = 0; i != 100; ++i) {
    weft::spawn([] { test::dawdle(); }, weft::if_(false), weft::stack_bytes(256 << 10));
    moved += std::this_thread::get_id() != me;
  }
  EXPECT_EQ(moved, 0);
  other.join();
}

} // namespace
