// SPDX-License-Identifier: Apache-2.0
// weft::mutex and critical: exclusion between tasks and threads, also across suspensions.
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

TEST(mutex, excludes_tasks_from_each_other) {
  weft::mutex m;
  long counter = 0;
  const int tasks = 50, n = test::scaled(1000, 50);
  for (int t = 0; t != tasks; ++t)
    weft::spawn([&] {
      for (int i = 0; i != n; ++i) {
        std::lock_guard lock(m);
        ++counter;
      }
    });
  weft::taskwait();
  EXPECT_EQ(counter, long{tasks} * n);
}

TEST(mutex, may_be_held_over_a_suspension) {
  weft::mutex m;
  int counter = 0;
  bool inside = false;
  std::atomic<int> overlaps{0};
  const int tasks = test::scaled(100, 20);
  for (int t = 0; t != tasks; ++t)
    weft::spawn([&] {
      std::unique_lock lock(m);
      overlaps += inside;
      inside = true;
      int before = counter;
      weft::taskyield();
      weft::this_task::sleep_for(std::chrono::microseconds(30));
      counter = before + 1;
      inside = false;
    });
  weft::taskwait();
  EXPECT_EQ(counter, tasks);
  EXPECT_EQ(overlaps, 0);
}

TEST(mutex, excludes_tasks_and_threads) {
  weft::mutex m;
  long counter = 0;
  const int n = test::scaled(2000, 100);
  auto work = [&] {
    for (int i = 0; i != n; ++i) {
      std::lock_guard lock(m);
      ++counter;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t != 3; ++t)
    threads.emplace_back(work);
  for (int t = 0; t != 3; ++t)
    weft::spawn(work);
  work();
  weft::taskwait();
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(counter, 7L * n);
}

TEST(mutex, try_lock_fails_while_it_is_held) {
  weft::mutex m;
  EXPECT_TRUE(m.try_lock());
  bool inside = true;
  weft::spawn([&] { inside = m.try_lock(); });
  weft::taskwait();
  EXPECT_FALSE(inside);
  m.unlock();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(mutex, may_be_unlocked_after_a_move_to_another_worker) {
  weft::mutex m;
  int x = 0;
  const int tasks = test::scaled(200, 20);
  for (int t = 0; t != tasks; ++t)
    weft::spawn([&] {
      m.lock();
      test::dawdle();
      ++x;
      m.unlock();
    });
  weft::taskwait();
  EXPECT_EQ(x, tasks);
}

TEST(mutex, two_in_a_fixed_order_do_not_deadlock) {
  weft::mutex a, b;
  int x = 0;
  const int tasks = test::scaled(300, 30);
  for (int t = 0; t != tasks; ++t)
    weft::spawn([&] {
      std::scoped_lock lock(a, b);
      weft::taskyield();
      ++x;
    });
  weft::taskwait();
  EXPECT_EQ(x, tasks);
}

TEST(mutex, a_waiting_task_does_not_hold_the_worker) {
  weft::mutex m;
  int y = 0;
  m.lock();
  bool locked = false;
  weft::spawn([&] {
    std::lock_guard lock(m);
    locked = true;
  });
  for (int i = 0; i != 10; ++i)
    weft::spawn([&] { ++y; }, weft::inout(y));
  weft::taskwait(weft::inout(y)); // with one worker too
  EXPECT_EQ(y, 10);
  m.unlock();
  weft::taskwait();
  EXPECT_TRUE(locked);
}

TEST(mutex, every_waiter_gets_it_once) {
  weft::mutex m;
  m.lock();
  std::vector<int> order;
  std::atomic<int> waiting{0};
  const int n = test::scaled(100, 20);
  for (int i = 0; i != n; ++i)
    weft::spawn([&, i] {
      ++waiting;
      std::lock_guard lock(m);
      order.push_back(i);
    });
  ASSERT_TRUE(test::eventually([&] { return waiting == n; }));
  m.unlock();
  weft::taskwait();
  std::sort(order.begin(), order.end());
  ASSERT_EQ(order.size(), static_cast<std::size_t>(n));
  for (int i = 0; i != n; ++i)
    EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(critical, excludes_sections_of_the_same_name) {
  int counter = 0;
  const int tasks = test::scaled(200, 20);
  std::string name = "a name that is equal, not identical";
  for (int t = 0; t != tasks; ++t)
    weft::spawn([&, copy = name] {
      weft::critical(copy.c_str(), [&] {
        int before = counter;
        weft::taskyield();
        counter = before + 1;
      });
    });
  weft::taskwait();
  EXPECT_EQ(counter, tasks);
}

TEST(critical, sections_of_different_names_may_overlap) {
  test::gate a, b;
  bool first = false, second = false;
  weft::spawn([&] { weft::critical("one", [&] { a.open(), first = b.pass(); }); });
  weft::spawn([&] { weft::critical("two", [&] { b.open(), second = a.pass(); }); });
  weft::taskwait();
  EXPECT_TRUE(first && second);
}

TEST(critical, without_a_name_is_one_section) {
  int counter = 0;
  const int tasks = test::scaled(100, 20);
  for (int t = 0; t != tasks; ++t)
    weft::spawn([&] {
      weft::critical([&] {
        int before = counter;
        weft::taskyield();
        counter = before + 1;
      });
    });
  weft::taskwait();
  EXPECT_EQ(counter, tasks);
}

TEST(critical, returns_the_result_and_unlocks_on_an_exception) {
  EXPECT_EQ(weft::critical("r", [] { return 4; }), 4);
  EXPECT_THROW(weft::critical("r", [] { throw 1; }), int);
  EXPECT_EQ(weft::critical("r", [] { return 5; }), 5);
}

} // namespace
