// SPDX-License-Identifier: Apache-2.0
// weft report on programs that run (on traces with a planted cause: made_trace_test.cpp); weft predict and diff; weft dump and why of programs that stand still.
#include "observe/segment.hpp"
#include "os/file.hpp"
#include "support/babeltrace.hpp"
#include "support/case_process.hpp"
#include "support/process.hpp"
#include "support/scale.hpp"
#include "support/soon.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sched.h>
#include <sstream>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <weft/coro.hpp>
#include <weft/future.hpp>
#include <weft/mutex.hpp>
#include <weft/tune.hpp>
#include <weft/weft.hpp>

namespace {

using test::contains;
using test::weft_program;

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
      const char *const level = std::getenv("WEFT_TEST_LEVEL");
      setenv("WEFT_TRACE_LEVEL", level ? level : "graph", 1);
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
  /// The folder that `weft run --report` has left, as it says; "" if it says none.
  static std::string kept_trace(const std::string &output) {
    constexpr std::string_view before = "weft: the trace is in ";
    const auto at = output.find(before);
    return at == std::string::npos
               ? ""
               : output.substr(at + before.size(), output.find('\n', at) - at - before.size());
  }
  std::string m_folder;
  const std::string m_program = test::program_path() + // for a shell
                                " --gtest_filter=DISABLED_reports.a_program"
                                " --gtest_also_run_disabled_tests > /dev/null";
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

/// A list of numbers in the page's data.
std::vector<double> series_of(const std::string &page, const std::string &name) {
  std::istringstream from(page.substr(page.find(name + ":[") + name.size() + 2));
  std::vector<double> all;
  for (double v = 0; from.peek() != ']' && from >> v;) {
    all.push_back(v);
    if (from.peek() == ',')
      from.get();
  }
  return all;
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
  for (const char *part :
       {"<dt>command<dd>", "weft_unit_tool", "<dt>machine<dd>", "<dt>cores<dd>", "<dt>date<dd>20",
        "<dt>load<dd>", "workers=2", "id=legend", "id=search", "id=path", "aria-label=\"Timeline",
        "\"worker 0\",\"worker 1\"", "What the kernel took from bodies"})
    EXPECT_TRUE(contains(page, part)) << part;
  const auto tasks = series_of(page, "tasks");
  ASSERT_EQ(tasks.size(), 5u * 40)
      << "track, type, begin, duration and place on the critical path of each";
  std::map<double, double> place_by_begin;
  for (std::size_t i = 0; i < tasks.size(); i += 5)
    place_by_begin[tasks[i + 2]] = tasks[i + 4];
  double last = -1;
  for (const auto &[begin, place] : place_by_begin) {
    EXPECT_TRUE(last < 0 || place > last)
        << "from the first that is on the critical path all of a chain are, in its order";
    last =
        place; // those before it ended before the next was made: the path leads by way of their creator
  }
  EXPECT_GE(last, 0) << "the end of a chain is on the critical path";
  const std::string edges =
      page.substr(page.find("edges:["), page.find("],grains") - page.find("edges:["));
  EXPECT_EQ(std::count(edges.begin(), edges.end(), '['), 1 + 39) << edges;
#if !defined(WEFT_TEST_SANITIZED) && !defined(WEFT_TEST_EMULATOR)
  if (std::system("command -v addr2line >/dev/null 2>&1") == 0) {
    EXPECT_TRUE(contains(page, ">report_test.cpp:")) << "where chain() spawns";
  }
#endif
}

TEST_F(reports, spare_workers_are_called_so) {
  const auto folder = traced("spares", "1", [] {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    weft::task_group g;
    std::atomic<int> begun{0};
    for (int i = 0; i < 2; ++i) // the first one blocks until a spare has begun the second
      g.spawn(
          [&] {
            char c;
            EXPECT_TRUE(++begun == 1 || write(ends[1], "xx", 2) == 2);
            EXPECT_EQ(read(ends[0], &c, 1), 1);
          },
          weft::label("sleeps"));
    g.wait();
  });
  EXPECT_TRUE(weft({"report", "--output", m_folder + "/page.html", folder}).exited(0));
  std::stringstream all;
  all << std::ifstream(m_folder + "/page.html").rdbuf();
  EXPECT_TRUE(contains(all.str(), "names:[\"worker 0\",\"spare 1\""))
      << all.str().substr(all.str().find("names:["), 80);
}

TEST_F(reports, time_after_the_last_task_is_not_blamed_on_late_creation) {
  const std::string said = first_finding(traced("after", "2", [] {
    weft::spawn([] { compute(1); });
    weft::taskwait();
    compute(300);
  }));
  EXPECT_TRUE(contains(said, "of it after the last task has ended")) << said;
  EXPECT_FALSE(contains(said, "sooner")) << said;
}

TEST_F(reports, diff_tells_what_is_new_and_what_is_gone) {
  const auto one = [](const char *name) {
    return [name] {
      weft::spawn([] { compute(1); }, weft::label(name));
      weft::spawn([] { compute(1); }, weft::label("both"));
      weft::taskwait();
    };
  };
  const auto end =
      weft({"diff", traced("first", "2", one("old")), traced("second", "2", one("young"))});
  EXPECT_TRUE(end.exited(0)) << end;
  const auto line_of = [&end](const char *name) {
    const auto at = end.output.find(std::string("\n") + name + " ");
    return end.output.substr(at + 1, end.output.find('\n', at + 1) - at - 1);
  };
  EXPECT_TRUE(line_of("young").ends_with("      new")) << line_of("young");
  EXPECT_TRUE(line_of("old").ends_with("     gone")) << line_of("old");
  EXPECT_TRUE(line_of("both").ends_with("%")) << line_of("both");
  EXPECT_TRUE(contains(line_of("young"), " 0          1            - ")) << line_of("young");
}

TEST_F(reports, tasks_over_time_are_those_that_live_and_run) {
  const auto mixture = [] {
    int x = 0;
    for (int i = 0; i < 50; ++i)
      weft::spawn([&x] { compute(0.1), ++x; }, weft::inout(x), weft::label("waits"));
    weft::taskwait();
    weft::taskiter(
        20,
        [&x] { weft::spawn([&x] { compute(0.05), ++x; }, weft::inout(x), weft::label("round")); },
        weft::nogroup);
    weft::taskwait();
    weft::spawn([] { weft::join([] { compute(2); }, [] { compute(2); }); }, weft::label("joins"));
    weft::taskwait();
  };
  const std::pair<const char *, bool> levels[] = {
      {"switch", false}, {"task", true}, {"graph", true}};
  for (const auto &[level, knows_creations] : levels) {
    setenv("WEFT_TEST_LEVEL", level, 1);
    setenv("WEFT_WATCH_MAX_SPARES", "0", 1);
    const auto folder = traced(level, "2", mixture);
    unsetenv("WEFT_WATCH_MAX_SPARES");
    unsetenv("WEFT_TEST_LEVEL");
    EXPECT_TRUE(weft({"report", "--output", m_folder + "/page.html", folder}).exited(0));
    std::stringstream all;
    all << std::ifstream(m_folder + "/page.html").rdbuf();
    const auto live = series_of(all.str(), "live"), running = series_of(all.str(), "running");
    ASSERT_FALSE(running.empty());
    EXPECT_LE(*std::max_element(running.begin(), running.end()), 2.01)
        << level << ": no more than there are workers";
    EXPECT_GE(*std::min_element(running.begin(), running.end()), 0) << level;
    EXPECT_EQ(live.empty(), !knows_creations) << level;
    if (!live.empty()) {
      EXPECT_EQ(*std::min_element(live.begin(), live.end()), 0) << level;
      EXPECT_LE(*std::max_element(live.begin(), live.end()), 53) << level;
      EXPECT_GE(*std::max_element(live.begin(), live.end()), 1) << level;
    }
    EXPECT_EQ(contains(all.str(), "these take a trace of level graph"),
              level != std::string("graph"));
  }
}

TEST_F(reports, every_type_is_told_what_speeding_it_up_would_give) {
  const auto folder = traced("types", "2", [] {
    static const char *const k_names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    int x = 0;
    for (const char *name : k_names)
      weft::spawn([&x] { compute(1), ++x; }, weft::inout(x), weft::label(name));
    weft::spawn([] { compute(0.1); }, weft::label("aside"));
    weft::taskwait();
  });
  EXPECT_TRUE(weft({"report", "--output", m_folder + "/page.html", folder}).exited(0));
  std::stringstream all;
  all << std::ifstream(m_folder + "/page.html").rdbuf();
  const std::string page = all.str();
  const auto begin = page.find("path if twice as fast");
  const std::string table = page.substr(begin, page.find("</table>", begin) - begin);
  for (const char *name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "aside"}) {
    const auto at = table.find("</span>" + std::string(name) + "<td>");
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_LT(table.find(" % shorter", at), table.find("</tr>", at)) << name;
  }
  EXPECT_FALSE(contains(table, "at most")) << "there was time for all";
}

TEST_F(reports, a_chain_is_predicted_not_to_get_faster_and_independent_tasks_are) {
  auto end = weft({"predict", "--workers", "1,8", "--json", traced("chain", "2", chain)});
  EXPECT_TRUE(end.exited(0)) << end;
  const auto speedup = [&end] {
    return std::strtod(end.output.c_str() + end.output.rfind("\"speedup\":") + 10, nullptr);
  };
  EXPECT_GT(speedup(), 0.5) << end;
  const std::string wide = traced("wide", "1", [] {
    for (int i = 0; i < 64; ++i)
      weft::spawn([] { compute(1); }, weft::label("wide"));
    weft::taskwait();
  });
  end = weft(
      {"predict", "--workers", "1,8", "--json", wide}); // how fast exactly: made_trace_test.cpp
  EXPECT_GT(speedup(), 0.5) << end;
  EXPECT_LT(speedup(), 8.01) << end;
  const auto work = [&end] {
    return std::strtod(end.output.c_str() + end.output.find("\"work_ns\":") + 10, nullptr);
  };
  const double recorded = work();
  end = weft({"predict", "--workers", "1", "--json", "--scale", "wide=0.5", wide});
  EXPECT_NEAR(work() / recorded, 0.5, 0.1) << end;
  end = weft({"predict", "--scale", "wid=0.5", wide});
  EXPECT_TRUE(end.exited(2)) << end;
  end = weft({"diff", wide, wide});
  EXPECT_TRUE(end.exited(0) && contains(end.output, "+0.0%")) << end;
  end = weft({"diff", m_folder + "/chain", wide});
  EXPECT_TRUE(end.exited(0)) << end;
  const auto line = [](const char *type, int first, int second) {
    char text[80];
    std::snprintf(text, sizeof text, "\n%-40s %10d %10d ", type, first, second);
    return std::string(text);
  };
  for (const std::string &text : {std::string("\ncritical path "), line("chain", 40, 0),
                                  line("wide", 0, 64), std::string(" gone\n")})
    EXPECT_TRUE(contains(end.output, text)) << text << end;
}

TEST_F(reports, a_time_limit_makes_a_program_that_hangs_say_so) {
  const auto run = [](const char *limit) {
    return weft({"run", "--hang-timeout", limit, "--set", "watch.hang=abort", "--",
                 test::program_path(), "--gtest_filter=DISABLED_reports.hangs",
                 "--gtest_also_run_disabled_tests"});
  };
  const auto end = run("20ms");
  EXPECT_TRUE(contains(end.output, "task 'twice' waits for mutex")) << end;
  EXPECT_FALSE(end.exited(0)) << end;
  EXPECT_TRUE(run("often").exited(1)) << "no time";
}

TEST(DISABLED_reports, hangs) {
  weft::mutex m;
  weft::spawn([&m] { m.lock(), m.lock(); }, weft::label("twice"));
  weft::taskwait();
}

TEST_F(reports, run_report_writes_the_page_and_gives_the_status_of_the_program) {
  const std::string page = m_folder + "/p.html";
  const auto end =
      weft({"run", "--report=" + page, "--", test::program_path(),
            "--gtest_filter=DISABLED_reports.a_program", "--gtest_also_run_disabled_tests"});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "the report is in " + page)) << end;
  EXPECT_EQ(access(page.c_str(), R_OK), 0);
}

TEST_F(reports, run_report_leaves_no_folder_and_bounds_those_of_killed_ones) {
  const std::string mark = m_folder + "/runs", page = "--report=" + m_folder + "/run.html",
                    program = "dirname $WEFT_TRACE_DIR > " + mark + ".new; mv " + mark + ".new " +
                              mark + "; while [ -e " + mark + " ]; do sleep 0.02; done";
  // Other tests have such folders, too: these are the ones of the children.
  std::vector<std::string> folders;
  const auto start = [&] {
    const pid_t child = fork();
    if (child == 0) {
      execl(weft_program().c_str(), "weft", "run", page.c_str(), "--", "sh", "-c", program.c_str(),
            nullptr);
      _exit(127);
    }
    while (access(mark.c_str(), F_OK) != 0) // by then the folder is there, and others are gone
      usleep(1000);
    std::getline(std::ifstream(mark), folders.emplace_back());
    EXPECT_TRUE(folders.back().starts_with("/tmp/weft-report-")) << folders.back();
    EXPECT_EQ(access(folders.back().c_str(), F_OK), 0) << folders.back();
    return child;
  };
  for (int i = 0; i < 8; ++i) {
    const pid_t child = start();
    if (i != 0)
      kill(child, SIGKILL);
    unlink(mark.c_str()); // the program ends
    waitpid(child, nullptr, 0);
    if (i == 0) {
      EXPECT_NE(access(folders.back().c_str(), F_OK), 0) << "its own is gone";
    }
  }
  EXPECT_LE(std::count_if(folders.begin(), folders.end(),
                          [](const auto &f) { return access(f.c_str(), F_OK) == 0; }),
            5);
}

TEST(DISABLED_reports, a_program) { chain(); }

TEST_F(reports, run_report_begins_no_program_whose_page_cannot_be_written) {
  const std::string mark = m_folder + "/mark";
  const auto end = weft({"run", "--report=" + m_folder + "/none/page.html", "--", "touch", mark});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(contains(end.output, "/none/page.html' cannot be written")) << end;
  EXPECT_NE(access(mark.c_str(), F_OK), 0);
}

TEST_F(reports, run_report_keeps_the_trace_whose_page_it_could_not_write) {
  const std::string folder = m_folder + "/gone";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  const auto end = weft({"run", "--report=" + folder + "/page.html", "--", "sh", "-c",
                         m_program + "; rm -r " + folder + "; exit 5"});
  EXPECT_TRUE(end.exited(5)) << end;
  EXPECT_TRUE(contains(end.output, "weft: no report: '" + folder + "/page.html' cannot be written"))
      << end;
  const std::string trace = kept_trace(end.output);
  ASSERT_TRUE(trace.starts_with("/tmp/weft-report-")) << end;
  const auto again = weft({"report", "--output", m_folder + "/again.html", trace});
  EXPECT_TRUE(again.exited(0)) << again;
  std::filesystem::remove_all(trace.substr(0, trace.rfind('/')));
}

TEST_F(reports, run_report_of_a_program_without_weft_says_no_more_than_that) {
  const auto end = weft({"run", "--report=" + m_folder + "/page.html", "--", "sh", "-c",
                         "echo $WEFT_TRACE_DIR; exit 6"});
  EXPECT_TRUE(end.exited(6)) << end;
  EXPECT_TRUE(contains(end.output, "weft: no report: ")) << end;
  EXPECT_EQ(kept_trace(end.output), "") << end;
  EXPECT_TRUE(std::filesystem::is_empty(m_folder));
  const std::string trace = end.output.substr(0, end.output.find('\n'));
  ASSERT_TRUE(trace.starts_with("/tmp/weft-report-")) << end;
  EXPECT_FALSE(std::filesystem::exists(trace.substr(0, trace.rfind('/'))));
}

TEST_F(reports, run_report_passes_signals_on_and_writes_the_page) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGUSR1, SIGUSR2, SIGALRM,
                           SIGXCPU, SIGRTMIN + 1}) {
    const std::string mark = m_folder + "/mark", page = m_folder + "/page.html",
                      word = "--report=" + page,
                      program = m_program + "; trap 'exit 9' " + std::to_string(signal) +
                                "; touch " + mark + "; while :; do sleep 0.02; done";
    const pid_t child = fork();
    if (child == 0) {
      std::signal(signal, SIG_DFL);
      execl(weft_program().c_str(), "weft", "run", word.c_str(), "--", "sh", "-c", program.c_str(),
            nullptr);
      _exit(127);
    }
    while (access(mark.c_str(), F_OK) != 0)
      usleep(1000);
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 9) << signal << ": " << status;
    EXPECT_EQ(access(page.c_str(), F_OK), 0) << signal;
    unlink(page.c_str());
    unlink(mark.c_str());
  }
}

// The kernel tells the end of a terminal to the leader of its session alone.
TEST_F(reports, run_report_passes_the_hangup_of_its_terminal_on) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
    GTEST_SKIP() << "there are no terminals";
  const std::string name = ptsname(terminal), mark = m_folder + "/mark",
                    page = m_folder + "/page.html", word = "--report=" + page,
                    program = m_program + "; trap 'exit 9' HUP; touch " + mark +
                              "; for i in $(seq 500); do sleep 0.02; done; exit 3";
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGHUP, SIG_DFL);
    setsid();
    const int in = open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (in < 0 || ioctl(in, TIOCSCTTY, 0) != 0)
      _exit(126);
    execl(weft_program().c_str(), "weft", "run", word.c_str(), "--", "sh", "-c", program.c_str(),
          nullptr);
    _exit(127);
  }
  int status = 0;
  while (access(mark.c_str(), F_OK) != 0 && waitpid(child, &status, WNOHANG) == 0)
    usleep(1000);
  close(terminal);
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 9) << status;
  EXPECT_EQ(access(page.c_str(), F_OK), 0);
}

// `kill 0` in a script.
TEST_F(reports, run_report_passes_no_signal_on_that_the_program_sends) {
  const std::string mark = m_folder + "/mark", word = "--report=" + m_folder + "/page.html",
                    program = "n=10; trap 'n=$((n+1))' USR1; trap 'exit $n' USR2; kill -USR1 0; touch " +
                              mark + "; while :; do sleep 0.02; done";
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    std::signal(SIGUSR1, SIG_DFL);
    std::signal(SIGUSR2, SIG_DFL);
    execl(weft_program().c_str(), "weft", "run", word.c_str(), "--", "sh", "-c", program.c_str(),
          nullptr);
    _exit(127);
  }
  int status = 0;
  while (access(mark.c_str(), F_OK) != 0 && waitpid(child, &status, WNOHANG) == 0)
    usleep(1000);
  kill(child, SIGUSR2); // the command looks at it behind the other one
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 11) << status;
}

TEST_F(reports, run_report_that_is_killed_takes_the_program_with_it) {
  int in[2], out[2];
  ASSERT_EQ(pipe(in) + pipe(out), 0);
  const std::string word = "--report=" + m_folder + "/page.html";
  const pid_t child = fork();
  if (child == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    for (const int end : {in[0], in[1], out[0], out[1]})
      close(end);
    execl(weft_program().c_str(), "weft", "run", word.c_str(), "--", "cat", nullptr);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  char answer = 0;
  EXPECT_EQ(write(in[1], "1", 1), 1);
  EXPECT_EQ(read(out[0], &answer, 1), 1) << "it runs";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::signal(SIGPIPE, SIG_IGN);
  static_cast<void>(!write(in[1], "2", 1));
  EXPECT_EQ(read(out[0], &answer, 1), 0) << "it would answer";
  std::signal(SIGPIPE, SIG_DFL);
  close(in[1]);
  close(out[0]);
  EXPECT_TRUE(std::filesystem::is_empty(m_folder)) << "a page that was never written";
}

TEST_F(reports, run_report_gives_the_program_the_signals_as_it_has_them) {
  const auto ignored = [this](bool interrupts) {
    const std::string word = "--report=" + m_folder + "/page.html", said = m_folder + "/said";
    const pid_t child = fork();
    if (child == 0) {
      std::signal(SIGINT, interrupts ? SIG_DFL : SIG_IGN);
      std::signal(SIGTERM, SIG_DFL);
      std::signal(SIGHUP, SIG_DFL);
      std::FILE *const file = std::freopen(said.c_str(), "w", stdout);
      execl(weft_program().c_str(), "weft", "run", word.c_str(), "--", "cat", "/proc/self/status",
            nullptr);
      _exit(file ? 126 : 127);
    }
    waitpid(child, nullptr, 0);
    std::ifstream in(said);
    std::map<std::string, unsigned long> sets;
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("Sig"))
        sets[line.substr(0, line.find(':'))] =
            std::strtoul(line.c_str() + line.find(':') + 1, nullptr, 16);
    const unsigned long ours = 1ul << (SIGINT - 1) | 1ul << (SIGTERM - 1) | 1ul << (SIGHUP - 1);
    EXPECT_EQ(sets.at("SigBlk") & ours, 0ul);
    return sets.at("SigIgn") & ours;
  };
  EXPECT_EQ(ignored(true), 0ul);
  EXPECT_EQ(ignored(false), 1ul << (SIGINT - 1));
}

TEST_F(reports, an_interrupted_report_of_a_run_leaves_its_trace) {
  const std::string page = m_folder + "/pipe", word = "--report=" + page,
                    said = m_folder + "/said";
  ASSERT_EQ(mkfifo(page.c_str(), 0600), 0);
  const int pipe = open(page.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK); // no process reads it
  ASSERT_GE(pipe, 0);
  ASSERT_GE(fcntl(pipe, F_SETPIPE_SZ, 4096), 4096);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGTERM, SIG_DFL);
    std::FILE *const file = std::freopen(said.c_str(), "w", stderr);
    execl(weft_program().c_str(), "weft", "run", word.c_str(), "--", "sh", "-c", m_program.c_str(),
          nullptr);
    _exit(file ? 126 : 127);
  }
  for (int full = 0; full < 4096; usleep(1000))
    ASSERT_EQ(ioctl(pipe, FIONREAD, &full), 0);
  const std::string stat = "/proc/" + std::to_string(child) + "/stat";
  EXPECT_TRUE(test::soon([&stat] { return contains(weft::rt::read_file(stat).value_or(""), ") S "); }))
      << "it waits for room";
  kill(child, SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  close(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM) << status;
  const std::string errors = weft::rt::read_file(said).value_or("");
  EXPECT_TRUE(contains(errors, "weft: interrupted; nothing was written")) << errors;
  const std::string trace = kept_trace(errors);
  ASSERT_TRUE(trace.starts_with("/tmp/weft-report-")) << errors;
  EXPECT_TRUE(weft({"trace", "check", trace}).exited(0));
  std::filesystem::remove_all(trace.substr(0, trace.rfind('/')));
}

TEST_F(reports, two_runs_at_a_time_may_write_one_page) {
  const std::string page = m_folder + "/page.html", mark = m_folder + "/mark",
                    word = "--report=" + page, first_program = m_program + "; touch " + mark +
                        "; while [ -e " + mark + " ]; do sleep 0.02; done";
  const pid_t child = fork();
  if (child == 0) {
    execl(weft_program().c_str(), "weft", "run", word.c_str(), "--", "sh", "-c",
          first_program.c_str(), nullptr);
    _exit(127);
  }
  while (access(mark.c_str(), F_OK) != 0)
    usleep(1000);
  const auto second = weft({"run", word, "--", "sh", "-c", m_program});
  EXPECT_TRUE(contains(second.output, "the report is in " + page)) << second;
  unlink(page.c_str());
  unlink(mark.c_str());
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const std::string text = weft::rt::read_file(page).value_or("");
  EXPECT_TRUE(text.ends_with("</html>\n"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(m_folder), {}), 1);
}

TEST_F(reports, dump_and_why_tell_who_waits_for_whom) {
  const pid_t child = fork();
  if (child == 0) {
    for (const auto &[name, value] :
         {std::pair{"WEFT_WATCH_HANG", "report"}, std::pair{"WEFT_WATCH_PATIENCE", "10ms"},
          std::pair{"WEFT_WORKERS", "2"}})
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

TEST_F(reports, dump_and_why_tell_what_was_decided) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("WEFT_WATCH_PATIENCE", "3600s", 1);
    setenv("WEFT_WORKERS", "2", 1);
    setenv("WEFT_TUNE", "on", 1);
    weft::tune::knob tile("app.tile", 1, weft::tune::range{1, 8});
    std::atomic<int> left{2};
    weft::tune::policy tiler("tiler", weft::tune::when::every(std::chrono::milliseconds(1)),
                             [&left](const weft::tune::policy_call &call) {
                               if (left > 0)
                                 call.set("app.tile", left-- == 2 ? "4" : "8");
                             });
    weft::promise<int> never;
    const weft::shared_future<int> f = never.get_future();
    weft::spawn([f] { f.wait(); }, weft::label("sleeper"));
    weft::taskwait();
    _exit(0);
  }
  const std::string pid = std::to_string(child);
  const std::string first = "tiler: app.tile=4 (was 1)\n", second = "tiler: app.tile=8 (was 4)\n";
  test::ending end;
  for (int i = 0; i < 200 && !contains(end.output, second); ++i) {
    usleep(50'000);
    end = weft({"dump", pid});
  }
  EXPECT_TRUE(contains(end.output,
                       "sessions and policies have decided:\n  " + first + "  " + second))
      << end;
  for (const char *name : {"app.tile", "tiler"}) {
    end = weft({"why", pid, name});
    EXPECT_TRUE(end.exited(0) && end.output == first + second) << end;
  }
  end = weft({"why", pid, "app.til"}); // neither a task nor a knob
  EXPECT_TRUE(end.exited(1) && contains(end.output, "no task 'app.til' waits")) << end;
  EXPECT_TRUE(contains(weft({"dump", "--json", pid}).output,
                       "\"decisions\":[\"tiler: app.tile=4 (was 1)\",\"tiler: app.tile=8 (was 4)\"]"))
      << pid;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  forget(child);
}

/// Forks a program whose policy follows the knob app.go, which `weft set` changes; `then` is the rest of it.
template <class Then>
pid_t fork_follower(Then then) {
  const pid_t child = fork();
  if (child != 0)
    return child;
  setenv("WEFT_WORKERS", "2", 1);
  setenv("WEFT_TUNE", "on", 1);
  weft::tune::knob go("app.go", 1, weft::tune::range{1, 8}),
      tile("app.tile", 1, weft::tune::range{1, 8});
  weft::tune::policy follower(
      "follower", weft::tune::when::every(std::chrono::milliseconds(1)),
      [&go](const weft::tune::policy_call &call) { call.set("app.tile", std::to_string(go.value())); });
  then();
  _exit(0);
}

TEST_F(reports, dump_and_why_tell_what_is_decided_while_nothing_else_happens) {
  const pid_t child = fork_follower([] {
    weft::start();
    for (;;)
      pause();
  });
  const std::string pid = std::to_string(child);
  test::ending end;
  for (const char *value : {"4", "8", "2"}) {
    for (int i = 0; i < 200 && !weft({"set", pid, "app.go=" + std::string(value)}).exited(0); ++i)
      usleep(50'000); // it has not begun yet
    for (int i = 0; i < 200 && !contains(end.output, "app.tile=" + std::string(value)); ++i) {
      usleep(50'000);
      end = weft({"why", pid, "app.tile"});
    }
  }
  EXPECT_EQ(end.output, "follower: app.tile=4 (was 1)\nfollower: app.tile=8 (was 4)\n"
                        "follower: app.tile=2 (was 8)\n");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  forget(child);
}

TEST_F(reports, a_later_decision_leaves_a_dump_as_it_was) {
  const pid_t child = fork_follower([] {
    setenv("WEFT_WATCH_HANG", "report", 1);
    setenv("WEFT_WATCH_PATIENCE", "10ms", 1);
    setenv("WEFT_WATCH_LIMIT", "50ms", 1); // the policy might end the wait
    setenv("WEFT_MANAGE_MODE", "central", 1); // with managers no dump is taken for the command
    weft::promise<int> never;
    const weft::shared_future<int> f = never.get_future();
    weft::spawn([f] { f.wait(); }, weft::label("sleeper"));
    weft::taskwait();
  });
  const std::string pid = std::to_string(child);
  test::ending end;
  // The last one, of the report, says where tasks are; the one before it does not.
  for (int i = 0; i < 200 && !contains(end.output, "where they are:\n  task 'sleeper'"); ++i) {
    usleep(50'000);
    end = weft({"dump", pid});
  }
  const auto graph_of = [](const test::ending &dump) {
    return dump.output.substr(0, dump.output.find("sessions and policies have decided"));
  };
  EXPECT_TRUE(contains(end.output, "where they are:\n  task 'sleeper'")) << end;
  const std::string graph = graph_of(end);
  EXPECT_TRUE(weft({"set", pid, "app.go=4"}).exited(0));
  for (int i = 0; i < 200 && !contains(end.output, "follower: app.tile=4 (was 1)\n"); ++i) {
    usleep(50'000);
    end = weft({"dump", pid});
  }
  EXPECT_TRUE(contains(end.output, "follower: app.tile=4 (was 1)\n")) << end;
  EXPECT_EQ(graph_of(end), graph);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(contains(weft({"dump", pid}).output, "follower: app.tile=4 (was 1)\n"));
  forget(child);
}

TEST_F(reports, dump_and_why_know_futures_and_coroutines) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("WEFT_WATCH_PATIENCE", "3600s", 1);
    setenv("WEFT_WORKERS", "2", 1);
    weft::promise<int> p;
    const weft::shared_future<int> f = p.get_future();
    auto scaled = f.then([](int x) { return 2 * x; }, weft::label("scales"));
    weft::spawn([&scaled] { scaled.wait(); }, weft::label("asker"));
    weft::spawn([f]() -> weft::task<void> { co_await f; }, weft::label("awaits"));
    weft::taskwait();
    _exit(0);
  }
  const std::string pid = std::to_string(child);
  test::ending end;
  for (int i = 0; i < 200 && !contains(end.output, "task 'awaits' waits for promise 0x"); ++i) {
    usleep(50'000);
    end = weft({"dump", pid});
  }
  EXPECT_TRUE(contains(end.output, "task 'awaits' waits for promise 0x")) << end;
  end = weft({"why", pid, "asker"});
  EXPECT_TRUE(contains(end.output, "waits for the end of task 'scales'") &&
              contains(end.output, "is to run after promise 0x") &&
              contains(end.output, "can only be made ready by the code that has the promise"))
      << end;
  EXPECT_TRUE(contains(weft({"dump", "--dot", pid}).output, "promise 0x")) << pid;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  forget(child);
}

TEST_F(reports, dump_and_why_name_tasks_that_share_together) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("WEFT_WATCH_PATIENCE", "3600s", 1);
    setenv("WEFT_WORKERS", "2", 1);
    static int x;
    weft::spawn([] { weft::this_task::block(); }, weft::concurrent(x), weft::label("stays"));
    weft::spawn([] { weft::this_task::block(); }, weft::concurrent(x), weft::label("stays, too"));
    weft::spawn([] {}, weft::in(x), weft::label("reads"));
    weft::taskwait();
    _exit(0);
  }
  const std::string pid = std::to_string(child);
  const auto whole = [&pid] {
    const std::string seen = weft({"dump", pid}).output;
    return contains(seen, "task 'stays' is blocked") && contains(seen, "task 'stays, too' is blocked") &&
           contains(seen, "task 'reads' waits, with in(0x");
  };
  for (int i = 0; i < 200 && !whole(); ++i)
    usleep(50'000);
  const test::ending end = weft({"why", pid, "reads"});
  EXPECT_TRUE(contains(end.output, "), for the tasks with concurrent(0x") &&
              contains(end.output, ") are over only after task 'stays'\n") &&
              contains(end.output, ") are over only after task 'stays, too'\n") &&
              contains(end.output, "task 'stays, too' is blocked and can only be unblocked by"))
      << end;
  EXPECT_TRUE(contains(weft({"dump", "--dot", pid}).output, "label=\"the tasks with concurrent(0x"))
      << pid;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  forget(child);
}

TEST_F(reports, dump_asks_a_program_that_has_not_stood_still_for_long) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("WEFT_WATCH_PATIENCE", "3600s", 1);
    setenv("WEFT_WORKERS", "2", 1);
    weft::spawn([] { weft::this_task::block(); }, weft::label("stays"));
    weft::taskwait();
    _exit(0);
  }
  const std::string pid = std::to_string(child);
  test::ending end;
  for (int i = 0; i < 200 && !contains(end.output, "task 'stays'"); ++i) {
    usleep(50'000);
    end = weft({"dump", pid});
  }
  EXPECT_TRUE(contains(end.output, "task 'stays'")) << end;
  EXPECT_FALSE(contains(end.output, "it does not answer")) << end;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  forget(child);
}

TEST_F(reports, a_pid_that_is_no_weft_program_is_said_to_be_none) {
  const pid_t other = fork();
  if (other == 0) {
    execlp("sleep", "sleep", "60", nullptr);
    _exit(1);
  }
  forget(other);
  auto end = weft({"dump", std::to_string(other)});
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
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
