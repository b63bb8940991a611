// SPDX-License-Identifier: Apache-2.0
// Coroutines in every way once, for a program whose memory fails: see program.hpp. One that was made ends with its value or an error, its
// frame goes, and what it waits for is not lost.
#pragma once

#include "stress/exhaustion/sync.hpp"

#include <weft/coro.hpp>

#include <exception>

namespace exhaustion {

inline std::atomic<int> g_parts{0}; // that live in frames

/// Lives in the frame of a coroutine.
struct part {
  part() noexcept { ++g_parts; }
  part(const part &) noexcept { ++g_parts; }
  part &operator=(const part &) = default;
  ~part() { --g_parts; }
};

inline weft::task<int> sum_of_tree(int depth, part = {}) {
  const part here;
  if (depth == 0)
    co_return 1;
  weft::future<int> left = weft::async(sum_of_tree(depth - 1));
  const int right = co_await sum_of_tree(depth - 1);
  co_return right + co_await left;
}

inline weft::task<int> count_down(int n, std::vector<int> ballast) {
  const part here;
  if (n == 0)
    co_return static_cast<int>(ballast.size());
  co_return 1 + co_await count_down(n - 1, ballast);
}

inline weft::future<int> begins_at_once(weft::shared_future<int> f) {
  const part here;
  co_await weft::this_task::async_yield();
  co_return 1 + co_await f;
}

/// Waits with limits and tokens, without a stack.
inline weft::task<void> waits_of_a_coroutine(synchronization &s, int i) {
  const part here;
  const std::stop_token token = s.stop.get_token();
  if (co_await s.units.async_try_acquire_for(200us)) {
    std::exception_ptr failed;
    try {
      co_await weft::this_task::async_yield();
    } catch (...) {
      failed = std::current_exception();
    }
    s.units.release();
    if (failed)
      std::rethrow_exception(failed);
  }
  if (co_await s.units.async_acquire(token))
    s.units.release();
  if (co_await s.timed.async_try_lock_for(200us))
    s.timed.unlock();
  if (co_await s.shared.async_lock_shared(token))
    s.shared.unlock_shared();
  co_await s.lock.async_lock();
  s.lock.unlock();
  if (i % 2 ? co_await s.never.async_wait_for(k_short) : co_await s.never.async_wait(token))
    wrong("a coroutine was let go by nothing");
  {
    std::unique_lock held(s.lock);
    if (co_await weft::async_wait_for(s.changed, held, k_short, [] { return false; }))
      wrong("a condition was said to hold");
  }
  if (co_await s.values.async_push_for(std::vector<int>(9, 1), 200us) ==
      weft::channel_status::success)
    ++s.sent;
  if (i % 2 && co_await weft::this_task::async_sleep_for(1h, token))
    wrong("an hour is over");
}

inline weft::task<int> waits_for_tasks() {
  static int x; // outlives the coroutine, which may end by an error
  x = 0;
  const part here;
  if (co_await weft::spawn([] { return ++x; }, weft::inout(x), weft::tracked) != 1)
    wrong("a coroutine has got another value");
  weft::task_group group;
  group.spawn([] { ++x; });
  co_await weft::async_wait(group);
  weft::spawn([] { ++x; });
  co_await weft::async_taskwait();
  co_return x;
}

inline void coroutines_of_values() {
  for (const int depth : {0, 3}) {
    weft::future<int> f;
    if (attempt([&] { f = weft::async(sum_of_tree(depth)); }))
      expect_value(f, 1 << depth);
  }
  weft::future<int> f;
  if (attempt([&] { f = weft::async(count_down(20, std::vector<int>(30))); }))
    expect_value(f, 50);
  attempt([] {
    if (count_down(3, {}).get() != 3)
      wrong("a coroutine gives another value");
  });
  attempt([] {
    weft::promise<int> p;
    weft::shared_future<int> asked = p.get_future();
    weft::future<int> made;
    const bool begun = attempt([&] { made = begins_at_once(asked); });
    while (!attempt([&] { p.set_value(4); })) {
    }
    if (begun)
      expect_value(made, 5);
  });
  attempt([] { (void)count_down(1, std::vector<int>(3)); }); // never begins
  if (attempt([&] { f = weft::async(waits_for_tasks()); }))
    expect_value(f, 3);
}

inline void coroutines_with_data() {
  static int value, expected;
  value = expected = 0;
  static std::atomic<int> failed;
  failed = 0;
  for (int i = 0; i != 10; ++i)
    expected += attempt([] {
      weft::spawn(
          [kept = std::vector<int>(3)]() -> weft::task<void> {
            const part here;
            const int seen = value;
            try {
              co_await weft::this_task::async_yield();
            } catch (const weft::error &) {
              ++failed;
            }
            value = seen + static_cast<int>(kept.size()) - 2;
          },
          weft::inout(value));
    });
  for (int i = 0; i != 1000; ++i)
    try {
      weft::taskwait();
      break;
    } catch (const std::exception &) { // also of a coroutine whose frame was refused
      ++g_refused;
    }
  if (value > expected || (g_refused == 0 && value != expected))
    wrong("a coroutine has lost its access");
}

inline void coroutines_that_wait() {
  attempt([] {
    synchronization s;
    std::vector<weft::future<void>> all;
    all.reserve(8);
    for (int i = 0; i != 8; ++i)
      attempt([&] { all.push_back(weft::async(waits_of_a_coroutine(s, i))); });
    attempt([] { weft::taskyield(); });
    s.stop.request_stop();
    for (auto &f : all)
      if (wait_for_future(f))
        attempt([&] { f.get(); });
    taskwait();
    if (!s.units.try_acquire() || !s.units.try_acquire() || s.units.try_acquire())
      wrong("a coroutine has kept a unit");
    if (!s.timed.try_lock() || !s.shared.try_lock() || !s.lock.try_lock())
      wrong("a coroutine has kept a lock");
    else
      s.timed.unlock(), s.shared.unlock(), s.lock.unlock();
    int left = 0;
    for (std::vector<int> v; s.values.try_pop(v) == weft::channel_status::success;)
      ++left;
    if (left != s.sent)
      wrong("a coroutine has lost a value");
  });
}

inline void all_of_coroutines() {
  coroutines_of_values();
  coroutines_with_data();
  coroutines_that_wait();
  taskwait();
  if (g_parts != 0)
    wrong("a frame of a coroutine was not destroyed");
}

} // namespace exhaustion
