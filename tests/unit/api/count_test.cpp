// SPDX-License-Identifier: Apache-2.0
// A task may spawn any number of tasks before it waits: its count of them wraps, and nothing hangs.
#include "task/groups/group.hpp"
#include "ult/thread_context.hpp"

#include <weft/future.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>

namespace {

constexpr int k_more = 32;
// With 32 more the first count turns negative if it is signed, and the second one comes to zero or
// beyond.
constexpr std::uint32_t k_before[] = {0x7FFF'FFF0, 0xFFFF'FFE0, 0xFFFF'FFF0};

/// Makes the running task one that has spawned so many children, which are complete.
void count_children(std::uint32_t n) {
  weft::rt::task &t = *weft::rt::this_thread_context()->current;
  t.owned_children += n;
  EXPECT_FALSE(t.children.remove(n));
}
void count_tasks(weft::task_group &group, std::uint32_t n) {
  group.internals().owned += n;
  EXPECT_FALSE(group.internals().word.remove(n));
}

TEST(counts, of_children_may_wrap_before_a_taskwait) {
  for (const std::uint32_t before : k_before) {
    int seen = -1;
    weft::spawn([&] {
      std::atomic<int> ran{0};
      count_children(before);
      for (int i = 0; i != k_more; ++i)
        weft::spawn([&] {
          weft::this_task::sleep_for(std::chrono::microseconds(100));
          ++ran;
        });
      weft::taskwait();
      seen = ran;
    });
    weft::taskwait();
    EXPECT_EQ(seen, k_more) << before;
  }
}

TEST(counts, of_children_may_wrap_in_a_task_that_waits_for_none) {
  for (const std::uint32_t before : k_before) {
    std::atomic<int> ran{0};
    weft::spawn([&] {
      count_children(before);
      for (int i = 0; i != k_more; ++i)
        weft::spawn([&] {
          weft::this_task::sleep_for(std::chrono::microseconds(100));
          ++ran;
        });
    });
    weft::taskwait();
    EXPECT_EQ(ran, k_more) << before;
  }
}

TEST(counts, of_children_that_are_waited_for_one_by_one_may_wrap) {
  for (const std::uint32_t before : k_before) {
    int sum = 0;
    weft::spawn([&] {
      count_children(before);
      for (int i = 0; i != k_more; ++i)
        sum += weft::async([i] { return i; }).get();
    });
    weft::taskwait();
    EXPECT_EQ(sum, k_more * (k_more - 1) / 2) << before;
  }
}

TEST(counts, of_a_group_may_wrap) {
  for (const std::uint32_t before : k_before) {
    std::atomic<int> ran{0};
    weft::task_group group;
    count_tasks(group, before);
    for (int i = 0; i != k_more; ++i)
      group.spawn([&] {
        weft::this_task::sleep_for(std::chrono::milliseconds(2));
        ++ran;
      });
    static_cast<void>(group.wait_for(std::chrono::microseconds(100))); // mostly given up
    group.wait();
    EXPECT_EQ(ran, k_more) << before;
  }
}

} // namespace
