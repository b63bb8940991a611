// SPDX-License-Identifier: Apache-2.0
// The figures of `weft-bench glto`: which workloads they have, and what becomes a curve.
#include <driver/glto/glto.hpp>

#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <stdexcept>

namespace {

using namespace bench::glto;

const std::vector<bench::row> k_rows{{"glto", "cg-10", "weft-omp", 1, "ns", {100}},
                                     {"glto", "cg-10", "libgomp", 1, "ns", {200}},
                                     {"glto", "cg-10 queued_percent", "weft-omp", 1, "%", {50}},
                                     {"glto", "cg-10", "weft-omp", 36, "ns", {300, 500, 400}}};
const figure k_figure{"cg-10", "Conjugate gradients", "10", "ns per task"};

TEST(glto, each_workload_of_the_suite_but_the_empty_tasks_has_a_figure) {
  std::set<std::string> of_suite, of_figures{"tasks"};
  for (const bench::experiment &e : bench::catalog(bench::size::quick))
    if (e.suite == "glto")
      of_suite.insert(e.workload);
  for (const figure &f : all_figures()) {
    of_figures.insert(f.workload);
    EXPECT_EQ(experiment_of(f).workload, f.workload);
  }
  EXPECT_EQ(of_figures, of_suite);
}

TEST(glto, a_runtime_is_a_curve_of_medians_over_threads) {
  const manager_model::chart picture = picture_of(k_figure, k_rows);
  ASSERT_EQ(picture.curves.size(), 2u);
  EXPECT_EQ(picture.curves[0].name, "weft-omp");
  using points = std::vector<std::pair<double, double>>;
  EXPECT_EQ(picture.curves[0].points, (points{{1, 100}, {36, 400}}));
  EXPECT_EQ(picture.curves[1].points, (points{{1, 200}}));
}

TEST(glto, the_table_has_a_line_for_each_runtime_and_a_column_for_each_number_of_threads) {
  std::ostringstream to;
  write_table(to, k_figure, {1, 36}, k_rows);
  EXPECT_NE(to.str().find("| cg-10 | 1 | 36 |"), std::string::npos) << to.str();
  EXPECT_NE(to.str().find("| weft-omp | 100 | 400 |"), std::string::npos) << to.str();
  EXPECT_NE(to.str().find("| libgomp | 200 | - |"), std::string::npos) << to.str();
}

TEST(glto, an_unknown_workload_is_refused) {
  EXPECT_THROW((void)parse_options({"--only", "cg-11"}), std::runtime_error);
  EXPECT_EQ(parse_options({"--threads", "3,5"}).threads, (std::vector<int>{3, 5}));
}

} // namespace
