// SPDX-License-Identifier: Apache-2.0
// How many workers are worth having, asked in model time.
#include "tune/schedule.hpp"
#include "tune/worker_cap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace {

using namespace weft::rt;

/// Runs a program whose rate depends on the number of workers. Returns what is kept in the end.
template <class Rate>
unsigned run(worker_cap &cap, Rate rate, int windows = 2000, double noise = 0, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < windows; ++i) {
    const auto ns = cap.window_ns();
    const double factor =
        noise > 0 ? std::exp(std::normal_distribution<double>(0, noise)(random)) : 1;
    cap.take(rate(cap.now()) * factor * static_cast<double>(ns), ns);
  }
  return cap.kept();
}

TEST(worker_cap, work_that_scales_keeps_all_workers) {
  worker_cap cap(16);
  EXPECT_EQ(run(cap, [](unsigned k) { return 0.001 * k; }), 16u);
}

TEST(worker_cap, a_full_memory_bus_needs_few_workers) {
  worker_cap cap(16);
  const unsigned kept = run(cap, [](unsigned k) { return 0.01 * std::min(k, 4U); });
  EXPECT_EQ(kept, 4u);
  EXPECT_GE(cap.rate_left(), 0.98);
}

TEST(worker_cap, all_steps_together_cost_two_percent_at_most) {
  worker_cap cap(64); // each worker adds a little less than the one before
  const auto rate = [](unsigned k) { return 0.01 * (1 - std::exp(-0.15 * k)); };
  const unsigned kept = run(cap, rate, 5000);
  EXPECT_LT(kept, 64u);
  EXPECT_GE(rate(kept), 0.979 * rate(64));
}

TEST(worker_cap, workers_come_back_when_the_program_changes) {
  worker_cap cap(8);
  ASSERT_EQ(run(cap, [](unsigned k) { return 0.01 * std::min(k, 2U); }), 2u);
  EXPECT_EQ(run(cap, [](unsigned k) { return 0.001 * k; }, 4000), 8u);
}

TEST(worker_cap, noise_takes_no_worker_away_from_work_that_scales) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    worker_cap cap(8);
    EXPECT_GE(run(cap, [](unsigned k) { return 0.001 * k; }, 2000, 0.03, seed), 7u) << seed;
  }
}

TEST(worker_cap, a_clock_that_jumps_or_stands_still_changes_nothing) {
  worker_cap cap(8);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(cap.take(1e9, 0));
    EXPECT_FALSE(cap.take(1e9, std::uint64_t{3600} * 1'000'000'000));
    EXPECT_FALSE(cap.take(std::nan(""), 1'000'000));
  }
  EXPECT_EQ(cap.kept(), 8u);
}

TEST(worker_cap, an_idle_program_and_one_worker_are_left_alone) {
  worker_cap idle(8);
  EXPECT_EQ(run(idle, [](unsigned) { return 0.0; }), 8u);
  worker_cap one(1);
  EXPECT_EQ(run(one, [](unsigned) { return 1.0; }), 1u);
  EXPECT_EQ(worker_cap(0).kept(), 1u);
}

TEST(worker_cap, rests_longer_and_longer_where_nothing_is_to_be_had) {
  worker_cap cap(8);
  const auto first = cap.window_ns();
  run(cap, [](unsigned k) { return 0.001 * k; }, 400);
  std::uint64_t longest = 0;
  for (int i = 0; i < 8; ++i) {
    longest = std::max(longest, cap.window_ns());
    run(cap, [](unsigned k) { return 0.001 * k; }, 1);
  }
  EXPECT_EQ(longest, 32 * first);
}

TEST(interval_schedule, a_missed_interval_is_not_made_up_for) {
  interval_schedule at(10, 100);
  EXPECT_FALSE(at.is_due(109));
  EXPECT_TRUE(at.is_due(110));
  EXPECT_FALSE(at.is_due(119));
  EXPECT_TRUE(at.is_due(125)) << "late by half";
  EXPECT_TRUE(at.is_due(130)) << "and in step again";
  EXPECT_TRUE(at.is_due(1000)) << "the clock has jumped";
  EXPECT_FALSE(at.is_due(1009)) << "once";
  EXPECT_TRUE(at.is_due(1010));
}

TEST(interval_schedule, a_clock_that_goes_back_delays_a_call_by_an_interval) {
  interval_schedule at(10, 1000);
  EXPECT_FALSE(at.is_due(500));
  EXPECT_FALSE(at.is_due(500)) << "it stands still";
  EXPECT_FALSE(at.is_due(509));
  EXPECT_TRUE(at.is_due(510));
}

TEST(threshold_edge, is_passed_once_until_the_number_comes_back) {
  threshold_edge above(10, true), below(10, false);
  EXPECT_FALSE(above.passes(10));
  EXPECT_TRUE(above.passes(11));
  EXPECT_FALSE(above.passes(12));
  EXPECT_FALSE(above.passes(std::nan("")));
  EXPECT_FALSE(above.passes(11));
  EXPECT_FALSE(above.passes(9));
  EXPECT_TRUE(above.passes(11));
  EXPECT_FALSE(below.passes(10));
  EXPECT_TRUE(below.passes(9));
}

TEST(contradictions, the_policy_that_came_first_keeps_the_knob) {
  contradictions all;
  int refused = 0, told = 0;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(all.note("spin.us", "a", "1"));
    if (const auto lost = all.note("spin.us", "b", "2")) {
      ++refused;
      told += lost->is_first;
      EXPECT_EQ(lost->winner, "a");
      EXPECT_EQ(lost->winners_value, "1");
    }
  }
  EXPECT_GT(refused, 10);
  EXPECT_LT(refused, 20);
  EXPECT_EQ(told, 1);
  all.forget("a");
  EXPECT_FALSE(all.note("spin.us", "b", "2")) << "the other one has ended";
}

TEST(contradictions, each_policy_is_told_apart_and_reported_once) {
  contradictions all;
  int of_b = 0, of_d = 0;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(all.note("x.y", "a", "1"));
    const auto b = all.note("x.y", "b", "2"), d = all.note("x.y", "d", "3");
    EXPECT_FALSE(all.note("x.y", "c", "1")) << "it agrees with the first";
    of_b += b && b->is_first;
    of_d += d && d->is_first;
  }
  EXPECT_EQ(of_b, 1);
  EXPECT_EQ(of_d, 1);
  EXPECT_FALSE(all.note("x.y", "b", "1")) << "it has come to agree";
  all.forget("b");
  EXPECT_FALSE(all.note("x.y", "b", "2")) << "another one of its name";
}

TEST(contradictions, policies_that_agree_or_take_turns_are_left_alone) {
  contradictions all;
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(all.note("x.y", "a", "1"));
    EXPECT_FALSE(all.note("x.y", "b", "1"));
    EXPECT_FALSE(all.note("x.z", "a", std::to_string(i))) << "a loop that controls";
    EXPECT_FALSE(all.note("x.u", "a", "3"));
    EXPECT_FALSE(all.note("x.v", "b", "4"));
  }
}

} // namespace
