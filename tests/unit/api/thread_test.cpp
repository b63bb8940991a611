// SPDX-License-Identifier: Apache-2.0
// Threads that Weft did not start: they spawn, wait and end at any time, each with data-flow order of its
// own.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

TEST(thread, an_external_thread_spawns_and_waits) {
  int x = 0;
  std::thread([&] {
    for (int i = 0; i != 100; ++i)
      weft::spawn([&] { ++x; }, weft::inout(x));
    weft::taskwait();
    EXPECT_EQ(x, 100);
  }).join();
  EXPECT_EQ(x, 100);
}

TEST(thread, each_has_an_order_of_its_own) {
  // Equal addresses in two threads' spawns are not ordered: these two tasks meet.
  int x = 0;
  test::gate a, b;
  std::atomic<int> met{0};
  std::thread first([&] {
    weft::spawn([&] { a.open(), met += b.pass(); }, weft::inout(x));
    weft::taskwait();
  });
  std::thread second([&] {
    weft::spawn([&] { b.open(), met += a.pass(); }, weft::inout(x));
    weft::taskwait();
  });
  first.join();
  second.join();
  EXPECT_EQ(met, 2);
}

TEST(thread, many_spawn_at_the_same_time) {
  const int n = test::scaled(2000, 100);
  std::vector<std::thread> threads;
  std::vector<int> results(6);
  for (int &x : results)
    threads.emplace_back([&x] {
      for (int i = 0; i != n; ++i) {
        weft::spawn([&x, i] { x = (x * 31 + i) % 10'007; }, weft::inout(x));
        if (i % 100 == 0)
          weft::taskwait();
      }
      weft::taskwait();
    });
  for (auto &t : threads)
    t.join();
  int expected = 0;
  for (int i = 0; i != n; ++i)
    expected = (expected * 31 + i) % 10'007;
  for (int x : results)
    EXPECT_EQ(x, expected);
}

TEST(thread, many_may_come_and_go) {
  std::atomic<int> ran{0};
  const int rounds = test::scaled(300, 40);
  for (int i = 0; i != rounds; ++i)
    std::thread([&] {
      weft::spawn([&] { ++ran; });
      weft::spawn([&] { weft::taskyield(), ++ran; });
      weft::taskwait();
    }).join();
  EXPECT_EQ(ran, 2 * rounds);
}

TEST(thread, two_hundred_may_use_weft_at_once) {
  constexpr int k_threads = 200;
  std::atomic<int> inside{0}, ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t != k_threads; ++t)
    threads.emplace_back([&] {
      weft::spawn([&] { ++ran; });
      ++inside;
      while (inside != k_threads)
        std::this_thread::yield();
      weft::taskwait();
    });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(ran, k_threads);
}

TEST(thread, may_end_before_its_tasks_have_run) {
  std::atomic<int> ran{0};
  test::gate gate;
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i != 10; ++i)
        weft::spawn([&] { (void)gate.pass(), ++ran; });
    });
  test::dawdle();
  gate.open();
  for (auto &t : threads)
    t.join();
  EXPECT_TRUE(test::eventually([&] { return ran == 40; }));
}

TEST(thread, is_resumed_on_itself) {
  std::vector<std::thread> threads;
  std::atomic<int> moved{0};
  for (int t = 0; t != 3; ++t)
    threads.emplace_back([&] {
      auto me = std::this_thread::get_id();
      weft::mutex m;
      for (int i = 0; i != 50; ++i) {
        weft::spawn([&] {
          m.lock();
          test::dawdle();
          m.unlock();
        });
        weft::taskyield();
        moved += std::this_thread::get_id() != me;
        m.lock();
        m.unlock();
        moved += std::this_thread::get_id() != me;
        weft::this_task::sleep_for(std::chrono::microseconds(20));
        moved += std::this_thread::get_id() != me;
        weft::taskwait();
        moved += std::this_thread::get_id() != me;
      }
    });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(moved, 0);
}

TEST(thread, the_first_thread_that_uses_weft_is_the_main_task) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    std::thread([] {
      EXPECT_EQ(weft::worker_id(), 0);
      EXPECT_STREQ(weft::this_task::label(), "main");
      int x = 0;
      weft::spawn([&] { x = 1; });
      weft::taskwait();
      EXPECT_EQ(x, 1);
    }).join();
    // The first user has ended, and everything still works.
    int x = 0;
    weft::spawn([&] { test::dawdle(), x = 2; });
    weft::taskwait();
    EXPECT_EQ(x, 2);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(thread, tasks_run_while_the_main_thread_is_elsewhere) {
  if (weft::worker_count() < 2)
    GTEST_SKIP() << "with one worker nobody else runs tasks";
  std::atomic<int> ran{0};
  int x = 0;
  for (int i = 0; i != 100; ++i)
    weft::spawn([&] { ++ran; }, weft::inout(x));
  for (int i = 0; i != 6000 && ran != 100; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10)); // not a scheduling point
  EXPECT_EQ(ran, 100);
  weft::taskwait();
}

} // namespace
