// SPDX-License-Identifier: Apache-2.0
#include "os/thread.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <gtest/gtest.h>
#include <sched.h>
#include <string>
#include <vector>

namespace {

using weft::rt::thread;

struct report {
  std::string name;
  std::vector<int> open_signals;
  int id = 0;
};

void fill_report(void *argument) {
  auto &out = *static_cast<report *>(argument);
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof name);
  out.name = name;
  out.id = weft::rt::this_thread_id();
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  for (int signal = 1; signal != 32; ++signal)
    if (signal != SIGKILL && signal != SIGSTOP && !sigismember(&blocked, signal))
      out.open_signals.push_back(signal);
}

report run_reporting(const char *name) {
  report out;
  thread t;
  EXPECT_EQ(t.start(name, fill_report, &out), 0);
  EXPECT_TRUE(t.joinable());
  t.join();
  EXPECT_FALSE(t.joinable());
  return out;
}

TEST(thread, runs_under_its_name) {
  const auto r = run_reporting("weft-1");
  EXPECT_EQ(r.name, "weft-1");
  EXPECT_NE(r.id, weft::rt::this_thread_id());
}

TEST(thread, a_long_name_is_cut) {
  EXPECT_EQ(run_reporting("a-name-that-is-too-long").name, "a-name-that-is-");
}

TEST(thread, only_faults_and_the_profiler_reach_it) {
  auto expected = std::vector{SIGILL, SIGBUS, SIGFPE, SIGSEGV, SIGPROF};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(run_reporting("signals").open_signals, expected);
}

TEST(thread, the_starter_keeps_its_own_signal_mask) {
  sigset_t mine, before, after;
  sigemptyset(&mine);
  sigaddset(&mine, SIGPROF);
  pthread_sigmask(SIG_SETMASK, &mine, &before);
  const auto r = run_reporting("mask");
  pthread_sigmask(SIG_SETMASK, &before, &after);
  EXPECT_TRUE(sigismember(&after, SIGPROF));
  EXPECT_FALSE(sigismember(&after, SIGTERM));
  EXPECT_NE(std::find(r.open_signals.begin(), r.open_signals.end(), SIGPROF), r.open_signals.end());
}

TEST(thread, that_cannot_be_made_is_an_error_code) {
  thread t;
  const int failure = t.start("huge", fill_report, nullptr, std::size_t{1} << 60);
  EXPECT_TRUE(failure == EAGAIN || failure == ENOMEM || failure == EINVAL) << failure;
  EXPECT_FALSE(t.joinable());
  report out;
  EXPECT_EQ(t.start("again", fill_report, &out), 0);
  t.join();
  EXPECT_EQ(out.name, "again");
}

TEST(thread, can_be_moved) {
  report out;
  thread a;
  ASSERT_EQ(a.start("moved", fill_report, &out), 0);
  thread b(std::move(a));
  EXPECT_FALSE(a.joinable());
  a = std::move(b);
  a.join();
  EXPECT_EQ(out.name, "moved");
}

TEST(thread, is_joined_by_a_deadline_or_stays_joinable) {
  std::atomic<bool> ends{false};
  thread t;
  EXPECT_TRUE(t.join_by(0)); // there is none
  ASSERT_EQ(t.start(
                "patient",
                [](void *p) {
                  while (!*static_cast<std::atomic<bool> *>(p))
                    sched_yield();
                },
                &ends),
            0);
  EXPECT_FALSE(t.join_by(0));
  EXPECT_FALSE(t.join_by(weft::rt::now_ns() + 1'000'000));
  EXPECT_TRUE(t.joinable());
  ends = true;
  EXPECT_TRUE(t.join_by(weft::rt::now_ns() + 60'000'000'000));
  EXPECT_FALSE(t.joinable());
  EXPECT_TRUE(t.join_by(thread::k_no_deadline));
  ASSERT_EQ(t.start(
                "brief", [](void *) {}, nullptr),
            0);
  EXPECT_TRUE(t.join_by(thread::k_no_deadline));
  EXPECT_FALSE(t.joinable());
}

TEST(thread_death, that_is_dropped_unjoined_stops_the_program) {
  EXPECT_DEATH(
      {
        report out;
        thread t;
        if (t.start("dropped", fill_report, &out) != 0)
          std::abort();
      },
      "destroyed before its thread was joined");
}

// The C library takes thread-local data from the stack: a program that has much of it must not lose the runtime's threads.
constinit thread_local char t_large[256 << 10] = {};

TEST(thread, what_the_program_keeps_thread_local_is_not_taken_from_the_stack) {
  thread t;
  int used = 0;
  const auto use = [](void *p) {
    volatile char mine[48 << 10];
    mine[0] = t_large[sizeof t_large - 1] = 1;
    *static_cast<int *>(p) = mine[0];
  };
  ASSERT_EQ(t.start("small", use, &used, 64 << 10), 0);
  t.join();
  EXPECT_EQ(used, 1);
}

} // namespace
