// SPDX-License-Identifier: Apache-2.0
// Threads of the program that wait in Weft, beside the first, take no work of others: it might
// sleep in the kernel until they go on. Where no spare can be had they help with all of it.
#include "support/case_process.hpp"
#include "support/policies.hpp"
#include "worker/runtime.hpp"

#include <weft/sync/semaphore.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;
using test::k_policies;

/// Waits outside of Weft.
void until(const std::function<bool()> &condition) {
  while (!condition())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void first_thread_is_known() { weft::taskwait(); }

/// Starts a thread that waits for the semaphore, and returns when it sleeps.
std::thread start_waiter(weft::counting_semaphore<> &s, std::promise<void> &has_waited,
                         const std::function<bool()> &sleeps) {
  std::thread t([&] {
    s.acquire();
    has_waited.set_value();
  });
  until(sleeps);
  return t;
}

bool one_sleeps_apart() {
  auto &apart = the_runtime().apart;
  for (unsigned id = 0; id < the_runtime().used_slots; ++id)
    if (apart.announced(id))
      return true;
  return false;
}

TEST(keeps_to_own, a_thread_that_waits_is_not_kept_by_a_task_that_waits_for_it) {
  for (const char *policy : k_policies)
    for (const char *workers : {"1", "2"}) {
      auto end = test::in_process({{"WEFT_WORKERS", workers}, {"WEFT_SCHED_POLICY", policy}}, [] {
        first_thread_is_known();
        weft::counting_semaphore<> s(0);
        std::promise<void> has_waited;
        std::thread t = start_waiter(s, has_waited, &one_sleeps_apart);
        weft::spawn([&] {
          s.release();
          has_waited.get_future().get(); // sleeps in the kernel
        });
        t.join(); // the first thread is outside of Weft
        weft::taskwait();
      });
      EXPECT_TRUE(end.exited(0)) << policy << ", " << workers << ": " << end;
    }
}

TEST(keeps_to_own, a_thread_helps_where_no_spare_can_be_had) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    first_thread_is_known();
    weft::counting_semaphore<> s(0);
    std::promise<void> has_waited;
    std::thread t = start_waiter(s, has_waited, [] { return the_runtime().idle.idle() != 0; });
    EXPECT_FALSE(one_sleeps_apart());
    weft::spawn([&] { s.release(); });
    t.join();
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

// The only spare is stuck: the thread that sleeps apart is woken, and helps.
TEST(keeps_to_own, a_thread_that_sleeps_helps_once_the_spares_are_used_up) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "1"}}, [] {
    first_thread_is_known();
    weft::counting_semaphore<> s(0);
    std::promise<void> has_waited, may_end;
    std::thread t = start_waiter(s, has_waited, &one_sleeps_apart);
    weft::spawn([&] { may_end.get_future().get(); });
    std::thread outside([&] {
      until([] { return the_runtime().spare_threads.spares() == 1; });
      until([] { return !the_runtime().ready->has_work(); }); // the spare has the task
      weft::spawn([&] { s.release(); }); // for t alone: this thread does not wait in Weft
      t.join();
      may_end.set_value();
    });
    outside.join();
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(keeps_to_own, a_thread_runs_the_tasks_that_it_has_spawned) {
  auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [] {
    first_thread_is_known();
    std::atomic<int> on_own{0}, all{0};
    int rounds = 0;
    std::thread t([&] {
      const auto self = std::this_thread::get_id();
      do { // a spare may run all of them where this thread gets no processor
        for (int i = 0; i != 1000; ++i)
          weft::spawn([&] {
            weft::spawn([&] { ++all; });
            on_own += std::this_thread::get_id() == self;
          });
        weft::taskwait();
      } while (++rounds != 100 && on_own == 0);
    });
    t.join();
    EXPECT_EQ(all, 1000 * rounds);
    EXPECT_GT(on_own, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Threads that wait in Weft for tasks of others, which sleep in the kernel until these threads have
/// gone on, and that run tasks of their own between.
void wait_beside_each_other(int rounds, bool tasks_wait_for_threads) {
  constexpr int k_waiters = 3, k_batch = 8;
  struct seat {
    explicit seat(int rounds) : has_waited(static_cast<std::size_t>(rounds)) {}
    weft::counting_semaphore<> turn{0};
    std::vector<std::promise<void>> has_waited;
    std::atomic<int> own{0};
  };
  std::vector<std::unique_ptr<seat>> seats;
  for (int i = 0; i != k_waiters; ++i)
    seats.push_back(std::make_unique<seat>(rounds));
  std::vector<std::thread> threads;
  for (auto &s : seats) {
    threads.emplace_back([&s = *s, rounds] {
      for (int r = 0; r != rounds; ++r) {
        s.turn.acquire();
        s.has_waited[static_cast<std::size_t>(r)].set_value();
        for (int i = 0; i != r % 4; ++i)
          weft::spawn([&s] { ++s.own; });
        if (r % 3 == 0)
          weft::taskwait();
      }
    });
    threads.emplace_back([&s = *s, rounds, tasks_wait_for_threads] {
      for (int r = 0; r != rounds; ++r) {
        weft::spawn([&s, r, tasks_wait_for_threads] {
          s.turn.release();
          if (tasks_wait_for_threads)
            s.has_waited[static_cast<std::size_t>(r)].get_future().get();
        });
        // One at a time: their order is free, and the thread goes through its rounds in order.
        if (tasks_wait_for_threads || r % k_batch == 0)
          weft::taskwait();
      }
    });
  }
  for (std::thread &t : threads)
    t.join();
  weft::taskwait();
  int expected = 0;
  for (int r = 0; r != rounds; ++r)
    expected += r % 4;
  for (const auto &s : seats)
    EXPECT_EQ(s->own, expected);
  EXPECT_FALSE(one_sleeps_apart());
}

TEST(keeps_to_own, stress_of_threads_that_tasks_wait_for) {
  for (const char *policy : k_policies)
    for (const char *workers : {"1", "2"}) {
      auto end = test::in_process({{"WEFT_WORKERS", workers}, {"WEFT_SCHED_POLICY", policy}}, [] {
        first_thread_is_known();
        wait_beside_each_other(150, true);
      });
      EXPECT_TRUE(end.exited(0)) << policy << ", " << workers << ": " << end;
    }
}

// At some moment the watcher lets the threads help, whatever they are at.
TEST(keeps_to_own, stress_of_threads_that_begin_to_help) {
  for (int after_us = 0; after_us != 8000; after_us += 800) {
    auto end = test::in_process({{"WEFT_WORKERS", "1"}}, [after_us] {
      first_thread_is_known();
      std::thread helper([after_us] {
        std::this_thread::sleep_for(std::chrono::microseconds(after_us));
        the_runtime().apart.let_help();
      });
      wait_beside_each_other(300, false);
      helper.join();
      EXPECT_TRUE(the_runtime().apart.all_help());
    });
    EXPECT_TRUE(end.exited(0)) << after_us << ": " << end;
  }
}

} // namespace
