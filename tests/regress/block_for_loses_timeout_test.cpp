// SPDX-License-Identifier: Apache-2.0
// A timed block whose time was over before its frame was published slept for ever.
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

TEST(block_for, of_very_short_times_always_ends) {
  const int n = test::scaled(2000, 200);
  std::atomic<int> ended{0};
  auto work = [&] {
    for (int i = 0; i != n; ++i) {
      if (weft::this_task::block_for(std::chrono::nanoseconds(i % 40 * 500)))
        return; // no thread unblocks
      ++ended;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t != 3; ++t)
    threads.emplace_back(work);
  for (int t = 0; t != 3; ++t)
    weft::spawn(work);
  work();
  weft::taskwait();
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(ended, 7 * n);
}

} // namespace
