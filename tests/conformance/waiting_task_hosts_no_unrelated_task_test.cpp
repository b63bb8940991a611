// SPDX-License-Identifier: Apache-2.0
// Promise: a task that waits never runs an unrelated task on its stack.
// Were it broken, the waiter could not go on before the unrelated task ends, and this program would hang.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <cstdint>
#include <gtest/gtest.h>

namespace {

WEFT_NOINLINE std::uintptr_t stack_address() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

TEST(waiting_task, goes_on_while_an_unrelated_task_that_started_meanwhile_is_not_done) {
  test::gate child_may_end, waiter_done;
  bool unrelated_passed = false, child_passed = false;
  weft::spawn([&] {
    weft::spawn([&] { child_passed = child_may_end.pass(); });
    weft::taskwait();
    waiter_done.open();
  });
  weft::spawn([&] { // not a descendant of the task above
    child_may_end.open();
    unrelated_passed = waiter_done.pass();
  });
  weft::taskwait();
  EXPECT_TRUE(unrelated_passed);
  EXPECT_TRUE(child_passed);
}

TEST(waiting_task, of_a_long_chain_of_waits_each_ends_in_its_own_time) {
  // Task i waits for its child, which waits for task i+1: a runtime that runs unrelated tasks in place nests them
  // all.
  constexpr int n = 200;
  static test::gate done[n + 1];
  static std::atomic<int> late{0};
  for (int i = 0; i != n; ++i)
    weft::spawn([i] {
      weft::spawn([i] { late += !done[i + 1].pass(); });
      weft::taskwait();
      done[i].open();
    });
  done[n].open();
  weft::taskwait();
  EXPECT_EQ(late, 0);
}

TEST(waiting_task, on_a_mutex_an_event_or_a_block_hosts_nobody) {
  // Unrelated tasks that start while the task waits must not lie above it on its stack.
  constexpr std::uintptr_t k_near = 16 << 10;
  std::uintptr_t waiter = 0;
  std::atomic<int> near{0};
  std::atomic<bool> waiting{true};
  std::atomic<weft::detail::task *> blocked{nullptr};
  weft::spawn([&] {
    waiter = stack_address();
    blocked = weft::this_task::self().get();
    weft::this_task::block();
    waiting = false;
  });
  ASSERT_TRUE(test::eventually([&] { return blocked != nullptr; }));
  int x = 0;
  for (int i = 0; i != 200; ++i)
    weft::spawn(
        [&] {
          std::uintptr_t mine = stack_address();
          near += waiting && mine < waiter && waiter - mine < k_near;
        },
        weft::inout(x));
  weft::taskwait(weft::inout(x));
  weft::unblock(weft::task_ref(blocked));
  weft::taskwait();
  EXPECT_EQ(near, 0);
}

} // namespace
