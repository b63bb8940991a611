// SPDX-License-Identifier: Apache-2.0
// What `weft-bench adapt` takes from its sample, what its rows ask, and how its table comes out.
#include <driver/adapt/adapt.hpp>
#include <driver/adapt/half.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench::adapt;

TEST(adapt, the_best_of_the_fixed_grains_counts) {
  const times t = parse_times("serial 2000\nself 1100\n1 9000\n4 1000\n16 1200\n");
  EXPECT_EQ(t.serial, 2000);
  EXPECT_EQ(t.self, 1100);
  EXPECT_EQ(t.best, 1000);
  EXPECT_EQ(t.grain, "4");
  EXPECT_EQ(parse_times("serial 5\nself 6\n").best, 0);
  for (const char *wrong : {"", "serial 5\n", "self 5\n", "serial 5\nself x\n", "serial 0\nself 5\n",
                            "serial 5\nself 6\nwrong\n1 many\n"})
    EXPECT_THROW((void)parse_times(wrong), std::runtime_error) << wrong;
}

TEST(adapt, what_a_sample_lacks_is_named) {
  try {
    (void)parse_times("serial 5\nspawn 6\n", "join");
    FAIL();
  } catch (const std::runtime_error &e) {
    EXPECT_NE(std::string(e.what()).find("lacks 'serial' or 'join'"), std::string::npos) << e.what();
  }
  const auto all = parse_ways("serial 5\n16 7\n");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].way, "16");
  EXPECT_EQ(all[1].ns, 7);
}

TEST(adapt, ways_without_a_cut_off_are_no_fixed_ones) {
  const std::string printed = "serial 5000\njoin 3000\nspawn 2500\ncost 2400\ncost-calls 2300\ninline 2200\njoin/10 2700\nspawn/10 2600\n";
  for (const auto &[way, ns] : {std::pair{"join", 3000.0}, {"spawn", 2500.0}, {"cost", 2400.0}, {"cost-calls", 2300.0}, {"inline", 2200.0}}) {
    const times t = parse_times(printed, way);
    EXPECT_EQ(t.self, ns);
    EXPECT_EQ(t.best, 2600) << way;
    EXPECT_EQ(t.grain, "spawn/10") << way;
  }
  EXPECT_THROW((void)parse_times("serial 5\nspawn 6\n", "join"), std::runtime_error);
  EXPECT_EQ(parse_times("serial 5\njoin 6\n", "join").best, 0);
}

TEST(adapt, changes_are_counted_by_the_minute) {
  EXPECT_EQ(parse_changes("changes 2\nseconds 30.0\ntrials 17\n"), 4);
  EXPECT_EQ(parse_changes("changes 0\nseconds 60\n"), 0);
  for (const char *wrong : {"", "changes 2\n", "seconds 3\n", "changes x\nseconds 3\n", "changes 1\nseconds 0\n"})
    EXPECT_THROW((void)parse_changes(wrong), std::runtime_error) << wrong;
  EXPECT_TRUE(assess_equal_ways(1).met());
  EXPECT_FALSE(assess_equal_ways(1.1).met());
  EXPECT_TRUE(assess_phases({2000, 1050, 1000, "1+16"}).met());
  EXPECT_FALSE(assess_phases({2000, 1051, 1000, "1+16"}).met());
}

TEST(adapt, each_row_asks_what_its_claim_says) {
  const times slower{2000, 1030, 1000, "4"};
  EXPECT_DOUBLE_EQ(assess_uniform(slower).is, 1.03);
  EXPECT_FALSE(assess_uniform(slower).met());
  EXPECT_TRUE(assess_uniform({2000, 1020, 1000, "4"}).met());
  EXPECT_DOUBLE_EQ(assess_uniform({2000, 1000, 0, ""}).is, 0.5) << "no grain: beside the serial loop";
  EXPECT_TRUE(assess_irregular(slower).met());
  EXPECT_FALSE(assess_irregular({2000, 1051, 1000, "4"}).met());

  const verdict brief = assess_size({5000, 5200, 4000, "4"});
  EXPECT_EQ(brief.unit, "ns");
  EXPECT_DOUBLE_EQ(brief.is, 200);
  EXPECT_DOUBLE_EQ(brief.asked, 200) << "2 % and 100 ns";
  EXPECT_TRUE(brief.met());
  EXPECT_FALSE(assess_size({9999, 10'400, 4000, "4"}).met());
  EXPECT_TRUE(assess_size({10'000, 10'400, 20'000, "4"}).met()) << "the serial loop is the best";
  EXPECT_DOUBLE_EQ(assess_size({10'000, 6000, 5000, "4"}).is, 1.2);
  EXPECT_FALSE(assess_size({10'000, 6000, 5000, "4"}).met());

  const times recursion{2000, 1190, 1000, "join/4"};
  EXPECT_TRUE(assess_recursion(recursion, "join").met());
  EXPECT_TRUE(assess_recursion(recursion, "spawn").met());
  for (const char *by_cost : {"cost", "cost-calls", "inline"})
    EXPECT_FALSE(assess_recursion(recursion, by_cost).met()) << by_cost << ": what says its cost is to do better";
  EXPECT_TRUE(assess_recursion({2000, 1099, 1000, "join/4"}, "cost").met());
  EXPECT_FALSE(assess_recursion({2000, 1201, 1000, "join/4"}, "join").met());
  EXPECT_DOUBLE_EQ(assess_recursion({800, 1200, 1000, "join/4"}, "join").is, 1.5)
      << "the serial program is the best";

  EXPECT_TRUE(assess_time_of_fewer(1.05).met());
  EXPECT_FALSE(assess_time_of_fewer(1.06).met());
  EXPECT_TRUE(assess_energy_of_fewer(0.9).met());
  EXPECT_FALSE(assess_energy_of_fewer(0.91).met());

  EXPECT_DOUBLE_EQ(assess_tree({1000, 5096, 0, ""}, 1024).is, 4);
  EXPECT_TRUE(assess_tree({1000, 5096, 0, ""}, 1024).met());
  EXPECT_FALSE(assess_tree({1000, 5200, 0, ""}, 1024).met());
  EXPECT_TRUE(assess_more_workers({1, 1000, 0, ""}, {1, 1000, 0, ""}).met());
  EXPECT_FALSE(assess_more_workers({1, 1000, 0, ""}, {1, 1001, 0, ""}).met());
}

TEST(adapt, the_table_marks_what_is_missed) {
  std::ostringstream table;
  const times loop{2000, 1030, 1000, "4"}, tree{1000, 3000, 0, ""};
  EXPECT_EQ(write_table(table, {{"T1", "uniform", loop, assess_uniform(loop)},
                                {"T5", "tree", tree, assess_tree(tree, 1000)},
                                {"T9", "changes", {}, assess_equal_ways(0)},
                                {"T10", "energy", {}, assess_energy_of_fewer(0.5)}}),
            1);
  EXPECT_NE(table.str().find(
                "| T1 | uniform | 2.00 | 1.03 | 1.00 (4) | 1.030 x **missed** | 1.020 x |\n"
                "| T5 | tree | 1.00 | 3.00 | - | 2.0 ns | 4.0 ns |\n"
                "| T9 | changes | - | - | - | 0.0 a minute | 1.0 a minute |\n"
                "| T10 | energy | - | - | - | 0.500 x | 0.900 x |\n"),
            std::string::npos)
      << table.str();
}

TEST(adapt, the_half_point_is_found_by_few_tiles) {
  const std::vector<long> tiles{256, 1, 2, 4, 8, 16, 32, 64, 128};
  for (const long half : {1L, 2L, 3L, 64L, 100L, 256L, 257L}) {
    int asked = 0;
    const half_bracket found = bracket_half(tiles, [&](long tile) {
      ++asked;
      return tile >= half ? 0.5 : 0.499;
    });
    long finest = 0, below = 0;
    for (const long tile : tiles) {
      if (tile >= half && (finest == 0 || tile < finest))
        finest = tile;
      if (tile < half)
        below = std::max(below, tile);
    }
    EXPECT_EQ(found.coarse.value_or(0), finest) << half;
    EXPECT_EQ(found.fine.value_or(0), below) << half;
    EXPECT_LE(asked, 4) << half;
  }
  EXPECT_FALSE(bracket_half({}, [](long) { return 1.0; }).coarse);
}

TEST(adapt, a_half_point_is_to_be_one_and_a_half_times_smaller) {
  EXPECT_TRUE(assess_half({"dot", 3000}, {2000, false, 16}).judged.met());
  const line missed = assess_half({"dot", 3000}, {2001, true, 16});
  EXPECT_FALSE(missed.judged.met());
  EXPECT_EQ(missed.subject, "dot: less than 2e+03 instructions a task at half speed, 3e+03 before");
  EXPECT_EQ(halves_before().size(), 10u);
}

TEST(adapt, options_say_what_is_wrong_with_them) {
  const options o =
      parse_options({"--only", "T1,T5", "--workers", "4", "--runs", "3", "--quick", "--list"});
  EXPECT_EQ(o.only, (std::vector<std::string>{"T1", "T5"}));
  EXPECT_EQ(o.workers, 4);
  EXPECT_EQ(o.runs, 3);
  EXPECT_TRUE(o.quick && o.list);
  EXPECT_EQ(parse_options({}).workers, 2);
  EXPECT_EQ(parse_options({}).runs, 30);
  EXPECT_FALSE(parse_options({}).quick || parse_options({}).list);
  EXPECT_THROW((void)parse_options({"--workers", "0"}), std::runtime_error);
  EXPECT_THROW((void)parse_options({"--grain", "5"}), std::runtime_error);
}

TEST(adapt, a_row_that_is_measured_elsewhere_says_where) {
  const auto only = [](std::vector<std::string> rows, bool list = false) {
    options o;
    o.only = std::move(rows);
    o.list = list;
    return o;
  };
  try {
    (void)run(only({"T4"}));
    FAIL() << "T4 is not measured here";
  } catch (const std::runtime_error &e) {
    EXPECT_STREQ(e.what(), "row T4 is not measured here: weft-bench omp");
  }
  EXPECT_THROW((void)run(only({"T11"})), std::runtime_error);
  EXPECT_THROW((void)run(only({"T1", "t1"}, true)), std::runtime_error);
  EXPECT_EQ(run(only({}, true)), 0);
}

} // namespace
