// SPDX-License-Identifier: Apache-2.0
// What moves a knob, asked in model time: machines that drift, are noisy, change, and clocks that jump
// or stand still.
#include "tune/domain.hpp"
#include "tune/paired_trials.hpp"
#include "tune/search_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace {

using namespace weft::rt;
using event = tuning_event;

constexpr int k_values = 21;

std::unique_ptr<search> along(const lattice &space, const lattice_point &first,
                              void * /*context*/) {
  return std::make_unique<line_search>(space.sizes[0], first[0], 12, 4);
}

/// Is a machine on which a window of a point takes a known time.
struct machine {
  explicit machine(int first, int best, tuning_limits limits = {},
                   std::optional<lattice_point> remembered = {})
      : best_point(best), tuner({{k_values}}, {first}, &along, limits, std::move(remembered)) {}

  double cost(int point) const {
    const double slope = point < best_point ? slope_below : slope_above;
    return 1e6 * (1 + slope * std::abs(point - best_point)) * drift;
  }
  /// Runs windows until one leads to `wanted`. Returns how many it took; 0: not within `most`.
  int until(event wanted, int most = 20'000) {
    for (int i = 1; i <= most; ++i)
      if (window() == wanted)
        return i;
    return 0;
  }
  event window() {
    double ns = cost(tuner.point()[0]) * work;
    if (noise > 0)
      ns *= std::exp(std::normal_distribution<double>(0, noise)(random));
    run_ns += ns;
    lost_ns += std::max(0.0, ns - cost(tuner.present()[0]) * work);
    drift *= growth;
    const auto happened = tuner.take({work, static_cast<std::uint64_t>(ns), ns});
    events.push_back(happened);
    return happened;
  }
  int count(event wanted) const {
    return static_cast<int>(std::count(events.begin(), events.end(), wanted));
  }

  int best_point;
  double slope_below = 0.1, slope_above = 0.1;
  double drift = 1, growth = 1, noise = 0, work = 1, run_ns = 0, lost_ns = 0;
  std::mt19937_64 random{7};
  std::vector<event> events;
  paired_trials tuner;
};

TEST(paired_trials, finds_the_best_point_and_keeps_it) {
  machine m(2, 12);
  EXPECT_GT(m.until(event::settled), 0);
  EXPECT_EQ(m.tuner.present(), lattice_point{12});
  EXPECT_EQ(m.tuner.point(), lattice_point{12});
  EXPECT_TRUE(m.tuner.is_settled());
  EXPECT_LE(m.tuner.trials(), 13u);
  for (int i = 0; i < 1000; ++i)
    m.window();
  EXPECT_EQ(m.tuner.present(), lattice_point{12});
  EXPECT_EQ(m.count(event::reverted), 0);
}

TEST(paired_trials, stays_at_a_default_that_is_best) {
  machine m(12, 12);
  EXPECT_GT(m.until(event::kept_default), 0);
  EXPECT_EQ(m.tuner.present(), lattice_point{12});
  EXPECT_EQ(m.count(event::moved), 0);
}

TEST(paired_trials, a_gain_below_two_percent_is_not_worth_a_move) {
  machine m(11, 12);
  const auto cost = [&](int point) {
    return point == 12 ? 0.99e6 : 1e6 + 1e5 * std::abs(point - 11);
  };
  event last = event::none;
  for (int i = 0; i < 20'000 && last != event::kept_default; ++i) {
    const double ns = cost(m.tuner.point()[0]);
    last = m.tuner.take({1, static_cast<std::uint64_t>(ns), ns});
  }
  EXPECT_EQ(last, event::kept_default);
  EXPECT_EQ(m.tuner.present(), lattice_point{11});
}

TEST(paired_trials, a_drift_of_the_machine_cancels) {
  for (const double growth : {1.001, 0.999}) {
    machine m(5, 12);
    m.growth = growth; // e.g. it gets warm: in a thousand windows by a factor of 2.7
    EXPECT_GT(m.until(event::settled), 0) << growth;
    EXPECT_EQ(m.tuner.present(), lattice_point{12}) << growth;
  }
}

TEST(paired_trials, noise_of_a_busy_machine_does_not_mislead) {
  int near = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    machine m(3, 12);
    m.noise = 0.03;
    m.random.seed(seed);
    m.until(event::settled);
    near += m.cost(m.tuner.present()[0]) <= 1.21 * m.cost(12);
  }
  EXPECT_GE(near, 45);
}

TEST(paired_trials, equal_ways_change_nothing) {
  int wrong = 0;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    machine m(10, 12);
    m.random.seed(seed);
    for (int i = 0; i < 2000; ++i) {
      const double ns = 1e6 * std::exp(std::normal_distribution<double>(0, 0.01)(m.random));
      m.tuner.take({1, static_cast<std::uint64_t>(ns), ns});
    }
    wrong += m.tuner.present() != lattice_point{10};
  }
  EXPECT_LE(wrong, 2);
}

TEST(paired_trials, trials_lose_two_percent_of_the_time_at_most) {
  machine m(18, 18); // each neighbour is worse
  double most = 0;
  for (int i = 0; i < 20'000; ++i) {
    m.window();
    if (i > 200)
      most = std::max(most, m.lost_ns / m.run_ns);
  }
  EXPECT_GT(m.tuner.trials(), 2u);
  EXPECT_LE(most, 0.02);
  EXPECT_DOUBLE_EQ(m.tuner.lost_ns() > 0, true);
}

TEST(paired_trials, the_first_trial_waits_until_there_is_room_for_it) {
  machine m(2, 12);
  int before = 0;
  while (!m.tuner.tries()) {
    m.window();
    ++before;
  }
  EXPECT_EQ(before, 50) << "a window is two percent of fifty";
  machine eager(2, 12, {1.0, 0.02});
  eager.window();
  EXPECT_TRUE(eager.tuner.tries()) << "with a budget of all";
}

TEST(paired_trials, does_not_try_while_another_knob_is_tried) {
  machine m(2, 12);
  for (int i = 0; i < 1000; ++i) {
    m.window();
    m.tuner.postpone();
    EXPECT_EQ(m.tuner.point(), lattice_point{2});
  }
  EXPECT_EQ(m.tuner.windows_tried(), 0u);
  EXPECT_GT(m.until(event::settled), 0) << "later";
  EXPECT_EQ(m.tuner.present(), lattice_point{12});
}

TEST(paired_trials, a_pair_that_is_postponed_is_measured_again) {
  machine m(2, 12, {1.0, 0.02});
  while (!m.tuner.is_comparing())
    m.window();
  const lattice_point tried = m.tuner.last_tried();
  m.tuner.postpone();
  EXPECT_FALSE(m.tuner.is_comparing() || m.tuner.tries());
  EXPECT_EQ(m.window(), event::none);
  ASSERT_TRUE(m.tuner.tries());
  EXPECT_EQ(m.tuner.point(), tried);
  EXPECT_EQ(m.window(), event::none);
  EXPECT_TRUE(m.tuner.is_comparing());
  EXPECT_EQ(m.tuner.windows_tried(), 2u);
}

TEST(paired_trials, reverts_a_point_that_has_come_to_lose) {
  machine m(2, 12);
  ASSERT_GT(m.until(event::settled), 0);
  m.best_point = 2; // the program has changed; slowly, so that no new search begins
  for (int i = 0; i < 8; ++i)
    m.window();
  ASSERT_GT(m.until(event::reverted) + m.count(event::restarted), 0);
  m.until(event::kept_default);
  EXPECT_EQ(m.tuner.present(), lattice_point{2});
}

TEST(paired_trials, searches_again_when_the_program_has_changed) {
  machine m(2, 12);
  ASSERT_GT(m.until(event::settled), 0);
  m.best_point = 20;
  ASSERT_GT(m.until(event::restarted, 100), 0);
  ASSERT_GT(m.until(event::settled), 0);
  EXPECT_EQ(m.tuner.present(), lattice_point{20});
}

/// Runs phases in turn, each with the best point of its number. Returns what the worst window of the
/// last round cost of the best point's, the first windows of each phase left out.
double worst_of_phases(machine &m, const std::vector<int> &best, int windows, int rounds,
                       int left_out) {
  double worst = 0;
  for (int round = 0; round < rounds; ++round)
    for (const int point : best) {
      m.best_point = point;
      for (int i = 0; i < windows; ++i) {
        const double now = m.cost(m.tuner.present()[0]) / m.cost(point);
        if (round == rounds - 1 && i >= left_out)
          worst = std::max(worst, now);
        m.window();
      }
    }
  return worst;
}

TEST(paired_trials, comes_back_to_the_best_point_of_a_phase_that_comes_again) {
  machine m(10, 4);
  EXPECT_EQ(worst_of_phases(m, {4, 18}, 1500, 4, 10), 1.0) << "at once, and not by a search";
  EXPECT_LE(m.count(event::restarted), 3) << "each phase is searched twice";
  EXPECT_GE(m.count(event::returned), 4);
}

TEST(paired_trials, searches_in_a_new_phase_though_a_point_of_an_old_one_wins) {
  machine m(10, 4);
  for (int i = 0; i < 3000; ++i)
    m.window();
  ASSERT_EQ(m.tuner.present(), lattice_point{4}) << "which costs 1";
  m.best_point = 18;
  m.drift = 5;
  for (int i = 0; i < 3000; ++i)
    m.window();
  ASSERT_EQ(m.tuner.present(), lattice_point{18}) << "which costs 5";
  const int before = m.count(event::restarted);
  m.best_point = 11;
  m.drift = 2.5;
  m.slope_below = 1.0 / 7; // 4 costs 5, as 18 has till now
  m.slope_above = 2.0 / 7; // 18 costs 7.5
  for (int i = 0; i < 20'000; ++i)
    m.window();
  EXPECT_GT(m.count(event::restarted), before);
  EXPECT_EQ(m.tuner.present(), lattice_point{11});
}

TEST(paired_trials, comes_back_in_four_phases_and_under_noise) {
  machine m(10, 4);
  m.noise = 0.02;
  EXPECT_LE(worst_of_phases(m, {4, 18, 11, 0}, 4000, 5, 20), 1.11);
  EXPECT_LE(m.lost_ns, 0.025 * m.run_ns);
}

TEST(paired_trials, a_program_that_changes_all_the_time_is_not_searched_all_the_time) {
  machine m(10, 4);
  for (int i = 0; i < 4000; ++i) {
    m.best_point = static_cast<int>(m.random() % k_values);
    for (int k = 0; k < 12; ++k)
      m.window();
  }
  EXPECT_LE(m.count(event::restarted), 10);
  EXPECT_LE(m.lost_ns, 0.025 * m.run_ns) << "what returns cost is part of the budget";
}

TEST(paired_trials, a_remembered_point_is_tried_before_it_is_trusted) {
  machine m(2, 12, {}, lattice_point{12});
  const int windows = m.until(event::settled);
  EXPECT_LE(windows, 6);
  EXPECT_EQ(m.tuner.trials(), 1u);
  EXPECT_EQ(m.tuner.memory_was_right(), true);
  EXPECT_EQ(m.tuner.present(), lattice_point{12});
}

TEST(paired_trials, a_remembered_point_that_loses_is_forgotten) {
  machine m(12, 12, {}, lattice_point{20});
  EXPECT_EQ(m.until(event::judged, 10), 3) << "one pair suffices";
  EXPECT_EQ(m.tuner.memory_was_right(), false);
  EXPECT_EQ(m.tuner.present(), lattice_point{12});
  EXPECT_GT(m.until(event::kept_default), 0);
}

TEST(paired_trials, a_clock_that_stands_still_ends_the_search_and_moves_nothing) {
  machine m(2, 12);
  for (int i = 0; i < 63; ++i)
    EXPECT_EQ(m.tuner.take({1, 0, 0}), event::none);
  EXPECT_EQ(m.tuner.take({1, 0, 0}), event::gave_up);
  EXPECT_TRUE(m.tuner.has_given_up());
  EXPECT_EQ(m.until(event::settled, 1000), 0) << "for good";
  EXPECT_EQ(m.tuner.point(), lattice_point{2});
}

TEST(paired_trials, windows_without_work_or_cost_count_for_nothing) {
  machine m(2, 12, {1.0, 0.02});
  for (const tuned_window &bad : {tuned_window{0, 1000, 1000}, tuned_window{-1, 1000, 1000},
                                  tuned_window{1, 1000, std::nan("")}, tuned_window{1, 1000, -5},
                                  tuned_window{1, 1000, HUGE_VAL}}) {
    EXPECT_EQ(m.tuner.take(bad), event::none);
    EXPECT_FALSE(m.tuner.tries());
  }
  EXPECT_GT(m.until(event::settled), 0);
}

TEST(paired_trials, a_clock_that_jumps_decides_nothing) {
  for (int when = 1; when < 90; ++when) {
    machine m(2, 12, {1.0, 0.02});
    for (int i = 0; i < when; ++i)
      m.window();
    m.tuner.take({1, std::uint64_t{3600} * 1'000'000'000, 3.6e12}); // an hour
    m.tuner.take({1, 1, 1}); // and back
    for (int i = 0; i < 3000 && !m.tuner.is_settled(); ++i)
      m.window();
    EXPECT_LE(m.cost(m.tuner.present()[0]), m.cost(2)) << "not worse than the default, " << when;
    EXPECT_LT(m.tuner.lost_ns(), 1e9) << when;
  }
}

TEST(paired_trials, a_program_that_becomes_a_million_times_slower_is_believed) {
  machine m(2, 12);
  for (int i = 0; i < 10; ++i)
    m.window();
  m.work = 1;
  m.drift = 1e6;
  EXPECT_GT(m.until(event::settled), 0);
}

/// Is a machine with two values, of which the first one takes 1 ms, and the second one `times` as long.
struct two_values {
  explicit two_values(double times, std::optional<lattice_point> remembered = {})
      : second_ns(1e6 * times),
        tuner({{2}}, {0},
              [](const lattice &space, const lattice_point & /*first*/, void * /*context*/) {
                return std::unique_ptr<search>(new exhaustive_search(space, 1000));
              },
              {}, std::move(remembered)) {}
  event window() {
    const double ns = tuner.point()[0] == 1 ? second_ns : 1e6;
    return take({1, static_cast<std::uint64_t>(ns), ns});
  }
  event take(const tuned_window &seen) {
    if (tuner.tries())
      tried.push_back(now);
    ++now;
    return tuner.take(seen);
  }
  void windows(int count) {
    for (int i = 0; i < count; ++i)
      window();
  }
  const double second_ns;
  int now = 0;
  std::vector<int> tried; // windows in which a candidate was
  paired_trials tuner;
};

TEST(paired_trials, a_value_that_takes_absurdly_long_is_paid_for) {
  two_values m(2000);
  m.windows(100);
  ASSERT_EQ(m.tried, (std::vector<int>{50, 52})) << "the first one may be a clock that has jumped";
  EXPECT_DOUBLE_EQ(m.tuner.lost_ns(), 1999e6);
  m.windows(97'000); // a fiftieth of them is not yet what was lost
  EXPECT_EQ(m.tried.size(), 2u);
  EXPECT_EQ(m.tuner.trials(), 0u);
  m.windows(2000);
  EXPECT_EQ(m.tried.size(), 3u);
  EXPECT_EQ(m.tuner.trials(), 1u) << "it is believed";
  EXPECT_TRUE(m.tuner.is_settled());
  EXPECT_EQ(m.tuner.present(), lattice_point{0});
  EXPECT_DOUBLE_EQ(m.tuner.lost_ns(), 3 * 1999e6) << "the first one, too";
}

TEST(paired_trials, a_remembered_value_that_takes_absurdly_long_waits_for_room_the_second_time) {
  two_values m(2000, lattice_point{1});
  m.windows(1000);
  ASSERT_EQ(m.tried, (std::vector<int>{1, 51})) << "the first time at once";
}

TEST(paired_trials, a_value_without_a_cost_is_measured_eight_times_and_has_lost) {
  for (const int bad : {7, 8}) {
    two_values m(0.5);
    int seen = 0;
    event last = event::none;
    for (int i = 0; i < 100 && last == event::none; ++i) {
      const bool is_bad = m.tuner.tries() && seen++ < bad;
      last = is_bad ? m.take({1, 1'000'000, -1}) : m.window();
      EXPECT_FALSE(is_bad && m.tuner.tries()) << "the present value comes between";
    }
    EXPECT_EQ(last, bad == 8 ? event::judged : event::moved);
  }
}

TEST(paired_trials, only_windows_in_a_row_that_take_absurdly_long_are_believed) {
  two_values m(0.5);
  event last = event::none;
  int tried = 0;
  for (int i = 0; i < 100 && last == event::none; ++i) {
    const bool has_jumped = m.tuner.tries() && tried++ % 2 == 0;
    last = has_jumped ? m.take({1, std::uint64_t{3'600'000'000'000}, 3.6e12}) : m.window();
  }
  EXPECT_EQ(last, event::moved);
  EXPECT_EQ(tried, 4);
  EXPECT_EQ(m.tuner.lost_ns(), 0) << "a clock has jumped";
}

/// Is a machine on which a larger point takes less time and more energy, and has some misses.
struct two_costs {
  explicit two_costs(int first, criteria by, int all = k_values)
      : tuner(
            {{all}}, {first},
            [](const lattice &space, const lattice_point & /*first*/, void * /*context*/) {
              return std::unique_ptr<search>(new exhaustive_search(space, 1000));
            },
            {1.0, 0.02}, std::nullopt, nullptr, std::move(by)) {}

  double time(int point) const { return speed * (10 + 100.0 / (1 + point)); }
  double energy(int point) const { return 50 + 5.0 * point; }
  event window() {
    const int at = tuner.point()[0];
    double ns = 1000 * time(at);
    if (noise > 0)
      ns *= std::exp(std::normal_distribution<double>(0, noise)(random));
    tuned_window seen{10, static_cast<std::uint64_t>(ns), 0, {}};
    seen.terms = {hunger * energy(at) * 10, ns, 10.0 * at};
    return tuner.take(seen);
  }
  event until_settled() {
    for (int i = 0; i < 20'000; ++i)
      if (const event now = window();
          now == event::settled || now == event::kept_default || now == event::gave_up)
        return now;
    return event::none;
  }
  int kept() const { return tuner.present()[0]; }
  /// Returns the point of least energy that takes this part of the default's time at most.
  int least_energy(int first, double part) const {
    for (int i = 0; i < k_values; ++i)
      if (time(i) <= part * time(first))
        return i; // energy grows with the point
    return -1;
  }

  double noise = 0, speed = 1, hunger = 1;
  std::mt19937_64 random{7};
  paired_trials tuner;
};

TEST(paired_trials, the_least_energy_within_a_part_of_the_default_s_time) {
  for (const int first : {5, 12, 20}) {
    two_costs m(first, {{1, 0, 0}, {{1, 1.2, true}}});
    ASSERT_NE(m.least_energy(first, 1.2), first);
    EXPECT_EQ(m.until_settled(), event::settled);
    EXPECT_EQ(m.kept(), m.least_energy(first, 1.2)) << first;
    EXPECT_TRUE(m.tuner.keeps_bounds());
    EXPECT_NEAR(m.tuner.last_ratio(), m.energy(m.kept()) / m.energy(first), 1e-9)
        << "of energy alone";
  }
}

TEST(paired_trials, a_default_beyond_a_bound_is_left_for_the_best_point_that_keeps_it) {
  two_costs m(2, {{0, 1, 0}, {{0, 100, false}}});
  m.speed = 3;
  EXPECT_EQ(m.until_settled(), event::settled);
  EXPECT_EQ(m.kept(), 10) << "the fastest with an energy of 100 at most";
  two_costs beyond(20, {{0, 1, 0}, {{0, 100, false}}});
  EXPECT_EQ(beyond.until_settled(), event::settled);
  EXPECT_EQ(beyond.kept(), 10) << "though it is slower than the default";
  EXPECT_GT(beyond.tuner.last_ratio(), 1);
}

TEST(paired_trials, where_no_point_keeps_a_bound_the_nearest_one_is_kept) {
  two_costs m(12, {{0, 1, 0}, {{0, 20, false}}});
  EXPECT_EQ(m.until_settled(), event::settled);
  EXPECT_EQ(m.kept(), 0);
  EXPECT_FALSE(m.tuner.keeps_bounds());
}

TEST(paired_trials, all_of_several_bounds_are_kept) {
  two_costs m(20, {{1, 0, 0}, {{1, 2, true}, {2, 3, false}}});
  EXPECT_EQ(m.until_settled(), event::settled);
  EXPECT_EQ(m.kept(), 3) << "none keeps both; 18 % too slow, where one more has 33 % too many misses";
  EXPECT_FALSE(m.tuner.keeps_bounds());
  two_costs wider(20, {{1, 0, 0}, {{1, 2, true}, {2, 15, false}}});
  EXPECT_EQ(wider.until_settled(), event::settled);
  EXPECT_EQ(wider.kept(), wider.least_energy(20, 2));
}

TEST(paired_trials, a_product_weighs_costs_by_their_powers) {
  for (const double power : {0.1, 0.5, 1.0, 2.0}) {
    two_costs m(20, {{1, power, 0}, {}});
    int best = 0;
    const auto product = [&](int i) { return m.energy(i) * std::pow(m.time(i), power); };
    for (int i = 1; i < k_values; ++i)
      if (product(i) < product(best))
        best = i;
    const event last = m.until_settled();
    EXPECT_TRUE(last == event::settled || last == event::kept_default);
    EXPECT_LE(product(m.kept()), 1.021 * product(best)) << power << ": " << m.kept();
  }
}

TEST(paired_trials, points_that_no_other_beats_are_known) {
  two_costs m(12, {{1, 0, 0}, {{1, 1.2, true}}});
  EXPECT_EQ(m.until_settled(), event::settled);
  // More energy is less time at each point; misses grow with energy.
  ASSERT_EQ(m.tuner.non_dominated().size(), static_cast<std::size_t>(k_values));
  for (const judged_point &one : m.tuner.non_dominated()) {
    EXPECT_NEAR(one.costs[0], m.energy(one.point[0]) / m.energy(12), 1e-9);
    EXPECT_NEAR(one.costs[1], m.time(one.point[0]) / m.time(12), 1e-3);
  }
  machine single(2, 12);
  single.until(event::settled);
  EXPECT_TRUE(single.tuner.non_dominated().empty());
}

TEST(paired_trials, bounds_hold_under_noise) {
  int kept = 0, good = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    two_costs m(12, {{1, 0, 0}, {{1, 1.2, true}}});
    m.noise = 0.01;
    m.random.seed(seed);
    m.until_settled();
    kept += m.time(m.kept()) <= 1.23 * m.time(12);
    good += m.energy(m.kept()) <= 1.15 * m.energy(m.least_energy(12, 1.2));
  }
  EXPECT_GE(kept, 38);
  EXPECT_GE(good, 32);
}

TEST(paired_trials, a_point_that_has_come_beyond_its_bound_is_searched_anew) {
  two_costs m(20, {{1, 0, 0}, {{1, 2500, false}}}); // a time of 25
  EXPECT_EQ(m.until_settled(), event::settled);
  const int before = m.kept();
  EXPECT_LE(m.time(before), 25);
  m.speed = 1.1; // less than what is another phase
  bool restarted = false;
  for (int i = 0; i < 20'000 && !restarted; ++i)
    restarted = m.window() == event::restarted;
  EXPECT_TRUE(restarted);
  m.until_settled();
  EXPECT_GT(m.kept(), before);
  EXPECT_LE(m.time(m.kept()), 25);
}

TEST(paired_trials, a_search_with_a_bound_by_the_default_begins_again_at_the_default) {
  two_costs m(12, {{1, 0, 0}, {{1, 1.2, true}}});
  EXPECT_EQ(m.until_settled(), event::settled);
  EXPECT_NE(m.kept(), 12);
  event last = event::none;
  for (int i = 0; i < 2000 && last != event::restarted; ++i) {
    m.hunger = 1.3;
    last = m.window();
  }
  ASSERT_EQ(last, event::restarted);
  EXPECT_EQ(m.kept(), 12);
  EXPECT_EQ(m.until_settled(), event::settled);
  EXPECT_EQ(m.kept(), m.least_energy(12, 1.2)) << "a bound does not add up";
}

/// Is a machine on which each point has known costs, of which the second one may be noisy. The first
/// point is the default.
struct listed_costs {
  explicit listed_costs(std::vector<std::vector<double>> all, std::vector<cost_bound> bounds,
                        double budget = 1)
      : costs(std::move(all)),
        tuner({{static_cast<int>(costs.size())}}, {0},
              [](const lattice &space, const lattice_point & /*first*/, void * /*context*/) {
                return std::unique_ptr<search>(new exhaustive_search(space, 1000));
              },
              {budget, 0.02}, std::nullopt, nullptr, {{1, 0}, std::move(bounds)}) {}
  event window() {
    tuned_window seen{1, 1000, 0, costs[static_cast<std::size_t>(tuner.point()[0])]};
    if (noise > 0)
      seen.terms[1] *= std::exp(std::normal_distribution<double>(0, noise)(random));
    const event happened = tuner.take(seen);
    events.push_back(happened);
    return happened;
  }
  void windows(int most) {
    for (int i = 0; i < most; ++i)
      window();
  }
  bool until(event wanted, int most = 5000) {
    for (int i = 0; i < most; ++i)
      if (window() == wanted)
        return true;
    return false;
  }
  int count(event wanted) const {
    return static_cast<int>(std::count(events.begin(), events.end(), wanted));
  }
  int kept() const { return tuner.present()[0]; }

  std::vector<std::vector<double>> costs;
  double noise = 0;
  std::mt19937_64 random{7};
  std::vector<event> events;
  paired_trials tuner;
};

TEST(paired_trials, a_point_just_within_its_bound_stays_under_noise) {
  for (const bool of_default : {true, false}) {
    int found = 0;
    for (unsigned seed = 1; seed <= 40; ++seed) {
      listed_costs m({{1, 1}, {0.7, 1.045}, {0.6, 1.5}}, {{1, 1.05, of_default}});
      m.noise = 0.02;
      m.random.seed(seed);
      m.windows(100);
      if (!m.tuner.is_settled() || m.kept() != 1 || m.count(event::restarted) != 0)
        continue; // the search was misled
      ++found;
      m.events.clear();
      m.windows(20'000);
      EXPECT_EQ(m.kept(), 1) << seed;
      EXPECT_TRUE(m.tuner.keeps_bounds()) << seed;
      EXPECT_EQ(m.count(event::passed_bound) + m.count(event::reverted) + m.count(event::restarted),
                0)
          << seed;
    }
    EXPECT_GE(found, 10) << of_default;
  }
}

TEST(paired_trials, a_point_that_was_found_within_its_bound_has_a_margin_at_the_end) {
  for (const double time : {1.06, 1.2}) {
    listed_costs m({{1, 1}, {0.7, 1.045}, {0.6, 1.5}}, {{1, 1.05, true}});
    ASSERT_TRUE(m.until(event::moved));
    m.costs[1][1] = time;
    if (time < 1.05 * 1.02) {
      EXPECT_TRUE(m.until(event::settled, 100));
      EXPECT_EQ(m.kept(), 1);
      EXPECT_TRUE(m.tuner.keeps_bounds());
    } else {
      EXPECT_TRUE(m.until(event::passed_bound, 100));
      EXPECT_EQ(m.kept(), 0);
      EXPECT_TRUE(m.tuner.keeps_bounds()) << "the default does";
      EXPECT_TRUE(m.until(event::restarted, 100)) << "others may keep it";
    }
  }
}

TEST(paired_trials, a_search_follows_a_point_that_has_passed_its_bound_by_the_default) {
  listed_costs m({{1, 1}, {0.7, 1.04}, {0.8, 1.03}}, {{1, 1.05, true}});
  ASSERT_TRUE(m.until(event::settled));
  ASSERT_EQ(m.kept(), 1);
  m.costs[1][1] = 1.2; // its energy is as before
  ASSERT_TRUE(m.until(event::passed_bound, 200));
  EXPECT_EQ(m.kept(), 0);
  ASSERT_TRUE(m.until(event::restarted, 10));
  ASSERT_TRUE(m.until(event::settled));
  EXPECT_EQ(m.kept(), 2);
  EXPECT_EQ(m.count(event::reverted), 0);
  m.events.clear();
  m.costs[0][0] = 0.5; // the default is better now, and no bound is passed
  ASSERT_TRUE(m.until(event::reverted, 200));
  m.windows(2000);
  EXPECT_EQ(m.count(event::passed_bound) + m.count(event::restarted), 0);
}

TEST(paired_trials, a_search_follows_though_the_default_is_further_beyond) {
  listed_costs m({{1, 1}, {0.9, 0.75}, {0.95, 0.7}}, {{1, 0.8, true}});
  ASSERT_TRUE(m.until(event::settled));
  ASSERT_EQ(m.kept(), 1);
  m.windows(300);
  EXPECT_EQ(m.count(event::restarted), 0);
  m.costs[1][1] = 0.9;
  bool was_beyond = false;
  for (int i = 0; i < 300 && m.count(event::restarted) == 0; ++i) {
    m.window();
    was_beyond = was_beyond || !m.tuner.keeps_bounds();
  }
  EXPECT_TRUE(was_beyond);
  ASSERT_EQ(m.count(event::restarted), 1);
  EXPECT_EQ(m.count(event::passed_bound) + m.count(event::reverted), 0);
  ASSERT_TRUE(m.until(event::settled));
  EXPECT_EQ(m.kept(), 2);
}

TEST(paired_trials, only_a_point_that_was_found_within_its_bounds_has_a_margin) {
  for (const double time : {0.81, 0.9}) {
    listed_costs m({{1, 1}, {0.9, 0.75}}, {{1, 0.8, true}}); // the default is beyond
    ASSERT_TRUE(m.until(event::moved));
    m.costs[1][1] = time;
    ASSERT_TRUE(m.until(event::settled, 100));
    EXPECT_EQ(m.tuner.keeps_bounds(), time < 0.8 * 1.02) << time;
  }
  listed_costs nearest({{1, 1}, {0.9, 0.81}}, {{1, 0.8, true}});
  ASSERT_TRUE(nearest.until(event::settled));
  EXPECT_EQ(nearest.kept(), 1);
  EXPECT_FALSE(nearest.tuner.keeps_bounds());
}

TEST(paired_trials, what_one_comparison_with_the_default_gave_ends_nothing_later) {
  listed_costs m({{1, 1}, {0.7, 1.045}}, {{1, 1.05, true}});
  ASSERT_TRUE(m.until(event::moved));
  for (int i = 0; i < 100 && !m.tuner.is_settled(); ++i) {
    m.costs[1][1] = i / 2 % 2 == 0 ? 1.06 : 1.12; // so 1.09, where windows differ by 6 %
    m.window();
  }
  ASSERT_EQ(m.count(event::settled), 1);
  m.costs[1][1] = 1.04;
  m.windows(5000); // which differ by nothing
  EXPECT_EQ(m.count(event::restarted), 0);
  EXPECT_EQ(m.kept(), 1);
}

TEST(paired_trials, a_default_just_within_a_bound_is_judged_by_many_windows) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    listed_costs m({{1, 1}, {2, 2}}, {{1, 1.01, false}}, 0.02);
    m.noise = 0.02;
    m.random.seed(seed);
    ASSERT_TRUE(m.until(event::kept_default)) << seed;
    EXPECT_TRUE(m.tuner.keeps_bounds()) << seed;
  }
  listed_costs beyond({{1, 1}, {2, 2}}, {{1, 0.9, false}});
  ASSERT_TRUE(beyond.until(event::kept_default));
  EXPECT_FALSE(beyond.tuner.keeps_bounds());
}

TEST(paired_trials, a_bound_that_is_kept_again_before_a_search_may_begin_needs_none) {
  listed_costs m({{1, 1}, {0.7, 0.9}}, {{1, 1, false}});
  ASSERT_TRUE(m.until(event::settled));
  m.costs[1][1] = 1.1;
  ASSERT_TRUE(m.until(event::restarted, 20));
  ASSERT_TRUE(m.until(event::kept_default));
  m.costs[0][1] = 1.1;
  m.windows(20);
  m.costs[0][1] = 1;
  m.windows(2000);
  EXPECT_EQ(m.count(event::restarted), 1);
}

TEST(paired_trials, a_cost_of_nothing_is_the_least) {
  listed_costs m({{5, 1}, {4, 1}, {0, 1}, {3, 1}}, {});
  ASSERT_TRUE(m.until(event::settled, 30));
  EXPECT_EQ(m.kept(), 2);
  EXPECT_EQ(m.tuner.last_ratio(), 0);
  m.events.clear();
  m.windows(5000);
  EXPECT_EQ(m.kept(), 2);
  EXPECT_EQ(m.count(event::restarted) + m.count(event::reverted) + m.count(event::gave_up), 0);
  m.costs[2][0] = 4.5;
  EXPECT_TRUE(m.until(event::restarted, 20)) << "from nothing to something is a change";
  ASSERT_TRUE(m.until(event::settled));
  EXPECT_EQ(m.kept(), 3);
}

TEST(paired_trials, a_default_that_costs_nothing_is_kept) {
  for (const double other : {0.0, 3.0}) {
    listed_costs m({{0, 1}, {other, 1}}, {});
    EXPECT_TRUE(m.until(event::kept_default, 20)) << other;
    m.windows(5000);
    EXPECT_EQ(m.kept(), 0);
    EXPECT_EQ(m.count(event::restarted) + m.count(event::gave_up), 0) << other;
  }
}

TEST(paired_trials, comes_back_to_a_value_that_costs_nothing) {
  listed_costs m({{5, 1}, {0, 1}, {3, 1}}, {});
  ASSERT_TRUE(m.until(event::settled));
  for (int round = 0; round < 4; ++round) {
    const int best = round % 2 == 0 ? 2 : 1;
    m.costs[1][0] = best == 1 ? 0 : 9;
    m.costs[2][0] = best == 1 ? 3 : 1;
    m.windows(4000);
    EXPECT_EQ(m.kept(), best) << round;
  }
  m.events.clear();
  m.costs[1][0] = 9;
  m.costs[2][0] = 1;
  m.windows(20);
  EXPECT_EQ(m.kept(), 2);
  EXPECT_EQ(m.count(event::returned), 1);
  EXPECT_EQ(m.count(event::restarted), 0);
}

TEST(paired_trials, a_cost_of_nothing_does_not_hide_what_comes_after_it) {
  listed_costs m({{1, 5}, {0.9, 0}, {0.5, 50}, {0.8, 4}}, {{1, 1.05, true}});
  EXPECT_TRUE(m.until(event::settled));
  EXPECT_EQ(m.kept(), 3) << "2 is at ten times the default's cost";
  EXPECT_EQ(m.count(event::moved), 2);
  for (const judged_point &one : m.tuner.non_dominated())
    EXPECT_DOUBLE_EQ(one.costs[1], m.costs[static_cast<std::size_t>(one.point[0])][1] / 5);

  listed_costs rises({{1, 5}, {0.9, 0}, {0.5, 50}}, {{1, 1.05, true}});
  ASSERT_TRUE(rises.until(event::moved));
  rises.costs[1][1] = 1;
  EXPECT_TRUE(rises.until(event::settled));
  EXPECT_EQ(rises.kept(), 1);
  EXPECT_EQ(rises.count(event::moved), 1);

  listed_costs falls({{1, 5}, {0.9, 4}, {0.8, 3}}, {{1, 1.05, true}});
  ASSERT_TRUE(falls.until(event::moved));
  falls.costs[1][1] = 0;
  EXPECT_TRUE(falls.until(event::settled));
  EXPECT_EQ(falls.kept(), 2);
}

TEST(paired_trials, a_default_that_costs_nothing_of_a_term_hides_nothing) {
  listed_costs m({{1, 0}, {0.9, 5}, {0.85, 0}, {0.7, 8}}, {{1, 10, false}});
  EXPECT_TRUE(m.until(event::settled));
  EXPECT_EQ(m.kept(), 3);
  const auto &front = m.tuner.non_dominated();
  ASSERT_EQ(front.size(), 2u) << "2 has no more of it than the default, and costs less";
  EXPECT_EQ(front[0].point, lattice_point{3});
  EXPECT_DOUBLE_EQ(front[0].costs[1], k_most_part);
  EXPECT_EQ(front[1].point, lattice_point{2});
  EXPECT_DOUBLE_EQ(front[1].costs[1], 1);
}

TEST(paired_trials, what_the_default_costs_is_a_mean_of_this_search) {
  listed_costs m({{1, 50}, {0.9, 0}, {0.5, 20}}, {{1, 1.05, true}}, 0.02);
  m.window();
  m.costs[0][1] = 5; // after a first window that costs more
  ASSERT_TRUE(m.until(event::settled));
  EXPECT_EQ(m.kept(), 1);
  m.costs = {{1.3, 50}, {1.2, 0}, {0.6, 20}};
  ASSERT_TRUE(m.until(event::restarted));
  ASSERT_TRUE(m.until(event::settled));
  EXPECT_EQ(m.kept(), 2);
}

TEST(paired_trials, windows_without_each_cost_count_for_nothing) {
  two_costs m(12, {{1, 0, 0}, {{1, 1.2, true}}});
  const auto take = [&](std::vector<double> terms) {
    tuned_window seen{10, 1000, 0, {}};
    seen.terms = std::move(terms);
    return m.tuner.take(seen);
  };
  for (int i = 0; i < 63; ++i)
    EXPECT_EQ(take(i % 4 == 0   ? std::vector<double>{1, 1}
                   : i % 4 == 1 ? std::vector<double>{HUGE_VAL, 1, 1}
                   : i % 4 == 2 ? std::vector<double>{1, -1, 1}
                                : std::vector<double>{1, 1, NAN}),
              event::none);
  EXPECT_EQ(m.tuner.point(), lattice_point{12});
  EXPECT_EQ(take({1, 1}), event::gave_up);
}

TEST(search_values, are_few_ascending_and_include_the_first) {
  knob_domain range;
  range.least = 16;
  range.most = 1000;
  range.in_powers = true;
  EXPECT_EQ(search_values(range, 100),
            (std::vector<std::int64_t>{16, 32, 64, 100, 128, 256, 512, 1000}));
  range.least = 0;
  EXPECT_EQ(search_values(range, 0).front(), 0);
  range.in_powers = false;
  range.most = 3;
  EXPECT_EQ(search_values(range, 0), (std::vector<std::int64_t>{0, 1, 2, 3}));
  range.least = INT64_MIN;
  range.most = INT64_MAX;
  const auto wide = search_values(range, 5);
  EXPECT_LE(wide.size(), 66u);
  EXPECT_EQ(wide.front(), INT64_MIN);
  EXPECT_EQ(wide.back(), INT64_MAX);
  EXPECT_TRUE(std::is_sorted(wide.begin(), wide.end()));
  range.least = 1;
  range.in_powers = true;
  EXPECT_EQ(search_values(range, 1).back(), INT64_MAX);
  knob_domain words;
  words.what = knob_domain::kind::words;
  words.words = {"b", "a"};
  EXPECT_EQ(search_values(words, 1), (std::vector<std::int64_t>{0, 1}));
  knob_domain reals;
  reals.what = knob_domain::kind::reals;
  reals.real_least = -1;
  reals.real_most = 1;
  const auto numbers = search_values(reals, std::bit_cast<std::int64_t>(0.3));
  EXPECT_EQ(numbers.size(), 18u);
  EXPECT_EQ(std::bit_cast<double>(numbers.front()), -1);
  EXPECT_EQ(std::bit_cast<double>(numbers.back()), 1);
}

} // namespace
