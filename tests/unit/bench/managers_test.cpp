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
  EXPECT_EQ(message_of({"--study", "shape"}),
            "no study is called 'shape'; there are times, bodies, pairs, parameters and shapes");
  EXPECT_EQ(
      message_of({"--only", "amr"}).find("no application is called 'amr'; there are two_wave"), 0u);
  EXPECT_EQ(message_of({"--modes", "direkt"}).find("no mode is called 'direkt'; there are direct"),
            0u);
  EXPECT_EQ(message_of({"--report", "--fresh"}),
            "--fresh forgets what --report would show; drop one");
  EXPECT_EQ(message_of({"--workers"}), "--workers wants a value");
}

TEST(managers_trials, of_the_parameters_double_each_alone) {
  const options o = parse_options({"--workers", "2", "--runs", "1", "--only", "matmul"});
  const auto all = trials_of(study::parameters, o);
  ASSERT_EQ(all.size(), 1 + 4 * 8u) << "direct beside four parameters from 1 to 128";
  EXPECT_EQ(
      std::count_if(all.begin(), all.end(), [](const trial &t) { return t.mode == "direct"; }), 1);
  const auto last = std::find_if(all.begin(), all.end(),
                                 [](const trial &t) { return t.parameter == "max_ops=128"; });
  ASSERT_NE(last, all.end());
  EXPECT_EQ(last->settings,
            (std::vector<std::string>{"WEFT_MANAGE_MODE=distributed", "WEFT_MANAGE_BACKLOG=0",
                                      "WEFT_MANAGE_MAX_OPS=128"}));
}

TEST(managers_trials, take_turns_in_every_run) {
  const options o = parse_options(
      {"--workers", "1,2", "--runs", "2", "--only", "nbody", "--modes", "direct,auto"});
  const auto all = trials_of(study::times, o);
  ASSERT_EQ(all.size(), 2u * 2 * 2 * 2) << "runs, modes, workers, grains";
  EXPECT_EQ(all.front().run, 1);
  EXPECT_EQ(all.back().run, 2);
  EXPECT_EQ(all.back().mode, "auto");
}

TEST(managers_trials, stand_side_by_side_in_pairs_and_change_sides) {
  const options o = parse_options({"--workers", "2", "--runs", "2", "--only", "nbody"});
  std::string order;
  for (const trial &t : trials_of(study::pairs, o))
    order += t.grain[0] + t.mode + " ";
  EXPECT_EQ(
      order,
      "cdirect cdistributed cauto fdirect fdistributed fauto cauto cdistributed cdirect fauto fdistributed fdirect ");
}

sample timed(const char *mode, int run, double seconds) {
  return {"times", "matmul", "fine", mode, {}, 2, run, 100, seconds, 0, 0, 0};
}

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
    EXPECT_NE(std::string(e.what()).find("line 2 cannot be read: 'times;matmul;fine'"),
              std::string::npos)
        << e.what();
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

TEST(managers_report, pairs_are_of_one_run_and_say_whether_the_bound_holds) {
  const scratch folder;
  record r(folder.path);
  for (int run = 1; run <= 9; ++run)
    for (const auto &[mode, factor] :
         {std::pair("direct", 1.0), std::pair("distributed", 1.2), std::pair("auto", 1.01)}) {
      sample s = timed(mode, run, 0.01 * run * factor); // the machine gets slower and slower
      s.study = "pairs";
      r.add(s);
    }
  std::ostringstream to;
  write_report(to, r, parse_options({"--study", "pairs", "--workers", "2", "--only", "matmul"}));
  EXPECT_NE(
      to.str().find(
          "| matmul fine | 2 | 9 | 1.200 (1.200 to 1.200) | missed | 1.010 (1.010 to 1.010) | within |"),
      std::string::npos)
      << to.str();
}

TEST(managers_report, replaces_its_part_of_a_page_and_nothing_else) {
  const scratch folder;
  const std::string page = folder.path + "/page.md";
  std::ofstream(page) << "before\n<!-- report: begin -->\nold\n<!-- report: end -->\nbehind\n";
  std::ofstream(folder.path + "/one.svg") << "<svg/>";
  put_into_page(page, "new", folder.path);
  std::ifstream from(page);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(from), {}),
            "before\n<!-- report: begin -->\nnew\n<!-- report: end -->\nbehind\n");
  EXPECT_TRUE(std::filesystem::exists(folder.path + "/managers/one.svg"));
  std::ofstream(page) << "nothing";
  EXPECT_THROW(put_into_page(page, "new", folder.path), std::runtime_error);
}

TEST(managers_report, predicts_what_was_observed_with_one_worker) {
  const scratch folder;
  record r(folder.path);
  r.add({"bodies", "matmul", "coarse", "direct", {}, 1, 1, 512, 0.01, 20000, 0, 0, 0, 0});
  std::ofstream(folder.path + "/costs") << "create = 100\nsubmit = 50\n";
  std::ostringstream to;
  write_report(
      to, r,
      parse_options({"--study", "shapes", "--only", "matmul", "--costs", folder.path + "/costs"}));
  EXPECT_NE(to.str().find("create 100, submit 50"), std::string::npos) << to.str();
  EXPECT_NE(to.str().find("| matmul coarse | direct | 10."), std::string::npos)
      << "512 bodies of 20 us\n"
      << to.str();
  EXPECT_EQ(to.str().find("matmul fine"), std::string::npos) << "nothing was observed";
  EXPECT_TRUE(std::filesystem::exists(folder.path + "/matmul-coarse-predicted.svg"));
}

TEST(managers_report, draws_the_counts_over_time) {
  const scratch folder;
  const record r(folder.path);
  std::ofstream(counts_file(folder.path, "matmul", "fine", "direct", 2))
      << "at_ns,in_graph,queued,ready\n0,1,2,3\n1000000,4,5,6\n";
  std::ostringstream to;
  write_report(to, r, parse_options({"--study", "shapes", "--workers", "2", "--only", "matmul"}));
  EXPECT_NE(to.str().find("matmul-fine-direct-2.svg"), std::string::npos) << to.str();
  std::ifstream picture(folder.path + "/matmul-fine-direct-2.svg");
  std::string text(std::istreambuf_iterator<char>(picture), {});
  EXPECT_NE(text.find("in messages"), std::string::npos);
}

} // namespace
