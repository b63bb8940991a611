// SPDX-License-Identifier: Apache-2.0
// How many workers are worth having, asked in model time.
#include "observe/power.hpp"
#include "tune/schedule.hpp"
#include "tune/watts_band.hpp"
#include "tune/worker_cap.hpp"

#include <gtest/gtest.h>
#include <weft/error.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

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

// As a container whose quota of processors is lowered and raised again.
TEST(worker_cap, follows_a_quota_that_changes) {
  for (const double noise : {0.0, 0.02}) {
    worker_cap cap(16);
    unsigned quota = 16;
    // Workers beyond the quota stop each other: each of them costs 2 % of the rate.
    const auto rate = [&quota](unsigned k) {
      return 0.001 * std::min(k, quota) / (1 + 0.02 * (k > quota ? k - quota : 0));
    };
    EXPECT_GE(run(cap, rate, 2000, noise), 15u) << noise;
    for (const unsigned now : {4u, 12u, 2u, 16u}) {
      quota = now;
      const unsigned kept = run(cap, rate, 6000, noise, now);
      EXPECT_GE(rate(kept), 0.93 * rate(now)) << now << ' ' << kept << ' ' << noise;
      EXPECT_LE(kept, now + 2) << now << ' ' << noise;
    }
  }
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

/// Is a machine whose processors take 5 W while they work and 1 W else, as /power/estimate has it.
struct powered_machine {
  unsigned workers = 16;
  double busy = 5, idle = 1;
  /// Returns the microjoules of a window in which `active` workers are busy all the time.
  [[nodiscard]] double energy(unsigned active, std::uint64_t ns) const {
    const auto span = static_cast<double>(ns);
    return estimated_energy(span * active, span, workers, busy, idle);
  }
};

/// Runs a program that aims at energy. Returns what is kept in the end.
template <class Rate>
unsigned run_for_energy(worker_cap &cap, const powered_machine &on, Rate rate, int windows = 3000,
                        double noise = 0, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < windows; ++i) {
    const auto ns = cap.window_ns();
    const double factor =
        noise > 0 ? std::exp(std::normal_distribution<double>(0, noise)(random)) : 1;
    cap.take(rate(cap.now()) * factor * static_cast<double>(ns), ns, on.energy(cap.now(), ns));
  }
  return cap.kept();
}

double energy_per_unit(const powered_machine &on, unsigned active, double rate) {
  return on.energy(active, 1'000'000) / rate;
}

TEST(worker_cap, a_full_memory_bus_needs_a_tenth_less_energy_with_fewer_workers) {
  const powered_machine on;
  const auto rate = [](unsigned k) { return 0.01 * std::min(k, 4U); };
  worker_cap cap(on.workers, cap_goal::energy);
  const unsigned kept = run_for_energy(cap, on, rate);
  EXPECT_EQ(kept, 4u);
  EXPECT_GE(rate(kept) / rate(on.workers), 1 / 1.05);
  EXPECT_LE(energy_per_unit(on, kept, rate(kept)),
            0.9 * energy_per_unit(on, on.workers, rate(on.workers)));
}

TEST(worker_cap, energy_costs_five_percent_of_the_rate_at_most) {
  const powered_machine on;
  const auto rate = [](unsigned k) { return 0.01 * (1 - std::exp(-0.3 * k)); };
  worker_cap cap(on.workers, cap_goal::energy);
  const unsigned kept = run_for_energy(cap, on, rate, 5000);
  EXPECT_LT(kept, on.workers);
  EXPECT_GE(rate(kept), 0.949 * rate(on.workers));
  EXPECT_LT(rate(kept - 1), 0.95 * rate(on.workers)) << "all that may be given is given";
}

TEST(worker_cap, energy_keeps_all_workers_where_a_processor_takes_as_much_idle) {
  const powered_machine on{.workers = 8, .busy = 5, .idle = 5};
  worker_cap cap(8, cap_goal::energy);
  EXPECT_EQ(run_for_energy(cap, on, [](unsigned k) { return 0.01 * std::min(k, 4U); }), 8u);
}

TEST(worker_cap, energy_keeps_all_workers_of_work_that_scales) {
  const powered_machine on{.workers = 8, .busy = 5, .idle = 1};
  for (unsigned seed = 1; seed <= 20; ++seed) {
    worker_cap cap(8, cap_goal::energy);
    EXPECT_GE(
        run_for_energy(cap, on, [](unsigned k) { return 0.001 * k; }, 2000, 0.03, seed), 7u)
        << seed;
  }
}

TEST(worker_cap, workers_come_back_for_energy_when_the_program_changes) {
  const powered_machine on{.workers = 8, .busy = 5, .idle = 1};
  worker_cap cap(8, cap_goal::energy);
  ASSERT_EQ(run_for_energy(cap, on, [](unsigned k) { return 0.01 * std::min(k, 2U); }), 2u);
  EXPECT_EQ(run_for_energy(cap, on, [](unsigned k) { return 0.001 * k; }, 4000), 8u);
}

TEST(worker_cap, without_a_meter_energy_moves_nothing) {
  for (const double none : {0.0, std::nan("")}) {
    worker_cap cap(8, cap_goal::energy);
    for (int i = 0; i < 2000; ++i) {
      const auto ns = cap.window_ns();
      cap.take(0.01 * static_cast<double>(ns), ns, none);
    }
    EXPECT_EQ(cap.kept(), 8u) << none;
  }
}

TEST(worker_cap, windows_of_energy_are_long_enough_for_a_meter) {
  worker_cap cap(8, cap_goal::energy);
  cap.take(1e9, cap.window_ns(), 1);
  EXPECT_EQ(cap.window_ns(), 20'000'000u);
}

TEST(power, an_estimate_counts_busy_and_idle_processors) {
  EXPECT_EQ(estimated_energy(2e9, 1e9, 4, 5, 1), 12e6) << "two seconds of 5 W, two of 1 W";
  EXPECT_EQ(estimated_energy(0, 1e9, 4, 5, 1), 4e6);
  EXPECT_EQ(estimated_energy(6e9, 1e9, 4, 5, 1), 30e6) << "more threads than workers";
}

constexpr std::uint64_t k_quarter = watts_band::k_window_ns;
/// Gives the band a window of this power.
bool take_watts(watts_band &of, double power) {
  return of.take(power * static_cast<double>(k_quarter) / 1000, k_quarter);
}
/// Gives it windows of a power that follows the number of workers. Returns the numbers.
template <class Power>
std::vector<unsigned> run_band(watts_band &of, Power power, int windows) {
  std::vector<unsigned> numbers;
  for (int i = 0; i < windows; ++i) {
    take_watts(of, power(of.now()));
    numbers.push_back(of.now());
  }
  return numbers;
}

TEST(watts_band, within_it_nothing_moves) {
  watts_band band(8, {40, 60});
  for (const double power : {40.0, 50.0, 60.0})
    EXPECT_FALSE(take_watts(band, power)) << power;
  EXPECT_EQ(band.now(), 8u);
  EXPECT_EQ(band.last_watts(), 60);
}

TEST(watts_band, above_it_half_of_the_workers_go_until_one_is_left) {
  watts_band band(8, {40, 60});
  EXPECT_TRUE(take_watts(band, 61));
  EXPECT_EQ(band.now(), 4u);
  EXPECT_FALSE(take_watts(band, 61)) << "the window after a change is not looked at";
  EXPECT_TRUE(take_watts(band, 61));
  EXPECT_FALSE(take_watts(band, 61));
  EXPECT_TRUE(take_watts(band, 61));
  EXPECT_EQ(band.now(), 1u);
  EXPECT_FALSE(take_watts(band, 61));
  EXPECT_FALSE(take_watts(band, 61)) << "one worker always stays";
}

TEST(watts_band, below_it_workers_come_back_one_by_one) {
  watts_band band(8, {40, 60});
  EXPECT_FALSE(take_watts(band, 10)) << "all work";
  EXPECT_EQ(run_band(band, [](unsigned k) { return 10.0 * k; }, 12),
            (std::vector<unsigned>{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}))
      << "80 W, then 40 W";
  EXPECT_EQ(run_band(band, [](unsigned k) { return 9.0 * k; }, 6),
            (std::vector<unsigned>{5, 5, 5, 5, 5, 5}))
      << "36 W, then 45 W";
}

TEST(watts_band, a_worker_that_leaps_over_the_band_goes_again_for_longer_and_longer) {
  watts_band band(4, {40, 45});
  const auto power = [](unsigned k) { return 15.0 * k; }; // 30 W with two, 45.1 W with three
  const auto numbers = run_band(band, [&](unsigned k) { return power(k) + 0.1; }, 400);
  EXPECT_EQ(std::vector<unsigned>(numbers.begin(), numbers.begin() + 12),
            (std::vector<unsigned>{2, 2, 3, 3, 2, 2, 2, 3, 3, 2, 2, 2}));
  int above = 0;
  for (const unsigned n : numbers)
    above += n == 3;
  EXPECT_LE(above, 24) << "the tries become rare";
  EXPECT_GE(above, 8);
  run_band(band, [](unsigned k) { return k == 3 ? 42.0 : 30.0; }, 80); // it stays once
  EXPECT_EQ(run_band(band, [&](unsigned k) { return power(k) + 0.1; }, 12),
            (std::vector<unsigned>{1, 1, 2, 2, 3, 3, 2, 2, 2, 3, 3, 2}))
      << "and is tried early again";
}

TEST(watts_band, a_clock_that_jumps_and_a_missing_meter_change_nothing) {
  watts_band band(8, {40, 60});
  EXPECT_FALSE(band.take(1e12, 0));
  EXPECT_FALSE(band.take(1e12, std::uint64_t{3600} * 1'000'000'000));
  EXPECT_FALSE(band.take(std::nan(""), k_quarter));
  EXPECT_FALSE(band.take(-1e12, k_quarter));
  EXPECT_EQ(band.now(), 8u);
  EXPECT_EQ(watts_band(0, {40, 60}).now(), 1u);
}

TEST(watts_band, is_two_numbers_the_lower_one_first) {
  EXPECT_EQ(parse_watts("40:60").low, 40);
  EXPECT_EQ(parse_watts("0:0.5").high, 0.5);
  for (const char *wrong : {"", "40", "60:40", "40:40", "-1:40", "40:x", "40: 60", "40:60:", "inf:nan"})
    EXPECT_THROW(static_cast<void>(parse_watts(wrong)), weft::error) << wrong;
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

TEST(interval_schedule, an_endless_interval_is_never_over) {
  interval_schedule at(UINT64_MAX, 100);
  for (const std::uint64_t now : {100u, 101u, 50u, 4'000'000'000u}) {
    EXPECT_FALSE(at.is_due(now)) << now;
    EXPECT_GE(at.next(), std::uint64_t{INT64_MAX}) << now;
    EXPECT_GT(static_cast<std::int64_t>(at.next()), 0) << "a thread sleeps until then: " << now;
  }
  interval_schedule after_a_call(INT64_MAX - 5, 3);
  EXPECT_TRUE(after_a_call.is_due(INT64_MAX - 2));
  EXPECT_FALSE(after_a_call.is_due(INT64_MAX - 1));
  EXPECT_GT(static_cast<std::int64_t>(after_a_call.next()), 0);
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
