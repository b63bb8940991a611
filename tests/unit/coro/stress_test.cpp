// SPDX-License-Identifier: Apache-2.0
// Coroutines that wait for anything in a random order, frames that no memory holds, and reports of hangs.
#include "support/death_test.hpp"
#include "support/scale.hpp"

#include <weft/coro.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using random_source = std::minstd_rand;

/// Holds what all coroutines of a run wait for.
struct world {
  weft::mutex plain;
  weft::timed_mutex timed;
  weft::shared_mutex shared;
  weft::counting_semaphore<> units{2};
  weft::channel<int> values{2};
  weft::mutex guard;
  weft::condition_variable changed;
  long in_plain = 0, in_timed = 0, in_shared = 0, notified = 0;
  std::atomic<long> done{0}, sent{0}, received{0};
};

weft::task<long> tree(random_source &r, int depth) {
  if (depth == 0)
    co_return 1;
  weft::future<long> left;
  if (r() % 4 == 0)
    left = weft::async([seed = r(), depth]() -> weft::task<long> {
      random_source own(seed);
      co_return co_await tree(own, depth - 1);
    });
  const long right = co_await tree(r, depth - 1);
  if (left.valid())
    co_return right + co_await left;
  co_return right + co_await tree(r, depth - 1);
}

weft::task<void> act(world &w, unsigned seed, int steps) {
  random_source r(seed);
  for (int i = 0; i < steps; ++i) {
    const auto some = std::chrono::microseconds(r() % 40);
    switch (r() % 10) {
    case 0:
      co_await w.plain.async_lock();
      ++w.in_plain;
      w.plain.unlock();
      break;
    case 1:
      if (co_await w.timed.async_try_lock_for(some)) {
        ++w.in_timed;
        co_await weft::this_task::async_yield();
        w.timed.unlock();
      }
      break;
    case 2:
      co_await w.shared.async_lock_shared();
      w.shared.unlock_shared();
      co_await w.shared.async_lock();
      ++w.in_shared;
      w.shared.unlock();
      break;
    case 3: {
      std::stop_source stop;
      auto requester = weft::async([&stop] { stop.request_stop(); });
      if (co_await w.units.async_acquire(stop.get_token()))
        w.units.release();
      co_await requester;
      break;
    }
    case 4:
      if (co_await w.values.async_push_for(1, some) == weft::channel_status::success)
        ++w.sent;
      break;
    case 5:
      if (co_await w.values.async_pop_for(some))
        ++w.received;
      break;
    case 6: {
      std::unique_lock lock(w.guard);
      (void)co_await w.changed.async_wait_for(lock, some);
      ++w.notified;
      break;
    }
    case 7:
      w.changed.notify_one();
      co_await weft::this_task::async_sleep_for(some);
      break;
    case 8:
      EXPECT_EQ(co_await tree(r, 4), 16);
      break;
    default: {
      weft::task_group g;
      for (int n = 0; n < 3; ++n)
        g.spawn([&w] { ++w.done; });
      co_await weft::async_wait(g);
      break;
    }
    }
  }
  ++w.done;
}

TEST(coro_stress, waits_of_all_kinds_end) {
  const char *const more = std::getenv("TEST_CORO_ROUNDS");
  const int rounds = more ? std::atoi(more) : 3;
  random_source r(static_cast<unsigned>(test::seed()));
  for (int i = 0; i < rounds; ++i) {
    world w;
    weft::task_group g;
    for (int n = 0; n < 24; ++n)
      g.spawn(act(w, static_cast<unsigned>(r()), test::scaled(100, 10)));
    g.wait();
    int left = 0;
    for (int value = 0; w.values.try_pop(value) == weft::channel_status::success;)
      ++left;
    EXPECT_EQ(w.sent, w.received + left);
    EXPECT_TRUE(w.plain.try_lock());
    w.plain.unlock();
    EXPECT_TRUE(w.shared.try_lock());
    w.shared.unlock();
    EXPECT_TRUE(w.units.try_acquire());
    EXPECT_TRUE(w.units.try_acquire());
    EXPECT_FALSE(w.units.try_acquire());
  }
}

TEST(coro_stress, very_many_wait_at_a_time) {
  const int n = test::scaled(100'000);
  weft::event go;
  std::atomic<int> through{0};
  weft::task_group g;
  for (int i = 0; i < n; ++i)
    g.spawn([&]() -> weft::task<void> {
      co_await go.async_wait();
      ++through;
    });
  go.set();
  g.wait();
  EXPECT_EQ(through, n);
}

TEST(coro_frames, that_no_memory_holds_are_an_error) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the allocator of the sanitizer ends the program";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the allocator of the sanitizer ends the program";
#endif
#endif
  struct huge {
    unsigned char bytes[std::size_t{1} << 46];
  };
  auto make = [](bool waits) -> weft::task<int> {
    huge *const here = nullptr;
    alignas(1) unsigned char buffer[sizeof(huge)];
    buffer[0] = here ? 1 : 0;
    if (waits)
      co_await weft::this_task::async_yield();
    co_return buffer[0];
  };
  try {
    (void)make(true);
    ADD_FAILURE() << "no error";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::out_of_resources);
  }
  auto outer = [&]() -> weft::task<weft::errc> {
    try {
      co_await make(true);
    } catch (const weft::error &e) {
      co_return e.code();
    }
    co_return weft::errc::shut_down;
  };
  EXPECT_EQ(outer().get(), weft::errc::out_of_resources);
}

TEST(coro_frames, go_back_from_any_thread) {
  for (int i = 0; i < 100; ++i) {
    auto t = [](std::vector<int> v) -> weft::task<std::size_t> {
      co_await weft::this_task::async_yield();
      co_return v.size();
    }(std::vector<int>(100));
    if (i % 2)
      std::thread([t = std::move(t)]() mutable { auto gone = std::move(t); }).join();
    else
      EXPECT_EQ(weft::async(std::move(t)).get(), 100u);
  }
}

void hang(bool of_mutex) {
  setenv("WEFT_WATCH_HANG", "abort", 1);
  setenv("WEFT_WATCH_PATIENCE", "10ms", 1);
  weft::binary_semaphore s(0);
  weft::mutex m;
  m.lock();
  weft::spawn(
      [&]() -> weft::task<void> {
        if (of_mutex)
          co_await m.async_lock();
        else
          co_await s.async_acquire();
      },
      weft::label("waiting coroutine"));
  weft::taskwait();
}

TEST(coro_hang, names_what_a_coroutine_waits_for) {
  test::use_a_process_for_each_death();
  EXPECT_DEATH(hang(false), "task 'waiting coroutine' waits for a semaphore");
  EXPECT_DEATH(hang(true), "task 'waiting coroutine' waits for mutex");
}

} // namespace
