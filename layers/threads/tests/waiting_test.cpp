// SPDX-License-Identifier: Apache-2.0
// Tests how lightweight threads wait, yield, are interrupted, and use Weft.
#include "started.hpp"

#include "support/case_process.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <csignal>
#include <ctime>
#include <stdexcept>
#include <string>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace {

using namespace weft_threads;
using test::run_one;
using test::started;

// The first thread has one worker's place and sleeps, so one kernel thread carries all. No thread
// would run others in its place.
const test::environment k_alone{{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_MAX_SPARES", "0"}};

TEST(threads_waiting, an_unpark_that_comes_first_is_kept) {
  std::atomic<int> woken{0};
  run_one([&] {
    for (int i = 0; i < 100; ++i) {
      unpark(*this_light_thread());
      park_light_thread();
      ++woken;
    }
  });
  EXPECT_EQ(woken, 100);
}

TEST(threads_waiting, two_threads_wake_each_other) {
  constexpr int k_rounds = 2000;
  std::atomic<int> turn{0};
  std::atomic<thread_record *> of[2] = {};
  started all;
  for (int i = 0; i < 2; ++i)
    all.start([&, i] {
      of[i] = this_light_thread();
      while (!of[1 - i])
        sched_yield();
      for (int n = i; n < k_rounds; n += 2) {
        while (turn != n)
          park_light_thread();
        turn = n + 1;
        unpark(*of[1 - i]);
      }
      while (turn != k_rounds) // the last unpark() is for a thread that has not ended
        park_light_thread();
    });
  all.join();
  EXPECT_EQ(turn, k_rounds);
}

TEST(threads_waiting, a_thread_of_the_program_wakes_one) {
  std::atomic<bool> flag{false}, seen{false};
  started all;
  thread_record *const t = all.start([&] {
    while (!flag)
      park_light_thread();
    seen = true;
  });
  usleep(1000);
  flag = true;
  unpark(*t);
  all.join();
  EXPECT_TRUE(seen);
}

/// Runs a call on a thread whose worker has another one to run, and returns how many calls were made
/// before that one ran.
template <class F>
int calls_until_another_runs(F call) {
  std::atomic<bool> ran{false};
  std::atomic<int> calls{0};
  started all, inner;
  all.start([&] {
    inner.start([&] { ran = true; });
    while (!ran) {
      call();
      ++calls;
    }
  });
  all.join();
  return calls;
}

TEST(threads_waiting, calls_that_sleep_or_yield_let_the_worker_run_others) {
  const auto end = test::in_process(k_alone, [] {
    // The second call is the last one, also where the first finds the thread on its way.
    EXPECT_LE(calls_until_another_runs([] { sched_yield(); }), 2);
    EXPECT_LE(calls_until_another_runs([] { usleep(1); }), 2);
    EXPECT_LE(calls_until_another_runs([] {
                const timespec t{0, 1000};
                nanosleep(&t, nullptr);
              }),
              2);
    EXPECT_LE(calls_until_another_runs([] { yield_light_thread(); }), 2);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(threads_waiting, threads_that_spin_for_each_other_go_on) {
  // Without spares the watcher interrupts no thread. With one, three kernel threads are too few.
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_MAX_SPARES", "1"}}, [] {
    constexpr int k_threads = 8, k_rounds = 3 * k_threads;
    std::atomic<int> turn{0};
    started all;
    for (int i = 0; i < k_threads; ++i)
      all.start([&turn, i] {
        for (int n = i; n < k_rounds; n += k_threads) {
          while (turn.load(std::memory_order_relaxed) != n) { // no call that yields
          }
          turn = n + 1;
        }
      });
    all.join();
    EXPECT_EQ(turn, k_rounds);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(threads_waiting, a_thread_spawns_tasks_and_sees_what_they_throw) {
  std::atomic<int> sum{0};
  std::string said;
  std::atomic<pthread_t> worker{}, me{};
  run_one([&] {
    me = pthread_self();
    in_weft([&] {
      worker = pthread_self();
      for (int i = 1; i <= 10; ++i)
        weft::spawn([&sum, i] { sum += i; });
      weft::taskwait();
    });
    try {
      in_weft([] { throw std::runtime_error("inside"); });
    } catch (const std::runtime_error &e) {
      said = e.what();
    }
    EXPECT_EQ(pthread_self(), me);
  });
  EXPECT_EQ(sum, 55);
  EXPECT_EQ(said, "inside");
  EXPECT_NE(worker.load(), me.load());
}

std::atomic<pthread_t> g_handled_by{};

TEST(threads_waiting, a_signal_to_a_thread_is_handled_by_it) {
  g_handled_by = pthread_t{};
  struct sigaction action{};
  action.sa_handler = [](int) { g_handled_by = pthread_self(); };
  sigaction(SIGUSR1, &action, nullptr);
  std::atomic<pthread_t> who{};
  std::atomic<bool> parks{false};
  started all;
  all.start([&] {
    who = pthread_self();
    parks = true;
    while (!g_handled_by.load())
      park_light_thread();
  });
  while (!parks)
    usleep(100);
  EXPECT_EQ(pthread_kill(who, SIGUSR1), 0);
  all.join();
  EXPECT_EQ(g_handled_by.load(), who.load());
}

} // namespace
