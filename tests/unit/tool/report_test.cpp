// SPDX-License-Identifier: Apache-2.0
// weft report names the planted cause first; weft predict and diff; weft dump and why of programs that stand still.
#include "observe/segment.hpp"
#include "support/babeltrace.hpp"
#include "support/case_process.hpp"

#include <atomic>
#include <csignal>
#include <ctime>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.hpp>

namespace {

std::string weft_program() {
  const auto program = test::program_path();
  const auto tests = program.substr(0, program.rfind('/'));
  return tests.substr(0, tests.rfind('/')) + "/bin/weft";
}
bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

/// What a program of that number has left, which was killed: of this test, or long ago.
void forget(pid_t pid) {
  unlink(weft::rt::segment_path(pid).c_str());
  unlink((weft::rt::segment_path(pid) + ".waits").c_str());
}

/// Processor time of the thread, so that neighbours change nothing.
void compute(double ms) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
  };
  for (const double end = now() + ms; now() < end;) {
  }
}

class reports : public testing::Test {
 protected:
  void SetUp() override {
    if (access(weft_program().c_str(), X_OK) != 0)
      GTEST_SKIP() << weft_program() << " was not built (WEFT_TOOLS is OFF)";
    char name[] = "/tmp/weft-report-test-XXXXXX";
    m_folder = std::string(mkdtemp(name));
  }
  void TearDown() override {
    if (!m_folder.empty()) {
      EXPECT_EQ(std::system(("rm -rf '" + m_folder + "'").c_str()), 0);
    }
  }
  static test::ending weft(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), weft_program());
    return test::run(arguments, {{"WEFT_CONFIG", ""}});
  }
  template <class F>
  std::string traced(const char *name, const char *workers, F f, bool kernel = false) const {
    const std::string folder = m_folder + "/" + name;
    const pid_t child = fork();
    if (child == 0) {
      setenv("WEFT_WORKERS", workers, 1);
      setenv("WEFT_TRACE_LEVEL", "graph", 1);
      setenv("WEFT_TRACE_DIR", folder.c_str(), 1);
      setenv("WEFT_TRACE_KERNEL", kernel ? "true" : "false", 1);
      f();
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << name;
    test::expect_babeltrace_reads(folder);
    return folder;
  }
  static std::string first_finding(const std::string &folder) {
    const auto end = weft({"report", folder});
    EXPECT_TRUE(end.exited(0)) << end;
    return end.output.substr(0, end.output.find('\n'));
  }
  /// On a machine that is not busy at the first attempt: what neighbours take is a loss, too.
  template <class F>
  void named_first(const char *name, const char *workers, F f, const char *cause) const {
    std::string said;
    for (int tries = 0; tries < 10 && !contains(said, cause); ++tries)
      said = first_finding(traced(name, workers, f));
    EXPECT_TRUE(contains(said, cause)) << said;
  }
  std::string m_folder;
};

void chain() {
  int x = 0;
  for (int i = 0; i < 40; ++i)
    weft::spawn(
        [&x] {
          compute(1);
          ++x;
        },
        weft::inout(x), weft::label("chain"));
  weft::taskwait();
}

} // namespace

TEST_F(reports, five_planted_causes_are_each_named_first) {
  named_first("chain", "2", chain, "no task is ready, behind 'chain'");
  named_first(
      "tail", "2",
      [] {
        for (int i = 0; i < 40; ++i)
          weft::spawn([] { compute(0.5); }, weft::label("short"));
        weft::spawn([] { compute(60); }, weft::label("long"), weft::priority(-1));
        weft::taskwait();
      },
      "in the tail, after the last task became ready, behind 'long'");
  named_first(
      "small", "1",
      [] {
        for (int i = 0; i < 20000; ++i)
          weft::spawn([] {}, weft::label("tiny"));
        weft::taskwait();
      },
      "Tasks are small");
  named_first(
      "main", "2",
      [] {
        for (int i = 0; i < 20; ++i) {
          compute(3);
          weft::spawn([] { compute(0.2); }, weft::label("helper"));
          weft::taskwait();
        }
      },
      "the program's own code runs");
}

TEST_F(reports, more_workers_than_processors_are_named_first) {
  const auto folder = traced(
      "kernel", "2",
      [] {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
        sched_setaffinity(0, sizeof one, &one);
        for (int i = 0; i < 200; ++i)
          weft::spawn([] { compute(1); }, weft::label("work"));
        weft::taskwait();
      },
      true);
  if (!contains(weft({"trace", "info", folder}).output, "switched_out"))
    GTEST_SKIP() << "the system does not show context switches";
  const auto said = first_finding(folder);
  EXPECT_TRUE(contains(said, "The kernel had taken the processor")) << said;
}

TEST_F(reports, the_page_needs_no_network_and_holds_all_parts) {
  const auto folder = traced("chain", "2", chain);
  EXPECT_TRUE(weft({"report", "--output", m_folder + "/page.html", folder}).exited(0));
  std::ifstream file(m_folder + "/page.html");
  std::stringstream all;
  all << file.rdbuf();
  const std::string page = all.str();
  EXPECT_FALSE(contains(page, "http")) << "an address";
  EXPECT_FALSE(contains(page, "src="));
  for (const char *part : {"Timeline", "Task types", "Grain", "Speedup", "What if", "chain"})
    EXPECT_TRUE(contains(page, part)) << part;
  EXPECT_LT(page.size(), 5u << 20);
}

TEST_F(reports, a_chain_is_predicted_not_to_get_faster_and_independent_tasks_are) {
  auto end = weft({"predict", "--workers", "1,8", "--json", traced("chain", "2", chain)});
  EXPECT_TRUE(end.exited(0)) << end;
  const auto speedup = [&end] { return std::strtod(end.output.c_str() + end.output.rfind("\"speedup\":") + 10, nullptr); };
  EXPECT_LT(speedup(), 1.2) << end;
  std::string wide;
  for (int tries = 0; tries < 20; ++tries) { // a neighbour that takes the processor from one of the tasks makes that one long
    wide = traced("wide", "1", [] {
      for (int i = 0; i < 64; ++i)
        weft::spawn([] { compute(1); }, weft::label("wide"));
      weft::taskwait();
    });
    end = weft({"predict", "--workers", "1,8", "--json", wide});
    if (speedup() > 6)
      break;
  }
  EXPECT_GT(speedup(), 6) << end;
  EXPECT_LT(speedup(), 8.01) << end;
  const auto work = [&end] { return std::strtod(end.output.c_str() + end.output.find("\"work_ns\":") + 10, nullptr); };
  const double recorded = work();
  end = weft({"predict", "--workers", "1", "--json", "--scale", "wide=0.5", wide});
  EXPECT_NEAR(work() / recorded, 0.5, 0.1) << end;
  end = weft({"predict", "--scale", "wid=0.5", wide});
  EXPECT_TRUE(end.exited(2)) << end;
  end = weft({"diff", wide, wide});
  EXPECT_TRUE(end.exited(0) && contains(end.output, "+0.0%")) << end;
}

TEST_F(reports, run_report_writes_the_page_and_gives_the_status_of_the_program) {
  const std::string page = m_folder + "/p.html";
  const auto end =
      weft({"run", "--report=" + page, "--", test::program_path(), "--gtest_filter=DISABLED_reports.a_program", "--gtest_also_run_disabled_tests"});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "the report is in " + page)) << end;
  EXPECT_EQ(access(page.c_str(), R_OK), 0);
}

TEST(DISABLED_reports, a_program) { chain(); }

TEST_F(reports, dump_and_why_tell_who_waits_for_whom) {
  const pid_t child = fork();
  if (child == 0) {
    for (const auto &[name, value] :
         {std::pair{"WEFT_WATCH_HANG", "report"}, std::pair{"WEFT_WATCH_PATIENCE", "10ms"}, std::pair{"WEFT_WORKERS", "2"}})
      setenv(name, value, 1);
    std::atomic<weft::handle<void> *> other{nullptr};
    auto first = weft::spawn(
        [&other] {
          weft::taskyield();
          while (!other)
            weft::taskyield();
          other.load()->wait();
        },
        weft::tracked, weft::label("ping"));
    auto second = weft::spawn([&first] { first.wait(); }, weft::tracked, weft::label("pong"));
    other = &second;
    weft::taskwait();
    _exit(0);
  }
  const std::string pid = std::to_string(child);
  test::ending end;
  for (int i = 0; i < 200; ++i) {
    usleep(50'000);
    end = weft({"dump", pid});
    if (contains(end.output, "these wait for each other"))
      break;
  }
  EXPECT_TRUE(contains(end.output, "task 'ping'") && contains(end.output, "task 'pong'")) << end;
  EXPECT_FALSE(contains(end.output, "it has moved since")) << end;
  end = weft({"why", pid, "ping"});
  EXPECT_TRUE(contains(end.output, "task 'ping'") && contains(end.output, "see above")) << end;
  end = weft({"why", pid, "pink"});
  EXPECT_TRUE(end.exited(1) && contains(end.output, "did you mean 'ping'?")) << end;
  EXPECT_TRUE(contains(weft({"dump", "--dot", pid}).output, "label=\"task 'pong'\"")) << pid;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  end = weft({"dump", pid});
  EXPECT_TRUE(contains(end.output, "was killed") && contains(end.output, "task 'pong'")) << end;
  forget(child);
}

TEST_F(reports, a_pid_that_is_no_weft_program_is_said_to_be_none) {
  const pid_t stranger = fork();
  if (stranger == 0) {
    execlp("sleep", "sleep", "60", nullptr);
    _exit(1);
  }
  forget(stranger);
  auto end = weft({"dump", std::to_string(stranger)});
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(contains(end.output, "it does not use Weft")) << end;
  const pid_t gone = fork();
  if (gone == 0)
    _exit(0);
  waitpid(gone, nullptr, 0);
  forget(gone);
  end = weft({"dump", std::to_string(gone)});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(contains(end.output, "there is no program with pid")) << end;
}
