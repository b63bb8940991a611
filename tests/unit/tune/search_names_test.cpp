// SPDX-License-Identifier: Apache-2.0
// Searches by their names, and those of NLopt, which are run where it is installed.
#include "tune/nlopt_search.hpp"
#include "tune/search_names.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace weft::rt;

/// Asks a search until it is over. Returns the points in their order.
template <class Cost>
std::vector<lattice_point> asked(search &by, Cost cost) {
  std::vector<lattice_point> way;
  while (const auto point = by.ask()) {
    way.push_back(*point);
    by.tell(cost(*point));
  }
  return way;
}

double bowl(const lattice_point &at) {
  double sum = 1;
  for (std::size_t i = 0; i < at.size(); ++i)
    sum += std::pow(at[i] - (i == 0 ? 11 : 4), 2);
  return sum;
}

TEST(search_names, say_which_there_are) {
  for (const char *name : {"", "simplex", "exhaustive", "random", "nlopt:sbplx", "nlopt:cobyla",
                           "nlopt:direct", "nlopt:nelder-mead"}) {
    EXPECT_EQ(why_no_search(name, 1), "") << name;
    EXPECT_EQ(why_no_search(name, 3), "") << name;
  }
  for (const char *name : {"line", "law"}) {
    EXPECT_EQ(why_no_search(name, 1), "");
    EXPECT_EQ(why_no_search(name, 2), "goes along one knob, and the session has several");
    EXPECT_EQ(begins_by_law(name), std::string(name) == "law");
  }
  for (const char *name : {"nlopt", "nlopt:", "nlopt:LN_SBPLX", "Simplex", "sbplx", "simplex "})
    EXPECT_EQ(why_no_search(name, 1),
              "is not known; there are line, law, simplex, exhaustive, random, nlopt:cobyla, "
              "nlopt:direct, nlopt:nelder-mead, nlopt:sbplx")
        << name;
}

TEST(search_names, each_is_its_own_search) {
  std::string trouble;
  const auto way = [&](const char *name, const lattice &space, const lattice_point &first,
                       std::optional<int> guess = std::nullopt) {
    const auto by = make_search(name, space, first, guess, trouble);
    auto points = asked(*by, bowl);
    EXPECT_EQ(by->trials(), std::set(points.begin(), points.end()).size()) << name;
    return points;
  };
  const lattice line{{32}}, plane{{8, 6}};
  EXPECT_EQ(way("", line, {3}).front(), lattice_point{3});
  EXPECT_EQ(way("line", line, {3}), way("", line, {3}));
  EXPECT_EQ(way("line", line, {3})[1], lattice_point{7}) << "by an eighth of the values";
  EXPECT_EQ(way("line", {{9}}, {3})[1], lattice_point{5}) << "by two at least";
  EXPECT_LE(way("line", {{4000}}, {0}).size(), 12u);
  EXPECT_EQ(way("law", line, {3}, 20).front(), lattice_point{20});
  EXPECT_EQ(way("law", line, {3}), way("line", line, {3})) << "without a guess";
  EXPECT_EQ(way("", plane, {7, 5}).front(), (lattice_point{2, 1})) << "a simplex";
  EXPECT_EQ(way("simplex", plane, {7, 5}), way("", plane, {7, 5}));
  EXPECT_EQ(way("exhaustive", plane, {7, 5}).size(), 48u);
  EXPECT_EQ(way("random", line, {3}).size(), 32u);
  EXPECT_NE(way("random", line, {3}), way("exhaustive", line, {3}));
  EXPECT_EQ(way("random", {{4000}}, {3}).size(), 40u);
  EXPECT_EQ(trouble, "");
}

TEST(nlopt, says_why_it_is_not_here) {
  const nlopt_presence none = try_nlopt("libnlopt-of-no-machine.so");
  EXPECT_FALSE(none.is_here);
  const nlopt_presence other = try_nlopt("libc.so.6");
  EXPECT_FALSE(other.is_here);
  if (none.text.starts_with("not in this build"))
    GTEST_SKIP() << none.text;
  EXPECT_TRUE(none.text.starts_with("NLopt cannot be loaded (libnlopt-of-no-machine.so: "))
      << none.text;
  EXPECT_TRUE(none.text.ends_with("; install libnlopt0")) << none.text;
  EXPECT_TRUE(other.text.starts_with("libc.so.6 has no nlopt_") &&
              other.text.ends_with("; install NLopt 2.7 or newer"))
      << other.text;
}

TEST(nlopt, finds_the_bottom_of_a_bowl) {
  if (!nlopt_here().is_here)
    GTEST_SKIP() << nlopt_here().text;
  for (const std::string_view name : nlopt_searches()) {
    const auto by = make_nlopt_search(name, {{32, 9}}, {2, 7}, 200);
    ASSERT_NE(by, nullptr) << name;
    const auto way = asked(*by, bowl);
    EXPECT_EQ(way.front(), (lattice_point{2, 7})) << name;
    EXPECT_LE(by->best_cost(), 3) << name << " ended at " << by->best()[0] << " " << by->best()[1];
    EXPECT_LT(way.size(), 150u) << name;
    EXPECT_EQ(std::set(way.begin(), way.end()).size(), way.size()) << name << ": none twice";
  }
}

TEST(nlopt, takes_the_same_way_each_time_and_ends_with_its_budget) {
  if (!nlopt_here().is_here)
    GTEST_SKIP() << nlopt_here().text;
  for (const std::string_view name : nlopt_searches()) {
    const auto one = make_nlopt_search(name, {{32, 9}}, {30, 0}, 9),
               two = make_nlopt_search(name, {{32, 9}}, {30, 0}, 9);
    const auto way = asked(*one, bowl);
    EXPECT_EQ(way, asked(*two, bowl)) << name;
    EXPECT_EQ(way.size(), 9u) << name;
  }
}

TEST(nlopt, values_that_cannot_be_searched_are_left_alone) {
  if (!nlopt_here().is_here)
    GTEST_SKIP() << nlopt_here().text;
  for (const std::string_view name : nlopt_searches()) {
    const auto fixed = make_nlopt_search(name, {{1, 1}}, {0, 0}, 40);
    EXPECT_EQ(asked(*fixed, bowl), std::vector<lattice_point>(1, lattice_point{0, 0})) << name;
    const auto half = make_nlopt_search(name, {{1, 9, 1}}, {0, 8, 0}, 40);
    for (const lattice_point &point : asked(*half, bowl)) {
      EXPECT_EQ(point[0], 0);
      EXPECT_EQ(point[2], 0);
    }
    EXPECT_EQ(half->best(), (lattice_point{0, 4, 0})) << name;
    const auto none = make_nlopt_search(name, {{8, 8}}, {1, 1}, 400);
    const auto way = asked(*none, [](const lattice_point &) { return std::nan(""); });
    EXPECT_FALSE(way.empty()) << name << " ends where nothing has a cost";
  }
  EXPECT_EQ(make_nlopt_search("simplex", {{8}}, {1}, 4), nullptr);
}

} // namespace
