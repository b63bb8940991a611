// SPDX-License-Identifier: Apache-2.0
// Promise: a setting changes how a program runs, never what it computes. Each value that changes code paths, alone.
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

int tree(int depth) {
  if (depth == 0)
    return 1;
  int left = 0, right = 0;
  weft::join([&] { left = tree(depth - 1); }, [&] { right = tree(depth - 1); });
  return left + right;
}

/// A little of everything: chains, nesting, groups that fail, joins, priorities, sleeps, a mutex.
bool a_bit_of_everything_works() {
  int chain = 0, nested = 0, guarded = 0;
  std::atomic<int> woken{0};
  weft::mutex mutex;
  for (int i = 0; i != 300; ++i) {
    weft::spawn([&, i] { chain = chain == i ? i + 1 : -1; }, weft::inout(chain),
                weft::priority(i % 3 - 1));
    weft::spawn([&] { weft::spawn([&] { ++nested; }, weft::inout(nested)); },
                weft::weak_inout(nested));
    weft::spawn([&] {
      mutex.lock();
      weft::taskyield();
      ++guarded;
      mutex.unlock();
    });
  }
  for (int i = 0; i != 20; ++i)
    weft::spawn([&] { weft::this_task::sleep_for(std::chrono::microseconds(50)), ++woken; });
  bool thrown = false;
  weft::task_group group(weft::exception_policy::first_cancels);
  group.spawn([] { throw std::runtime_error("of a task"); });
  try {
    group.wait();
  } catch (const std::runtime_error &) {
    thrown = true;
  }
  const int leaves = tree(8);
  weft::taskwait();
  return chain == 300 && nested == 300 && guarded == 300 && woken == 20 && thrown && leaves == 256;
}

const std::pair<const char *, const char *> k_values[] = {
    {"WEFT_PRESET", "latency"},
    {"WEFT_SCHED_WORKERS", "1"},
    {"WEFT_LOOP_BLOCK", "1us"},
    {"WEFT_PRESET", "throughput"},
    {"WEFT_PRESET", "debug"},
    {"WEFT_WORKERS", "1"},
    {"WEFT_WORKERS", "64"},
    {"WEFT_BIND", "compact"},
    {"WEFT_BIND", "spread"},
    {"WEFT_SCHED_IMMEDIATE_SUCCESSOR", "0"},
    {"WEFT_SCHED_IMMEDIATE_SUCCESSOR", "0.5"},
    {"WEFT_MEM_ALLOCATOR", "system"},
    {"WEFT_DEPS_SYSTEM", "locks"},
    {"WEFT_DEPS_SYSTEM", "regions"},
    {"WEFT_DEPS_CHECK", "true"},
    {"WEFT_SCHED_SEED", "7"},
    {"WEFT_STACK_BYTES", "64KiB"},
    {"WEFT_STACK_BYTES", "1MiB"},
    {"WEFT_STACK_CACHE", "0"},
    {"WEFT_SPIN_US", "0"},
    {"WEFT_SPIN_US", "1ms"},
    {"WEFT_THROTTLE_BYTES", "64KiB"},
    {"WEFT_THROTTLE_BYTES", "off"},
    {"WEFT_THROTTLE_POLICY", "none"},
    {"WEFT_THROTTLE_POLICY", "tasks"},
    {"WEFT_POLL_PERIOD", "1us"},
    {"WEFT_JOIN_DEQUE", "8"},
    {"WEFT_GROUP_EXCEPTIONS", "collect_all"},
    {"WEFT_STACK_WATERMARK", "true"},
    {"WEFT_WATCH_MAX_SPARES", "0"},
    {"WEFT_WATCH_COMPUTE", "1ms"},
    {"WEFT_WATCH_HANG", "off"},
    {"WEFT_WATCH_PATIENCE", "1ms"},
    {"WEFT_WATCH_SPAWN_SITES", "true"},
    {"WEFT_STATS", "true"},
    {"WEFT_COUNTERS_TIME", "exact"},
    {"WEFT_COUNTERS_TIME", "off"},
    {"WEFT_COUNTERS_SHARE", "false"},
    {"WEFT_COUNTERS_PRINT", "*"},
    {"WEFT_COUNTERS_INTERVAL", "1ms"},
    {"WEFT_MANAGE_MODE", "central"},
    {"WEFT_MANAGE_MODE", "hybrid"},
    {"WEFT_MANAGE_MODE", "distributed"},
    {"WEFT_MANAGE_MODE", "auto"},
};

test::ending with(test::environment settings) {
  settings.emplace_back("WEFT_CONFIG", "");
  return test::in_process(std::move(settings), [] { EXPECT_TRUE(a_bit_of_everything_works()); });
}

TEST(every_setting, runs) {
  for (const auto &[name, value] : k_values) {
    const auto end = with({{name, value}});
    EXPECT_TRUE(end.exited(0)) << name << '=' << value << ": " << end;
    EXPECT_FALSE(end.printed("weft: warning: ")) << name << '=' << value << ": " << end;
  }
}

TEST(every_setting, of_the_policies_runs) {
  const test::environment values[] = {
      {{"WEFT_SCHED_POLICY", "stealing"}, {"WEFT_SCHED_IMMEDIATE_SUCCESSOR", "0"}},
      {{"WEFT_SCHED_POLICY", "central"}, {"WEFT_SCHED_IMMEDIATE_SUCCESSOR", "0"}},
      {{"WEFT_SCHED_POLICY", "local-fifo"}, {"WEFT_SCHED_IMMEDIATE_SUCCESSOR", "0.5"}},
      {{"WEFT_SCHED_POLICY", "local-fifo"}, {"WEFT_SCHED_HIGH_QUEUES", "0"}},
      {{"WEFT_SCHED_POLICY", "local-fifo"},
       {"WEFT_SCHED_HIGH_QUEUES", "4"},
       {"WEFT_BIND", "spread"}},
      {{"WEFT_SCHED_POLICY", "delegated"}, {"WEFT_SCHED_IMMEDIATE_SUCCESSOR", "0"}},
      {{"WEFT_SCHED_POLICY", "delegated"}, {"WEFT_SCHED_LOCK", "ticket"}},
      {{"WEFT_SCHED_POLICY", "delegated"}, {"WEFT_SCHED_SPSC_QUEUES", "1"}},
      {{"WEFT_SCHED_POLICY", "delegated"}, {"WEFT_SCHED_LOCK_QUEUES", "nodes"}},
      {{"WEFT_SCHED_POLICY", "delegated"},
       {"WEFT_SCHED_LOCK_QUEUES", "3"},
       {"WEFT_SCHED_SPSC_CAPACITY", "1"},
       {"WEFT_WORKERS", "8"}},
      {{"WEFT_SCHED_POLICY", "delegated"},
       {"WEFT_SCHED_SPSC_CAPACITY", "1"},
       {"WEFT_WORKERS", "8"}},
  };
  for (const auto &settings : values) {
    const auto end = with(settings);
    std::string text;
    for (const auto &[name, value] : settings)
      text += name + '=' + value + ' ';
    EXPECT_TRUE(end.exited(0)) << text << ": " << end;
  }
}

TEST(every_setting, of_the_managers_runs) {
  const test::environment values[] = {
      {{"WEFT_MANAGE_MODE", "central"}, {"WEFT_MANAGE_FORCED", "true"}},
      {{"WEFT_MANAGE_MODE", "distributed"},
       {"WEFT_MANAGE_MAX_MANAGERS", "1"},
       {"WEFT_WORKERS", "4"}},
      {{"WEFT_MANAGE_MODE", "distributed"},
       {"WEFT_MANAGE_MAX_SPINS", "65536"},
       {"WEFT_POLL_SLOW", "off"}},
      {{"WEFT_MANAGE_MODE", "distributed"},
       {"WEFT_MANAGE_MAX_OPS", "1"},
       {"WEFT_MANAGE_MIN_READY", "1"}},
      {{"WEFT_MANAGE_MODE", "distributed"},
       {"WEFT_MANAGE_MAX_OPS", "65536"},
       {"WEFT_MANAGE_MIN_READY", "65536"}},
      {{"WEFT_MANAGE_MODE", "distributed"},
       {"WEFT_MANAGE_WORKERS", "big"},
       {"WEFT_BIND", "compact"}},
  };
  for (const auto &settings : values) {
    const auto end = with(settings);
    std::string text;
    for (const auto &[name, value] : settings)
      text += name + '=' + value + ' ';
    EXPECT_TRUE(end.exited(0)) << text << ": " << end;
    EXPECT_FALSE(end.printed("weft: warning: ")) << text << ": " << end;
  }
}

TEST(every_setting, of_the_throttle_runs) {
  for (const char *tasks : {"16", "1024", "off"}) {
    const auto end = with({{"WEFT_THROTTLE_POLICY", "tasks"}, {"WEFT_THROTTLE_TASKS", tasks}});
    EXPECT_TRUE(end.exited(0)) << tasks << ": " << end;
    EXPECT_FALSE(end.printed("weft: warning: ")) << tasks << ": " << end;
  }
}

/// What the paper of Alvarez et al. (PPoPP 2021) takes away one by one, in all combinations.
TEST(every_setting, of_the_ablations_runs_with_every_other) {
  for (const char *lock : {"delegation", "ticket"})
    for (const char *deps : {"wait-free", "locks"})
      for (const char *allocator : {"slab", "system"}) {
        const auto end = with({{"WEFT_SCHED_POLICY", "delegated"},
                               {"WEFT_WORKERS", "4"},
                               {"WEFT_SCHED_LOCK", lock},
                               {"WEFT_DEPS_SYSTEM", deps},
                               {"WEFT_MEM_ALLOCATOR", allocator}});
        EXPECT_TRUE(end.exited(0)) << lock << ' ' << deps << ' ' << allocator << ": " << end;
      }
}

/// One worker takes pairs of a task and its successor from a queue that is first in, first out. How many successors ran at once?
int immediate_successors_of_200() {
  int x[200], a[200], b[200], clock = 0;
  const weft::task_ref self = weft::this_task::self();
  const auto tick = [&] {
    if (++clock == 400)
      weft::unblock(self);
    return clock;
  };
  for (int i = 0; i != 200; ++i) {
    weft::spawn([&, i] { a[i] = tick(); }, weft::out(x[i]));
    weft::spawn([&, i] { b[i] = tick(); }, weft::inout(x[i]));
  }
  weft::this_task::block(); // a taskwait would run the newest itself
  int at_once = 0;
  for (int i = 0; i != 200; ++i)
    at_once += b[i] == a[i] + 1;
  return at_once;
}

TEST(every_setting, immediate_successor_is_the_probability_that_a_successor_runs_at_once) {
  struct expectation {
    const char *odds;
    int least, most; // a deviation of 7 is usual
  };
  for (const auto &e : {expectation{"1", 200, 200}, {"0", 0, 1}, {"0.5", 60, 140}}) {
    const auto end = test::in_process({{"WEFT_WORKERS", "1"},
                                       {"WEFT_WATCH_MAX_SPARES", "0"}, // none takes a successor away
                                       {"WEFT_SCHED_POLICY", "local-fifo"},
                                       {"WEFT_SCHED_IMMEDIATE_SUCCESSOR", e.odds},
                                       {"LEAST", std::to_string(e.least)},
                                       {"MOST", std::to_string(e.most)}},
                                      [] {
                                        const int n = immediate_successors_of_200();
                                        EXPECT_GE(n, std::atoi(std::getenv("LEAST")));
                                        EXPECT_LE(n, std::atoi(std::getenv("MOST")));
                                      });
    EXPECT_TRUE(end.exited(0)) << e.odds << ": " << end;
  }
}

TEST(every_setting, bind_keeps_each_started_worker_on_one_cpu_and_leaves_the_main_thread_alone) {
  for (const char *how : {"none", "compact", "spread"}) {
    const auto end = test::in_process(
        {{"WEFT_BIND", how}, {"WEFT_WORKERS", "3"}, {"WEFT_WATCH_MAX_SPARES", "0"}, {"HOW", how}},
        [] {
          const auto cpus = [] {
            cpu_set_t set;
            return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
          };
          const int all = cpus();
          std::atomic<int> wrong{0}, elsewhere{0};
          const bool bound = std::string(std::getenv("HOW")) != "none";
          for (int i = 0; elsewhere < 20 && i != 100'000; ++i) {
            weft::spawn([&] {
              const bool started = weft::worker_id() != 0;
              elsewhere += started;
              wrong += cpus() != (started && bound ? 1 : all);
            });
            if (i % 50 == 0)
              weft::taskwait();
          }
          weft::taskwait();
          EXPECT_EQ(wrong, 0);
          EXPECT_GE(elsewhere, 20);
          EXPECT_EQ(cpus(), all);
        });
    EXPECT_TRUE(end.exited(0)) << how << ": " << end;
  }
}

} // namespace
