// SPDX-License-Identifier: Apache-2.0
#include "observe/timekeeper.hpp"

#include <gtest/gtest.h>

using namespace weft::rt;

TEST(counter_layout, durations_fall_into_buckets_whose_floors_they_reach) {
  EXPECT_EQ(duration_bucket(0), 0u);
  EXPECT_EQ(duration_bucket(15), 0u);
  unsigned last = 0;
  for (std::uint64_t ns = 16; ns < (std::uint64_t{1} << 40); ns += ns / 7 + 1) {
    const unsigned b = duration_bucket(ns);
    EXPECT_GE(b, last);
    EXPECT_LT(b, k_duration_buckets);
    if (b > 0) {
      EXPECT_LE(bucket_floor(b), ns);
    }
    EXPECT_LT(ns, bucket_floor(b + 1));
    last = b;
  }
  EXPECT_EQ(duration_bucket(~std::uint64_t{0}), k_duration_buckets - 1);
}

TEST(counter_layout, a_stopwatch_tells_at_any_moment_what_it_has_measured) {
  std::uint64_t watch = 0;
  EXPECT_EQ(elapsed(watch, 1000), 0u);
  start_watch(watch, 1000);
  EXPECT_EQ(elapsed(watch, 1010), 10u);
  start_watch(watch, 1011); // it runs already
  stop_watch(watch, 1020);
  EXPECT_EQ(elapsed(watch, 5000), 20u);
  start_watch(watch, 2000);
  EXPECT_EQ(elapsed(watch, 2005), 25u);
  EXPECT_EQ(elapsed(watch, 1990), 10u) << "a reader whose clock is late is behind, not absurd";
  EXPECT_EQ(elapsed(watch, 1900), 0u);
}

class timekeeping : public testing::Test {
 protected:
  void SetUp() override { calibrate_ticks(too_early::waits); }
  void TearDown() override { set_time_mode(time_mode::off); }
  void spend(std::uint64_t ns) {
    const std::uint64_t until = now_ns() + ns;
    while (now_ns() < until) {
    }
  }
  /// Tasks until one is timed.
  unsigned run_until_timed(counter_block &c, timekeeper &k) {
    for (unsigned n = 1;; ++n) {
      count(c.executed);
      if (--k.until == 0)
        return n;
    }
  }
  counter_block c;
  timekeeper k;
};

TEST_F(timekeeping, of_every_task_adds_up_the_gaps_between_them) {
  set_time_mode(time_mode::exact);
  schedule_sample(k);
  for (int i = 0; i < 3; ++i) {
    count(c.executed);
    ASSERT_EQ(--k.until, 0u);
    const timed_task t = begin_timed(c, k, {});
    ASSERT_EQ(t.block, &c);
    spend(200'000);
    end_timed(t, c, k);
    spend(1'000'000);
  }
  EXPECT_EQ(c.samples, 3u);
  EXPECT_GE(c.overhead, 1'990'000u) << "two gaps of a millisecond; the third is open";
  end_gap(c, k);
  EXPECT_GE(c.overhead, 2'990'000u);
  std::uint64_t timed = 0;
  for (unsigned b = duration_bucket(190'000); b < k_duration_buckets; ++b)
    timed += c.durations[b];
  EXPECT_EQ(timed, 3u);
}

TEST_F(timekeeping, of_some_tasks_lets_each_gap_stand_for_all_since_the_last) {
  set_time_mode(time_mode::sampled);
  schedule_sample(k);
  const std::uint32_t weight = k.weight;
  EXPECT_EQ(run_until_timed(c, k), weight - 1);
  const timed_task t = begin_timed(c, k, {});
  ASSERT_NE(t.block, nullptr);
  end_timed(t, c, k);
  EXPECT_EQ(k.until, 1u) << "the next task ends the gap";
  spend(100'000);
  EXPECT_EQ(begin_timed(c, k, {}).block, nullptr) << "which is not timed itself";
  EXPECT_GE(c.overhead, std::uint64_t{weight} * 99'000);
  EXPECT_EQ(c.samples, 1u);
}

TEST_F(timekeeping, of_a_task_that_waited_is_not_in_the_histogram) {
  set_time_mode(time_mode::exact);
  schedule_sample(k);
  const timed_task t = begin_timed(c, k, {});
  count(c.executed); // another task ran meanwhile
  end_timed(t, c, k);
  counter_block elsewhere;
  timekeeper its;
  end_timed(begin_timed(c, k, {}), elsewhere, its); // it ended on another worker
  for (const auto *b : {&c, &elsewhere})
    for (const std::uint64_t n : b->durations)
      EXPECT_EQ(n, 0u);
}

TEST_F(timekeeping, is_off_without_a_sample) {
  set_time_mode(time_mode::off);
  schedule_sample(k);
  EXPECT_EQ(k.until, UINT32_MAX);
  EXPECT_EQ(begin_timed(c, k, {}).block, nullptr);
}

TEST_F(timekeeping, samples_are_drawn_not_periodic) {
  set_time_mode(time_mode::sampled);
  std::uint64_t sum = 0;
  bool differ = false;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t before = k.until;
    schedule_sample(k);
    differ |= i > 0 && before != k.until;
    sum += k.until;
  }
  EXPECT_TRUE(differ);
  EXPECT_NEAR(static_cast<double>(sum) / 1000, 512, 40);
}
