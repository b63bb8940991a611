// SPDX-License-Identifier: Apache-2.0
// What `weft-bench managers` runs, remembers and shows.
#include <driver/managers/managers.hpp>
#include <driver/managers/record.hpp>
#include <driver/managers/report.hpp>
#include <driver/managers/trials.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <stdexcept>

namespace {

using namespace bench::managers;

struct scratch {
  scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-managers-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw std::runtime_error("no folder for the test");
    path = name;
  }
  scratch(const scratch &) = delete;
  ~scratch() { std::filesystem::remove_all(path); }
  std::string path;
};

std::string message_of(const std::vector<std::string> &arguments) {
  try {
    (void)parse_options(arguments);
    return "accepted";
  } catch (const std::runtime_error &e) {
    return e.what();
  }
}

TEST(managers_options, refusals_name_the_option_and_what_it_takes) {
  EXPECT_EQ(message_of({"--runs", "0"}), "--runs wants a number from 1 to 1000, not '0'");
  EXPECT_EQ(message_of({"--study", "shape"}), "no study is called 'shape'; there are times, bodies, parameters and shapes");
  EXPECT_EQ(message_of({"--only", "amr"}).find("no application is called 'amr'; there are two_wave"), 0u);
  EXPECT_EQ(message_of({"--modes", "direkt"}).find("no mode is called 'direkt'; there are direct"), 0u);
  EXPECT_EQ(message_of({"--report", "--fresh"}), "--fresh forgets what --report would show; drop one");
  EXPECT_EQ(message_of({"--workers"}), "--workers wants a value");
}

TEST(managers_trials, of_the_parameters_double_each_alone) {
  const options o = parse_options({"--workers", "2", "--runs", "1", "--only", "matmul"});
  const auto all = trials_of(study::parameters, o);
  ASSERT_EQ(all.size(), 1 + 4 * 8u) << "direct beside four parameters from 1 to 128";
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const trial &t) { return t.mode == "direct"; }), 1);
  const auto last = std::find_if(all.begin(), all.end(), [](const trial &t) { return t.parameter == "max_ops=128"; });
  ASSERT_NE(last, all.end());
  EXPECT_EQ(last->settings, (std::vector<std::string>{"WEFT_MANAGE_MODE=distributed", "WEFT_MANAGE_MAX_OPS=128"}));
}

TEST(managers_trials, take_turns_in_every_run) {
  const options o = parse_options({"--workers", "1,2", "--runs", "2", "--only", "nbody", "--modes", "direct,auto"});
  const auto all = trials_of(study::times, o);
  ASSERT_EQ(all.size(), 2u * 2 * 2 * 2) << "runs, modes, workers, grains";
  EXPECT_EQ(all.front().run, 1);
  EXPECT_EQ(all.back().run, 2);
  EXPECT_EQ(all.back().mode, "auto");
}

sample timed(const char *mode, int run, double seconds) { return {"times", "matmul", "fine", mode, {}, 2, run, 100, seconds, 0, 0, 0}; }

TEST(managers_record, what_was_written_is_found_by_the_next_one) {
  const scratch folder;
  record(folder.path).add(timed("direct, locks", 3, 0.125));
  const record again(folder.path);
  ASSERT_EQ(again.samples().size(), 1u);
  EXPECT_EQ(again.samples()[0].mode, "direct, locks");
  EXPECT_EQ(again.samples()[0].seconds, 0.125);
  trial t{study::times, "matmul", "fine", "direct, locks", 24, 2, {}, {}, 3};
  EXPECT_TRUE(again.has(t));
  t.run = 4;
  EXPECT_FALSE(again.has(t));
}

TEST(managers_record, a_line_that_was_cut_short_is_named) {
  const scratch folder;
  std::ofstream(folder.path + "/samples.csv") << "head\ntimes;matmul;fine\n";
  try {
    const record r(folder.path);
    FAIL() << "it is read";
  } catch (const std::runtime_error &e) {
    EXPECT_NE(std::string(e.what()).find("line 2 cannot be read: 'times;matmul;fine'"), std::string::npos) << e.what();
  }
}

TEST(managers_report, shows_direct_in_ms_and_others_over_it) {
  const scratch folder;
  record r(folder.path);
  for (int run = 1; run <= 3; ++run) {
    r.add(timed("direct", run, 0.010 * run));
    r.add(timed("distributed", run, 0.015 * run));
  }
  std::ostringstream to;
  write_report(to, r, parse_options({"--study", "times", "--workers", "2", "--only", "matmul"}));
  EXPECT_NE(to.str().find("| direct | - | 20 |"), std::string::npos) << to.str();
  EXPECT_NE(to.str().find("| distributed | - | 1.50x |"), std::string::npos) << to.str();
  EXPECT_NE(to.str().find("| central | - | - |"), std::string::npos) << to.str();
}

TEST(managers_report, draws_the_counts_over_time) {
  const scratch folder;
  const record r(folder.path);
  std::ofstream(counts_file(folder.path, "matmul", "fine", "direct", 2)) << "at_ns,in_graph,queued,ready\n0,1,2,3\n1000000,4,5,6\n";
  std::ostringstream to;
  write_report(to, r, parse_options({"--study", "shapes", "--workers", "2", "--only", "matmul"}));
  EXPECT_NE(to.str().find("matmul-fine-direct-2.svg"), std::string::npos) << to.str();
  std::ifstream picture(folder.path + "/matmul-fine-direct-2.svg");
  std::string text(std::istreambuf_iterator<char>(picture), {});
  EXPECT_NE(text.find("in messages"), std::string::npos);
}

} // namespace
