// SPDX-License-Identifier: Apache-2.0
// Searches over curves whose best point is known.
#include "tune/search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace {

using namespace weft::rt;

/// Runs a search to its end, and returns the points in the order in which it tried them.
template <class Cost>
std::vector<lattice_point> run(search &s, Cost cost) {
  std::vector<lattice_point> tried;
  while (const auto point = s.ask()) {
    EXPECT_EQ(s.ask(), point) << "the same until its cost is told";
    tried.push_back(*point);
    s.tell(cost(*point));
  }
  EXPECT_FALSE(s.ask());
  EXPECT_EQ(std::set<lattice_point>(tried.begin(), tried.end()).size(), tried.size())
      << "no point is tried twice";
  EXPECT_EQ(s.trials(), tried.size());
  return tried;
}

/// Returns the sizes of partitions of a ring of 1e8 points that divide it, as in the thesis.
std::vector<std::int64_t> partition_sizes() {
  std::vector<std::int64_t> sizes;
  for (std::int64_t n = 1000; n <= 10'000'000; ++n)
    if (100'000'000 % n == 0)
      sizes.push_back(n);
  return sizes;
}

/// Is the time of a loop of 1e8 units on 10 workers by grain: the overhead of tasks at fine grains,
/// and the last task of a worker at coarse ones.
double time_of(std::int64_t grain) {
  const double ns = 1.7, overhead = 760, units = 1e8, workers = 10;
  const auto g = static_cast<double>(grain);
  return units / workers * (ns + overhead / g) + g * ns;
}

TEST(exhaustive, tries_each_point_once_and_knows_the_best) {
  exhaustive_search s({{3, 4}}, 100);
  const auto tried = run(s, [](const lattice_point &p) { return std::abs(p[0] - 1) + p[1] % 3; });
  EXPECT_EQ(tried.size(), 12u);
  EXPECT_EQ(tried.front(), (lattice_point{0, 0}));
  EXPECT_EQ(tried[1], (lattice_point{0, 1}));
  EXPECT_EQ(s.best(), (lattice_point{1, 0})) << "the first of equals";
  EXPECT_EQ(s.best_cost(), 0);
}

TEST(exhaustive, ends_with_its_budget) {
  exhaustive_search s({{10}}, 4);
  EXPECT_TRUE(s.best().empty());
  EXPECT_EQ(run(s, [](const lattice_point &p) { return -p[0]; }).size(), 4u);
  EXPECT_EQ(s.best(), lattice_point{3});
}

TEST(searches, take_what_is_no_number_as_the_worst) {
  exhaustive_search s({{4}}, 4);
  run(s, [](const lattice_point &p) {
    return p[0] == 2 ? 7.0 : std::numeric_limits<double>::quiet_NaN();
  });
  EXPECT_EQ(s.best(), lattice_point{2});
  s.tell(1); // was not asked
  EXPECT_EQ(s.best_cost(), 7);
  EXPECT_EQ(s.trials(), 4u);
}

TEST(random, has_a_seed_and_tries_all_points_in_the_end) {
  const auto order = [](std::uint64_t seed, std::size_t budget) {
    random_search s({{5, 5}}, budget, seed);
    return run(s, [](const lattice_point &p) { return p[0] * p[1]; });
  };
  EXPECT_EQ(order(1, 100).size(), 25u);
  EXPECT_EQ(order(1, 7).size(), 7u);
  EXPECT_EQ(order(1, 25), order(1, 25));
  EXPECT_NE(order(1, 25), order(2, 25));
}

TEST(line, finds_the_thesis_best_partition_in_eight_trials_from_the_law) {
  const auto sizes = partition_sizes();
  int best = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (time_of(sizes[i]) < time_of(sizes[static_cast<std::size_t>(best)]))
      best = static_cast<int>(i);
  const int first = first_by_law(sizes, 760, 1.7, 0.01);
  line_search s(static_cast<int>(sizes.size()), first);
  const auto tried = run(
      s, [&](const lattice_point &p) { return time_of(sizes[static_cast<std::size_t>(p[0])]); });
  EXPECT_LE(tried.size(), 8u);
  EXPECT_LE(s.best_cost(), 1.02 * time_of(sizes[static_cast<std::size_t>(best)]));
  EXPECT_EQ(tried.front(), lattice_point{first});
}

TEST(line, finds_each_least_of_a_valley_from_each_start) {
  for (int least = 0; least < 20; ++least)
    for (int first = -3; first < 23; ++first)
      for (const int step : {0, 1, 2, 4}) {
        line_search s(20, first, 100, step);
        run(s, [least](const lattice_point &p) { return std::abs(p[0] - least); });
        EXPECT_EQ(s.best(), lattice_point{least}) << first << " " << step;
      }
}

TEST(line, of_one_value_tries_that) {
  line_search s(1, 0);
  EXPECT_EQ(run(s, [](const lattice_point &) { return 1.0; }).size(), 1u);
}

TEST(law, takes_the_first_grain_with_little_overhead) {
  const std::vector<std::int64_t> grains{10, 100, 1000};
  EXPECT_EQ(first_by_law(grains, 10, 1, 0.1), 1) << "100 units have 10 % of overhead";
  EXPECT_EQ(first_by_law(grains, 10.1, 1, 0.1), 2);
  EXPECT_EQ(first_by_law(grains, 0, 1, 0.1), 0);
  EXPECT_EQ(first_by_law(grains, 1e9, 1, 0.1), 2) << "none has so little: the coarsest";
}

TEST(simplex, starts_at_a_quarter_and_three_quarters) {
  simplex_search s({{49, 9}}, 3);
  const auto tried = run(s, [](const lattice_point &) { return 1.0; });
  EXPECT_EQ(tried, (std::vector<lattice_point>{{12, 2}, {36, 2}, {12, 6}}));
}

TEST(simplex, comes_near_the_best_partition) {
  const auto sizes = partition_sizes();
  EXPECT_EQ(sizes.size(), 49u) << "as in the thesis, for 10 cores";
  simplex_search s({{static_cast<int>(sizes.size())}}, 100);
  const auto tried = run(
      s, [&](const lattice_point &p) { return time_of(sizes[static_cast<std::size_t>(p[0])]); });
  double best = time_of(sizes[0]);
  for (const auto size : sizes)
    best = std::min(best, time_of(size));
  EXPECT_LE(s.best_cost(), 1.02 * best);
  EXPECT_LE(tried.size(), 20u);
}

TEST(simplex, finds_the_bottom_of_a_bowl_and_of_a_narrow_valley) {
  for (int x = 3; x < 40; x += 6)
    for (int y = 2; y < 30; y += 5) {
      simplex_search s({{41, 31}}, 200);
      run(s, [&](const lattice_point &p) {
        const double a = p[0] - x, b = p[1] - y;
        return a * a + 4 * b * b;
      });
      EXPECT_LE(std::abs(s.best()[0] - x), 3) << x << " " << y;
      EXPECT_LE(std::abs(s.best()[1] - y), 3) << x << " " << y;
    }
  simplex_search s({{60, 60}}, 300);
  run(s, [](const lattice_point &p) {
    const double across = p[0] - p[1], along = p[0] + p[1] - 70;
    return 25 * across * across + along * along;
  });
  EXPECT_LT(s.best_cost(), 26);
}

TEST(simplex, ends_where_all_points_cost_the_same_or_none_can_be_had) {
  for (const double all : {1.0, std::numeric_limits<double>::infinity()}) {
    simplex_search s({{1, 50, 3}}, 1000);
    EXPECT_LT(run(s, [all](const lattice_point &) { return all; }).size(), 40u);
  }
}

TEST(lattices, count_their_points) {
  EXPECT_EQ((lattice{{3, 4, 5}}).points(), 60u);
  EXPECT_EQ((lattice{{1 << 30, 1 << 30, 1 << 30}}).points(), UINT64_MAX);
  EXPECT_EQ((lattice{{3, 4}}).at(11), (lattice_point{2, 3}));
  EXPECT_EQ((lattice{{3, 4}}).nearest({-1, 2.6}), (lattice_point{0, 3}));
  EXPECT_EQ((lattice{{3, 4}}).nearest({9, 2.4}), (lattice_point{2, 2}));
}

} // namespace
