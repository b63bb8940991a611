// SPDX-License-Identifier: Apache-2.0
// What `weft-bench omp` runs, and how its table and page come out.
#include <driver/omp/omp.hpp>
#include <driver/omp/report.hpp>
#include <driver/omp/rows.hpp>

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace {

using namespace bench::omp;

std::string message_of(const std::vector<std::string> &arguments) {
  try {
    (void)parse_options(arguments);
    return "accepted";
  } catch (const std::runtime_error &e) {
    return e.what();
  }
}

const figure &figure_of(const std::string &row_name, std::size_t index = 0) {
  for (const row &r : all_rows())
    if (r.name == row_name)
      return r.figures.at(index);
  throw std::runtime_error("no row " + row_name);
}

/// The same value in all columns of the other runtimes, and of Weft's.
void put(values &all, const figure &f, double others, double ours) {
  for (const contender &c : contenders())
    all[f.title][c.title].push_back(c.ours ? ours : others);
}

TEST(omp_options, refusals_name_the_option_and_what_it_takes) {
  EXPECT_EQ(message_of({"--rounds", "0"}), "--rounds wants a number from 1 to 100000, not '0'");
  EXPECT_EQ(message_of({"--only", "fork"}), "no row is called 'fork'; --list names them");
  EXPECT_EQ(message_of({"--page"}), "--page wants a value");
  EXPECT_EQ(message_of({"--round", "1"}), "unknown option '--round'; see weft-bench omp --help");
  EXPECT_EQ(message_of({"--only", "fork-join-2,tasks", "--budget", "9"}), "accepted");
}

TEST(omp_rows, have_names_and_titles_of_their_own) {
  std::set<std::string> names, titles;
  for (const row &r : all_rows()) {
    EXPECT_TRUE(names.insert(r.name).second) << r.name;
    for (const figure &f : r.figures)
      EXPECT_TRUE(titles.insert(f.title).second) << f.title;
  }
}

TEST(omp_table, holds_wefts_worse_column_against_the_best_of_the_others) {
  const figure &f = figure_of("chain");
  values all;
  all[f.title]["libgomp"] = {1.0, 3.0, 2.0};
  all[f.title]["libiomp5"] = {1.0};
  all[f.title]["Weft, GCC's program"] = {0.1};
  all[f.title]["Weft, Clang's program"] = {0.3};
  std::ostringstream text;
  EXPECT_EQ(write_table(text, all, 3), 1);
  EXPECT_NE(text.str().find(
                "| `task depend`, chain | us | 2.00 (1.00) | 1.00 (1.00) | 0.100 (0.100) | 0.300 "
                "(0.300) | at most 0.200 x the best | 0.300, missed |"),
            std::string::npos)
      << text.str();
}

TEST(omp_table, absolute_bounds_need_no_other_runtime) {
  const figure &nest = figure_of("nested-100x100-36"), &threads = figure_of("nested-100x100-36", 1);
  values all;
  all[nest.title]["Weft, GCC's program"] = {14.0};
  put(all, threads, 1296, 3);
  std::ostringstream text;
  EXPECT_EQ(write_table(text, all, 1), 0);
  EXPECT_NE(text.str().find("| us | none | none | 14.0 (14.0) | none | at most 15.0 us | 14.0 |"),
            std::string::npos)
      << text.str();
  EXPECT_NE(text.str().find(
                "| 1296 (1296) | 1296 (1296) | 3.00 (3.00) | 3.00 (3.00) | at most 6.00 | 3.00 |"),
            std::string::npos)
      << text.str();
}

TEST(omp_table, without_one_to_compare_with_a_ratio_is_not_known) {
  values all;
  all[figure_of("tasks").title]["Weft, GCC's program"] = {0.1};
  std::ostringstream text;
  EXPECT_EQ(write_table(text, all, 1), 0);
  EXPECT_NE(text.str().find("| not known |"), std::string::npos) << text.str();
}

TEST(omp_page, replaces_what_is_between_the_marks_and_nothing_else) {
  const std::string path = testing::TempDir() + "weft-omp-page" + std::to_string(getpid()) + ".md";
  std::ofstream(path) << "head\n<!-- weft-bench omp -->\nold\n<!-- end -->\ntail\n";
  write_page(path, "new\n");
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "head\n<!-- weft-bench omp -->\nnew\n<!-- end -->\ntail\n");
  std::ofstream(path) << "no marks\n";
  EXPECT_THROW(write_page(path, "new\n"), std::runtime_error);
  std::filesystem::remove(path);
}

} // namespace
