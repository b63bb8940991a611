// SPDX-License-Identifier: Apache-2.0
// What weft predict and the graph of tasks know of programs that run: coroutines, taskiters, joins.
#include "support/case_process.hpp"
#include "support/process.hpp"
#include "support/text.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <gtest/gtest.h>
#include <map>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <weft/coro.hpp>
#include <weft/future.hpp>
#include <weft/weft.hpp>

namespace {

using test::contains;
using test::weft_program;

/// Computes for as much processor time.
void work(double ms) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
  };
  for (const double end = now() + ms; now() < end;) {
  }
}

class replays : public testing::Test {
 protected:
  void SetUp() override {
    if (access(weft_program().c_str(), X_OK) != 0)
      GTEST_SKIP() << weft_program() << " was not built (WEFT_TOOLS is OFF)";
    char name[] = "/tmp/weft-replay-test-XXXXXX";
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
  std::string traced(const char *name, const char *workers, F f) const {
    const std::string folder = m_folder + "/" + name;
    const pid_t child = fork();
    if (child == 0) {
      setenv("WEFT_WORKERS", workers, 1);
      setenv("WEFT_TRACE_LEVEL", "graph", 1);
      setenv("WEFT_TRACE_DIR", folder.c_str(), 1);
      f();
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << name;
    return folder;
  }
  std::string m_folder;
};

/// Is the graph of a trace as `weft trace export --format dot` writes it.
struct picture {
  explicit picture(const std::string &dot) {
    std::istringstream lines(dot);
    for (std::string line; std::getline(lines, line);) {
      unsigned from = 0, to = 0;
      char type[64] = "";
      double us = 0;
      if (std::sscanf(line.c_str(), " t%u -> t%u", &from, &to) == 2)
        (contains(line, "dotted") ? creations : orders).emplace(from, to);
      else if (std::sscanf(line.c_str(), " t%u [label=\"%63[^0-9]%*u\\n%lf us", &from, type, &us) == 3) {
        types[from] = std::string(type, std::strlen(type) - 1); // without the space
        ns[types[from]] += 1000 * us;
      }
    }
  }
  [[nodiscard]] long count(const std::string &type) const {
    return std::count_if(types.begin(), types.end(), [&](auto &t) { return t.second == type; });
  }
  /// Returns whether each task of the first type has an edge to one of the second.
  [[nodiscard]] bool each_goes_to(const std::multimap<unsigned, unsigned> &edges, const char *from,
                                  const char *to) const {
    return std::all_of(types.begin(), types.end(), [&](auto &task) {
      const auto [first, last] = edges.equal_range(task.first);
      return task.second != from ||
             std::any_of(first, last, [&](auto &edge) { return types.at(edge.second) == to; });
    });
  }
  std::map<unsigned, std::string> types; // by task
  std::map<std::string, double> ns;      // in bodies, by type
  std::multimap<unsigned, unsigned> orders, creations;
};

double span_of(const test::ending &predicted) {
  const auto at = predicted.output.find("\"span_ns\":");
  return at == std::string::npos ? -1 : std::strtod(predicted.output.c_str() + at + 10, nullptr);
}

} // namespace

TEST_F(replays, a_coroutine_is_replayed_with_all_its_runs) {
  const std::string folder = traced("coroutine", "1", [] {
    weft::promise<int> p;
    const weft::shared_future<int> f = p.get_future();
    weft::spawn(
        [f, &p]() -> weft::task<void> {
          work(10);
          weft::spawn([&p] { p.set_value(1); }, weft::label("setter")); // the worker is here
          co_await f;
          work(10);
        },
        weft::label("halves"));
    weft::taskwait();
  });
  EXPECT_TRUE(contains(weft({"trace", "export", "-f", "csv", folder}).output, ",left,"));
  const picture seen(weft({"trace", "export", "-f", "dot", folder}).output);
  const auto end = weft({"predict", "--json", folder});
  EXPECT_EQ(seen.count("halves"), 1);
  EXPECT_GE(span_of(end), 0.99 * seen.ns.at("halves")) << end;
  EXPECT_TRUE(contains(end.output, "\"unfinished\":0,\"not_run\":0,")) << end;
}

TEST_F(replays, rounds_of_a_taskiter_are_replayed_with_its_condition) {
  const std::string folder = traced("rounds", "2", [] {
    int x = 0, left = 3;
    weft::taskiter([&] { return left-- > 0; },
                   [&] {
                     weft::spawn([&] { work(2), ++x; }, weft::inout(x), weft::label("writes"));
                     weft::spawn([] { work(2); }, weft::in(x), weft::label("reads"));
                     weft::spawn([] { work(1); }, weft::label("alone"));
                   },
                   weft::label("loop"));
  });
  const picture seen(weft({"trace", "export", "-f", "dot", folder}).output);
  for (const char *type : {"writes", "reads", "alone"}) {
    EXPECT_EQ(seen.count(type), 3) << type;
    EXPECT_TRUE(seen.each_goes_to(seen.orders, type, "loop")) << type;
  }
  EXPECT_EQ(seen.count("loop"), 1 + 3) << "the whole, and its conditions";
  const auto end = weft({"predict", "--json", folder});
  EXPECT_GE(span_of(end), 0.99 * (seen.ns.at("writes") + seen.ns.at("reads"))) << end;
  EXPECT_TRUE(contains(end.output, "\"unfinished\":0,\"not_run\":0,")) << end;
  const auto check = weft({"trace", "check", folder}); // those that are skipped are none
  EXPECT_TRUE(check.exited(0) && check.printed("as the counters say")) << check;
}

TEST_F(replays, a_task_that_waits_for_the_end_of_another_one_names_it) {
  const std::string folder = traced("waits", "2", [] {
    weft::spawn(
        [] {
          std::atomic<bool> begun{false};
          auto other = weft::async([&begun] {
            begun = true;
            work(20);
          });
          while (!begun)
            sched_yield(); // another worker has it
          other.get();
        },
        weft::label("waiter"));
    weft::taskwait();
  });
  std::istringstream lines(weft({"trace", "export", "-f", "csv", folder}).output);
  unsigned waiter = 0, other = 0;
  bool waits = false;
  for (std::string line; std::getline(lines, line);) {
    unsigned task = 0, a = 0;
    unsigned long long b = 0;
    if (const auto at = line.find(",create,"); at != std::string::npos)
      (contains(line, ",waiter,") ? waiter : other) =
          static_cast<unsigned>(std::strtoul(line.c_str() + at + 8, nullptr, 10));
    else if (std::sscanf(line.c_str(), "%*u,%*u,suspend,%u,,%u,%llu", &task, &a, &b) == 3)
      waits |= task == waiter && b == other;
  }
  EXPECT_NE(waiter * other, 0u);
  EXPECT_TRUE(waits) << lines.str();
}

TEST_F(replays, a_branch_that_was_taken_belongs_to_its_join) {
  const std::string folder = traced("joins", "2", [] {
    weft::spawn(
        [] {
          std::atomic<bool> taken{false};
          weft::join(
              [&] {
                while (!taken)
                  sched_yield();
              },
              [&] {
                taken = true;
                work(2);
              });
        },
        weft::label("joins"));
    weft::taskwait();
  });
  const picture seen(weft({"trace", "export", "-f", "dot", folder}).output);
  EXPECT_EQ(seen.count("join branch"), 1);
  EXPECT_TRUE(seen.each_goes_to(seen.creations, "joins", "join branch"));
  std::istringstream lines(weft({"trace", "export", "-f", "csv", folder}).output);
  int waits = 0; // for branches
  for (std::string line; std::getline(lines, line);)
    waits += contains(line, ",waited,") && line.ends_with(",1");
  EXPECT_EQ(waits, 1);
  const auto end = weft({"predict", "--json", folder});
  EXPECT_TRUE(contains(end.output, "\"unfinished\":0,\"not_run\":0,")) << end;
}
