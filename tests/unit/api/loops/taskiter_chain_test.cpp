// SPDX-License-Identifier: Apache-2.0
// Chains of a taskiter, whose members run as one: what the program sees is what it sees without.
#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <utility>

namespace {

test::environment chains_of(const char *workers) {
  return {{"WEFT_TUNE_INLINE", "always"}, {"WEFT_WORKERS", workers}};
}

TEST(taskiter_chain, runs_each_member_in_each_round_in_order) {
  const test::ending end = test::in_process(chains_of("2"), [] {
    weft::taskwait();
    const auto before = weft::stats();
    std::uint64_t x = 1, expected = 1;
    weft::taskiter(50, [&] {
      for (std::uint64_t i = 0; i != 40; ++i)
        weft::spawn([&x, i] { x = x * 31 + i; }, weft::inout(x));
    });
    for (int n = 0; n != 50; ++n)
      for (std::uint64_t i = 0; i != 40; ++i)
        expected = expected * 31 + i;
    EXPECT_EQ(x, expected);
    EXPECT_EQ(weft::stats().executed - before.executed, 50u * 40 + 1);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, lets_the_threads_own_stack_go_on_after_a_member) {
  const test::ending end = test::in_process(chains_of("1"), [] {
    int x = 0, members = 0, at_unblock = 0;
    const weft::task_ref me = weft::this_task::self();
    weft::taskiter(
        3,
        [&] {
          for (int i = 0; i != 100; ++i)
            weft::spawn(
                [&] {
                  if (++members == 150) {
                    at_unblock = members;
                    weft::unblock(me);
                  }
                },
                weft::inout(x));
        },
        weft::nogroup);
    weft::this_task::block();
    EXPECT_LE(members - at_unblock, 1);
    weft::taskwait();
    EXPECT_EQ(members, 300);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, a_member_that_suspends_holds_up_no_other_chain) {
  const test::ending end = test::in_process(chains_of("1"), [] {
    int x = 0, y = 0;
    weft::task_ref blocked;
    weft::taskiter(10, [&] {
      for (int i = 0; i != 20; ++i)
        weft::spawn(
            [&, i] {
              if (i == 7) { // the other chain wakes it
                blocked = weft::this_task::self();
                weft::this_task::block();
              }
              ++x;
            },
            weft::inout(x));
      for (int i = 0; i != 20; ++i)
        weft::spawn(
            [&, i] {
              while (i == 19 && !blocked)
                weft::taskyield();
              if (i == 19)
                weft::unblock(std::exchange(blocked, weft::task_ref{}));
              ++y;
            },
            weft::inout(y));
    });
    EXPECT_EQ(x, 200);
    EXPECT_EQ(y, 200);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, no_member_runs_after_one_that_has_thrown) {
  const test::ending end = test::in_process(chains_of("2"), [] {
    int x = 0;
    EXPECT_THROW(weft::taskiter(1000,
                                [&] {
                                  for (int i = 0; i != 10; ++i)
                                    weft::spawn(
                                        [&x] {
                                          if (++x == 57)
                                            throw std::runtime_error("stop");
                                        },
                                        weft::inout(x));
                                }),
                 std::runtime_error);
    EXPECT_EQ(x, 57);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Keeps the only worker busy for some time.
void work() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
  while (std::chrono::steady_clock::now() < until)
    ;
}

/// Runs a chain of 160 members with one worker, and now and then lets another thread spawn a task.
/// Returns the largest number of members that ended between the spawn of such a task and its
/// beginning. `grows`: members work from the 50th round on, and the spawns come then.
template <class... Clauses>
int most_before_other_work(bool grows, const Clauses &...clauses) {
  constexpr int k_spawns = 30, k_first = 50 * 160;
  std::atomic<int> asked{0}, spawned{0}, begun{0};
  int members = 0, at = 0, last = 0, most = 0, x = 0;
  weft::taskwait(); // this thread is the worker, and not the other one
  std::thread other([&] {
    for (int n = 1; n <= k_spawns; ++n) {
      while (asked < n)
        std::this_thread::yield();
      weft::spawn(
          [&] {
            most = std::max(most, members - at);
            last = members;
            ++begun;
          },
          clauses...);
      spawned = n;
    }
    while (begun < k_spawns) // here none of them runs
      std::this_thread::yield();
  });
  weft::taskiter([&] { return begun < k_spawns; },
                 [&] {
                   for (int i = 0; i != 160; ++i)
                     weft::spawn(
                         [&] {
                           ++members;
                           if (members < k_first)
                             return;
                           if (grows)
                             work();
                           if (asked != begun || asked == k_spawns ||
                               members < last + 37 * (asked + 1))
                             return;
                           at = members;
                           const int number = ++asked;
                           while (spawned < number)
                             std::this_thread::yield();
                         },
                         weft::inout(x));
                 });
  other.join();
  return most;
}

// Without chains, a worker looks at other work after 61 rounds of recorded tasks.
constexpr int k_in_a_row = 61;

/// Has one worker run all: no spare stands in for it, and no manager.
test::environment one_worker(test::environment more = {}) {
  more.emplace_back("WEFT_WORKERS", "1");
  more.emplace_back("WEFT_SCHED_POLICY", "stealing");
  more.emplace_back("WEFT_MANAGE_MODE", "direct");
  more.emplace_back("WEFT_WATCH_MAX_SPARES", "0");
  return more;
}

TEST(taskiter_chain, more_urgent_work_goes_before_the_next_member) {
  const test::ending end = test::in_process(one_worker({{"WEFT_TUNE_INLINE", "always"}}), [] {
    EXPECT_LE(most_before_other_work(false, weft::priority(100)), 1);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, more_urgent_work_goes_before_members_that_were_measured) {
  const test::ending end = test::in_process(
      one_worker(), [] { EXPECT_LE(most_before_other_work(true, weft::priority(100)), 1); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, members_that_have_grown_hold_up_other_work_no_longer) {
  const test::ending end =
      test::in_process(one_worker(), [] { EXPECT_LE(most_before_other_work(true), 150); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, tiny_members_run_as_one_by_default) {
  const test::ending end = test::in_process(
      one_worker(), [] { EXPECT_GT(most_before_other_work(false), 2 * k_in_a_row); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, there_is_none_without_tuning) {
  const test::ending end = test::in_process(one_worker({{"WEFT_TUNE", "off"}}), [] {
    EXPECT_LE(most_before_other_work(false), k_in_a_row);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, there_is_none_where_successors_do_not_go_first) {
  const test::ending end =
      test::in_process({{"WEFT_TUNE_INLINE", "always"},
                        {"WEFT_WORKERS", "1"},
                        {"WEFT_SCHED_POLICY", "central"},
                        {"WEFT_SCHED_IMMEDIATE_SUCCESSOR", "0"}},
                       [] {
                         int x = 0, y = 0, in_a_row = 0, most = 0;
                         const int *last = nullptr;
                         weft::taskiter(50, [&] {
                           for (int i = 0; i != 20; ++i)
                             for (int *object : {&x, &y})
                               weft::spawn(
                                   [&, object] {
                                     in_a_row =
                                         std::exchange(last, object) == object ? in_a_row + 1 : 1;
                                     most = std::max(most, in_a_row);
                                   },
                                   weft::inout(*object));
                         });
                         EXPECT_EQ(most, 1) << "they take turns";
                       });
  EXPECT_TRUE(end.exited(0)) << end;
}

// A thread that runs no tasks has put its task into its own queue, and the worker, which never runs out
// of its own tasks, steals it after some thousand rounds.
TEST(taskiter_chain, holds_up_no_other_thread_where_successors_do_not_go_first) {
  for (const char *as_one : {"always", "never"}) {
    const test::ending end = test::in_process(
        one_worker({{"WEFT_SCHED_IMMEDIATE_SUCCESSOR", "0"}, {"WEFT_TUNE_INLINE", as_one}}),
        [] { EXPECT_LE(most_before_other_work(false), 2000); });
    EXPECT_TRUE(end.exited(0)) << as_one << end;
  }
}

/// Runs a chain whose members do all that keeps the end of a round from being a common one.
void run_special_members() {
  int x = 0, wrong = 0, sum = 0, asked = 0;
  std::atomic<int> ready{0};
  weft::taskiter(
      [&] { return ++asked <= 200; },
      [&] {
        const auto member = [&](int number, auto &&body, auto... clauses) {
          weft::spawn(
              [&, number, body] {
                wrong += x % 8 != number;
                body();
              },
              weft::inout(x), clauses...);
        };
        const auto plain = [&] { ++x; };
        member(0, plain);
        member(1, [&] { weft::spawn([&] { ++x; }); });
        member(2, plain);
        member(3, [&] {
          weft::this_task::increase_events(1);
          ++x;
          weft::decrease_events(weft::this_task::self(), 1);
        });
        member(4, plain,
               weft::onready([](void *p) { ++*static_cast<std::atomic<int> *>(p); }, &ready));
        member(
            5,
            [&] {
              ++weft::reduction_local(sum);
              ++x;
            },
            weft::reduction(sum, weft::sum));
        member(6, [&] {
          weft::taskyield();
          ++x;
        });
        member(7, plain);
      });
  EXPECT_EQ(x, 200 * 8);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(sum, 200);
  EXPECT_EQ(ready, 200);
}

TEST(taskiter_chain, members_may_have_children_events_onready_and_reductions) {
  const test::ending end = test::in_process(chains_of("2"), run_special_members);
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, measured_members_may_have_children_events_onready_and_reductions) {
  const test::ending end = test::in_process({{"WEFT_WORKERS", "2"}}, run_special_members);
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(taskiter_chain, no_member_runs_after_one_that_has_cancelled_the_group) {
  const test::ending end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    int x = 0;
    weft::task_group group;
    weft::taskiter(
        1000,
        [&] {
          for (int i = 0; i != 10; ++i)
            weft::spawn(
                [&] {
                  if (++x == 5007)
                    group.cancel();
                },
                weft::inout(x));
        },
        weft::in_group(group));
    group.wait();
    EXPECT_EQ(x, 5007);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
