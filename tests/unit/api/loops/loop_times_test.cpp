// SPDX-License-Identifier: Apache-2.0
// What loops make of the clock, in a time of the test's.
#include "api/cpp/loop_times.hpp"
#include "support/case_process.hpp"

#include <weft/algorithm.hpp>
#include <weft/runtime.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

TEST(loop_times, a_look_at_the_clock_is_no_part_of_a_block) {
  using weft::detail::without_look;
  EXPECT_EQ(without_look(1000, 30), 970u);
  EXPECT_EQ(without_look(60, 30), 30u);
  EXPECT_EQ(without_look(50, 30), 25u) << "half of it stays";
  EXPECT_EQ(without_look(1, 30), 1u);
  EXPECT_EQ(without_look(0, 30), 0u);
  EXPECT_EQ(without_look(1000, UINT64_MAX), 500u) << "a look that was preempted";
}

/// Is a loop that ends at `ends`, seen by a helper whose pauses take 10 ns.
struct loop_of_another {
  std::uint64_t ends, caller_waits_from = UINT64_MAX;
  std::uint64_t tick = 10; // 0: the clock stands still, and with it the caller
  std::uint64_t now = 100;
  int looks = 0, clocks = 0;

  bool goes_on(std::uint64_t until) {
    return weft::detail::goes_on(
        until, [this] { return ++looks, now >= ends; }, [this] { return now >= caller_waits_from; },
        [this] { return ++clocks, now; }, [this] { now += tick; });
  }
};

TEST(loop_times, a_loop_that_is_over_needs_no_helper) {
  loop_of_another over{.ends = 100};
  EXPECT_FALSE(over.goes_on(0));
  EXPECT_FALSE(over.goes_on(500));
  EXPECT_EQ(over.clocks, 0);
}

TEST(loop_times, a_loop_that_is_shared_gets_its_helper_at_once) {
  loop_of_another shared{.ends = 10'000};
  EXPECT_TRUE(shared.goes_on(0));
  EXPECT_EQ(shared.looks, 1);
  EXPECT_EQ(shared.clocks, 0);
  EXPECT_EQ(shared.now, 100u);
}

TEST(loop_times, a_helper_waits_for_the_end_that_was_predicted) {
  loop_of_another early{.ends = 300};
  EXPECT_FALSE(early.goes_on(500)) << "it ends before";
  EXPECT_EQ(early.now, 300u);
  loop_of_another late{.ends = 10'000};
  EXPECT_TRUE(late.goes_on(500));
  EXPECT_EQ(late.now, 500u) << "not before, and not later";
  loop_of_another past{.ends = 10'000};
  EXPECT_TRUE(past.goes_on(100)) << "the time is over already";
  EXPECT_EQ(past.now, 100u);
}

TEST(loop_times, a_caller_that_waits_gets_its_helper_at_once) {
  loop_of_another waits{.ends = 10'000, .caller_waits_from = 0};
  EXPECT_TRUE(waits.goes_on(5000));
  EXPECT_EQ(waits.now, 100u);
  loop_of_another later{.ends = 10'000, .caller_waits_from = 200};
  EXPECT_TRUE(later.goes_on(5000));
  EXPECT_EQ(later.now, 200u);
}

TEST(loop_times, a_clock_that_jumps_or_stands_still_holds_no_helper_for_ever) {
  loop_of_another still{.ends = 10'000, .tick = 0};
  EXPECT_TRUE(still.goes_on(5000));
  EXPECT_EQ(still.looks, weft::detail::k_most_looks + 1);
  loop_of_another jumps{.ends = UINT64_MAX, .tick = std::uint64_t{3600} * 1'000'000'000};
  EXPECT_TRUE(jumps.goes_on(5000));
  EXPECT_EQ(jumps.looks, 2);
}

TEST(loop_times, a_loop_that_gets_longer_asks_for_more_participants) {
  const auto end = test::in_process({{"WEFT_WORKERS", "8"}}, [] {
    // The site knows short iterations, of which 20,000 are worth three or four participants. In the last
    // call those of the last quarter take long until six workers have come.
    std::atomic<unsigned> seen{0};
    bool gets_longer = false;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::vector<int> items(20'000);
    std::iota(items.begin(), items.end(), 0);
    for (int call = 0; call != 30; ++call) {
      gets_longer = call == 29;
      weft::for_each(weft::execution::par, items.begin(), items.end(), [&](int i) {
        if (!gets_longer || i < 15'000)
          return;
        seen |= 1u << weft::worker_id();
        const auto begin = std::chrono::steady_clock::now();
        while (std::popcount(seen.load()) < 6 && std::chrono::steady_clock::now() < until &&
               std::chrono::steady_clock::now() - begin < std::chrono::microseconds(200)) {
        }
      });
    }
    EXPECT_GE(std::popcount(seen.load()), 6);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
