// SPDX-License-Identifier: Apache-2.0
// taskwait, taskwait on data, taskyield.
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/coro.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>

namespace {

using test::dawdle;

TEST(taskwait, without_children_returns) {
  weft::taskwait();
  bool returned = false;
  weft::spawn([&] { weft::taskwait(), returned = true; });
  weft::taskwait();
  EXPECT_TRUE(returned);
}

TEST(taskwait, waits_for_grandchildren_that_nobody_else_waits_for) {
  bool done = false;
  weft::spawn([&] { weft::spawn([&] { weft::spawn([&] { dawdle(), done = true; }); }); });
  weft::taskwait();
  EXPECT_TRUE(done);
}

TEST(taskwait, waits_for_the_callers_children_only) {
  test::gate child_waited;
  bool passed = false, own_done = false;
  weft::spawn([&] { passed = child_waited.pass(); });
  weft::spawn([&] {
    weft::spawn([&] { dawdle(), own_done = true; });
    weft::taskwait(); // must not wait for the first task
    child_waited.open();
  });
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_TRUE(own_done);
}

/// Keeps its worker to itself.
void spin_until_open(const test::gate &g) {
  for (auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60); !g.is_open();)
    ASSERT_LT(std::chrono::steady_clock::now(), end);
}

TEST(taskwait, is_told_of_children_before_their_worker_begins_something_else) {
  for (int i = 0; i != 10; ++i) {
    int data = 0;
    test::gate waited;
    std::atomic<weft::detail::task *> holder{nullptr};
    std::atomic<bool> spawned{false};
    weft::spawn([&] { weft::this_task::increase_events(), holder = weft::this_task::self().get(); },
                weft::out(data));
    weft::spawn(
        [&] {
          for (int k = 0; k != 5; ++k)
            weft::spawn([] {}, weft::in(data));
          spawned = true;
          weft::taskwait();
          waited.open();
        },
        weft::weak_in(data));
    weft::spawn([&] { spin_until_open(waited); }, weft::in(data),
                weft::priority(-1)); // is ready with those children, and runs after them
    ASSERT_TRUE(test::eventually([&] { return holder != nullptr && spawned; }));
    weft::decrease_events(weft::task_ref(holder));
    EXPECT_TRUE(waited.pass()); // and not taskwait, which would run the children on this stack
    weft::taskwait();
  }
}

TEST(taskwait, is_told_of_children_before_their_worker_begins_one_of_a_group) {
  for (int i = 0; i != 10; ++i) {
    int data = 0;
    test::gate waited;
    std::atomic<weft::detail::task *> holder{nullptr};
    std::atomic<bool> spawned{false};
    weft::spawn([&] { weft::this_task::increase_events(), holder = weft::this_task::self().get(); },
                weft::out(data));
    weft::spawn(
        [&] {
          weft::task_group group;
          group.spawn([&] { spin_until_open(waited); },
                      weft::in(data)); // becomes ready first, so that the newest runs before it
          for (int k = 0; k != 5; ++k)
            weft::spawn([] {}, weft::in(data));
          spawned = true;
          weft::taskwait();
          waited.open();
          group.wait();
        },
        weft::weak_in(data));
    ASSERT_TRUE(test::eventually([&] { return holder != nullptr && spawned; }));
    weft::decrease_events(weft::task_ref(holder));
    EXPECT_TRUE(waited.pass());
    weft::taskwait();
  }
}

TEST(taskwait, is_told_of_children_before_their_worker_goes_on_with_a_coroutine_of_a_group) {
  for (int i = 0; i != 10; ++i) {
    int data = 0;
    test::gate waited;
    weft::event go_on;
    std::atomic<weft::detail::task *> holder{nullptr};
    std::atomic<bool> begun{false}, spawned{false};
    weft::spawn([&] { weft::this_task::increase_events(), holder = weft::this_task::self().get(); },
                weft::out(data));
    weft::spawn(
        [&] {
          weft::task_group group;
          const auto waits = [&]() -> weft::task<void> {
            begun = true;
            co_await go_on.async_wait();
            spin_until_open(waited);
          };
          const auto member = group.spawn(waits, weft::tracked); // a handle
          weft::spawn([&] { go_on.set(); }, weft::in(data)); // its worker has the coroutine next
          spawned = true;
          weft::taskwait();
          waited.open();
          group.wait();
          static_cast<void>(member);
        },
        weft::weak_in(data));
    ASSERT_TRUE(test::eventually([&] { return holder != nullptr && begun && spawned; }));
    weft::decrease_events(weft::task_ref(holder));
    EXPECT_TRUE(waited.pass());
    weft::taskwait();
  }
}

TEST(taskwait, runs_no_task_of_a_group_on_its_stack) {
  bool passed = false, passed_below = false;
  weft::spawn([&] {
    weft::task_group group;
    test::gate waited, below_waited;
    weft::spawn([] {});
    group.spawn([&] { passed = waited.pass(); }); // the newest task
    weft::taskwait();                             // does not wait for the group
    waited.open();
    group.wait();
    group.spawn([&] {
      weft::spawn([&] { passed_below = below_waited.pass(); });
    });
    weft::spawn([&] { dawdle(); });
    weft::taskwait();
    below_waited.open();
    group.wait();
  });
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_TRUE(passed_below);
}

TEST(taskwait, can_be_called_again_and_again) {
  int x = 0;
  const int n = test::scaled(500);
  for (int i = 0; i != n; ++i) {
    weft::spawn([&] { ++x; });
    weft::taskwait();
    ASSERT_EQ(x, i + 1);
  }
}

long fib(int n) {
  if (n < 2)
    return n;
  long a = 0, b = 0;
  weft::spawn([&, n] { a = fib(n - 1); });
  weft::spawn([&, n] { b = fib(n - 2); });
  weft::taskwait();
  return a + b;
}

TEST(taskwait, a_recursive_tree_gives_its_result) {
  const int n = test::k_sanitized ? 12 : 18;
  EXPECT_EQ(fib(n), test::k_sanitized ? 144 : 2584);
}

TEST(taskwait, on_data_waits_for_the_last_writer) {
  int x = 0;
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  weft::spawn([&] { dawdle(), x = 2; }, weft::inout(x));
  weft::taskwait(weft::in(x));
  EXPECT_EQ(x, 2);
  weft::taskwait();
}

TEST(taskwait, on_data_lets_other_children_go_on) {
  int x = 0, y = 0;
  test::gate gate;
  bool passed = false;
  weft::spawn([&] { passed = gate.pass(), y = 1; }, weft::out(y));
  weft::spawn([&] { x = 1; }, weft::out(x));
  weft::taskwait(weft::in(x));
  EXPECT_EQ(x, 1);
  gate.open(); // not reached if the wait were for all children
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_EQ(y, 1);
}

TEST(taskwait, to_read_does_not_wait_for_other_readers) {
  int x = 0, seen = 0;
  test::gate gate;
  bool passed = false;
  weft::spawn([&] { x = 1; }, weft::out(x));
  weft::spawn([&] { passed = gate.pass(), seen = x; }, weft::in(x));
  weft::taskwait(weft::in(x));
  EXPECT_EQ(x, 1);
  gate.open();
  weft::taskwait(weft::inout(x)); // to write it does
  EXPECT_EQ(seen, 1);
  EXPECT_TRUE(passed);
  x = 2;
  weft::taskwait();
}

TEST(taskwait, on_data_waits_for_the_whole_chain_of_nested_children) {
  int x = 0;
  weft::spawn([&] { weft::spawn([&] { dawdle(), x = 9; }, weft::out(x)); }, weft::weak_out(x));
  weft::taskwait(weft::in(x));
  EXPECT_EQ(x, 9);
  weft::taskwait();
}

TEST(taskwait, on_a_list_waits_for_all_of_it) {
  int x[10] = {};
  std::vector<weft::access> list;
  for (int &v : x) {
    weft::spawn([&v] { dawdle(), v = 1; }, weft::out(v));
    list.push_back(weft::in(v));
  }
  weft::taskwait(list);
  for (int v : x)
    EXPECT_EQ(v, 1);
  weft::taskwait();
}

TEST(taskwait, on_several_data_waits_for_each) {
  int x = 0, y = 0;
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  weft::spawn([&] { dawdle(), y = 1; }, weft::out(y));
  weft::taskwait(weft::in(x), weft::in(y));
  EXPECT_EQ(x + y, 2);
  weft::taskwait();
}

TEST(taskyield, returns_when_there_is_nothing_else) {
  for (int i = 0; i != 100; ++i)
    weft::taskyield();
  int after = 0;
  weft::spawn([&] { weft::taskyield(), after = 1; });
  weft::taskwait();
  EXPECT_EQ(after, 1);
}

TEST(taskyield, lets_ready_work_run_with_one_worker_too) {
  std::atomic<int> turn{0};
  for (int me = 0; me != 2; ++me)
    weft::spawn([&turn, me] {
      for (int i = 0; i != 50; ++i) { // each waits for the other, by yielding only
        while (turn != 2 * i + me)
          weft::taskyield();
        turn = 2 * i + me + 1;
      }
    });
  weft::taskwait();
  EXPECT_EQ(turn, 100);
}

TEST(taskyield, keeps_the_values_of_the_task) {
  std::atomic<int> wrong{0};
  for (int t = 0; t != 20; ++t)
    weft::spawn([&wrong, t] {
      double d = t * 0.5;
      int a[16];
      for (int i = 0; i != 16; ++i)
        a[i] = t * 100 + i;
      for (int i = 0; i != 16; ++i) {
        weft::taskyield();
        d += 1.0;
        wrong += a[i] != t * 100 + i;
      }
      wrong += d != t * 0.5 + 16.0;
    });
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
}

} // namespace
