// SPDX-License-Identifier: Apache-2.0
// A worker's own stack, once suspended, is in no queue: taskyield() went back to it at once, or
// overlooked it.
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>

namespace {

// Two tasks on one worker, one of them in place on the thread's own stack: each yields until it has seen the
// other.
TEST(taskyield_own_stack, tasks_that_yield_for_each_other_both_end) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    int turns[2] = {};
    for (int i = 0; i < 2; ++i)
      weft::spawn([&turns, i] {
        for (int n = 1; n <= 100; ++n) {
          turns[i] = n;
          while (turns[1 - i] < n)
            weft::taskyield();
        }
      });
    weft::taskwait();
    EXPECT_EQ(turns[0], 100);
    EXPECT_EQ(turns[1], 100);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
