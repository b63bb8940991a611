// SPDX-License-Identifier: Apache-2.0
// The rule of joins and tasks with a cost, asked in model time: for 1 to 1024 workers, over recorded
// times of real work, with noise, time slices that are lost, costs that lie, and clocks that jump or
// stand still. The same on each machine.
#include "recorded_costs.hpp"
#include "recursion.hpp"

#include <weft/detail/work_estimate.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace recursion_model;

constexpr double k_long_ns = weft::detail::k_long_work_ns;
const char *const k_works[] = {"mandelbrot", "bodies", "queens"};
const unsigned k_workers[] = {1, 2, 3, 8, 16, 64, 256, 1024};

const std::map<std::string, std::vector<double>> &recorded() {
  static const auto all = [] {
    std::ifstream from(WEFT_RECORDED_COSTS);
    return recorded_costs::read(from);
  }();
  return all;
}
double sum(const std::vector<double> &leaves) { return std::accumulate(leaves.begin(), leaves.end(), 0.0); }

/// Returns leaves that take 10 ms, and 0.2 ms for each worker at least.
const std::vector<double> &leaves_for(const std::string &work, unsigned workers) {
  static std::map<std::pair<std::string, double>, std::vector<double>> made;
  const double total = std::max(1e7, 2e5 * workers);
  std::vector<double> &leaves = made[{work, total}];
  if (leaves.empty())
    leaves = recorded_costs::repeated(recorded().at(work), total);
  return leaves;
}
bool each_once(const outcome &seen) {
  return std::all_of(seen.runs.begin(), seen.runs.end(), [](unsigned n) { return n == 1; });
}
parameters on(unsigned workers) {
  parameters p;
  p.workers = workers;
  return p;
}

TEST(recorded_costs, are_three_works_of_hundreds_of_pieces) {
  ASSERT_EQ(recorded().size(), 3u);
  for (const char *work : k_works) {
    const std::vector<double> &pieces = recorded().at(work);
    EXPECT_GE(pieces.size(), 300u) << work;
    const auto [least, most] = std::minmax_element(pieces.begin(), pieces.end());
    EXPECT_GT(*most, 4 * *least) << work << ": pieces differ";
    EXPECT_LT(*most, weft::detail::k_small_work_ns) << work << ": a piece alone is small work";
  }
}

TEST(recorded_costs, that_are_cut_or_doubled_are_refused) {
  const auto refuses = [](const char *text) {
    std::istringstream from(text);
    EXPECT_THROW(static_cast<void>(recorded_costs::read(from)), std::invalid_argument) << text;
  };
  refuses("rows");
  refuses("rows 0");
  refuses("rows 3\n1 2");
  refuses("rows 2\n1 -2");
  refuses("rows 2\n1 two");
  refuses("rows 1\n1\nrows 1\n1");
  std::istringstream from("# of a machine\nrows 2\n1 2.5\n# and\nmore 1\n7\n");
  const auto seen = recorded_costs::read(from);
  EXPECT_EQ(seen.at("rows"), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(seen.at("more"), (std::vector<double>{7}));
  EXPECT_EQ(recorded_costs::repeated({1, 2}, 4), (std::vector<double>{1, 2, 1}));
}

TEST(recursion_model, one_worker_adds_everything_up) {
  const parameters p = on(1);
  const std::vector<double> leaves(4, 1000.0);
  EXPECT_DOUBLE_EQ(simulate(p, leaves, 1).time_ns, 4000 + 3 * p.fork_ns);
  EXPECT_DOUBLE_EQ(simulate(p, leaves, 2).time_ns, 4000 + p.fork_ns) << "two halves are serial";
  EXPECT_DOUBLE_EQ(simulate(p, leaves, 4).time_ns, 4000);
  // The whole and its first half are unknown; the second half is as large as what is known then.
  const auto self = simulate(p, leaves, 0);
  EXPECT_DOUBLE_EQ(self.time_ns, 4000 + 2 * p.fork_ns + p.ask_ns + 6 * p.clock_ns);
  EXPECT_EQ(self.apart, 2u);
  EXPECT_EQ(self.in_place, 1u);
  EXPECT_EQ(self.largest, 4u);
  EXPECT_DOUBLE_EQ(self.longest_ns, 2000 + p.ask_ns + 2 * p.clock_ns);
}

TEST(recursion_model, two_workers_share_two_leaves_after_a_wake_up) {
  parameters p = on(2);
  p.wake_ns = 1000;
  const auto seen = simulate(p, {10'000, 10'000}, 1);
  EXPECT_DOUBLE_EQ(seen.time_ns, p.fork_ns + 1000 + p.steal_ns + 10'000);
  EXPECT_EQ(seen.steals, 1u);
  const auto late = simulate(p, {500, 10'000}, 1);
  EXPECT_DOUBLE_EQ(late.time_ns, p.fork_ns + 10'500) << "the branch is gone when the worker comes";
  EXPECT_EQ(late.steals, 0u);
}

TEST(recursion_model, runs_each_leaf_once) {
  for (const char *work : k_works)
    for (const unsigned workers : k_workers)
      for (const std::size_t cut : {0u, 7u, 1'000'000u}) {
        parameters p = on(workers);
        p.calls = 2;
        p.noise = 0.1;
        const auto &leaves = leaves_for(work, workers);
        const auto seen = simulate(p, leaves, cut);
        EXPECT_TRUE(each_once(seen)) << work << ' ' << workers;
        const double longest = *std::max_element(leaves.begin(), leaves.end());
        EXPECT_GE(seen.time_ns, std::max(seen.work_ns / workers, 0.6 * longest)) << work << ' ' << workers;
      }
}

// Leaves of queens take about the same. Those of the other works become dearer by 70 and 3000 times from
// one part to the next: work that was small is not, and what runs in place at once is seen late. Up to
// three workers do not feel it; of many, whose part is as short, all others wait for it.
TEST(recursion_model, is_near_the_best_cut_off) {
  for (const below in_place : {below::calls, below::serial})
    for (const std::string work : k_works)
      for (const unsigned workers : k_workers)
        for (const unsigned calls : {1u, 3u}) { // the site knows its work
          parameters p = on(workers);
          p.in_place = in_place;
          const auto &leaves = leaves_for(work, workers);
          const double best = best_cut(p, leaves);
          p.calls = calls;
          const auto seen = simulate(p, leaves, 0);
          if (work == "queens")
            EXPECT_LE(seen.time_ns, 1.12 * best) << workers << ' ' << calls;
          else if (workers <= 3)
            EXPECT_LE(seen.time_ns, 1.06 * best) << work << ' ' << workers << ' ' << calls;
          else
            EXPECT_LE(seen.time_ns, 1.12 * best + seen.longest_ns) << work << ' ' << workers << ' ' << calls;
        }
}

TEST(recursion_model, is_near_the_best_cut_off_where_the_cost_counts_the_work) {
  for (const below in_place : {below::calls, below::serial})
    for (const char *work : k_works)
      for (const unsigned workers : k_workers) {
        const auto &leaves = leaves_for(work, workers);
        std::vector<double> before(leaves.size() + 1);
        std::partial_sum(leaves.begin(), leaves.end(), before.begin() + 1);
        const cost_of says = [&before](std::size_t first, std::size_t n) {
          return 1 + static_cast<std::uint64_t>((before[first + n] - before[first]) / 10);
        };
        parameters p = on(workers);
        p.in_place = in_place;
        const double best = best_cut(p, leaves);
        for (const unsigned calls : {1u, 3u}) {
          p.calls = calls;
          const auto seen = simulate(p, leaves, 0, says);
          EXPECT_LE(seen.time_ns, (workers <= 16 ? 1.04 : 1.12) * best) << work << ' ' << workers << ' ' << calls;
          EXPECT_LE(seen.longest_ns, k_long_ns) << work << ' ' << workers << ' ' << calls;
        }
      }
}

TEST(recursion_model, most_joins_run_in_place_and_none_for_long) {
  for (const std::string work : k_works)
    for (const unsigned workers : k_workers) {
      const auto &leaves = leaves_for(work, workers);
      parameters p = on(workers);
      const auto seen = simulate(p, leaves, 0);
      EXPECT_GT(seen.in_place, leaves.size() / 2) << work << ' ' << workers;
      EXPECT_LE(seen.longest_ns, (work == "queens" ? 1 : 6) * k_long_ns) << work << ' ' << workers;
      p.in_place = below::serial; // which looks at no clock
      EXPECT_LE(simulate(p, leaves, 0).longest_ns, (work == "queens" ? 1 : 16) * k_long_ns) << work << ' ' << workers;
    }
}

TEST(recursion_model, more_workers_do_little_harm) {
  for (const char *work : k_works) {
    double before = 1e300;
    for (const unsigned workers : k_workers) {
      const double now = simulate(on(workers), leaves_for(work, 1), 0).time_ns;
      EXPECT_LE(now, 1.1 * before + 10'000) << work << ' ' << workers;
      before = std::min(before, now);
    }
    EXPECT_LE(before, 1e7 / 16) << work;
  }
}

TEST(recursion_model, noise_and_lost_time_slices_do_not_mislead_it) {
  for (const char *work : k_works)
    for (const unsigned workers : {1u, 2u, 16u, 256u}) {
      double self = 0, fixed = 0;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        parameters p = on(workers);
        p.noise = 0.3;
        p.preempted = 1e-4;
        p.slice_ns = 3e5;
        p.calls = 2;
        p.seed = seed;
        const auto &leaves = leaves_for(work, workers);
        const auto seen = simulate(p, leaves, 0);
        EXPECT_TRUE(each_once(seen));
        self += seen.time_ns;
        fixed += std::min({simulate(p, leaves, 4).time_ns, simulate(p, leaves, 16).time_ns,
                           simulate(p, leaves, 64).time_ns});
      }
      EXPECT_LE(self, 1.15 * fixed + 5 * 3e5) << work << ' ' << workers << ": one slice may be the last";
    }
}

// The same cost for all; the depth in the place of the work; what has nothing to do with it.
TEST(recursion_model, costs_that_lie_take_bounded_time) {
  const cost_of lies[] = {[](std::size_t, std::size_t) { return std::uint64_t{5}; },
                          [](std::size_t, std::size_t n) { return 1 + static_cast<std::uint64_t>(std::log2(n)); },
                          [](std::size_t first, std::size_t n) { return 1 + (first * 2654435761u + n * 40503u) % 1000; }};
  for (const cost_of &lie : lies)
    for (const unsigned workers : {1u, 2u, 16u, 1024u}) {
      parameters p = on(workers);
      p.calls = 2;
      const auto &leaves = leaves_for("bodies", workers);
      const auto seen = simulate(p, leaves, 0, lie);
      EXPECT_TRUE(each_once(seen)) << workers;
      // A look at the clock comes after 512 calls at most, which may be the long ones.
      const double mean = sum(leaves) / static_cast<double>(leaves.size());
      EXPECT_LE(seen.longest_ns, k_long_ns + 1024 * mean) << workers;
      EXPECT_LE(seen.time_ns, 1.2 * sum(leaves)) << workers << ": no more than serially";
    }
  parameters p = on(16);
  const auto unknown = simulate(p, leaves_for("bodies", 1), 0, [](std::size_t, std::size_t) { return std::uint64_t{0}; });
  EXPECT_EQ(unknown.in_place, 0u);
}

TEST(recursion_model, clocks_that_stand_still_or_jump_lose_no_leaf) {
  for (const unsigned workers : {1u, 2u, 16u, 1024u}) {
    const auto &leaves = leaves_for("queens", workers);
    const parameters p = on(workers);
    const double right = simulate(p, leaves, 0).time_ns;
    const auto stands = simulate(p, leaves, 0, {}, [](double) { return 5.0; });
    EXPECT_TRUE(each_once(stands)) << workers;
    EXPECT_EQ(stands.in_place, 0u) << "a time of 0 is unknown";
    EXPECT_LE(stands.time_ns, 1.3 * right) << workers;
    const auto jumps = simulate(p, leaves, 0, {}, [](double ns) { // forward and back, every 50 us
      return std::fmod(ns, 1e5) < 5e4 ? ns + 3.6e12 : ns;
    });
    EXPECT_TRUE(each_once(jumps)) << workers;
    EXPECT_LE(jumps.time_ns, 1.3 * right) << workers;
  }
}

TEST(recursion_model, equal_seeds_give_equal_runs) {
  parameters p = on(16);
  p.noise = 0.2;
  const auto &leaves = leaves_for("bodies", 16);
  const auto one = simulate(p, leaves, 0), two = simulate(p, leaves, 0);
  EXPECT_EQ(one.time_ns, two.time_ns);
  EXPECT_EQ(one.steals, two.steals);
  p.seed = 2;
  EXPECT_NE(simulate(p, leaves, 0).time_ns, one.time_ns);
}

TEST(recursion_model, refuses_what_makes_no_sense) {
  const auto refuses = [](auto change, const std::vector<double> &leaves) {
    parameters p;
    change(p);
    EXPECT_THROW(static_cast<void>(simulate(p, leaves, 0)), std::invalid_argument);
  };
  const std::vector<double> some{1, 2};
  refuses([](parameters &p) { p.workers = 0; }, some);
  refuses([](parameters &p) { p.workers = 5000; }, some);
  refuses([](parameters &p) { p.calls = 0; }, some);
  refuses([](parameters &p) { p.ask_ns = -1; }, some);
  refuses([](parameters &p) { p.fork_ns = -1; }, some);
  refuses([](parameters &p) { p.clock_ns = NAN; }, some);
  refuses([](parameters &p) { p.steal_ns = -1; }, some);
  refuses([](parameters &p) { p.wake_ns = -1; }, some);
  refuses([](parameters &p) { p.spin_ns = -1; }, some);
  refuses([](parameters &p) { p.noise = -1; }, some);
  refuses([](parameters &p) { p.preempted = 2; }, some);
  refuses([](parameters &p) { p.slice_ns = -1; }, some);
  refuses([](parameters &) {}, {});
  refuses([](parameters &) {}, {1, -1});
}

} // namespace
