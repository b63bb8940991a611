// SPDX-License-Identifier: Apache-2.0
// Several objectives: how they are written, how points rank, and which are not beaten.
#include "tune/criteria.hpp"
#include "tune/objective.hpp"

#include <weft/error.hpp>

#include <clocale>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

using namespace weft::rt;
using costs = std::vector<double>;

TEST(criteria, a_product_has_a_power_for_each_cost) {
  const criteria by{{1, 2, 0}, {}};
  EXPECT_DOUBLE_EQ(by.product({3, 5, 7}), 75);
  EXPECT_DOUBLE_EQ(criteria{}.product({3}), 3);
  EXPECT_DOUBLE_EQ((criteria{{0.5, 0}, {}}.product({9, 0})), 3);
}

TEST(criteria, a_point_that_keeps_its_bounds_ranks_before_each_that_does_not) {
  const criteria by{{1, 0}, {{1, 1.05, true}}};
  EXPECT_DOUBLE_EQ(by.rank({0, 0}, {0.7, 1.05}), 0.7) << "the bound itself is kept";
  EXPECT_GT(by.rank({0, 0}, {0.1, 1.06}), by.rank({0, 0}, {1000, 1}));
  EXPECT_LT(by.rank({0, 0}, {0.9, 1.06}), by.rank({0, 0}, {0.1, 1.07})) << "the nearer one first";
  EXPECT_TRUE(by.keeps_bounds({0, 0}, {0.7, 1.05}));
  EXPECT_FALSE(by.keeps_bounds({0, 0}, {0.7, 1.051}));
  EXPECT_LT(by.rank({0, 0}, {1e20, 1}), by.rank({0, 0}, {1e-20, 2})) << "however much it costs";
  EXPECT_TRUE(criteria{}.keeps_bounds({1e20}, {1e20}));
}

TEST(criteria, the_worst_of_several_bounds_counts) {
  const criteria by{{1, 0, 0}, {{1, 2, false}, {2, 4, false}, {0, 3, true}}};
  EXPECT_DOUBLE_EQ(by.worst({9, 1, 1}, {1, 9, 9}), 0.5);
  EXPECT_DOUBLE_EQ(by.worst({9, 1, 6}, {1, 9, 9}), 1.5);
  EXPECT_DOUBLE_EQ(by.worst({9, 1, 6}, {9, 9, 9}), 3);
  EXPECT_DOUBLE_EQ(criteria{}.worst({9}, {9}), 0);
  EXPECT_TRUE(by.compares_with_default());
  EXPECT_FALSE((criteria{{1}, {{0, 3, false}}}).compares_with_default());
}

TEST(criteria, a_margin_of_each_term_widens_its_bounds) {
  const criteria by{{1, 0, 0}, {{1, 2, false}, {2, 4, true}}};
  const costs margin{9, 0.5, 0.25};
  EXPECT_TRUE(by.keeps_bounds({1, 3, 1}, {1, 1, 5}, margin));
  EXPECT_FALSE(by.keeps_bounds({1, 3.1, 1}, {1, 1, 5}, margin));
  EXPECT_FALSE(by.keeps_bounds({1, 3, 1}, {1, 1, 5.1}, margin));
  EXPECT_DOUBLE_EQ(by.rank({1, 3, 1}, {0.7, 1, 5}, margin), 0.7);
  EXPECT_DOUBLE_EQ(by.rank({1, 4, 1}, {0.7, 1, 5}, margin), 2 * criteria::k_beyond)
      << "how far is by the bound itself";
}

TEST(criteria, nothing_beside_nothing_is_equal) {
  EXPECT_DOUBLE_EQ(part_of(1, 4), 0.25);
  EXPECT_DOUBLE_EQ(part_of(0, 0), 1);
  EXPECT_DOUBLE_EQ(part_of(0, 2), 0);
  EXPECT_DOUBLE_EQ(part_of(2, 0), 1e9);
  EXPECT_DOUBLE_EQ(part_of(2, 1e-300), 1e9);
}

std::vector<int> points_of(const non_dominated_points &from) {
  std::vector<int> numbers;
  for (const judged_point &one : from.all())
    numbers.push_back(one.point[0]);
  return numbers;
}

TEST(non_dominated_points, are_those_that_no_other_beats) {
  non_dominated_points front;
  front.add({{0}, {1, 1}});
  front.add({{1}, {2, 0.5}});
  front.add({{2}, {0.5, 2}});
  EXPECT_EQ(points_of(front), (std::vector<int>{2, 0, 1})) << "by their first cost";
  front.add({{3}, {1, 1.5}}); // worse than 0
  front.add({{4}, {1, 1}}); // as good as 0: the first one stays
  EXPECT_EQ(points_of(front), (std::vector<int>{2, 0, 1}));
  front.add({{5}, {0.9, 0.4}}); // beats 0 and 1
  EXPECT_EQ(points_of(front), (std::vector<int>{2, 5}));
  front.add({{5}, {3, 3}}); // known anew, and worse
  EXPECT_EQ(points_of(front), (std::vector<int>{2}));
  front.clear();
  EXPECT_TRUE(front.all().empty());
}

TEST(non_dominated_points, are_bounded) {
  non_dominated_points front;
  for (int i = 0; i < 100; ++i)
    front.add({{i}, {1.0 + i, 200.0 - i}});
  EXPECT_EQ(front.all().size(), non_dominated_points::k_most);
}

TEST(non_dominated_points, agree_with_a_look_at_all_pairs) {
  unsigned seed = 1;
  for (int round = 0; round < 200; ++round) {
    std::vector<costs> all;
    non_dominated_points front;
    for (int i = 0; i < 20; ++i) {
      costs one;
      for (int k = 0; k < 3; ++k)
        one.push_back((seed = seed * 1664525u + 1013904223u) >> 29);
      all.push_back(one);
      front.add({{i}, one});
    }
    std::vector<costs> kept;
    for (const judged_point &one : front.all())
      kept.push_back(one.costs);
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool beaten = false;
      for (std::size_t j = 0; j < all.size(); ++j) {
        bool at_most = true, less = false;
        for (int k = 0; k < 3; ++k) {
          at_most = at_most && all[j][k] <= all[i][k];
          less = less || all[j][k] < all[i][k];
        }
        beaten = beaten || (at_most && (less || j < i));
      }
      const bool is_there = std::any_of(front.all().begin(), front.all().end(),
                                        [&](const judged_point &one) {
                                          return one.point[0] == static_cast<int>(i);
                                        });
      EXPECT_EQ(is_there, !beaten) << round << ' ' << i;
    }
  }
}

TEST(objective, is_the_time_a_counter_or_a_product) {
  for (const char *time : {"", "  ", "time", " time "}) {
    EXPECT_TRUE(parse_objective(time).is_time()) << time;
    EXPECT_EQ(parse_objective(time).by.weights, costs{1});
  }
  const auto one = parse_objective("/arithmetics/add@/a/b,/c/d");
  EXPECT_EQ(one.terms, std::vector<std::string>{"/arithmetics/add@/a/b,/c/d"});
  EXPECT_FALSE(one.is_time());
  const auto product = parse_objective("/power/estimate * time^2 * /a/b^0.5 * time");
  EXPECT_EQ(product.terms, (std::vector<std::string>{"/power/estimate", "time", "/a/b"}));
  EXPECT_EQ(product.by.weights, (costs{1, 3, 0.5})) << "a term has one power";
  EXPECT_TRUE(product.by.bounds.empty());
}

TEST(objective, may_have_bounds) {
  const auto text = parse_objective("/a/b subject to time <= 1.05x and /c/d <= 40 and /a/b <= 7");
  EXPECT_EQ(text.terms, (std::vector<std::string>{"/a/b", "time", "/c/d"}));
  EXPECT_EQ(text.by.weights, (costs{1, 0, 0}));
  ASSERT_EQ(text.by.bounds.size(), 3u);
  EXPECT_EQ(text.by.bounds[0].term, 1u);
  EXPECT_DOUBLE_EQ(text.by.bounds[0].most, 1.05);
  EXPECT_TRUE(text.by.bounds[0].of_default);
  EXPECT_EQ(text.by.bounds[1].term, 2u);
  EXPECT_DOUBLE_EQ(text.by.bounds[1].most, 40);
  EXPECT_FALSE(text.by.bounds[1].of_default);
  EXPECT_EQ(text.by.bounds[2].term, 0u);
}

TEST(objective, has_a_point_in_its_numbers_in_each_locale) {
  for (const char *locale : {"C", "de_DE.UTF-8", "fr_FR.UTF-8"}) { // those that are here
    if (!std::setlocale(LC_NUMERIC, locale))
      continue;
    const auto text = parse_objective("/a/b^0.5 subject to time <= 1.05x and /a/b <= 2.5e-3");
    EXPECT_DOUBLE_EQ(text.by.weights[0], 0.5) << locale;
    EXPECT_DOUBLE_EQ(text.by.bounds[0].most, 1.05) << locale;
    EXPECT_DOUBLE_EQ(text.by.bounds[1].most, 0.0025) << locale;
  }
  std::setlocale(LC_NUMERIC, "C");
}

std::string refusal_of(const char *text) {
  try {
    static_cast<void>(parse_objective(text));
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::invalid_argument);
    return e.what();
  }
  return "";
}

TEST(objective, says_what_is_wrong_with_it) {
  const auto says = [](const char *text, const char *what) {
    const std::string why = refusal_of(text);
    EXPECT_NE(why.find(what), std::string::npos) << text << ": " << why;
    EXPECT_NE(why.find(text), std::string::npos) << why;
  };
  says("power", "neither 'time' nor a counter");
  says("/a/b * power", "neither 'time' nor a counter");
  for (const char *power : {"time^", "time^x", "time^0", "time^-1", "time^1e999", "time^nan"})
    says(power, "a power that is no number above 0");
  // Numbers are decimal, and begin at once.
  for (const char *power : {"time^ 2", "time^0x2", "time^+2", "time^inf", "time^2 3", "time^2,5"})
    says(power, "a power that is no number above 0");
  says("time*/a/b", "factors are joined by '*' with spaces around it");
  says("/a/b subject to time", "a bound without '<='");
  says("/a/b subject to time<=1.05x", "a bound without '<=' with spaces around it");
  says("/a/b subject to time <= 1 <= 2", "a bound without '<=' with spaces around it, or with two");
  for (const char *bound : {"time subject to time <= x", "time subject to time <= 0x",
                            "time subject to time <= -3", "time subject to time <= 2y",
                            "time subject to time <= 0x2", "time subject to time <= 1 x",
                            "time subject to time <= 1,05x"})
    says(bound, "a bound that is no number above 0");
  says("time subject to power <= 2", "neither 'time' nor a counter");
  says("time subject to time <= 2 subject to time <= 3", "'subject to' twice");
}

} // namespace
