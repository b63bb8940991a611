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
      setenv("WEFT_WATCH_MAX_SPARES", "0", 1); // one worker runs what it spawns, however long it gets no processor
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

// The other task may end before the waiter, which gets no processor, waits: then there is nothing to see.
TEST_F(replays, a_task_that_waits_for_the_end_of_another_one_names_it) {
  unsigned waiter = 0, other = 0;
  bool waits = false;
  for (int tries = 0; tries != 20 && !waits; ++tries) {
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
  }
  EXPECT_TRUE(waits);
}

class continuations : public replays {
 protected:
  /// Traces a program with one worker, and returns the span that is predicted for it, with the time of all bodies
  /// of each type.
  template <class F>
  std::pair<double, picture> spanned(const char *name, F f) {
    const std::string folder = traced(name, "1", [&f] {
      weft::spawn([&f] { f(); }, weft::label("outer")); // with one worker, no part begins before all are there
      weft::taskwait();
    });
    const auto end = weft({"predict", "--json", folder});
    EXPECT_TRUE(contains(end.output, "\"unfinished\":0,\"not_run\":0,")) << end;
    const auto check = weft({"trace", "check", folder});
    EXPECT_TRUE(check.exited(0)) << check;
    return {span_of(end), picture(weft({"trace", "export", "-f", "dot", folder}).output)};
  }
};

TEST_F(continuations, a_chain_is_as_long_as_its_parts) {
  const auto [span, seen] = spanned("chain", [] {
    auto at = weft::future<void>(weft::spawn([] { work(2); }, weft::tracked, weft::label("part")));
    for (int i = 0; i != 4; ++i)
      at = at.then([] { work(2); }, weft::label("part"));
  });
  EXPECT_EQ(seen.count("part"), 5);
  EXPECT_GE(span, 0.99 * seen.ns.at("part"));
}

TEST_F(continuations, with_accesses_or_a_clause_after_come_behind_what_they_wait_for) {
  const auto [span, seen] = spanned("after", [] {
    static int x = 0;
    weft::future<void> first = weft::spawn([] { work(2); }, weft::tracked, weft::label("part"));
    weft::future<void> second =
        weft::spawn([] { work(2); }, weft::after(first), weft::tracked, weft::label("part"));
    weft::future<void> third = second.then([] { work(2); }, weft::inout(x), weft::label("part"));
    weft::spawn([] { work(2); }, weft::inout(x), weft::label("part"));
  });
  EXPECT_EQ(seen.count("part"), 4);
  EXPECT_GE(span, 0.99 * seen.ns.at("part"));
}

TEST_F(continuations, of_several_futures_come_behind_all_of_them) {
  const auto [span, seen] = spanned("several", [] {
    weft::future<void> one = weft::spawn([] { work(1); }, weft::tracked, weft::label("short"));
    weft::future<void> two = weft::spawn([] { work(6); }, weft::tracked, weft::label("long"));
    weft::future<void> three = weft::spawn([] { work(6); }, weft::tracked, weft::label("other"));
    auto both = weft::when_all(std::move(one), std::move(two));
    auto all = weft::when_all(std::move(both), std::move(three)); // of a result that is one of several
    auto last = all.then([](auto) { work(6); }, weft::label("last"));
  });
  EXPECT_GE(span, 0.99 * (std::max(seen.ns.at("long"), seen.ns.at("other")) + seen.ns.at("last")));
}

TEST_F(continuations, of_a_dataflow_come_behind_its_arguments) {
  const auto [span, seen] = spanned("dataflow", [] {
    std::vector<weft::future<void>> range;
    for (int i = 0; i != 2; ++i)
      range.push_back(weft::spawn([] { work(4); }, weft::tracked, weft::label("input")));
    weft::future<void> alone = weft::spawn([] { work(1); }, weft::tracked, weft::label("alone"));
    auto last = weft::dataflow([](auto, auto) { work(4); }, std::move(range), std::move(alone)).then(
        [] { work(4); }, weft::label("last"));
  });
  EXPECT_GE(span, 0.99 * (seen.ns.at("input") / 2 + 4e6 + seen.ns.at("last")));
}

TEST_F(continuations, of_some_futures_come_behind_those_that_were_ready_first) {
  const auto [span, seen] = spanned("some", [] {
    std::vector<weft::future<void>> all;
    for (int i = 0; i != 3; ++i)
      all.push_back(weft::spawn([] { work(4); }, weft::tracked, weft::label("input")));
    auto last = weft::when_some(2, std::move(all)).then([](auto) { work(4); }, weft::label("last"));
  });
  EXPECT_GE(span, 0.99 * (4e6 + seen.ns.at("last"))); // which of the inputs were first is not known here
}

TEST_F(continuations, of_a_promise_come_behind_the_place_where_it_gets_its_value) {
  const auto [span, seen] = spanned("promise", [] {
    weft::promise<void> given;
    auto last = given.get_future().then([] { work(8); }, weft::label("last"));
    weft::spawn(
        [given = std::move(given)]() mutable {
          work(4);
          given.set_value();
          work(2);
        },
        weft::label("giver"));
  });
  EXPECT_GE(span, 0.99 * (4e6 + seen.ns.at("last")));
  EXPECT_LT(span, 1.5e6 + seen.ns.at("giver") + seen.ns.at("last") - 2e6 + seen.ns.at("outer"));
}

TEST_F(continuations, of_a_future_of_a_future_come_behind_the_inner_one) {
  const auto [span, seen] = spanned("unwrapping", [] {
    weft::future<void> start = weft::spawn([] { work(1); }, weft::tracked, weft::label("start"));
    auto last = start
                    .then([] {
                      return weft::future<void>(
                          weft::spawn([] { work(6); }, weft::tracked, weft::label("inner")));
                    })
                    .then([] { work(6); }, weft::label("last"));
  });
  EXPECT_GE(span, 0.99 * (seen.ns.at("start") + seen.ns.at("inner") + seen.ns.at("last")));
}

// The branch may end before the join, which gets no processor, waits for it: then there is no wait to see.
TEST_F(replays, a_branch_that_was_taken_belongs_to_its_join) {
  int waits = 0; // for branches
  for (int tries = 0; tries != 20 && waits == 0; ++tries) {
    const std::string folder = traced("joins", "2", [] {
      weft::spawn(
          [] {
            std::atomic<bool> taken{false}, joins{false};
            weft::join(
                [&] {
                  while (!taken)
                    sched_yield();
                  joins = true;
                },
                [&] {
                  taken = true;
                  while (!joins)
                    sched_yield();
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
    for (std::string line; std::getline(lines, line);)
      waits += contains(line, ",waited,") && line.ends_with(",1");
    const auto end = weft({"predict", "--json", folder});
    EXPECT_TRUE(contains(end.output, "\"unfinished\":0,\"not_run\":0,")) << end;
  }
  EXPECT_EQ(waits, 1);
}
