// SPDX-License-Identifier: Apache-2.0
// Tests suspension: the body returns, and Weft runs it again, as its mode says.
#include <alpi/alpi.h>

#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace {

alpi_task *self() {
  alpi_task *task = nullptr;
  EXPECT_EQ(alpi_task_self(&task), ALPI_SUCCESS);
  return task;
}

void suspend(alpi_suspend_mode_t mode, std::uint64_t args = 0) {
  EXPECT_EQ(alpi_task_suspend_mode_set(self(), mode, args), ALPI_SUCCESS);
  EXPECT_EQ(alpi_task_suspend(self()), ALPI_SUCCESS);
}

/// Runs a task three times in the mode. Its accesses and its end wait for the last run.
int runs_of(alpi_suspend_mode_t mode, std::uint64_t args) {
  int x = 0, seen = 0;
  alpi_task *first = nullptr;
  weft::spawn(
      [&] {
        if (x == 0)
          first = self();
        EXPECT_EQ(self(), first) << "it is the same task";
        if (++x < 3)
          suspend(mode, args);
      },
      weft::inout(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  return seen;
}

TEST(suspend, at_once_runs_the_body_again) { EXPECT_EQ(runs_of(ALPI_SUSPEND_SUBMIT, 0), 3); }
TEST(suspend, with_a_yield_runs_the_body_again) { EXPECT_EQ(runs_of(ALPI_SUSPEND_SUBMIT, 1), 3); }
TEST(suspend, for_a_time_runs_the_body_again) {
  EXPECT_EQ(runs_of(ALPI_SUSPEND_TIMEOUT_SUBMIT, 10'000), 3);
}
TEST(suspend, for_events_that_there_are_not_runs_the_body_again) {
  EXPECT_EQ(runs_of(ALPI_SUSPEND_EVENT_SUBMIT, 0), 3);
}

TEST(suspend, at_once_lets_ready_tasks_run) {
  for (std::uint64_t args : {0u, 1u}) {
    std::atomic<bool> other{false};
    weft::spawn([&] {
      if (!other)
        suspend(ALPI_SUSPEND_SUBMIT, args);
    });
    weft::spawn([&] { other = true; });
    weft::taskwait();
    EXPECT_TRUE(other);
  }
}

TEST(suspend, for_a_time_lasts_at_least_as_long) {
  using clock = std::chrono::steady_clock;
  clock::time_point start;
  clock::duration passed{};
  int runs = 0;
  weft::spawn([&] {
    if (++runs == 1) {
      start = clock::now();
      suspend(ALPI_SUSPEND_TIMEOUT_SUBMIT, 3'000'000);
    } else {
      passed = clock::now() - start;
    }
  });
  weft::taskwait();
  EXPECT_EQ(runs, 2);
  EXPECT_GE(passed, std::chrono::milliseconds(3));
}

TEST(suspend, for_events_waits_until_the_last_is_decreased) {
  std::atomic<alpi_task *> task{nullptr};
  std::atomic<int> runs{0};
  std::atomic<bool> decreased{false}, in_time{true};
  weft::spawn([&] {
    const int run = ++runs;
    if (run > 1)
      in_time = in_time && decreased.exchange(false);
    std::uint64_t has = 1;
    EXPECT_EQ(alpi_task_events_test(self(), &has), ALPI_SUCCESS);
    EXPECT_EQ(has, 0u);
    if (run == 3)
      return;
    EXPECT_EQ(alpi_task_events_increase(self(), 2), ALPI_SUCCESS);
    suspend(ALPI_SUSPEND_EVENT_SUBMIT);
    task = self();
  });
  std::thread other([&] {
    for (int round = 0; round != 2; ++round) {
      alpi_task *t = nullptr;
      while (!(t = task.exchange(nullptr)))
        std::this_thread::yield();
      EXPECT_EQ(alpi_task_events_decrease(t, 1), ALPI_SUCCESS);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      decreased = true;
      EXPECT_EQ(alpi_task_events_decrease(t, 1), ALPI_SUCCESS);
    }
  });
  weft::taskwait();
  other.join();
  EXPECT_EQ(runs, 3);
  EXPECT_TRUE(in_time);
}

TEST(suspend, without_a_mode_lasts_until_the_unblock) {
  std::atomic<alpi_task *> task{nullptr};
  std::atomic<int> runs{0};
  weft::spawn([&] {
    if (++runs < 3) {
      task = self();
      EXPECT_EQ(alpi_task_suspend(self()), ALPI_SUCCESS);
    }
  });
  std::thread other([&] {
    for (int round = 0; round != 2; ++round) {
      alpi_task *t = nullptr;
      while (!(t = task.exchange(nullptr)))
        std::this_thread::yield();
      EXPECT_EQ(alpi_task_unblock(t), ALPI_SUCCESS); // perhaps before the body has returned
    }
  });
  weft::taskwait();
  other.join();
  EXPECT_EQ(runs, 3);
}

TEST(suspend, keeps_events_that_no_run_has_waited_for) {
  int x = 0, seen = 0, runs = 0;
  std::atomic<alpi_task *> task{nullptr};
  weft::spawn(
      [&] {
        if (++runs == 1) {
          EXPECT_EQ(alpi_task_events_increase(self(), 1), ALPI_SUCCESS);
          suspend(ALPI_SUSPEND_SUBMIT);
        } else {
          task = self();
        }
      },
      weft::out(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  std::thread other([&] {
    while (!task)
      std::this_thread::yield();
    x = 5;
    EXPECT_EQ(alpi_task_events_decrease(task, 1), ALPI_SUCCESS);
  });
  weft::taskwait();
  other.join();
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(runs, 2);
}

TEST(suspend, works_for_spawned_tasks_and_their_callback_comes_last) {
  struct state {
    std::atomic<int> runs{0}, at_completion{-1};
    std::atomic<bool> over{false};
  } s;
  EXPECT_EQ(alpi_task_spawn(
                [](void *p) {
                  auto *at = static_cast<state *>(p);
                  weft::spawn([at] { ++at->runs; });
                  weft::taskwait();
                  if (at->runs < 4)
                    suspend(ALPI_SUSPEND_TIMEOUT_SUBMIT, 1000);
                },
                &s,
                [](void *p) {
                  auto *at = static_cast<state *>(p);
                  at->at_completion = at->runs.load();
                  at->over = true;
                },
                &s, "again", nullptr),
            ALPI_SUCCESS);
  EXPECT_TRUE(test::eventually([&] { return s.over.load(); }));
  EXPECT_EQ(s.at_completion, 4);
}

TEST(suspend, is_forgotten_by_a_body_that_throws) {
  int runs = 0;
  bool caught = false;
  weft::spawn([&] {
    ++runs;
    suspend(ALPI_SUSPEND_SUBMIT);
    throw 3;
  });
  try {
    weft::taskwait();
  } catch (int) {
    caught = true;
  }
  EXPECT_TRUE(caught);
  EXPECT_EQ(runs, 1);
}

TEST(suspend, refuses_unadopted_threads_unknown_modes_and_tasks_that_cannot) {
  std::thread([] {
    EXPECT_EQ(alpi_task_suspend(nullptr), ALPI_ERR_OUTSIDE_TASK);
    EXPECT_EQ(alpi_task_suspend_mode_set(nullptr, ALPI_SUSPEND_NONE, 0), ALPI_ERR_OUTSIDE_TASK);
  }).join();
  int runs = 0;
  weft::spawn([&] {
    ++runs;
    EXPECT_EQ(alpi_task_suspend(nullptr), ALPI_ERR_PARAMETER);
    EXPECT_EQ(alpi_task_suspend_mode_set(nullptr, ALPI_SUSPEND_NONE, 0), ALPI_ERR_PARAMETER);
    EXPECT_EQ(alpi_task_suspend_mode_set(self(), static_cast<alpi_suspend_mode_t>(4), 0),
              ALPI_ERR_PARAMETER);
    EXPECT_EQ(alpi_task_suspend_mode_set(self(), ALPI_SUSPEND_SUBMIT, 2), ALPI_ERR_PARAMETER);
  });
  weft::spawn([&] { EXPECT_EQ(alpi_task_suspend(self()), ALPI_ERR_UNKNOWN); }, weft::if_(false));
  weft::spawn([&] { return alpi_task_suspend(self()); }).wait();
  EXPECT_EQ(weft::spawn([&] { return alpi_task_suspend(self()); }).get(), ALPI_ERR_UNKNOWN);
  weft::taskwait();
  EXPECT_EQ(runs, 1);
}

} // namespace
