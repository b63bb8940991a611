// SPDX-License-Identifier: Apache-2.0
// `weft run --seeds`, on a program with a missing access.
#include "support/process.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

class weft_seeds : public testing::Test {
 protected:
  void SetUp() override {
    const auto program = test::program_path();
    m_tests = program.substr(0, program.rfind('/'));
    m_weft = m_tests.substr(0, m_tests.rfind('/')) + "/bin/weft";
    if (access(m_weft.c_str(), X_OK) != 0)
      GTEST_SKIP() << m_weft << " was not built (WEFT_TOOLS is OFF)";
  }

  test::ending weft(std::vector<std::string> arguments, test::environment settings = {}) const {
    arguments.insert(arguments.begin(), m_weft);
    settings.emplace_back("WEFT_CONFIG", "");
    return test::run(arguments, settings);
  }
  std::vector<std::string> buggy() const {
    return test::command(m_tests + "/weft_unit_tool_order_bug");
  }
  test::ending explore(const std::string &how, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"run", "--seeds", "40"});
    options.push_back("--");
    for (const auto &word : buggy())
      options.push_back(word);
    if (!how.empty())
      options.push_back(how);
    return weft(options);
  }

  /// Runs the command that the report names.
  test::ending repeat(const test::ending &report) const {
    const std::string prefix = "to repeat it: weft ";
    const auto at = report.output.find(prefix);
    if (at == std::string::npos)
      return {};
    const auto from = at + prefix.size();
    const auto command = report.output.substr(from, report.output.find('\n', from) - from);
    return shell(command);
  }

  /// `weft` with what is after it on a line for the shell.
  test::ending shell(const std::string &rest) const {
    std::string line = "exec";
    for (const auto &word : test::command(m_weft))
      line += " " + word;
    return test::run_as_it_is({"/bin/sh", "-c", line + " " + rest}, {{"WEFT_CONFIG", ""}});
  }

  std::string m_tests, m_weft;
};

TEST_F(weft_seeds, a_program_without_a_bug_gives_the_same_with_each) {
  const auto end = explore("");
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(end.output,
            "weft: seeds 1 to 40 gave the same output and exit code as the run without a seed\n");
}

TEST_F(weft_seeds, another_output_is_shown_as_a_difference_and_can_be_repeated) {
  const auto end = explore("output");
  EXPECT_TRUE(end.exited(3)) << end;
  EXPECT_TRUE(end.printed(
      "differs from the run without a seed (-)\n  standard output, line 2:\n      begin\n    - x = "))
      << end;
  EXPECT_FALSE(end.printed("gave something else")) << end;
  EXPECT_TRUE(end.printed("    - x = 42\n")) << end;
  EXPECT_TRUE(end.printed("    + x = 0\n")) << end;
  EXPECT_EQ(repeat(end).output, "begin\nx = 0\nend\n");
}

TEST_F(weft_seeds, another_exit_code_is_a_difference) {
  const auto end = explore("code");
  EXPECT_TRUE(end.exited(3)) << end;
  EXPECT_TRUE(end.printed("  - exit code 0\n  + exit code 9\n")) << end;
}

TEST_F(weft_seeds, a_crash_is_a_difference) {
  const auto end = explore("crash");
  EXPECT_TRUE(end.exited(3)) << end;
  EXPECT_TRUE(end.printed("  - exit code 0\n  + signal 6 (Aborted)\n")) << end;
}

TEST_F(weft_seeds, a_hang_is_a_difference) {
  const auto end = explore("hang", {"--limit", "5"});
  EXPECT_TRUE(end.exited(3)) << end;
  EXPECT_TRUE(end.printed("+ no end within 5 s")) << end;
}

TEST_F(weft_seeds, a_program_that_hangs_without_a_seed_leaves_nothing_to_compare_with) {
  const auto end = weft({"run", "--seeds", "3", "--limit", "0.5", "sleep", "100"});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_EQ(
      end.output,
      "weft: the run without a seed had no end within 0.5 s; nothing can be compared with it\n");
}

TEST_F(weft_seeds, an_output_that_always_changes_is_not_blamed_on_a_seed) {
  const auto end = explore("noise");
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(
      end.printed("two runs without a seed differ, so there is nothing to compare seeds with\n"))
      << end;
}

TEST_F(weft_seeds, of_a_program_that_always_fails_give_its_status) {
  auto end =
      weft({"run", "--seeds", "3", "--", "/bin/sh", "-c", "echo last words >&2; kill -SEGV $$"});
  EXPECT_TRUE(end.exited(128 + SIGSEGV)) << end;
  EXPECT_TRUE(end.printed("gave the same output and signal")) << end;
  EXPECT_TRUE(end.printed("weft: all of them failed: signal 11 (Segmentation fault)\n")) << end;
  EXPECT_TRUE(end.printed("last words")) << end;
  end = weft({"run", "--seeds", "3", "--", "/bin/sh", "-c", "exit 7"});
  EXPECT_TRUE(end.exited(7)) << end;
  EXPECT_TRUE(end.printed("all of them failed: exit code 7\n")) << end;
  end = weft({"run", "--seeds", "3", "--", "/bin/sh", "-c", "exit 0"});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("failed")) << end;
}

TEST_F(weft_seeds, each_run_reads_the_same_input) {
  std::string words;
  for (const auto &word : buggy())
    words += word + " ";
  const auto end = shell("run --seeds 5 -- " + words + "echo < " + __FILE__);
  const bool is_there = access(__FILE__, R_OK) == 0; // not where the build writes relative paths
  EXPECT_TRUE(end.exited(is_there ? 0 : 2)) << end;
}

TEST_F(weft_seeds, input_that_cannot_be_read_again_is_empty_in_each_run) {
  std::string run = "echo secret | (exec";
  for (const auto &word : test::command(m_weft))
    run += " " + word;
  const auto end = test::run_as_it_is(
      {"/bin/sh", "-c", run + " run --seeds 2 -- sh -c 'read word; echo got $word; exit 0')"},
      {{"WEFT_CONFIG", ""}});
  EXPECT_TRUE(end.exited(0)) << end; // the first run would get the word, the others none
  EXPECT_TRUE(end.printed("seeds 1 to 2 gave the same output")) << end;
}

TEST_F(weft_seeds, settings_that_contradict_seeds_are_refused_at_once) {
  auto end = weft({"run", "--seeds", "5", "--workers", "4", "true"});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(end.printed("goes with workers = 1 only, which is '4'")) << end;
  end = weft({"run", "--seeds", "5", "true"}, {{"WEFT_SCHED_POLICY", "central"}});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(end.printed(
      "goes with sched.policy = seeded only, which is 'central' (from environment WEFT_SCHED_POLICY)"))
      << end;
}

TEST_F(weft_seeds, a_command_line_without_sense_is_refused) {
  const std::pair<std::vector<std::string>, const char *> cases[] = {
      {{"run", "--seeds"}, "--seeds needs a value"},
      {{"run", "--seeds", "no", "true"}, "--seeds needs a number from 1 to 2147483647, not 'no'"},
      {{"run", "--seeds=0", "true"}, "--seeds needs a number from 1 to 2147483647, not '0'"},
      {{"run", "--seeds", "3", "--limit", "soon", "true"},
       "--limit needs a number of seconds, not 'soon'"},
      {{"run", "--limit", "3", "true"}, "--limit goes with --seeds"},
      {{"run", "--seeds", "3", "--set", "sched.seed=4", "true"},
       "--seeds chooses sched.seed itself"},
      {{"run", "--seeds", "3"}, "run needs a program"},
  };
  for (const auto &[words, sentence] : cases) {
    const auto end = weft(words);
    EXPECT_TRUE(end.exited(2)) << end;
    EXPECT_TRUE(end.printed(sentence)) << end;
  }
}

TEST_F(weft_seeds, a_program_that_cannot_be_run_is_reported_once) {
  const auto end = weft({"run", "--seeds", "3", "no-such-program"});
  EXPECT_TRUE(end.exited(127)) << end;
  EXPECT_EQ(end.output, "weft: cannot run 'no-such-program': No such file or directory\n");
}

} // namespace
