// SPDX-License-Identifier: Apache-2.0
// What one run of a program leaves to the next: the history of sessions, and replays of it.
#include "support/case_process.hpp"
#include "topo/machine.hpp"
#include "tune/decisions.hpp"
#include "tune/history.hpp"
#include "unit/tune/session_sites.hpp"

#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <unistd.h>

namespace {

namespace tune = weft::tune;
using namespace test::sessions;

/// Runs a program that tunes with a history. Returns what it prints: value, trials, decision. The
/// process of its own knows what to do from its environment.
std::string run_with(const std::string &path, const std::string &mode, const char *best,
                     const char *called = "") {
  const auto end =
      test::in_process({{"WEFT_WORKERS", "2"},
                        {"WEFT_TUNE", mode},
                        {"WEFT_TUNE_HISTORY", path},
                        {"TEST_SITE", called},
                        {"TEST_BEST", best}},
                       [] {
                         site::cost();
                         site at(4, std::atoll(std::getenv("TEST_BEST")), "app.size",
                                 std::getenv("TEST_SITE"));
                         const bool tunes = std::string(std::getenv("WEFT_TUNE")) == "on";
                         if (tunes)
                           at.calls(2000);
                         else
                           at.call();
                         std::printf("<%lld %zu %s>", static_cast<long long>(at.size.value()),
                                     at.tuned.trials(), at.tuned.decision().c_str());
                         std::fflush(stdout);
                       });
  EXPECT_TRUE(end.exited(0)) << end;
  const auto from = end.output.rfind('<'), to = end.output.find('>', from);
  return from != std::string::npos ? end.output.substr(from + 1, to - from - 1) : end.output;
}

TEST(session, the_next_run_begins_with_what_this_one_has_found) {
  char folder[] = "/tmp/weft-session-XXXXXX";
  if (!test::is_child()) {
    ASSERT_NE(mkdtemp(folder), nullptr);
  }
  const std::string path = std::string(folder) + "/tuning";
  EXPECT_TRUE(contains(run_with(path, "on", "256"), "keeps app.size=256"));
  std::string trouble;
  const auto kept = weft::rt::read_history(path, trouble);
  ASSERT_EQ(kept.size(), 1u) << trouble;
  EXPECT_NEAR(kept[0].ratio, 1 / 2.2, 0.01) << "of the default's cost";
  EXPECT_TRUE(
      run_with(path, "on", "256").starts_with("256 1 app.size=256 from the history, verified"));
  EXPECT_EQ(run_with("none", "replay:" + path, "256"), "256 0 replayed app.size=256");
  EXPECT_EQ(run_with("none", "replay:" + path + "x", "256"), "4 0 ") << "a warning says why";
  // What has become wrong is tried once, and dropped.
  const std::string last = run_with(path, "on", "4");
  EXPECT_TRUE(contains(last, "keeps the default")) << last;
  EXPECT_TRUE(weft::rt::read_history(path, trouble).empty()) << trouble;
  unlink(path.c_str());
  unlink((path + ".lock").c_str());
  EXPECT_EQ(rmdir(folder), 0);
}

TEST(session, a_finding_waits_while_another_process_writes) {
  char folder[] = "/tmp/weft-session-XXXXXX";
  if (!test::is_child()) {
    ASSERT_NE(mkdtemp(folder), nullptr);
  }
  const std::string history = std::string(folder) + "/tuning";
  const auto end = test::in_process(
      {{"WEFT_WORKERS", "2"}, {"WEFT_TUNE", "on"}, {"WEFT_TUNE_HISTORY", history}}, [] {
        const std::string path = std::getenv("WEFT_TUNE_HISTORY");
        const int lock = open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        ASSERT_GE(lock, 0);
        const auto kept = [&path] {
          std::string trouble;
          return weft::rt::read_history(path, trouble).size();
        };
        site::cost();
        {
          ASSERT_EQ(flock(lock, LOCK_EX), 0);
          site at(4, 256);
          at.calls(2000);
          EXPECT_EQ(at.size.value(), 256);
          EXPECT_EQ(kept(), 0u);
          ASSERT_EQ(flock(lock, LOCK_UN), 0);
          for (int i = 0; i < 100; ++i)
            at.call();
          EXPECT_EQ(kept(), 0u) << "not at each call";
          at.m_best = 4;
          const std::string said = at.tuned.decision();
          for (int i = 0; i < 1000 && at.tuned.decision() == said; ++i)
            at.call();
          EXPECT_EQ(kept(), 1u) << "at the next decision: " << at.tuned.decision();
        }
        {
          ASSERT_EQ(flock(lock, LOCK_EX), 0);
          site at(4, 256, "app.other");
          at.calls(2000);
          EXPECT_EQ(kept(), 1u);
          ASSERT_EQ(flock(lock, LOCK_UN), 0);
        }
        EXPECT_EQ(kept(), 2u) << "at the end";
        close(lock);
      });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(contains(end.output, "the history")) << end;
  std::filesystem::remove_all(folder);
}

TEST(session, a_file_of_another_program_stays_and_is_named_once) {
  char folder[] = "/tmp/weft-session-XXXXXX";
  if (!test::is_child()) {
    ASSERT_NE(mkdtemp(folder), nullptr);
  }
  const std::string path = std::string(folder) + "/tuning";
  if (!test::is_child())
    std::ofstream(path) << "my notes\n";
  const auto end = test::in_process(
      {{"WEFT_WORKERS", "2"}, {"WEFT_TUNE", "on"}, {"WEFT_TUNE_HISTORY", path}}, [] {
        site::cost();
        site at(4, 256);
        at.calls(2000);
        EXPECT_EQ(at.size.value(), 256);
      });
  EXPECT_TRUE(end.exited(0)) << end;
  const auto said = end.output.find("its first line is not");
  EXPECT_NE(said, std::string::npos) << end;
  EXPECT_EQ(end.output.find("its first line is not", said + 1), std::string::npos) << end;
  std::string text;
  std::getline(std::ifstream(path), text);
  EXPECT_EQ(text, "my notes");
  std::filesystem::remove_all(folder);
}

TEST(session, a_history_that_cannot_be_written_is_named_once) {
  char folder[] = "/tmp/weft-session-XXXXXX";
  if (!test::is_child()) {
    ASSERT_NE(mkdtemp(folder), nullptr);
    std::filesystem::create_directories(std::string(folder) + "/tuning.lock");
  }
  const auto end = test::in_process({{"WEFT_WORKERS", "2"},
                                     {"WEFT_TUNE", "on"},
                                     {"WEFT_TUNE_HISTORY", std::string(folder) + "/tuning"}},
                                    [] {
                                      site::cost();
                                      site at(4, 256);
                                      at.calls(2000);
                                      at.m_best = 64; // and is kept anew
                                      for (int i = 0; i < 3000; ++i)
                                        at.call();
                                      EXPECT_EQ(at.size.value(), 64);
                                    });
  EXPECT_TRUE(end.exited(0)) << end;
  const auto said = end.output.find("the history cannot be locked");
  EXPECT_NE(said, std::string::npos) << end;
  EXPECT_EQ(end.output.find("the history cannot be", said + 1), std::string::npos) << end;
  std::filesystem::remove_all(folder);
}

TEST(session, a_site_whose_name_has_control_characters_is_found_again) {
  const std::string path = "/tmp/weft-odd-" + std::to_string(getpid());
  const auto run = [&](const char *mode) {
    return run_with(std::string(mode) == "on" ? path : "none",
                    std::string(mode) == "on" ? "on" : "replay:" + path, "256", "odd\tname\n");
  };
  EXPECT_TRUE(contains(run("on"), "keeps app.size=256"));
  EXPECT_TRUE(run("on").starts_with("256 1 app.size=256 from the history, verified"));
  EXPECT_EQ(run("replay"), "256 0 replayed app.size=256");
  unlink(path.c_str());
  unlink((path + ".lock").c_str());
}

/// Runs a program with tune=replay and a file of these findings, of 100 units of work: {what differs in
/// their keys, value}. Returns the values before the first call, in it, and afterwards.
std::string replayed(const char *findings) {
  const std::string path = "/tmp/weft-replay-" + std::to_string(getpid());
  const auto end = test::in_process(
      {{"WEFT_WORKERS", "2"}, {"WEFT_TUNE", "replay:" + path}, {"TEST_FINDINGS", findings}}, [] {
        weft::start();
        const std::string file = std::string(std::getenv("WEFT_TUNE")).substr(7);
        std::stringstream all(std::getenv("TEST_FINDINGS"));
        const auto cpus = static_cast<unsigned>(weft::rt::this_machine().effective_cpus());
        for (std::string what, value; all >> what >> value;) {
          weft::rt::finding found{{weft::rt::build_of_program(), "app.size", 6,
                                   weft::rt::machine_name(cpus), 2},
                                  {{"app.size", value}},
                                  0.5};
          for (const char part : what) {
            found.key.build += part == 'b' ? "x" : "";
            found.key.machine += part == 'm' ? "x" : "";
            found.key.workers += part == 'w';
            found.key.size += part == 's';
            found.key.site += part == 'o' ? "x" : "";
            found.values[0].first += part == 'k' ? "x" : "";
          }
          EXPECT_EQ(weft::rt::write_history(file, found, 1'000'000'000), "");
        }
        site::cost();
        site at(4, 256);
        at.tuned.end(0); // nothing is open
        std::int64_t inside = 0;
        for (int i = 0; i < 3; ++i) {
          tune::trial one(at.tuned, i == 0 ? 0 : 100); // the first one does not count
          inside = inside == 0 ? at.size.value() : inside;
        }
        std::printf("<%lld %lld %s>", static_cast<long long>(inside),
                    static_cast<long long>(at.size.value()), at.tuned.decision().c_str());
        std::fflush(stdout);
        EXPECT_TRUE(at.tuned.settled());
        EXPECT_EQ(at.tuned.trials(), 0u);
      });
  EXPECT_TRUE(end.exited(0)) << end;
  unlink(path.c_str());
  unlink((path + ".lock").c_str());
  const auto from = end.output.rfind('<'), to = end.output.find('>', from);
  std::string said = from != std::string::npos ? end.output.substr(from + 1, to - from - 1) : "";
  for (auto at = end.output.find("has nothing of site 'app.size'"); at != std::string::npos;
       at = end.output.find("has nothing of site", at + 1))
    said += " nothing";
  return said;
}

TEST(session, replays_the_finding_that_is_most_like_this_run) {
  EXPECT_EQ(replayed("bmw 8 - 64 mw 32"), "64 64 replayed app.size=64") << "all of the key";
}
TEST(session, replays_the_newest_of_findings_that_are_equally_like_this_run) {
  EXPECT_EQ(replayed("b 8 m 16 w 32"), "32 32 replayed app.size=32");
}
TEST(session, replays_by_each_part_of_the_key) {
  EXPECT_EQ(replayed("bm 2 b 8 bw 32 bs 16 bo 64 k 128"), "16 8 replayed app.size=8")
      << "the work is known at the end of the first call only";
}
TEST(session, replays_one_finding_without_a_measured_call) {
  EXPECT_EQ(replayed("bmws 8"), "8 8 replayed app.size=8");
}
TEST(session, a_replay_that_finds_nothing_says_so_once) {
  EXPECT_EQ(replayed("o 8 k 16"), "4 4  nothing");
}

/// Runs a program that has the least cost within a bound. Returns what it has decided.
std::string run_within(const std::string &path, const char *misses) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"},
                                     {"WEFT_TUNE", "on"},
                                     {"WEFT_TUNE_HISTORY", path},
                                     {"TEST_MISSES", misses}},
                                    [] {
                                      site_of_two at(
                                          std::string("/app/cost subject to /app/misses <= ") +
                                          std::getenv("TEST_MISSES"));
                                      at.run();
                                      std::printf("<%s>", at.tuned.decision().c_str());
                                      std::fflush(stdout);
                                    });
  EXPECT_TRUE(end.exited(0)) << end;
  const auto from = end.output.rfind('<'), to = end.output.find('>', from);
  return from != std::string::npos ? end.output.substr(from + 1, to - from - 1) : end.output;
}

TEST(session, the_next_run_forgets_a_value_that_is_beyond_a_bound) {
  char folder[] = "/tmp/weft-session-XXXXXX";
  if (!test::is_child()) {
    ASSERT_NE(mkdtemp(folder), nullptr);
  }
  const std::string path = std::string(folder) + "/tuning";
  EXPECT_EQ(run_within(path, "100"), "keeps app.size=128: better than the default");
  std::string trouble;
  EXPECT_EQ(weft::rt::read_history(path, trouble).size(), 1u) << trouble;
  EXPECT_EQ(run_within(path, "100"), "app.size=128 from the history, verified (1.11 of the default's "
                                     "cost, 1 trials)");
  EXPECT_EQ(weft::rt::read_history(path, trouble).size(), 1u) << trouble;
  EXPECT_EQ(run_within(path, "5"), "app.size=128 from the history, verified (1.11 of the default's "
                                   "cost, 1 trials); what it keeps is beyond a bound");
  EXPECT_TRUE(weft::rt::read_history(path, trouble).empty()) << trouble;
  EXPECT_EQ(run_within(path, "5"), "keeps app.size=1024: better than the default; what it keeps is "
                                   "beyond a bound");
  EXPECT_TRUE(weft::rt::read_history(path, trouble).empty()) << trouble;
  std::filesystem::remove_all(folder);
}

} // namespace
