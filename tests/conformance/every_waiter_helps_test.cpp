// SPDX-License-Identifier: Apache-2.0
// Promise: one worker is enough. Every wait lets the worker run what is waited for, however deep.
#include "support/case_process.hpp"
#include "support/gate.hpp"

#include <weft/weft.hpp>

namespace {

int sum_of_tree(int depth) {
  if (depth == 0)
    return 1;
  int a = 0, b = 0, c = 0;
  weft::task_group group;
  group.spawn([&] { a = sum_of_tree(depth - 1); });
  auto h = weft::spawn([depth] { return sum_of_tree(depth - 1); });
  weft::join([&] { b = sum_of_tree(depth - 1); },
             [&] { weft::spawn([&] { c = sum_of_tree(depth - 1); }, weft::if_(false)); });
  group.wait();
  return a + b + c + h.get();
}

TEST(one_worker, completes_nested_waits_of_every_kind) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    EXPECT_EQ(sum_of_tree(4), 256);
    int in_task = 0;
    weft::spawn([&] { in_task = sum_of_tree(4); });
    weft::taskwait();
    EXPECT_EQ(in_task, 256);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(one_worker, suspends_a_hundred_tasks_that_wait_for_each_other) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    constexpr int n = 100;
    static test::gate gates[n + 1];
    int passed = 0;
    for (int i = 0; i != n; ++i)
      weft::spawn([&, i] { passed += gates[i + 1].pass(), gates[i].open(); }); // the last one first
    gates[n].open();
    weft::taskwait();
    EXPECT_EQ(passed, n);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
