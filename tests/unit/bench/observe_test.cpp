// SPDX-License-Identifier: Apache-2.0
// What `weft-bench observe` compares, and how.
#include <driver/observe/observe.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace {

using namespace bench::observe;

TEST(bench_observe, compares_each_way_with_one_that_is_there) {
  for (const subject &s : subjects()) {
    const auto known = [&s](const subject &other) {
      return other.name == s.against && &other < &s;
    };
    EXPECT_TRUE(s.against.empty() || std::any_of(subjects().begin(), subjects().end(), known))
        << s.name;
    EXPECT_TRUE(!s.against.empty() || s.bound_percent == 0) << s.name;
  }
}

TEST(bench_observe, takes_the_median_over_pairs) {
  EXPECT_DOUBLE_EQ(percent_above({101, 300, 52}, {100, 100, 50}), 4); // 1, 200 and 4
  EXPECT_DOUBLE_EQ(percent_above({}, {1}), 0);
}

TEST(bench_observe, takes_the_cost_of_reads_that_took_place) {
  EXPECT_DOUBLE_EQ(for_ten_reads(50, {1000, 500, 800}), 0.625);
  EXPECT_DOUBLE_EQ(for_ten_reads(50, {1000, 0, 800}), 0.625) << "one run was over too soon";
  EXPECT_THROW((void)for_ten_reads(0.01, {1000, 0, 0}), std::runtime_error);
  EXPECT_THROW((void)for_ten_reads(0.01, {}), std::runtime_error);
}

TEST(bench_observe, asks_for_the_reader_before_the_first_run) {
  const auto build = std::filesystem::temp_directory_path() /
                     ("weft-bench-observe-test-" + std::to_string(getpid()));
  std::filesystem::create_directories(build / "bin");
  EXPECT_THROW(require_reader(build), std::runtime_error);
  std::ofstream(build / "bin/weft") << "#!/bin/sh\n";
  EXPECT_THROW(require_reader(build), std::runtime_error) << "it is no program";
  std::filesystem::permissions(build / "bin/weft", std::filesystem::perms::owner_all);
  EXPECT_NO_THROW(require_reader(build));
  std::filesystem::remove_all(build);
}

TEST(bench_observe, refuses_what_it_does_not_know) {
  EXPECT_THROW((void)parse_options({"--only", "potrf"}), std::runtime_error);
  EXPECT_THROW((void)parse_options({"--runs"}), std::runtime_error);
  EXPECT_THROW((void)parse_options({"--runs", "0"}), std::runtime_error);
  EXPECT_THROW((void)parse_options({"--times", "--instructions"}), std::runtime_error);
  EXPECT_THROW((void)parse_options({"--wrong"}), std::runtime_error);
  const options o = parse_options({"--runs", "3", "--only", "chain", "--times", "--body", "500"});
  EXPECT_EQ(o.runs, 3);
  EXPECT_EQ(o.workloads, std::vector<std::string>{"chain"});
  EXPECT_FALSE(o.instructions);
  EXPECT_EQ(o.body_ns, 500);
}

} // namespace
