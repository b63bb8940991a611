// SPDX-License-Identifier: Apache-2.0
#include "manage/mode_chooser.hpp"

#include <gtest/gtest.h>

namespace {

using namespace weft::rt;
using mode = mode_chooser::mode;

/// Windows of one unit on a machine that begins so many tasks in each mode. Returns how many were distributed, and the tasks begun.
struct run {
  std::uint64_t direct, distributed;
  int windows_distributed = 0;
  double begun = 0;
  void windows(mode_chooser &c, int n) {
    for (int i = 0; i != n; ++i) {
      const std::uint64_t tasks = c.now() == mode::direct ? direct : distributed;
      windows_distributed += c.now() == mode::distributed;
      begun += static_cast<double>(tasks);
      static_cast<void>(c.next(tasks, 1'000'000));
    }
  }
};

TEST(mode_chooser, stays_direct_where_that_runs_more_tasks_and_loses_less_than_three_percent) {
  mode_chooser c;
  run r{1000, 200};
  r.windows(c, 3000);
  EXPECT_GT(r.windows_distributed, 0) << "it has tried";
  EXPECT_GT(r.begun, 0.97 * 1000 * 3000);
}

TEST(mode_chooser, changes_to_distributed_where_that_runs_more_and_loses_less_than_three_percent) {
  mode_chooser c;
  run r{1000, 1500};
  r.windows(c, 3000);
  EXPECT_EQ(c.now(), mode::distributed);
  EXPECT_GT(r.begun, 0.97 * 1500 * 3000);
}

TEST(mode_chooser, comes_back_when_the_program_changes) {
  mode_chooser c;
  run first{1000, 1500};
  first.windows(c, 300);
  ASSERT_EQ(c.now(), mode::distributed);
  run second{400, 100};
  second.windows(c, 300);
  EXPECT_EQ(c.now(), mode::direct);
}

TEST(mode_chooser, one_lucky_window_changes_nothing) {
  mode_chooser c;
  int tries = 0;
  for (int i = 0; i != 200; ++i) {
    const bool lucky = c.now() == mode::distributed && tries++ == 0;
    static_cast<void>(c.next(lucky ? 2000 : 1000, 1'000'000));
  }
  EXPECT_GT(tries, 1);
  EXPECT_EQ(c.now(), mode::direct);
}

TEST(mode_chooser, looks_seldom_and_tries_nothing_while_little_happens) {
  mode_chooser c;
  const std::uint64_t busy = c.window_ns();
  for (int i = 0; i != 100; ++i)
    EXPECT_EQ(c.next(3, 1'000'000), mode::direct);
  EXPECT_GE(c.window_ns(), 32 * busy);
  static_cast<void>(c.next(1000, 1'000'000));
  EXPECT_EQ(c.window_ns(), busy);
}

} // namespace
