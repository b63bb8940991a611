// SPDX-License-Identifier: Apache-2.0
// What `weft-bench stencil` reads and keeps, the metrics that it computes, and its tables.
#include <driver/stencil/metrics.hpp>
#include <driver/stencil/record.hpp>
#include <driver/stencil/stencil.hpp>
#include <driver/stencil/trials.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace {

using namespace bench::stencil;

constexpr double k_none = std::numeric_limits<double>::quiet_NaN();
const std::string k_run = "run ns 1000 tasks 10 exec 600 overhead 400 management 300 idle 100 "
                          "overall 1000 phases 12 accesses 7 misses 3";

std::string message_of(auto f) {
  try {
    f();
  } catch (const std::runtime_error &e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(stencil, the_sizes_are_the_divisors_between_the_bounds) {
  EXPECT_EQ(sizes(100, 5, 50), (std::vector<long>{5, 10, 20, 25, 50}));
  EXPECT_EQ(sizes(36, 1, 36), (std::vector<long>{1, 2, 3, 4, 6, 9, 12, 18, 36})) << "6 once";
  EXPECT_TRUE(sizes(7, 2, 6).empty());
  EXPECT_EQ(sizes(100'000'000, 160, 100'000'000).size(), 64U) << "as the thesis has them";
}

TEST(stencil, a_run_has_all_its_counts) {
  const counts c = parse_run(k_run);
  EXPECT_EQ(c.ns, 1000);
  EXPECT_EQ(c.tasks, 10);
  EXPECT_EQ(c.exec, 600);
  EXPECT_EQ(c.overhead, 400);
  EXPECT_EQ(c.management, 300);
  EXPECT_EQ(c.idle, 100);
  EXPECT_EQ(c.overall, 1000);
  EXPECT_EQ(c.phases, 12);
  EXPECT_EQ(c.accesses, 7);
  EXPECT_EQ(c.misses, 3);
  EXPECT_EQ(parse_runs("a note\n" + k_run + "\n" + k_run + "\n").size(), 2U);
  for (const char *line : {"run ns 1000 tasks 10", "ran ns 1000", "run tasks 10 ns 1000"})
    EXPECT_NE(message_of([&] { (void)parse_run(line); }).find("which is not a run with all its"),
              std::string::npos)
        << line;
}

TEST(stencil, a_record_comes_back_and_a_line_that_was_cut_off_does_not_count) {
  const subject of{"size", "tasks", 1000, 5, 2, 10};
  counts precise = parse_run(k_run);
  precise.ns = 123456789012345.0;
  std::stringstream record;
  write_sample(record, {of, parse_run(k_run)});
  write_sample(record, {of, precise});
  record << record.str().substr(0, record.str().find('\n') - 4) << '\n'; // without its end
  const auto all = read_record(record);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].of, of);
  EXPECT_EQ(all[0].is.misses, 3);
  EXPECT_EQ(all[1].is.ns, 123456789012345.0);
  subject other = of;
  other.workers = 1;
  EXPECT_EQ(runs_of(all, of).size(), 2U);
  EXPECT_TRUE(runs_of(all, other).empty());
}

TEST(stencil, what_the_record_has_is_not_run_again_and_a_cut_line_gets_an_end) {
  const std::string path = testing::TempDir() + "stencil." + std::to_string(getpid());
  const subject of{"size", "tasks", 1000, 5, 2, 10};
  std::ofstream first(path);
  write_sample(first, {of, parse_run(k_run)});
  first << "size tasks 10";
  first.close();
  {
    trials kept(path, false);
    EXPECT_EQ(kept.of(of, 1).size(), 1U);
    EXPECT_EQ(kept.known(), 1);
    EXPECT_EQ(kept.measured(), 0);
  }
  std::ifstream read(path);
  const std::string text{std::istreambuf_iterator<char>(read), {}};
  EXPECT_TRUE(text.ends_with("size tasks 10\n")) << text;
  EXPECT_TRUE(trials(path, true).all().empty());
  EXPECT_FALSE(std::ifstream(path).good());
  std::remove(path.c_str());
}

TEST(stencil, means_have_an_interval_of_90_percent) {
  const summary s = summarize({1, 2, 3, 4});
  EXPECT_EQ(s.count, 4);
  EXPECT_DOUBLE_EQ(s.mean, 2.5);
  EXPECT_NEAR(s.deviation, 1.29099, 1e-5);
  EXPECT_NEAR(s.half, 2.353 * 1.29099 / 2, 1e-4);
  EXPECT_EQ(summarize({7}).half, 0);
  EXPECT_EQ(summarize({}).count, 0);
  EXPECT_DOUBLE_EQ(harmonic_mean({1, 2, 4}), 12.0 / 7);
  EXPECT_EQ(harmonic_mean({1, 0}), 0);
  EXPECT_EQ(harmonic_mean({}), 0);
}

TEST(stencil, correlation_is_pearsons) {
  EXPECT_DOUBLE_EQ(correlation({1, 2, 3}, {10, 20, 30}), 1);
  EXPECT_DOUBLE_EQ(correlation({1, 2, 3}, {30, 20, 10}), -1);
  EXPECT_NEAR(correlation({1, 2, 3, 4}, {2, 1, 4, 3}), 0.6, 1e-12);
  EXPECT_TRUE(std::isnan(correlation({1, 2}, {1, 2}))) << "of two points it says nothing";
  EXPECT_TRUE(std::isnan(correlation({1, 1, 1}, {1, 2, 3})));
  EXPECT_TRUE(std::isnan(correlation({1, 2, 3}, {1, k_none, 3})));
}

TEST(stencil, metrics_are_those_of_the_equations) {
  const metrics m = metrics_of(parse_run(k_run), 2, 50);
  EXPECT_DOUBLE_EQ(m.time, 1000);
  EXPECT_DOUBLE_EQ(m.idle_rate, 0.4);
  EXPECT_DOUBLE_EQ(m.duration, 60);
  EXPECT_DOUBLE_EQ(m.overhead, 40);
  EXPECT_DOUBLE_EQ(m.management, 200);
  EXPECT_DOUBLE_EQ(m.wait, 10);
  EXPECT_DOUBLE_EQ(m.wait_per_core, 50);
  EXPECT_DOUBLE_EQ(m.creation, 500);
  EXPECT_DOUBLE_EQ(m.accesses, 7);
  EXPECT_DOUBLE_EQ(m.misses, 3);
  EXPECT_TRUE(std::isnan(metrics_of(parse_run(k_run), 2, k_none).wait_per_core));
  EXPECT_EQ(metrics_of({}, 1, 0).duration, 0) << "a run without tasks";
}

TEST(stencil, ranges_end_where_the_thesis_has_it) {
  EXPECT_EQ(all_ranges().size(), 6U);
  EXPECT_EQ(range_of_points(160), 0U);
  EXPECT_EQ(range_of_points(15'625), 0U);
  EXPECT_EQ(range_of_points(16'000), 1U);
  EXPECT_EQ(range_of_points(80'000), 1U);
  EXPECT_EQ(range_of_points(100'000), 2U);
  EXPECT_EQ(range_of_points(160'000), 2U);
  EXPECT_EQ(range_of_points(200'000), 3U);
  EXPECT_EQ(range_of_points(400'000), 3U);
  EXPECT_EQ(range_of_points(500'000), 4U);
  EXPECT_EQ(range_of_points(800'000), 4U);
  EXPECT_EQ(range_of_points(1'000'000), 5U);
  const double last_us[] = {26, 101, 194, 481, 998, 33072},
               first_us[] = {3, 29, 125, 241, 601, 1283};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(range_of_duration(first_us[i]), i);
    EXPECT_EQ(range_of_duration(last_us[i]), i);
  }
  std::vector<std::size_t> count(6);
  for (const long size : sizes(100'000'000, 160, 100'000'000))
    ++count[range_of_points(size)];
  EXPECT_EQ(count, (std::vector<std::size_t>{26, 10, 4, 5, 4, 15}));
}

/// Returns a run of ten tasks that take `task_ns` each, and the overhead, per worker.
sample run_of(int workers, long size, double task_ns, double overhead) {
  counts c;
  c.tasks = 10;
  c.exec = 10 * task_ns;
  c.overhead = workers * overhead;
  c.overall = c.exec + c.overhead;
  c.ns = c.overall / workers;
  return {{"size", "tasks", 100'000, 5, workers, size}, c};
}

TEST(stencil, the_tables_have_sizes_and_correlations_beside_those_of_the_thesis) {
  std::vector<sample> all;
  for (const long size : {1000, 2000, 4000}) {
    const auto task = static_cast<double>(10 * size);
    all.push_back(run_of(1, size, task, 100));
    all.push_back(run_of(2, size, task + 200, 4e7 / task));
  }
  sample other = run_of(2, 1000, 1, 1);
  other.of.steps = 6; // of another study
  all.push_back(other);
  std::ostringstream text;
  EXPECT_EQ(write_study(text, all, {"size", "tasks", 100'000, 5, 2, 0}), 1);
  const std::string tables = text.str();
  EXPECT_NE(tables.find("2 workers, tasks, 100000 points, 5 steps:\n"), std::string::npos)
      << tables;
  EXPECT_NE(tables.find("| 1000 | 0.1 ± 0.0 | 7.3 | 10.20 | 800 | 0.0 | 0.0 ± 0.0 | 0.0 | 0 | 0 |"),
            std::string::npos)
      << tables;
  EXPECT_NE(tables.find("| very fine, to 15625 | 3 | -0.926 | - | -0.926 |"), std::string::npos)
      << tables;
  EXPECT_NE(tables.find("| .999 / 1.00 / 1.00 / 1.00 |"), std::string::npos) << tables;
  EXPECT_NE(tables.find("| very fine, to 27.5 | 2 |"), std::string::npos) << tables;
  EXPECT_NE(tables.find("| fine, to 113.0 | 1 |"), std::string::npos) << tables;
  EXPECT_NE(tables.find("| very coarse, above 800000 | 0 | - |"), std::string::npos) << tables;
}

TEST(stencil, without_a_reference_there_is_no_wait_time) {
  std::ostringstream text;
  EXPECT_EQ(write_study(text, {run_of(2, 1000, 100, 10)}, {"size", "tasks", 100'000, 5, 2, 0}), 0);
  EXPECT_NE(text.str().find("| 0.0 | - | 0.0 |"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("| very fine, to 15625 | 0 |"), std::string::npos) << text.str();
}

TEST(stencil, options_say_what_is_wrong_with_them) {
  const options o =
      parse_options({"--points", "1000", "--steps", "7", "--workers", "1,4", "--least", "10",
                     "--runs", "3", "--model", "futures", "--record", "file", "--fresh"});
  EXPECT_EQ(o.points, 1000);
  EXPECT_EQ(o.steps, 7);
  EXPECT_EQ(o.workers, (std::vector<int>{1, 4}));
  EXPECT_EQ(o.least, 10);
  EXPECT_EQ(o.runs, 3);
  EXPECT_EQ(o.model, "futures");
  EXPECT_EQ(o.record, "file");
  EXPECT_TRUE(o.fresh);
  EXPECT_TRUE(o.measure);
  const options none = parse_options({});
  EXPECT_EQ(none.points, 100'000'000);
  EXPECT_EQ(none.steps, 50);
  EXPECT_EQ(none.least, 160);
  EXPECT_EQ(none.runs, 10);
  EXPECT_EQ(none.workers.size(), 1U);
  EXPECT_FALSE(parse_options({"--report"}).measure);
  EXPECT_EQ(message_of([] { (void)parse_options({"--model", "threads"}); }),
            "--model is tasks or futures, not 'threads'");
  EXPECT_NE(message_of([] { (void)parse_options({"--report", "--fresh"}); }).find("one of the two"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              options late = parse_options({"--points", "100", "--least", "101"});
              (void)bench::stencil::run(late);
            }).find("no partition of 101 points or more makes up 100"),
            std::string::npos);
}

} // namespace
