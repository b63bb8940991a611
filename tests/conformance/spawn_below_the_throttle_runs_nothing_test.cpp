// SPDX-License-Identifier: Apache-2.0
// Promise: below the throttle's mark no task runs inside spawn.
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace {

TEST(spawn, below_the_throttle_mark_runs_nothing_on_the_creators_thread) {
  const auto throttled_before = weft::stats().throttled; // by earlier tests of this process
  std::atomic<int> inside{0};
  std::atomic<bool> creating{true};
  auto creator = std::this_thread::get_id();
  for (int i = 0; i != 1000; ++i) // far below 16 MiB
    weft::spawn([&] { inside += creating && std::this_thread::get_id() == creator; });
  creating = false;
  weft::taskwait();
  EXPECT_EQ(inside, 0);
  EXPECT_EQ(weft::stats().throttled, throttled_before);
}

TEST(spawn, below_the_throttle_mark_does_not_suspend_the_creator) {
  int wrong = -1;
  weft::spawn([&] {
    auto before = std::this_thread::get_id();
    wrong = 0;
    for (int i = 0; i != 1000; ++i) {
      weft::spawn([] {});
      wrong += std::this_thread::get_id() != before;
    }
  });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

} // namespace
