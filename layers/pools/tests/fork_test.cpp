// SPDX-License-Identifier: Apache-2.0
// fork() in a program with a library whose handlers wait for a thread of its own (joining.cpp), and
// with threads that begin and end meanwhile. This program attaches itself in Weft's place.
#include "joining.h"

#include <weft/layer/pool_thread.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using weft::layer::pool_thread;

constexpr std::size_t k_most = 4096;
std::atomic<pool_thread *> g_added[k_most];
std::atomic<std::size_t> g_count{0};
thread_local pool_thread *t_own = nullptr;

constexpr weft::layer::pool_thread_calls k_calls{
    weft::layer::k_pool_thread_version,
    [](pool_thread &thread) noexcept { g_added[g_count++ % k_most] = &thread; },
    [](pool_thread &) noexcept {}, [](pool_thread &thread) noexcept { t_own = &thread; },
    []() noexcept { return false; }, [](sigset_t &) noexcept { return false; }};

[[gnu::constructor]] void attach() { weft_attach_pool_threads(&k_calls); }

/// Returns how many records a thread of this number has.
long records_of(int tid) {
  return std::count_if(std::begin(g_added), std::begin(g_added) + g_count,
                       [=](const pool_thread *r) { return r && r->tid == tid; });
}

/// Returns whether the calling thread has a record of its own.
bool has_own_record() {
  for (int i = 0; i < 5; ++i) { // another thread that has it writes its number
    if (!t_own || t_own->tid != gettid())
      return false;
    sched_yield();
  }
  return true;
}

/// Returns whether threads that run at once have records of their own.
bool threads_have_own_records(int count) {
  std::atomic<int> right{0}, there{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&] {
      ++there;
      while (there != count)
        sched_yield();
      right += has_own_record();
    });
  for (auto &t : threads)
    t.join();
  return right == count;
}

template <class Body>
void expect_in_child(Body body) {
  alarm(60); // ends a process that hangs; a child has none of its parent's
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body() ? 0 : 1);
  }
  alarm(0);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// The library's thread of the child begins before libweft-pools.so knows of the child.
bool thread_of_library_is_known() {
  return records_of(joining_tid()) == 1 && threads_have_own_records(5) &&
         records_of(joining_tid()) == 1;
}

TEST(pools_fork, lets_handlers_wait_for_threads) {
  for (int i = 0; i < 20; ++i) {
    expect_in_child([] { return thread_of_library_is_known(); });
    EXPECT_TRUE(thread_of_library_is_known());
  }
}

TEST(pools_fork, of_a_pool_thread_keeps_its_record_in_the_child) {
  std::thread([] {
    expect_in_child([] { return has_own_record() && threads_have_own_records(5); });
    EXPECT_TRUE(has_own_record());
  }).join();
}

TEST(pools_fork, of_a_child_goes_on) {
  expect_in_child([] {
    expect_in_child([] { return thread_of_library_is_known(); });
    return !testing::Test::HasFailure() && thread_of_library_is_known();
  });
}

/// Two blocks of 64 records are enough for the parent's threads, and for those of the child.
TEST(pools_fork, gives_the_child_the_records_of_the_parents_threads) {
  constexpr int k_threads = 70;
  std::atomic<bool> ends{false};
  std::atomic<int> begun{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < k_threads; ++i)
    threads.emplace_back([&] {
      ++begun;
      while (!ends)
        usleep(1000);
    });
  while (begun != k_threads)
    sched_yield();
  EXPECT_GT(g_count, 64u);
  expect_in_child([] { return threads_have_own_records(k_threads) && g_count <= 128; });
  ends = true;
  for (auto &t : threads)
    t.join();
}

TEST(pools_fork, comes_at_any_time_while_threads_begin_and_end) {
  std::atomic<bool> ends{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> makers;
  for (int i = 0; i < 3; ++i)
    makers.emplace_back([&] {
      while (!ends)
        wrong += !threads_have_own_records(3);
    });
  for (int i = 0; i < 60; ++i)
    expect_in_child([] { return thread_of_library_is_known(); });
  ends = true;
  for (auto &t : makers)
    t.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
