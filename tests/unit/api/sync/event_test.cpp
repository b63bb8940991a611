// SPDX-License-Identifier: Apache-2.0
// External events: they hold a task's accesses and its completion.
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

struct holder {
  std::atomic<weft::detail::task *> task{nullptr};
  void hold(std::uint32_t n = 1) {
    weft::this_task::increase_events(n);
    task = weft::this_task::self().get();
  }
  [[nodiscard]] bool held() const {
    return test::eventually([this] { return task != nullptr; });
  }
  void release(std::uint32_t n = 1) { weft::decrease_events(weft::task_ref(task), n); }
};

TEST(event, holds_the_accesses_of_its_task_until_it_is_decreased) {
  int x = 0, seen = -1;
  holder h;
  std::atomic<bool> ran{false};
  weft::spawn([&] { h.hold(); }, weft::out(x));
  weft::spawn([&] { seen = x, ran = true; }, weft::in(x));
  ASSERT_TRUE(h.held());
  test::dawdle();
  EXPECT_FALSE(ran);
  std::thread other([&] {
    x = 5; // what a network card would do
    h.release();
  });
  weft::taskwait();
  other.join();
  EXPECT_EQ(seen, 5);
}

TEST(event, holds_the_completion_of_its_task) {
  holder h;
  std::atomic<bool> released{false};
  weft::spawn([&] { h.hold(); });
  std::thread other([&] {
    while (!h.task)
      std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    released = true;
    h.release();
  });
  weft::taskwait();
  EXPECT_TRUE(released);
  other.join();
}

TEST(event, may_be_increased_twice_and_decreased_in_parts) {
  int x = 0;
  holder h;
  std::atomic<bool> ran{false};
  weft::spawn(
      [&] {
        weft::this_task::increase_events(2);
        h.hold(3);
      },
      weft::out(x));
  weft::spawn([&] { ran = true; }, weft::in(x));
  ASSERT_TRUE(h.held());
  h.release(1);
  h.release(3);
  test::dawdle();
  EXPECT_FALSE(ran) << "one event is left";
  h.release(1);
  weft::taskwait();
  EXPECT_TRUE(ran);
}

TEST(event, decreased_before_the_body_ends_does_not_release_early) {
  int x = 0, seen = -1;
  weft::spawn(
      [&] {
        weft::this_task::increase_events();
        weft::decrease_events(weft::this_task::self());
        test::dawdle();
        x = 3;
        weft::this_task::increase_events();
        weft::decrease_events(weft::this_task::self());
        test::dawdle();
        x = 4;
      },
      weft::out(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 4);
}

TEST(event, decreasing_more_than_there_are_is_an_error) {
  weft::errc code{}, none{};
  weft::spawn([&] {
    weft::task_ref me = weft::this_task::self();
    try {
      weft::decrease_events(me);
    } catch (const weft::error &e) {
      none = e.code();
    }
    weft::this_task::increase_events(2);
    try {
      weft::decrease_events(me, 3);
    } catch (const weft::error &e) {
      code = e.code();
    }
    weft::decrease_events(me, 2); // the failed call changed nothing
  });
  weft::taskwait();
  EXPECT_EQ(none, weft::errc::event_underflow);
  EXPECT_EQ(code, weft::errc::event_underflow);
}

TEST(event, of_zero_holds_nothing) {
  bool ran = false;
  weft::spawn([&] { weft::this_task::increase_events(0), ran = true; });
  weft::taskwait();
  EXPECT_TRUE(ran);
}

TEST(event, holds_while_children_run_and_after_them) {
  int x = 0, seen = -1;
  holder h;
  weft::spawn(
      [&] {
        weft::spawn([&] { test::dawdle(), x += 1; }, weft::inout(x));
        h.hold();
      },
      weft::inout(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  ASSERT_TRUE(h.held());
  test::dawdle();
  h.release();
  weft::taskwait();
  EXPECT_EQ(seen, 1);
}

TEST(event, holds_the_wait_clause_and_the_group) {
  weft::task_group group;
  holder h;
  int x = 0;
  std::atomic<bool> ran{false};
  group.spawn([&] { h.hold(); }, weft::out(x), weft::wait);
  group.spawn([&] { ran = true; }, weft::in(x));
  ASSERT_TRUE(h.held());
  test::dawdle();
  EXPECT_FALSE(ran);
  h.release();
  group.wait();
  EXPECT_TRUE(ran);
}

TEST(event, holds_a_task_that_runs_in_place) {
  int x = 0, seen = -1;
  std::vector<std::thread> others;
  auto hold_and_write = [&] {
    weft::this_task::increase_events();
    others.emplace_back([&x, me = weft::this_task::self()] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      x = 10;
      weft::decrease_events(me);
    });
  };
  weft::spawn(
      [&] {
        weft::spawn(hold_and_write, weft::out(x)); // a final task's child
        weft::spawn([&] { ++x; }, weft::inout(x)); // is ordered after it
      },
      weft::final(), weft::inout(x));
  weft::taskwait();
  EXPECT_EQ(x, 11);
  weft::spawn(hold_and_write, weft::out(x), weft::if_(false));
  weft::spawn([&] { seen = ++x; }, weft::inout(x));
  weft::taskwait();
  EXPECT_EQ(seen, 11);
  for (auto &o : others)
    o.join();
}

TEST(event, many_tasks_and_threads) {
  const int n = test::scaled(400, 40);
  std::vector<std::thread> threads;
  std::vector<holder> holders(static_cast<std::size_t>(n));
  std::atomic<int> next{0};
  int x = 0;
  for (int t = 0; t != 3; ++t)
    threads.emplace_back([&] {
      for (int i; (i = next++) < n;) {
        while (!holders[static_cast<std::size_t>(i)].task)
          std::this_thread::yield();
        ++x; // the task holds x until the next line
        holders[static_cast<std::size_t>(i)].release();
      }
    });
  for (auto &h : holders)
    weft::spawn([&] { h.hold(); }, weft::inout(x));
  weft::taskwait();
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(x, n);
}

} // namespace
