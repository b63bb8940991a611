// SPDX-License-Identifier: Apache-2.0
// weft::join: results, exceptions, and branches that suspend or spawn.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using test::dawdle;

TEST(join, calls_both_and_returns_when_both_have_returned) {
  int a = 0, b = 0;
  weft::join([&] { a = 1; }, [&] { b = 2; });
  EXPECT_EQ(a + b, 3);
}

long fib(int n) {
  if (n < 2)
    return n;
  long a, b;
  weft::join([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

TEST(join, nested_joins_give_the_result) {
  EXPECT_EQ(fib(test::k_sanitized ? 16 : 24), test::k_sanitized ? 987 : 46368);
}

TEST(join, works_in_tasks_and_in_external_threads) {
  const int n = test::k_sanitized ? 12 : 18;
  long in_task[4] = {}, in_thread[2] = {};
  for (long &r : in_task)
    weft::spawn([&r] { r = fib(n); });
  std::thread a([&] { in_thread[0] = fib(n); }), b([&] { in_thread[1] = fib(n); });
  weft::taskwait();
  a.join();
  b.join();
  for (long r : in_task)
    EXPECT_EQ(r, in_task[0]);
  EXPECT_EQ(in_task[0], n == 18 ? 2584 : 144);
  EXPECT_EQ(in_thread[0], in_task[0]);
  EXPECT_EQ(in_thread[1], in_task[0]);
}

long sum(const int *first, const int *last) {
  if (last - first <= 64)
    return std::accumulate(first, last, 0L);
  const int *middle = first + (last - first) / 2;
  long a, b;
  weft::join([&] { a = sum(first, middle); }, [&] { b = sum(middle, last); });
  return a + b;
}

TEST(join, a_divide_and_conquer_sum_is_right) {
  std::vector<int> v(100'000);
  std::iota(v.begin(), v.end(), 0);
  EXPECT_EQ(sum(v.data(), v.data() + v.size()), 4'999'950'000L);
}

TEST(join, branches_may_be_deeper_than_the_deque_is_long) {
  int depth = 0;
  struct descent {
    int &depth;
    std::atomic<int> others{0};
    void go(int n) {
      if (n == 0)
        return;
      weft::join([&] { ++depth, go(n - 1); }, [&] { ++others; });
    }
  } d{depth};
  weft::spawn([&] { d.go(2000); }, weft::stack_bytes(8 << 20));
  weft::taskwait();
  EXPECT_EQ(depth, 2000);
  EXPECT_EQ(d.others, 2000);
}

template <class F>
int thrown_by(F &&f) {
  try {
    f();
  } catch (int v) {
    return v;
  }
  return -1;
}

TEST(join, an_exception_of_the_first_branch_is_rethrown_after_both_ran) {
  const int n = test::scaled(300, 30);
  for (int i = 0; i != n; ++i) {
    std::atomic<bool> other{false};
    EXPECT_EQ(thrown_by([&] { weft::join([] { throw 1; }, [&] { other = true; }); }), 1);
    EXPECT_TRUE(other);
  }
}

TEST(join, an_exception_of_the_second_branch_is_rethrown_after_both_ran) {
  const int n = test::scaled(300, 30);
  for (int i = 0; i != n; ++i) {
    bool other = false;
    EXPECT_EQ(thrown_by([&] { weft::join([&] { other = true; }, [] { throw 2; }); }), 2);
    EXPECT_TRUE(other);
  }
}

TEST(join, of_two_exceptions_the_first_branchs_is_rethrown) {
  const int n = test::scaled(300, 30);
  for (int i = 0; i != n; ++i)
    EXPECT_EQ(thrown_by([&] {
                weft::join(
                    [] {
                      dawdle();
                      throw 1;
                    },
                    [] { throw 2; });
              }),
              1);
}

int failing_tree(int depth, int bad) {
  if (depth == 0) {
    if (bad == 0)
      throw std::runtime_error("leaf");
    return 1;
  }
  int a = 0, b = 0, half = 1 << (depth - 1);
  weft::join([&] { a = failing_tree(depth - 1, bad); },
             [&] { b = failing_tree(depth - 1, bad < 0 ? bad : bad - half); });
  return a + b;
}

TEST(join, an_exception_climbs_a_tree_of_joins) {
  EXPECT_EQ(failing_tree(8, -1'000'000), 256);
  for (int bad : {0, 1, 77, 128, 255})
    EXPECT_THROW(failing_tree(8, bad), std::runtime_error) << bad;
}

TEST(join, both_branches_may_sleep) {
  std::atomic<int> done{0};
  for (int i = 0; i != 20; ++i)
    weft::join([&] { dawdle(), ++done; }, [&] { dawdle(), ++done; });
  EXPECT_EQ(done, 40);
}

int sleepy_tree(int depth) {
  if (depth == 0) {
    weft::this_task::sleep_for(std::chrono::microseconds(50));
    return 1;
  }
  int a = 0, b = 0;
  weft::join([&] { a = sleepy_tree(depth - 1); },
             [&] { weft::taskyield(), b = sleepy_tree(depth - 1); });
  return a + b;
}

TEST(join, a_tree_whose_leaves_sleep_completes) {
  EXPECT_EQ(sleepy_tree(6), 64);
  int in_tasks[5] = {};
  for (int &r : in_tasks)
    weft::spawn([&r] { r = sleepy_tree(5); });
  weft::taskwait();
  for (int r : in_tasks)
    EXPECT_EQ(r, 32);
}

TEST(join, both_branches_may_take_a_mutex_and_suspend_under_it) {
  weft::mutex m;
  int counter = 0;
  auto branch = [&] {
    for (int i = 0; i != 20; ++i) {
      std::lock_guard lock(m);
      int before = counter;
      weft::taskyield();
      counter = before + 1;
    }
  };
  for (int i = 0; i != 5; ++i)
    weft::join([&] { weft::join(branch, branch); }, branch);
  EXPECT_EQ(counter, 300);
}

TEST(join, both_branches_may_block) {
  std::vector<std::thread> wakers;
  std::atomic<int> done{0};
  for (int i = 0; i != 10; ++i) {
    std::mutex m; // for the vector
    auto branch = [&] {
      weft::task_ref me = weft::this_task::self();
      {
        std::lock_guard lock(m);
        wakers.emplace_back([me] { weft::unblock(me); });
      }
      weft::this_task::block();
      ++done;
    };
    weft::join(branch, branch);
  }
  for (auto &w : wakers)
    w.join();
  EXPECT_EQ(done, 20);
}

TEST(join, tasks_spawned_in_branches_are_complete_after_taskwait) {
  std::atomic<int> ran{0};
  for (int i = 0; i != 20; ++i) {
    weft::join(
        [&] {
          for (int k = 0; k != 5; ++k)
            weft::spawn([&] { dawdle(), ++ran; });
        },
        [&] {
          for (int k = 0; k != 5; ++k)
            weft::spawn([&] { ++ran; });
        });
    weft::taskwait();
    ASSERT_EQ(ran, 10 * (i + 1));
  }
}

TEST(join, a_branch_may_wait_for_the_tasks_it_spawned) {
  std::atomic<int> wrong{0};
  auto branch = [&] {
    int x = 0;
    for (int k = 0; k != 5; ++k)
      weft::spawn([&] { dawdle(), ++x; }, weft::inout(x));
    weft::taskwait();
    wrong += x != 5;
  };
  for (int i = 0; i != 20; ++i)
    weft::join(branch, [&] { weft::join(branch, branch); });
  EXPECT_EQ(wrong, 0);
}

TEST(join, an_exception_of_a_task_spawned_in_a_branch_is_not_lost) {
  for (int i = 0; i != 20; ++i)
    EXPECT_EQ(thrown_by([] {
                weft::join([] { dawdle(); }, [] { weft::spawn([] { throw 3; }); });
                weft::taskwait();
              }),
              3);
}

TEST(join, groups_in_branches_wait_for_their_own_tasks) {
  std::atomic<int> ran{0}, wrong{0};
  auto branch = [&] {
    weft::task_group group;
    std::atomic<int> mine{0};
    for (int k = 0; k != 4; ++k)
      group.spawn([&] { dawdle(), ++mine, ++ran; });
    group.wait();
    wrong += mine != 4;
  };
  for (int i = 0; i != 10; ++i)
    weft::join(branch, branch);
  EXPECT_EQ(ran, 80);
  EXPECT_EQ(wrong, 0);
}

TEST(join, the_second_branch_can_run_while_the_first_waits_for_it) {
  // Only where another worker can take it; with one, the branches run one after the other.
  if (weft::worker_count() < 2)
    GTEST_SKIP() << "needs a second worker";
  test::gate gate;
  bool passed = false;
  weft::join([&] { passed = gate.pass(); }, [&] { gate.open(); });
  EXPECT_TRUE(passed);
}

TEST(join, a_failure_below_a_branch_that_throws_itself_is_reported) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    test::gate taken;
    try {
      weft::join([&] { EXPECT_TRUE(taken.pass()); }, // so another worker takes the branch
                 [&] {
                   taken.open();
                   weft::spawn([] { throw std::runtime_error("from below"); });
                   throw std::runtime_error("of the branch");
                 });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error &e) {
      EXPECT_STREQ(e.what(), "of the branch");
    }
    EXPECT_NO_THROW(weft::taskwait());
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("task 'join branch' threw, and no caller asked for the exception: from below"))
      << end;
}

} // namespace
