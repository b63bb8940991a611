// SPDX-License-Identifier: Apache-2.0
// What `weft-bench inncabs` reads from its programs, its statistics, and how its tables come out.
#include <driver/inncabs/inncabs.hpp>
#include <driver/inncabs/report.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unistd.h>

namespace {

using namespace bench::inncabs;

std::string message_of(const std::vector<std::string> &arguments) {
  try {
    (void)parse_options(arguments);
    return "accepted";
  } catch (const std::runtime_error &e) {
    return e.what();
  }
}

TEST(inncabs_options, refusals_name_the_option_and_what_it_takes) {
  EXPECT_EQ(message_of({"--samples", "2"}), "--samples wants a number from 3 to 10000, not '2'");
  EXPECT_EQ(message_of({"--only", "fibonacci"}),
            "no program is called 'fibonacci'; --list names them");
  EXPECT_EQ(message_of({"--runtimes", "cilk"}), "no runtime is called 'cilk'; --list names them");
  EXPECT_EQ(message_of({"--workers", "1,0"}), "--workers wants a number from 1 to 1024, not '0'");
  EXPECT_EQ(message_of({"--workers", ""}), "--workers wants a number from 1 to 1024, not ''");
  EXPECT_EQ(message_of({"--launch", "sync"}), "no runtime here has the launch policy 'sync'");
  EXPECT_EQ(message_of({"--size", "fib=3"}), "--size wants PROGRAM:NAME=VALUE, not 'fib=3'");
  EXPECT_EQ(message_of({"--size", "fib:n"}), "--size wants PROGRAM:NAME=VALUE, not 'fib:n'");
  EXPECT_EQ(message_of({"--size", "f:n=1"}), "no program is called 'f'; --list names them");
  EXPECT_EQ(message_of({"--page"}), "--page wants a value");
  EXPECT_EQ(message_of({"--sample"}), "unknown option '--sample'; see weft-bench inncabs --help");
}

TEST(inncabs_options, are_what_the_command_line_says) {
  const options o = parse_options(
      {"--only",    "fib,uts", "--runtimes", "weft,std",   "--workers", "1,16",
       "--samples", "5",       "--launch",   "deferred",   "--size",    "fib:n=20,uts:size=6",
       "--limit",   "7",       "--threads",  "99",         "--record",  "r",
       "--report",  "--page",  "p",          "--pictures", "f",         "--list"});
  EXPECT_EQ(o.only, (std::vector<std::string>{"fib", "uts"}));
  EXPECT_EQ(o.runtimes, (std::vector<std::string>{"weft", "std"}));
  EXPECT_EQ(o.workers, (std::vector<int>{1, 16}));
  EXPECT_EQ(o.samples, 5);
  EXPECT_EQ(o.launch, "deferred");
  EXPECT_EQ(o.sizes, (std::vector<std::string>{"fib:n=20", "uts:size=6"}));
  EXPECT_EQ(o.limit_s, 7);
  EXPECT_EQ(o.threads, 99);
  EXPECT_EQ(o.record + o.page + o.pictures, "rpf");
  EXPECT_FALSE(o.measure);
  EXPECT_TRUE(o.list);
  const options usual = parse_options({});
  EXPECT_EQ(usual.samples, 20);
  EXPECT_EQ(usual.workers.front(), 1);
  EXPECT_TRUE(usual.measure);
}

TEST(inncabs_catalog, has_fourteen_programs_with_names_of_their_own) {
  std::set<std::string> names;
  for (const program &p : all_programs())
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
  EXPECT_EQ(names.size(), 14U);
}

TEST(inncabs_statistics, the_interval_is_students) {
  const mean_of none = mean({});
  EXPECT_EQ(none.count, 0);
  EXPECT_TRUE(std::isnan(none.mean));
  EXPECT_EQ(mean({5}).half, 0);
  const mean_of two = mean({1, 3});
  EXPECT_DOUBLE_EQ(two.mean, 2);
  EXPECT_DOUBLE_EQ(two.half, 12.706); // the deviation is the root of 2, and so is that of the count
  const mean_of four = mean({2, 4, 4, 6});
  EXPECT_DOUBLE_EQ(four.mean, 4);
  EXPECT_NEAR(four.half, 3.182 * std::sqrt(8.0 / 3 / 4), 1e-12);
  const std::vector<double> many = [] {
    std::vector<double> v;
    for (int i = 0; i < 200; ++i)
      v.push_back(i % 2);
    return v;
  }();
  EXPECT_NEAR(mean(many).half, 1.980 * std::sqrt(0.25 / 199), 1e-12);
}

measurement read(const std::string &output) {
  measurement m;
  read_lines(output, m);
  return m;
}

TEST(inncabs_record, a_process_that_was_ended_at_the_limit_is_told) {
  const std::string sample = "sample 2e6\ncpu 3e6\ntasks 10\n";
  EXPECT_FALSE(read(sample + sample + sample).cut_short);
  const measurement m = read(sample + sample + sample + "sample 4e6\nit was killed after 7 s");
  EXPECT_TRUE(m.cut_short);
  EXPECT_TRUE(m.measured());
  EXPECT_EQ(m.failure, "");
  std::ostringstream record, tables;
  measurement block;
  block.program = "fib", block.runtime = "weft", block.launch = "async", block.workers = 1;
  write_block(record, block, sample + sample + sample + "it was killed after 7 s");
  std::istringstream from(record.str());
  write_tables(tables, read_record(from));
  EXPECT_NE(tables.str().find("2.00 ± 0.000 (ended at the limit, n = 2)"), std::string::npos)
      << tables.str();
}

TEST(inncabs_record, the_first_sample_and_an_unfinished_one_do_not_count) {
  const measurement m = read("sizes n=25\noffcore counted\n"
                             "sample 9e9\ncpu 9e9\nbandwidth 9\ntasks 10\n"
                             "sample 2e6\ncpu 3e6\nbandwidth 1.5\ntask_ns 7\ntasks 10\n"
                             "sample 4e6\ncpu 5e6\nbandwidth 2.5\ntask_ns 9\ntasks 30\n"
                             "sample 6e6\ncpu 5e6\n");
  EXPECT_EQ(m.sizes, "n=25");
  EXPECT_EQ(m.offcore, "counted");
  EXPECT_EQ(m.failure, "");
  EXPECT_EQ(m.samples.size(), 3U);
  EXPECT_TRUE(m.measured());
  EXPECT_DOUBLE_EQ(m.of(&sample::ns).mean, 3e6);
  EXPECT_DOUBLE_EQ(m.of(&sample::cpu_ns).mean, 4e6);
  EXPECT_DOUBLE_EQ(m.of(&sample::bandwidth).mean, 2);
  EXPECT_DOUBLE_EQ(m.of(&sample::task_ns).mean, 8);
  EXPECT_DOUBLE_EQ(m.of(&sample::tasks).mean, 20);
  EXPECT_TRUE(std::isnan(m.of(&sample::management_ns).mean));
  EXPECT_FALSE(read("sample 1\ntasks 1\nsample 1\ntasks 1\n").measured());
}

TEST(inncabs_record, a_failure_has_its_reason) {
  EXPECT_EQ(read("sizes n=25\nno thread beyond 4000\n").failure, "threads");
  EXPECT_EQ(read("sample 1\ntasks 3\nwrong fib returned 7\n").failure, "wrong: fib returned 7");
  EXPECT_EQ(read("failed time\n").failure, "time");
  EXPECT_EQ(read("sample 1\ntasks 3\n").failure, "");
}

std::string samples_of(double ms, double cpu_ms, long tasks) {
  std::ostringstream text;
  text << "sizes n=1\noffcore not allowed\n";
  for (int i = 0; i < 4; ++i)
    text << "sample " << ms * 1e6 << "\ncpu " << cpu_ms * 1e6 << "\ntasks " << tasks << '\n';
  return text.str();
}

std::string block(const char *program, const char *runtime, int workers, const std::string &output,
                  const char *failure = "", const char *launch = "async") {
  measurement m;
  m.program = program, m.runtime = runtime, m.workers = workers, m.launch = launch;
  m.load = 1.5;
  m.failure = failure;
  std::ostringstream text;
  write_block(text, m, output);
  return text.str();
}

std::vector<measurement> read_all(const std::string &text) {
  std::istringstream from(text);
  return read_record(from);
}

TEST(inncabs_record, comes_back_as_it_was_written_and_the_last_block_counts) {
  const auto all = read_all(block("fib", "weft", 2, samples_of(5, 5, 10)) +
                            block("fib", "std", 2, "sizes n=1\nno thread beyond 9") +
                            block("fib", "weft", 2, samples_of(7, 9, 10)) +
                            block("fib", "weft", 2, "", "time", "deferred") +
                            block("uts", "weft", 2, "half a line", "it was ended by signal 11"));
  ASSERT_EQ(all.size(), 4U);
  const measurement *weft = find(all, "fib", "weft", 2);
  ASSERT_TRUE(weft);
  EXPECT_DOUBLE_EQ(weft->of(&sample::ns).mean, 7e6);
  EXPECT_EQ(weft->load, 1.5);
  EXPECT_EQ(find(all, "fib", "std", 2)->failure, "threads");
  EXPECT_EQ(find(all, "uts", "weft", 2)->failure, "it was ended by signal 11");
  EXPECT_EQ(find(all, "fib", "weft", 1), nullptr);
  EXPECT_EQ(workers_of(all), (std::vector<int>{2}));
}

std::vector<measurement> some() {
  return read_all(block("sort", "serial", 1, samples_of(100, 50, 1000)) +
                  block("sort", "weft", 1, samples_of(110, 51, 1000)) +
                  block("sort", "weft", 2, samples_of(55, 60, 1000)) +
                  block("sort", "std", 1, samples_of(300, 250, 1000)) +
                  block("sort", "std", 2, "no thread beyond 9\n") +
                  block("sort", "std", 2, samples_of(400, 1, 1000), "", "deferred") +
                  block("uts", "tbb", 2, "", "time"));
}

TEST(inncabs_report, classes_are_those_of_the_thesis) {
  EXPECT_STREQ(granularity(29.9), "VF");
  EXPECT_STREQ(granularity(30), "F");
  EXPECT_STREQ(granularity(100), "M");
  EXPECT_STREQ(granularity(500), "C");
}

TEST(inncabs_report, overhead_is_processor_time_beside_the_programs_own) {
  const auto all = some();
  EXPECT_DOUBLE_EQ(overhead_ns(all, *find(all, "sort", "weft", 2)), 10'000);
  EXPECT_DOUBLE_EQ(overhead_ns(all, *find(all, "sort", "weft", 1)), 1'000);
  EXPECT_TRUE(std::isnan(overhead_ns(all, *find(all, "sort", "std", 2))));
  EXPECT_TRUE(std::isnan(overhead_ns(all, *find(all, "uts", "tbb", 2))));
  auto other_sizes = some();
  for (measurement &m : other_sizes)
    if (m.runtime == "serial")
      m.sizes = "n=2";
  EXPECT_TRUE(std::isnan(overhead_ns(other_sizes, *find(other_sizes, "sort", "weft", 2))));
}

TEST(inncabs_report, tables_have_a_line_for_each_program) {
  std::ostringstream to;
  write_tables(to, some());
  const std::string text = to.str();
  for (const char *line :
       {"; 3 samples of each that count; load of the machine 1.50 to 1.50.\n",
        "| sort | recursive balanced | none | `n=1` | 1000 | 50.0 | F | 52.0 | F |\n",
        "| program | serial | weft | std | tbb |\n",
        "| sort | 100 ± 0.000 | 55.0 ± 0.000 | fails: threads | - |\n",
        "| uts | - | - | - | fails: time |\n",
        "| sort | 2.00 (0.909) | fails: threads | - | 10 | 3.0 | 20 | 11.9 |\n",
        "| sort | 50.0 | +20.0 % | fails: threads | - | - |\n",
        "| sort | 50.0 | +2.0 % | +400.0 % | - | - |\n",
        "| sort | std | 2 | deferred | 400 ± 0.000 |\n",
        "Off-core bandwidth is absent (not allowed).\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "is not in\n" << text;
}

TEST(inncabs_report, the_overhead_of_very_fine_tasks_is_in_ns) {
  std::ostringstream to;
  write_tables(to, read_all(block("uts", "serial", 1, samples_of(1, 1, 1000)) +
                            block("uts", "tbb", 2, samples_of(1, 1.2, 1000))));
  EXPECT_NE(to.str().find("| uts | 1.00 | 200 | - |\n"), std::string::npos) << to.str();
}

TEST(inncabs_report, bandwidth_has_a_table_where_it_is_counted) {
  std::ostringstream to;
  write_tables(to, read_all(block("sort", "weft", 2,
                                  "offcore counted\nsample 1\nbandwidth 9\ntasks 1\n"
                                  "sample 1\nbandwidth 2\ntasks 1\n"
                                  "sample 1\nbandwidth 3\ntasks 1\n")));
  EXPECT_NE(to.str().find("Off-core bandwidth with 2 workers, GB/s."), std::string::npos);
  EXPECT_NE(to.str().find("| sort | 2.50 |\n"), std::string::npos) << to.str();
}

TEST(inncabs_report, each_number_of_a_process_that_was_ended_at_the_limit_is_marked) {
  const auto samples = [](double ms) {
    std::string text = "sizes n=1\noffcore counted\n";
    for (int i = 0; i < 4; ++i)
      text += "sample " + std::to_string(ms * 1e6) + "\ncpu 5e7\nbandwidth 2\ntasks 1000\nmanagement_ns 9\n";
    return text;
  };
  const auto tables = [&samples](const char *cut) {
    std::string blocks;
    for (const auto &[runtime, workers, ms] :
         {std::tuple("serial", 1, 100.0), std::tuple("weft", 1, 110.0), std::tuple("weft", 2, 55.0)}) {
      const std::string name = runtime + std::to_string(workers);
      blocks += block("sort", runtime, workers,
                      samples(ms) + (name == cut ? "it was killed after 7 s" : ""));
    }
    std::ostringstream to;
    write_tables(to, read_all(blocks));
    return to.str();
  };
  const char *const note = "† from a process that was ended at the limit, with fewer samples.\n";
  const auto expect = [&](const char *cut, const std::vector<std::string> &lines) {
    const std::string text = tables(cut);
    for (const std::string &line : lines)
      EXPECT_NE(text.find(line), std::string::npos) << cut << ": " << line << "\n" << text;
    EXPECT_EQ(text.find(note) != std::string::npos, *cut != '\0') << text;
  };
  expect("", {"| 1000 | 50.0 | F | 52.0 | F |\n", "| sort | 2.00 (0.909) | 10",
              "| sort | 50.0 | +0.0 % | 9.00 |\n", "| sort | 2.00 |\n"});
  expect("serial1", {"| 1000 | 50.0 † | F | 52.0 | F |\n", "| sort | 2.00 (0.909 †) | 10",
                     "| sort | 50.0 † | +0.0 % † | 9.00 |\n", "| sort | 2.00 |\n"});
  expect("weft1", {"| 1000 | 50.0 | F | 52.0 | F |\n", "| sort | 2.00 † (0.909) | 10",
                   "| sort | 50.0 | +0.0 % † | 9.00 † |\n", "| sort | 50.0 | +0.0 % | 9.00 |\n"});
  expect("weft2", {"| sort | 2.00 † (0.909 †) | 10", "| sort | 50.0 | +0.0 % † | 9.00 † |\n",
                   "| sort | 2.00 † |\n"});
}

TEST(inncabs_report, pictures_hold_what_was_measured) {
  std::ostringstream times, overhead;
  write_times(times, some());
  write_overhead(overhead, some());
  EXPECT_NE(times.str().find("<title>weft, 2: 55 ms</title>"), std::string::npos);
  EXPECT_EQ(times.str().find("std, 2"), std::string::npos);
  EXPECT_EQ(overhead.str().find("sort"), std::string::npos) << "its tasks are fine, not very fine";
  EXPECT_TRUE(overhead.str().ends_with("</svg>\n"));
  std::ostringstream very_fine;
  write_overhead(very_fine, read_all(block("uts", "serial", 1, samples_of(1, 1, 1000)) +
                                     block("uts", "tbb", 2, samples_of(1, 1.2, 1000))));
  EXPECT_NE(very_fine.str().find("<title>tbb: 200</title>"), std::string::npos);
  std::ostringstream empty;
  write_times(empty, {});
  write_overhead(empty, {});
  EXPECT_TRUE(empty.str().ends_with("</svg>\n"));
}

TEST(inncabs_report, the_page_is_changed_between_its_marks_alone) {
  const std::string path = testing::TempDir() + "inncabs_page_" + std::to_string(getpid()) + ".md";
  const auto content = [&path] {
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  std::ofstream(path) << "a\n<!-- weft-bench inncabs -->\nold\n<!-- end -->\nb\n";
  write_page(path, "new\n");
  EXPECT_EQ(content(), "a\n<!-- weft-bench inncabs -->\nnew\n<!-- end -->\nb\n");
  std::ofstream(path) << "<!-- end -->\n<!-- weft-bench inncabs -->\n";
  EXPECT_THROW(write_page(path, "new\n"), std::runtime_error);
  EXPECT_THROW(write_page(path + ".none", "new\n"), std::runtime_error);
  std::remove(path.c_str());
}

} // namespace
