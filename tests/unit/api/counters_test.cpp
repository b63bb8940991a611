// SPDX-License-Identifier: Apache-2.0
// Counters through the API: what programs see of themselves and of each other.
#include <weft/counters.hpp>
#include <weft/weft.hpp>

#include "support/case_process.hpp"

#include <atomic>
#include <cmath>
#include <gtest/gtest.h>
#include <thread>

namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static_assert(std::is_same_v<weft::counter, weft::counters::counter> &&
              std::is_same_v<weft::level, weft::counters::level>); // until 1.0
#pragma GCC diagnostic pop

namespace counters = weft::counters;

void spawn_and_wait(int n) {
  weft::task_group g;
  for (int i = 0; i < n; ++i)
    g.spawn([] {});
  g.wait();
}

void spin_for(std::chrono::milliseconds d) {
  const auto until = std::chrono::steady_clock::now() + d;
  while (std::chrono::steady_clock::now() < until) {
  }
}

} // namespace

TEST(counters, count_tasks_exactly_when_nothing_runs) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    spawn_and_wait(10);
    const auto before = counters::take();
    spawn_and_wait(1000);
    const auto spent = counters::take() - before;
    EXPECT_EQ(spent.value("/threads/count/spawned"), 1000);
    EXPECT_EQ(spent.value("/threads/count/cumulative"), 1000);
    double sum = 0;
    for (const auto &v : spent.values("/threads{worker#*}/count/cumulative"))
      sum += v.number;
    EXPECT_EQ(sum, 1000);
    EXPECT_EQ(spent.value("/threads/count/instantaneous/all"), 0);
    EXPECT_EQ(counters::take().value("/threads/count/spawned"), weft::stats().spawned);
    EXPECT_GT(spent.span().count(), 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, tell_tasks_that_waited_for_data_from_those_that_did_not) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    int x = 0, y[8]{};
    const auto before = counters::take();
    for (int i = 0; i < 5; ++i)
      weft::spawn([] {}, weft::inout(x));
    for (int &each : y)
      weft::spawn([] {}, weft::out(each));
    weft::spawn([] {}, weft::in(x), weft::in(y[0]), weft::in(y[1]));
    weft::taskwait();
    const auto spent = counters::take() - before;
    EXPECT_EQ(spent.value("/dependencies/count/waited"), 5);
    EXPECT_EQ(spent.value("/dependencies/count/free-at-once"), 9);
    EXPECT_EQ(spent.value("/dependencies/count/accesses"), 16);
    EXPECT_GT(spent.value("/threads/count/successors"), 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, time_adds_up_in_every_mode) {
  for (const char *mode : {"sampled", "exact", "off"}) {
    if (test::is_child() && std::getenv("WEFT_COUNTERS_TIME") != std::string(mode))
      continue;
    const auto end = test::in_process(
        {{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_MAX_SPARES", "0"}, {"WEFT_COUNTERS_TIME", mode}}, [] {
          spawn_and_wait(10);
          const auto begin = std::chrono::steady_clock::now();
          const auto before = counters::take();
          weft::task_group g;
          for (int i = 0; i < 20; ++i)
            g.spawn([] { spin_for(std::chrono::milliseconds(2)); });
          g.wait();
          const auto spent = counters::take() - before;
          // A thread may lose its processor between the clock of a snapshot and the clocks of workers.
          const std::chrono::nanoseconds around = std::chrono::steady_clock::now() - begin;
          const double exec = spent.value("/threads/time/cumulative"),
                       all = spent.value("/threads/time/overall");
          EXPECT_GE(exec, 35e6) << "twenty tasks of 2 ms";
          EXPECT_LE(exec, all);
          EXPECT_LE(all, 2.01 * static_cast<double>(around.count()) + 1e6) << "two workers";
          EXPECT_NEAR(exec + spent.value("/threads/time/cumulative-overhead"), all, 1);
          EXPECT_GE(spent.value("/threads/time/average"), 1.75e6);
          EXPECT_GE(spent.value("/threads/idle-rate"), 0);
          EXPECT_LE(spent.value("/threads/idle-rate"), 100);
        });
    EXPECT_TRUE(end.exited(0)) << mode << ": " << end;
  }
}

TEST(counters, exact_time_knows_the_duration_of_every_task) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_COUNTERS_TIME", "exact"}}, [] {
    const auto before = counters::take();
    weft::task_group g;
    for (int i = 0; i < 10; ++i)
      g.spawn([] { spin_for(std::chrono::milliseconds(3)); });
    g.wait();
    const auto spent = counters::take() - before;
    EXPECT_EQ(spent.value("/threads/time/duration"), 10);
    EXPECT_EQ(spent.value("/observer/count/samples"), 10);
    EXPECT_GE(spent.value("/threads/time/duration-p50"), 2.9e6);
    std::uint64_t tasks = 0;
    for (const counters::bucket &b : spent.histogram("/threads/time/duration")) {
      EXPECT_GE(b.least, 2.5e6) << "the bucket of 3 ms begins a quarter below at most";
      tasks += b.count;
    }
    EXPECT_EQ(tasks, 10u);
    EXPECT_THROW(static_cast<void>(spent.histogram("/threads/count/cumulative")), weft::error);
    EXPECT_THROW(static_cast<void>(spent.histogram("/threads/time/durations")), weft::error);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, a_task_that_waits_is_not_counted_twice) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_COUNTERS_TIME", "exact"}}, [] {
    const auto before = counters::take();
    weft::spawn([] {
      weft::spawn([] { spin_for(std::chrono::milliseconds(20)); });
      weft::taskwait();
      spin_for(std::chrono::milliseconds(20));
    });
    weft::taskwait();
    const auto spent = counters::take() - before;
    EXPECT_GE(spent.value("/threads/time/cumulative"), 39e6);
    EXPECT_LE(spent.value("/threads/time/cumulative"), static_cast<double>(spent.span().count()));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, idle_time_runs_on_while_nobody_has_work) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    spawn_and_wait(10);
    const auto before = counters::take();
    auto spent = counters::take() - before;
    do { // worker 1 has to be idle first
      std::this_thread::sleep_for(
          std::chrono::milliseconds(20)); // the main thread is not in Weft meanwhile
      const auto again = counters::take() - before;
      EXPECT_GE(again.value("/threads{worker#1}/time/idle"),
                spent.value("/threads{worker#1}/time/idle"));
      spent = again;
    } while (spent.value("/threads{worker#1}/time/idle") == 0 ||
             spent.value("/threads/idle-rate") <= 80);
    EXPECT_LT(spent.value("/threads{worker#0}/time/overall"),
              spent.value("/threads{worker#1}/time/idle"));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, of_the_program_are_counted_by_workers_and_by_other_threads) {
  static weft::counters::counter hits("/test/hits", "what the test counts");
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    ++hits; // before the start
    weft::task_group g;
    for (int i = 0; i < 100; ++i)
      g.spawn([] { hits.add(2); });
    g.wait();
    std::thread([] { hits.add(7); }).join();
    EXPECT_EQ(counters::take().value("/test/hits"), 208);
    weft::counters::counter again("/test/hits");
    again.add();
    EXPECT_EQ(counters::take().value("/test/hits"), 209);
    const auto found = counters::list("/test/*");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].help, "what the test counts");
    EXPECT_TRUE(found[0].per_worker);
    EXPECT_THROW(weft::counters::counter("/threads/count/executed"), weft::error);
    EXPECT_THROW(weft::counters::counter("/threads/idle-rate"), weft::error);
    EXPECT_THROW(weft::counters::counter("hits"), weft::error);
    EXPECT_THROW(
        weft::counters::level("/test/hits", [](void *) { return 0.0; }, nullptr), weft::error);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, who_asks_sees_what_was_before_whoever_else_is_asking) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    (void)counters::take(); // it starts
    static const auto main_thread = std::this_thread::get_id();
    static std::atomic<bool> other_asks{false}, seen{false};
    const weft::counters::level l(
        "/test/slow",
        [](void *) {
          if (std::this_thread::get_id() == main_thread)
            return 0.0;
          other_asks = true;
          while (!seen)
            std::this_thread::yield();
          return 1.0;
        },
        nullptr);
    std::thread other([] { (void)counters::take(); });
    while (!other_asks)
      std::this_thread::yield();
    for (int i = 0; i < 5; ++i)
      weft::spawn([] {});
    EXPECT_EQ(counters::take().value("/threadqueue/length"), 5);
    seen = true;
    other.join();
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, levels_of_the_program_are_asked_when_they_are_read) {
  const auto end = test::in_process({}, [] {
    static std::atomic<int> depth{-3};
    {
      const weft::counters::level l(
          "/test/depth", [](void *) { return static_cast<double>(depth.load()); }, nullptr);
      EXPECT_EQ(counters::take().value("/test/depth"), -3);
      depth = 12;
      const auto earlier = counters::take();
      depth = 10;
      EXPECT_EQ((counters::take() - earlier).value("/test/depth"), 10);
    }
    depth = 99;
    EXPECT_EQ(counters::take().value("/test/depth"), 10) << "the function is not called any more";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, readers_have_baselines_of_their_own) {
  const auto end = test::in_process({}, [] {
    counters::reader one, two;
    spawn_and_wait(10);
    one.reset();
    spawn_and_wait(5);
    EXPECT_EQ(one.evaluate().value("/threads/count/cumulative"), 5);
    EXPECT_EQ(two.evaluate_and_reset().value("/threads/count/cumulative"), 15);
    EXPECT_EQ(two.evaluate().value("/threads/count/cumulative"), 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, at_intervals_lose_nothing_between_them) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    struct sum {
      double tasks = 0;
      std::atomic<int> calls{0};
    } all;
    int bursts = 0;
    spawn_and_wait(1);
    {
      const counters::at_intervals calls(
          std::chrono::milliseconds(2),
          [](const counters::snapshot &, const counters::snapshot &interval, void *p) {
            static_cast<sum *>(p)->tasks += interval.value("/threads/count/cumulative");
            ++static_cast<sum *>(p)->calls;
          },
          &all);
      for (; bursts < 20 || all.calls < 2; ++bursts) {
        spawn_and_wait(100);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    EXPECT_EQ(all.tasks, 100 * bursts);
    EXPECT_THROW(counters::at_intervals(
                     std::chrono::microseconds(1),
                     [](const counters::snapshot &, const counters::snapshot &, void *) {},
                     nullptr),
                 weft::error);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, can_be_read_after_shutdown) {
  const auto end = test::in_process({}, [] {
    spawn_and_wait(10);
    weft::shutdown();
    EXPECT_EQ(counters::take().value("/threads/count/cumulative"), 10);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, of_a_parent_are_read_by_its_child_and_are_not_its_own) {
  const auto end = test::in_process(
      {{"WEFT_WORKERS", "1"}, {"TSAN_OPTIONS", "die_after_fork=0:report_thread_leaks=0"}}, [] {
        spawn_and_wait(10);
        const pid_t child = fork();
        if (child == 0) {
          const bool parents =
              counters::take_from(getppid()).value("/threads/count/cumulative") == 10;
          spawn_and_wait(3);
          _exit(parents && counters::take().value("/threads/count/cumulative") == 3 ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        EXPECT_EQ(counters::take().value("/threads/count/cumulative"), 10);
        const std::string own =
            "/dev/shm/weft-" + std::to_string(geteuid()); // it left without a word
        unlink((own + "/weft." + std::to_string(child)).c_str());
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(counters, snapshots_are_taken_while_tasks_run) { // of interest to ThreadSanitizer
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    std::atomic<bool> stop{false};
    std::thread reader([&] {
      double last = 0;
      while (!stop) {
        const double now = counters::take().value("/threads/count/cumulative");
        EXPECT_GE(now, last);
        last = now;
      }
    });
    for (int i = 0; i < 50; ++i)
      spawn_and_wait(100);
    stop = true;
    reader.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}
