// SPDX-License-Identifier: Apache-2.0
// Promise: a task that waits never runs an unrelated task on its stack.
// Were it broken, the waiter could not go on before the unrelated task ends, and this program would hang.
#include "support/gate.hpp"

#include <weft/coro.hpp>
#include <weft/future.hpp>
#include <weft/sync.hpp>
#include <weft/thread.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <tuple>

namespace {

WEFT_NOINLINE std::uintptr_t stack_address() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

TEST(waiting_task, goes_on_while_an_unrelated_task_that_started_meanwhile_is_not_done) {
  test::gate child_may_end, waiter_done;
  bool unrelated_passed = false, child_passed = false;
  weft::spawn([&] {
    weft::spawn([&] { child_passed = child_may_end.pass(); });
    weft::taskwait();
    waiter_done.open();
  });
  weft::spawn([&] { // not a descendant of the task above
    child_may_end.open();
    unrelated_passed = waiter_done.pass();
  });
  weft::taskwait();
  EXPECT_TRUE(unrelated_passed);
  EXPECT_TRUE(child_passed);
}

TEST(waiting_task, of_a_long_chain_of_waits_each_ends_in_its_own_time) {
  // Task i waits for its child, which waits for task i+1: a runtime that runs unrelated tasks in place nests them
  // all.
  constexpr int n = 200;
  static test::gate done[n + 1];
  static std::atomic<int> late{0};
  for (int i = 0; i != n; ++i)
    weft::spawn([i] {
      weft::spawn([i] { late += !done[i + 1].pass(); });
      weft::taskwait();
      done[i].open();
    });
  done[n].open();
  weft::taskwait();
  EXPECT_EQ(late, 0);
}

TEST(waiting_task, that_is_blocked_hosts_no_task_on_its_stack) {
  // Unrelated tasks that start while the task waits must not lie above it on its stack.
  constexpr std::uintptr_t k_near = 16 << 10;
  std::uintptr_t waiter = 0;
  std::atomic<int> near{0};
  std::atomic<bool> waiting{true};
  std::atomic<weft::detail::task *> blocked{nullptr};
  weft::spawn([&] {
    waiter = stack_address();
    blocked = weft::this_task::self().get();
    weft::this_task::block();
    waiting = false;
  });
  ASSERT_TRUE(test::eventually([&] { return blocked != nullptr; }));
  int x = 0;
  for (int i = 0; i != 200; ++i)
    weft::spawn(
        [&] {
          std::uintptr_t mine = stack_address();
          near += waiting && mine < waiter && waiter - mine < k_near;
        },
        weft::inout(x));
  weft::taskwait(weft::inout(x));
  weft::unblock(weft::task_ref(blocked));
  weft::taskwait();
  EXPECT_EQ(near, 0);
}

/// A task calls `wait`. Other tasks begin meanwhile. The last of them calls `release`, which ends the
/// wait, and ends when the waiter has gone on: on the waiter's stack it would hold the waiter up.
template <class Wait, class Release>
void expect_hosts_no_task(Wait wait, Release release) {
  constexpr std::uintptr_t k_near = 16 << 10;
  std::atomic<std::uintptr_t> waiter{0};
  test::gate went_on;
  int near = 0, x = 0;
  bool passed = false;
  const auto look = [&] {
    const std::uintptr_t mine = stack_address();
    near += mine < waiter && waiter - mine < k_near;
  };
  weft::spawn([&] {
    waiter = stack_address();
    wait();
    went_on.open();
  });
  ASSERT_TRUE(test::eventually([&] { return waiter != 0; }));
  test::dawdle();
  for (int i = 0; i != 20; ++i)
    weft::spawn(look, weft::inout(x));
  weft::spawn(
      [&] {
        look(); // the waiter is still on its stack
        release();
        passed = went_on.pass();
      },
      weft::inout(x));
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_EQ(near, 0);
}

TEST(waiting_task, for_a_future_hosts_no_unrelated_task) {
  using std::chrono::hours;
  for (int way = 0; way != 4; ++way) {
    SCOPED_TRACE(way);
    weft::promise<int> kept;
    weft::shared_future<int> f = kept.get_future();
    const std::stop_source never;
    expect_hosts_no_task(
        [&] {
          if (way == 0)
            EXPECT_EQ(f.get(), 1);
          else if (way == 1)
            EXPECT_EQ(f.get(never.get_token()), 1);
          else if (way == 2)
            EXPECT_EQ(f.wait_for(hours(1)), weft::future_status::ready);
          else
            EXPECT_EQ(std::get<0>(weft::when_all(f).get()).get(), 1);
        },
        [&] { kept.set_value(1); });
  }
  // The body that is waited for may run on the waiter's stack, and wait there.
  test::gate may_end;
  expect_hosts_no_task([&] { EXPECT_TRUE(weft::async([&] { return may_end.pass(); }).get()); },
                       [&] { may_end.open(); });
}

/// A task takes `lock` first, and gives it up when `release` is called.
template <class Take, class Wait, class GiveUp>
void expect_lock_hosts_no_task(Take take, Wait wait, GiveUp give_up) {
  test::gate taken, may_give_up;
  bool let = false;
  weft::spawn([&] {
    take();
    taken.open();
    let = may_give_up.pass();
    give_up();
  });
  ASSERT_TRUE(taken.pass());
  expect_hosts_no_task(
      [&] {
        wait();
        give_up();
      },
      [&] { may_give_up.open(); });
  EXPECT_TRUE(let);
}

TEST(waiting_task, for_a_lock_hosts_no_unrelated_task) {
  using std::chrono::hours;
  weft::mutex m;
  expect_lock_hosts_no_task([&] { m.lock(); }, [&] { m.lock(); }, [&] { m.unlock(); });
  weft::recursive_mutex r;
  expect_lock_hosts_no_task([&] { r.lock(); }, [&] { r.lock(); }, [&] { r.unlock(); });
  weft::timed_mutex t;
  expect_lock_hosts_no_task([&] { t.lock(); }, [&] { EXPECT_TRUE(t.try_lock_for(hours(1))); },
                            [&] { t.unlock(); });
  weft::shared_mutex s;
  expect_lock_hosts_no_task([&] { s.lock(); }, [&] { s.lock(); }, [&] { s.unlock(); });
}

TEST(waiting_task, for_a_signal_or_a_value_hosts_no_unrelated_task) {
  weft::event e;
  expect_hosts_no_task([&] { e.wait(); }, [&] { e.set(); });
  weft::counting_semaphore<> units(0);
  expect_hosts_no_task([&] { units.acquire(); }, [&] { units.release(); });
  weft::latch l(1);
  expect_hosts_no_task([&] { l.wait(); }, [&] { l.count_down(); });
  weft::barrier<> b(2);
  expect_hosts_no_task([&] { b.arrive_and_wait(); }, [&] { (void)b.arrive(); });
  weft::channel<int> c;
  expect_hosts_no_task([&] { EXPECT_EQ(c.pop(), 7); },
                       [&] { EXPECT_EQ(c.push(7), weft::channel_status::success); });
  weft::mutex m;
  weft::condition_variable changed;
  bool is_set = false;
  expect_hosts_no_task(
      [&] {
        std::unique_lock lock(m);
        changed.wait(lock, [&] { return is_set; });
      },
      [&] {
        const std::lock_guard lock(m);
        is_set = true;
        changed.notify_one();
      });
  test::gate may_end;
  weft::thread other([&] { EXPECT_TRUE(may_end.pass()); });
  expect_hosts_no_task([&] { other.join(); }, [&] { may_end.open(); });
}

TEST(waiting_task, for_a_coroutine_or_in_one_hosts_no_unrelated_task) {
  weft::event ends, lets_in;
  const auto awaits = [](weft::event &e) -> weft::task<void> { co_await e.async_wait(); };
  expect_hosts_no_task([&] { awaits(ends).get(); }, [&] { ends.set(); });
  const auto blocks = [](weft::event &e) -> weft::task<void> { co_return e.wait(); };
  expect_hosts_no_task([&] { blocks(lets_in).get(); }, [&] { lets_in.set(); });
}

} // namespace
