// SPDX-License-Identifier: Apache-2.0
// The rules of loops, asked in model time: for 1 to 1024 workers, over costs of several loops, with
// noise, time slices that are lost, and clocks that jump or stand still. The same on each machine.
#include "loop.hpp"
#include "recorded_costs.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace loop_model;

const char *const k_loops[] = {"uniform", "triangle", "power", "half", "mandelbrot", "spmv"};
const unsigned k_workers[] = {1, 2, 3, 8, 16, 64, 1024};

double sum(const std::vector<double> &costs) {
  return std::accumulate(costs.begin(), costs.end(), 0.0);
}
/// Returns a loop that takes 10 ms on one worker.
const std::vector<double> &ten_milliseconds(const std::string &loop, std::size_t iterations = 10'000) {
  static std::map<std::pair<std::string, std::size_t>, std::vector<double>> made;
  std::vector<double> &costs = made[{loop, iterations}];
  if (costs.empty()) {
    costs = costs_of(loop, iterations, 1);
    const double part = 1e7 / sum(costs);
    for (double &ns : costs)
      ns *= part;
  }
  return costs;
}
bool each_once(const outcome &seen) {
  return std::all_of(seen.runs.begin(), seen.runs.end(), [](unsigned n) { return n == 1; });
}

TEST(loop_model, runs_each_iteration_once) {
  for (const char *loop : k_loops)
    for (const unsigned workers : k_workers)
      for (const std::uint64_t grain : {0u, 7u, 10'000u}) {
        parameters p;
        p.workers = workers;
        p.calls = 2;
        EXPECT_TRUE(each_once(simulate(p, ten_milliseconds(loop), grain))) << loop << workers;
      }
}

TEST(loop_model, one_worker_adds_everything_up) {
  parameters p;
  p.workers = 1;
  const auto fixed = simulate(p, {100, 200, 300}, 1);
  EXPECT_DOUBLE_EQ(fixed.time_ns, 600 + 4 * p.take_ns) << "the last look finds nothing";
  EXPECT_EQ(fixed.blocks, 3u);
  const auto self = simulate(p, {100, 200, 300, 400}, 0);
  EXPECT_DOUBLE_EQ(self.time_ns, 1000 + 3 * p.take_ns) << "1, 2 and what is left";
}

TEST(loop_model, two_workers_with_equal_shares_take_half_of_the_time_and_a_wake_up) {
  parameters p;
  p.wake_ns = 1000;
  const auto seen = simulate(p, std::vector<double>(100, 1000.0), 50);
  EXPECT_DOUBLE_EQ(seen.time_ns, 1000 + 50'000 + 2 * p.take_ns);
  EXPECT_EQ(seen.participants, 2u);
  EXPECT_EQ(seen.steals, 0u);
}

// As work that is not worth a wake-up.
TEST(loop_model, short_loops_stay_serial) {
  parameters p;
  p.workers = 64;
  for (const std::size_t n : {1u, 10u, 100u, 1000u, 9000u}) {
    const auto seen = simulate(p, std::vector<double>(n, 1.0), 0);
    EXPECT_EQ(seen.participants, 1u) << n;
    EXPECT_LE(seen.time_ns, 1.02 * static_cast<double>(n) + 20 * p.take_ns) << n;
  }
  EXPECT_GT(simulate(p, std::vector<double>(100'000, 1.0), 0).participants, 1u);
}

// The bound of a loop that is shared: its part of the work, a block and an iteration, the wake-ups of
// those that take part, and the blocks and steals on the way.
TEST(loop_model, takes_no_longer_than_its_bound) {
  for (const char *loop : k_loops)
    for (const unsigned workers : k_workers)
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        parameters p;
        p.workers = workers;
        p.noise = 0.1;
        p.seed = seed;
        const auto &costs = ten_milliseconds(loop);
        const auto seen = simulate(p, costs, 0);
        const double n = seen.participants, longest = *std::max_element(costs.begin(), costs.end());
        const double on_the_way = static_cast<double>(seen.blocks) * p.take_ns / n +
                                  p.steal_ns * (1 + static_cast<double>(seen.steals) / n);
        EXPECT_LE(seen.time_ns, 1.05 * (seen.work_ns / n + 2 * longest) + p.wake_ns * n + 10'000 + on_the_way)
            << loop << ' ' << workers << ' ' << seed;
        EXPECT_LE(static_cast<double>(seen.blocks), 2.5 * 1e7 / 4000 + 60 * n)
            << loop << ' ' << workers << ": blocks of 4 us";
      }
}

TEST(loop_model, is_near_the_best_fixed_grain) {
  for (const std::string loop : k_loops)
    for (const unsigned workers : k_workers) {
      parameters p;
      p.workers = workers;
      const auto &costs = ten_milliseconds(loop);
      const double fixed = best_fixed(p, costs);
      // The caller runs the first iterations alone. If one of them is half of the loop, all others wait
      // for it; if they are the cheapest ones, few workers are asked at first, and 16 later. Beyond 8
      // workers the wake-ups, one after the other, take as long as each one's part.
      const bool begins_cheaply = loop == "triangle" || loop == "mandelbrot";
      const double first_call = loop == "half"                    ? 1.55
                                : workers <= 8                    ? 1.05
                                : begins_cheaply && workers <= 16 ? 1.05
                                : begins_cheaply                  ? 2.2
                                                                  : 1.4;
      EXPECT_LE(simulate(p, costs, 0).time_ns, first_call * fixed + 5000) << loop << ' ' << workers;
      p.calls = 3; // the site knows the loop
      EXPECT_LE(simulate(p, costs, 0).time_ns, (workers <= 8 ? 1.05 : 1.35) * fixed + 5000)
          << loop << ' ' << workers;
    }
}

// Times of real work (recorded_costs.txt), again and again: what a piece takes says little of the next.
TEST(loop_model, is_near_the_best_fixed_grain_over_recorded_costs) {
  std::ifstream from(WEFT_RECORDED_COSTS);
  const auto recorded = recorded_costs::read(from);
  ASSERT_FALSE(recorded.empty());
  for (const auto &[work, pieces] : recorded)
    for (const unsigned workers : k_workers) {
      parameters p;
      p.workers = workers;
      const auto costs = recorded_costs::repeated(pieces, std::max(1e7, 2e5 * workers));
      const double fixed = best_fixed(p, costs);
      const double more = workers <= 16 ? 1.05 : 1.35; // wake-ups, one after the other
      // The first pieces of two works are the cheapest ones, so few workers are asked at first, and 16 later.
      const double first_call = workers <= 16 || work == "queens" ? more : workers <= 64 ? 2.4 : 3.1;
      EXPECT_LE(simulate(p, costs, 0).time_ns, first_call * fixed + 5000) << work << ' ' << workers;
      p.calls = 3; // the site knows the loop
      const auto known = simulate(p, costs, 0);
      EXPECT_LE(known.time_ns, more * fixed + 5000) << work << ' ' << workers;
      EXPECT_TRUE(each_once(known)) << work << ' ' << workers;
    }
}

TEST(loop_model, is_never_much_slower_than_serial_and_uses_its_workers) {
  for (const char *loop : k_loops) {
    double before = 1e300;
    for (const unsigned workers : k_workers) {
      parameters p;
      p.workers = workers;
      const double now = simulate(p, ten_milliseconds(loop), 0).time_ns;
      EXPECT_LE(now, 1.01e7 + 10'000) << loop << ' ' << workers;
      EXPECT_LE(now, 1.35 * before + 10'000) << loop << ": more workers do little harm, " << workers;
      before = std::min(before, now);
    }
    const bool has_a_long_one = std::string(loop) == "half"; // of which one iteration is half
    EXPECT_LE(before, has_a_long_one ? 1e7 : 1e7 / 8) << loop;
  }
}

TEST(loop_model, lost_time_slices_cost_what_they_take) {
  for (const unsigned workers : {2u, 16u}) {
    parameters p;
    p.workers = workers;
    p.preempted = 0.001;
    p.slice_ns = 1e6;
    double self = 0, fixed = 0;
    for (p.seed = 1; p.seed <= 20; ++p.seed) {
      const auto seen = simulate(p, ten_milliseconds("uniform"), 0);
      EXPECT_TRUE(each_once(seen));
      self += seen.time_ns;
      fixed += simulate(p, ten_milliseconds("uniform"), 10'000 / workers).time_ns;
    }
    EXPECT_LE(self, 1.3 * fixed + 20 * 2e6) << workers << ": one slice may be the last block";
  }
}

TEST(loop_model, a_site_that_was_preempted_recovers) {
  parameters p;
  p.workers = 4;
  const auto &costs = ten_milliseconds("uniform");
  const double quiet = simulate(p, costs, 0).time_ns;
  p.preempted = 1;
  p.slice_ns = 1000; // all blocks of the first calls seem longer
  p.calls = 2;
  EXPECT_LE(simulate(p, costs, 0).time_ns, 3 * quiet);
}

// A loop of 50 us pays with wake-ups of 5 us. A worker that was preempted after its wake-up is no
// reason to leave all later loops to their callers.
TEST(loop_model, a_late_helper_does_not_make_later_loops_serial) {
  parameters p;
  p.workers = 4;
  p.late = 0.02;
  p.late_ns = 1e7;
  p.calls = 1000;
  const std::vector<double> costs(500, 100.0);
  int shared = 0;
  for (p.seed = 1; p.seed <= 40; ++p.seed)
    shared += simulate(p, costs, 0).participants > 1;
  EXPECT_EQ(shared, 40);
}

TEST(loop_model, a_loop_is_shared_again_after_workers_have_become_fast) {
  parameters p;
  p.workers = 4;
  p.calls = 2000;
  p.late = 1; // of the first calls: each helper is late
  p.late_calls = 100;
  p.late_ns = 1e6;
  const std::vector<double> costs(600, 100.0);
  EXPECT_GT(simulate(p, costs, 0).participants, 1u);
}

// A loop whose work is about that of two wake-ups gains nothing from a worker that needs 50 us.
TEST(loop_model, slow_wake_ups_are_tried_rarely) {
  parameters p;
  p.workers = 4;
  p.wake_ns = 60'000;
  const std::vector<double> costs(500, 100.0);
  int shared = 0;
  for (p.calls = 300; p.calls < 400; ++p.calls)
    shared += simulate(p, costs, 0).participants > 1;
  EXPECT_LE(shared, 100 / 20);
  EXPECT_GE(shared, 1);
}

TEST(loop_model, clocks_that_stand_still_or_jump_cost_no_iteration) {
  const auto &costs = ten_milliseconds("uniform", 200'000); // blocks of 80 iterations
  for (const unsigned workers : {1u, 2u, 16u, 1024u}) {
    parameters p;
    p.workers = workers;
    const auto right = simulate(p, costs, 0);
    const auto stands = simulate(p, costs, 0, [](double) { return 5.0; });
    EXPECT_TRUE(each_once(stands)) << workers;
    EXPECT_LE(stands.blocks, 4 * right.blocks) << workers;
    EXPECT_LE(stands.time_ns, 1.01e7) << "as long as the serial loop";
    const auto jumps = simulate(p, costs, 0, [](double ns) { // by a second, twice; each participant sees it
      return ns + (ns > 60'000 ? 1e9 : 0) + (ns > 200'000 ? 1e9 : 0);
    });
    EXPECT_TRUE(each_once(jumps)) << workers;
    EXPECT_LE(jumps.blocks, 4 * right.blocks) << workers;
    EXPECT_LE(jumps.time_ns, 1.5 * right.time_ns) << workers;
    const auto coarse = simulate(p, costs, 0, [](double ns) { return std::floor(ns / 1e6) * 1e6; });
    EXPECT_TRUE(each_once(coarse)) << workers;
    EXPECT_LE(coarse.blocks, 4 * right.blocks + 4 * workers) << workers;
  }
}

TEST(loop_model, equal_seeds_give_equal_runs) {
  parameters p;
  p.workers = 16;
  p.noise = 0.2;
  const auto &costs = ten_milliseconds("spmv");
  const auto one = simulate(p, costs, 0), two = simulate(p, costs, 0);
  EXPECT_EQ(one.time_ns, two.time_ns);
  EXPECT_EQ(one.blocks, two.blocks);
  p.seed = 2;
  EXPECT_NE(simulate(p, costs, 0).time_ns, one.time_ns);
}

TEST(loop_model, refuses_what_makes_no_sense) {
  const std::vector<double> some{1, 2};
  const auto refuses = [&](auto change, const std::vector<double> &costs) {
    parameters p;
    change(p);
    EXPECT_THROW(static_cast<void>(simulate(p, costs, 0)), std::invalid_argument);
  };
  refuses([](parameters &p) { p.workers = 0; }, some);
  refuses([](parameters &p) { p.workers = 5000; }, some);
  refuses([](parameters &p) { p.calls = 0; }, some);
  refuses([](parameters &p) { p.wake_ns = -1; }, some);
  refuses([](parameters &p) { p.take_ns = NAN; }, some);
  refuses([](parameters &p) { p.steal_ns = -1; }, some);
  refuses([](parameters &p) { p.noise = -1; }, some);
  refuses([](parameters &p) { p.preempted = 2; }, some);
  refuses([](parameters &p) { p.slice_ns = -1; }, some);
  refuses([](parameters &p) { p.late = 2; }, some);
  refuses([](parameters &p) { p.late_ns = -1; }, some);
  refuses([](parameters &) {}, {});
  refuses([](parameters &) {}, {1, -1});
  EXPECT_THROW(static_cast<void>(costs_of("circle", 1, 1)), std::invalid_argument);
}

} // namespace
