// SPDX-License-Identifier: Apache-2.0
// What `weft-bench cliffs` takes from its samples, which rows it marks, and how its table comes out.
#include <driver/cliffs/cliffs.hpp>

#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

namespace {

using namespace bench::cliffs;

line with(std::initializer_list<double> costs) {
  line l{"a-row", "tasks", 2, {}};
  long size = 1000;
  for (const double ns : costs)
    l.costs.push_back({size, ns}), size *= 10;
  return l;
}

TEST(cliffs, a_row_is_what_its_sample_tells) {
  const row r = parse_row("independent tasks 1000 10000");
  EXPECT_EQ(r.name, "independent");
  EXPECT_EQ(r.counts, "tasks");
  EXPECT_EQ(r.sizes, (std::vector<long>{1000, 10000}));
  EXPECT_THROW((void)parse_row("independent tasks"), std::runtime_error);
  EXPECT_THROW((void)parse_row("independent tasks 1000 many"), std::runtime_error);
}

TEST(cliffs, a_row_is_marked_when_it_costs_more_than_three_times_what_a_smaller_size_does) {
  EXPECT_DOUBLE_EQ(growth(with({100, 250, 300})), 3);
  EXPECT_FALSE(is_cliff(with({100, 250, 300})));
  EXPECT_TRUE(is_cliff(with({100, 250, 301})));
  EXPECT_TRUE(is_cliff(with({200, 50, 151, 60})));
  EXPECT_FALSE(is_cliff(with({900, 100, 100}))) << "a start that few share";
  EXPECT_DOUBLE_EQ(growth(with({900, 100})), 1);
  EXPECT_DOUBLE_EQ(growth(with({})), 1);
}

TEST(cliffs, the_table_has_a_line_for_each_row_and_number_of_workers) {
  std::ostringstream table;
  EXPECT_EQ(write_table(table, {with({12.34, 20}), with({100, 1500.4})}), 1);
  EXPECT_NE(table.str().find("| a-row (tasks) | 2 | 1k: 12.3, 10k: 20.0 | 1.6 |\n"),
            std::string::npos)
      << table.str();
  EXPECT_NE(table.str().find("| a-row (tasks) | 2 | 1k: 100, 10k: 1500 | 15.0 **cliff** |\n"),
            std::string::npos)
      << table.str();
}

TEST(cliffs, options_say_what_is_wrong_with_them) {
  const options o = parse_options(
      {"--only", "mutex,chain", "--workers", "1,4", "--most", "1000", "--runs", "2", "--cpu"});
  EXPECT_EQ(o.only, (std::vector<std::string>{"mutex", "chain"}));
  EXPECT_EQ(o.workers, (std::vector<int>{1, 4}));
  EXPECT_EQ(o.most, 1000);
  EXPECT_EQ(o.runs, 2);
  EXPECT_TRUE(o.cpu);
  EXPECT_EQ(parse_options({}).workers, (std::vector<int>{1, 2, 8}));
  EXPECT_THROW((void)parse_options({"--workers", "0"}), std::runtime_error);
  EXPECT_THROW((void)parse_options({"--most"}), std::runtime_error);
  EXPECT_THROW((void)parse_options({"--fast"}), std::runtime_error);
}

} // namespace
