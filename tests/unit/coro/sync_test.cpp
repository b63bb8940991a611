// SPDX-License-Identifier: Apache-2.0
// Coroutines that wait for synchronization objects, groups, children and time.
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/coro.hpp>
#include <weft/sync.hpp>
#include <weft/thread.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// Runs `n` coroutines at once, each as a task of one group, and waits for them.
template <class F>
void all_at_once(int n, F f) {
  weft::task_group g;
  for (int i = 0; i < n; ++i)
    g.spawn([&f, i] { return f(i); });
  g.wait();
}

template <class Lock, class Unlock>
void excludes(Lock lock, Unlock unlock) {
  long plain = 0;
  const int tasks = 20, rounds = test::scaled(200);
  all_at_once(tasks, [&](int) -> weft::task<void> {
    for (int i = 0; i < rounds; ++i) {
      co_await lock();
      const long seen = plain;
      if (i % 16 == 0)
        co_await weft::this_task::async_yield();
      plain = seen + 1;
      unlock();
    }
  });
  EXPECT_EQ(plain, long{tasks} * rounds);
}

TEST(coro_sync, mutexes_exclude) {
  weft::mutex m;
  excludes([&] { return m.async_lock(); }, [&] { m.unlock(); });
  weft::timed_mutex t;
  excludes([&] { return t.async_lock(); }, [&] { t.unlock(); });
  weft::shared_mutex s;
  excludes([&] { return s.async_lock(); }, [&] { s.unlock(); });
  weft::counting_semaphore<> one(1);
  excludes([&] { return one.async_acquire(); }, [&] { one.release(); });
}

TEST(coro_sync, stacks_and_coroutines_wait_for_one_mutex) {
  weft::mutex m;
  long plain = 0;
  const int rounds = test::scaled(500);
  weft::task_group g;
  for (int t = 0; t < 8; ++t)
    if (t % 2)
      g.spawn([&]() -> weft::task<void> {
        for (int i = 0; i < rounds; ++i) {
          co_await m.async_lock();
          ++plain;
          m.unlock();
        }
      });
    else
      g.spawn([&] {
        for (int i = 0; i < rounds; ++i) {
          const std::lock_guard held(m);
          ++plain;
          if (i % 32 == 0)
            weft::taskyield();
        }
      });
  g.wait();
  EXPECT_EQ(plain, 8l * rounds);
}

TEST(coro_sync, readers_share_and_writers_do_not) {
  weft::shared_mutex m;
  bool writes = false;
  all_at_once(8, [&](int i) -> weft::task<void> {
    if (i == 0) {
      co_await m.async_lock();
      writes = true;
      co_await weft::this_task::async_yield();
      writes = false;
      m.unlock();
      co_return;
    }
    co_await m.async_lock_shared();
    EXPECT_FALSE(writes);
    co_await weft::this_task::async_sleep_for(1ms);
    EXPECT_FALSE(writes);
    m.unlock_shared();
  });
  weft::latch both(2);
  all_at_once(2, [&](int) -> weft::task<void> { // each waits for the other one with the lock
    co_await m.async_lock_shared();
    both.count_down();
    co_await both.async_wait();
    m.unlock_shared();
  });
}

TEST(coro_sync, a_wait_ends_by_grant_deadline_or_stop) {
  weft::timed_mutex m;
  m.lock();
  std::stop_source stop;
  std::atomic<bool> may_stop{false}, may_grant{false};
  auto waiter = [&]() -> weft::task<void> {
    EXPECT_FALSE(co_await m.async_try_lock_for(1ms));
    EXPECT_FALSE(co_await m.async_try_lock_for(0ms));
    may_stop = true;
    EXPECT_FALSE(co_await m.async_lock(stop.get_token()));
    EXPECT_FALSE(co_await m.async_lock(stop.get_token())); // requested already
    may_grant = true;
    EXPECT_TRUE(co_await m.async_try_lock_for(1h));
    m.unlock();
    EXPECT_TRUE(co_await m.async_lock(std::stop_token()));
    m.unlock();
  };
  auto f = weft::async(waiter);
  const auto wait_until = [](const std::atomic<bool> &reached) {
    do
      weft::this_task::sleep_for(1ms); // the wait that comes next has begun, most times
    while (!reached);
  };
  wait_until(may_stop);
  stop.request_stop();
  wait_until(may_grant);
  m.unlock();
  f.get();
}

TEST(coro_sync, each_object_takes_deadlines_and_tokens) {
  auto run = []() -> weft::task<void> {
    std::stop_source requested;
    requested.request_stop();
    const std::stop_token stop = requested.get_token();
    weft::binary_semaphore s(0);
    EXPECT_FALSE(co_await s.async_try_acquire_for(1us));
    EXPECT_FALSE(co_await s.async_acquire(stop));
    s.release();
    EXPECT_TRUE(co_await s.async_acquire(stop));
    weft::latch l(1);
    EXPECT_FALSE(co_await l.async_wait_for(1us));
    EXPECT_FALSE(co_await l.async_wait(stop));
    l.count_down();
    EXPECT_TRUE(co_await l.async_wait_for(1us));
    co_await l.async_wait();
    weft::barrier<> b(2);
    const auto arrival = b.arrive();
    EXPECT_FALSE(co_await b.async_wait_for(arrival, 1us));
    EXPECT_FALSE(co_await b.async_wait(arrival, stop));
    (void)b.arrive();
    EXPECT_TRUE(co_await b.async_wait(arrival, stop));
    EXPECT_TRUE(co_await b.async_wait_for(arrival, 1us));
    weft::event e;
    EXPECT_FALSE(co_await e.async_wait_for(1us));
    EXPECT_FALSE(co_await e.async_wait(stop));
    e.set();
    EXPECT_TRUE(co_await e.async_wait(stop));
    weft::shared_mutex m;
    m.lock();
    EXPECT_FALSE(co_await m.async_try_lock_shared_for(1us));
    EXPECT_FALSE(co_await m.async_lock_shared(stop));
    EXPECT_FALSE(co_await m.async_try_lock_for(1us));
    EXPECT_FALSE(co_await m.async_lock(stop));
    m.unlock();
    EXPECT_TRUE(co_await m.async_lock_shared(stop));
    m.unlock_shared();
    weft::channel<int> c(1);
    EXPECT_FALSE(co_await c.async_pop(stop));
    EXPECT_FALSE(co_await c.async_pop_for(1us));
    EXPECT_EQ(co_await c.async_push(1), weft::channel_status::success);
    EXPECT_EQ(co_await c.async_push(2, stop), weft::channel_status::stopped);
    EXPECT_EQ(co_await c.async_push_for(2, 1us), weft::channel_status::timeout);
    EXPECT_EQ(co_await c.async_pop(), 1);
    weft::mutex guard;
    weft::condition_variable v;
    std::unique_lock lock(guard);
    EXPECT_EQ(co_await v.async_wait_for(lock, 1us), std::cv_status::timeout);
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_FALSE(co_await v.async_wait(lock, stop));
    EXPECT_FALSE(guard.try_lock());
    EXPECT_FALSE(co_await weft::async_wait(v, lock, stop, [] { return false; }));
    EXPECT_TRUE(co_await weft::async_wait(v, lock, stop, [] { return true; }));
  };
  run().get();
}

TEST(coro_sync, latches_barriers_and_events_let_all_go_on) {
  const int n = 12, phases = test::scaled(40, 4);
  weft::latch l(n);
  weft::event e;
  int completed = 0;
  auto count = [&]() noexcept { ++completed; };
  weft::barrier b(n, count);
  std::atomic<int> through{0};
  weft::task_group g;
  for (int i = 0; i < n; ++i)
    g.spawn([&]() -> weft::task<void> {
      l.count_down();
      co_await l.async_wait();
      for (int p = 0; p < phases; ++p) {
        EXPECT_EQ(completed, p);
        if (p % 2)
          co_await b.async_arrive_and_wait();
        else
          co_await b.async_wait(b.arrive());
      }
      co_await e.async_wait();
      ++through;
    });
  weft::this_task::sleep_for(1ms);
  e.set();
  g.wait();
  EXPECT_EQ(completed, phases);
  EXPECT_EQ(through, n);
}

TEST(coro_sync, channels_carry_every_value_once) {
  for (const std::size_t capacity :
       {std::size_t{0}, std::size_t{3}, weft::channel<int>::unbounded}) {
    weft::channel<std::unique_ptr<int>> c(capacity);
    const int senders = 4, each = test::scaled(300);
    std::atomic<long> sum{0};
    weft::task_group sending, receiving;
    for (int r = 0; r < 3; ++r)
      receiving.spawn([&]() -> weft::task<void> {
        while (auto v = co_await c.async_pop())
          sum += **v;
      });
    for (int s = 0; s < senders; ++s)
      sending.spawn([&]() -> weft::task<void> {
        for (int i = 1; i <= each; ++i)
          EXPECT_EQ(co_await c.async_push(std::make_unique<int>(i)), weft::channel_status::success);
      });
    sending.wait();
    c.close();
    receiving.wait();
    EXPECT_EQ(sum, long{senders} * each * (each + 1) / 2);
    auto closed = [&]() -> weft::task<void> {
      EXPECT_EQ(co_await c.async_push(nullptr), weft::channel_status::closed);
      EXPECT_FALSE(co_await c.async_pop());
    };
    closed().get();
  }
}

/// Awaits as another awaiter does that has found nothing to take.
template <class Awaiter>
struct not_ready : weft::detail::coro_awaiter_around {
  Awaiter &inner;
  explicit not_ready(Awaiter &of) : inner(of) {}
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <class Handle>
  bool await_suspend(Handle handle) {
    return inner.await_suspend(handle);
  }
  auto await_resume() { return inner.await_resume(); }
};

TEST(coro_sync, a_wait_that_need_not_suspend_keeps_no_limits) {
  auto run = []() -> weft::task<void> {
    weft::channel<int> c(1);
    auto push = c.async_push_for(7, 1h); // there is room
    EXPECT_EQ(co_await not_ready(push), weft::channel_status::success);
    EXPECT_EQ(push.limits, nullptr);
    auto pop = c.async_pop_for(1h); // there is a value
    EXPECT_EQ(co_await not_ready(pop), 7);
    EXPECT_EQ(pop.limits, nullptr);
    c.close();
    auto late = c.async_push_for(8, 1h);
    EXPECT_EQ(co_await not_ready(late), weft::channel_status::closed);
    EXPECT_EQ(late.limits, nullptr);
  };
  weft::async(run).get();
}

TEST(coro_sync, coroutines_and_stacks_meet_in_a_channel) {
  weft::channel<int> there(0), back(0);
  const int rounds = test::scaled(1000);
  auto echo = weft::async([&]() -> weft::task<void> {
    while (auto v = co_await there.async_pop())
      (void)co_await back.async_push(*v + 1);
  });
  for (int i = 0; i < rounds; ++i) {
    ASSERT_EQ(there.push(i), weft::channel_status::success);
    ASSERT_EQ(back.pop(), i + 1);
  }
  there.close();
  echo.get();
}

/// Throws when it is moved for the third time.
struct fragile {
  int moves = 0;
  fragile() = default;
  fragile(fragile &&other) : moves(other.moves + 1) {
    if (moves == 4)
      throw std::runtime_error("fragile");
  }
  fragile &operator=(fragile &&) = default;
};

TEST(coro_sync, an_exception_of_a_move_leaves_the_channel_whole) {
  weft::channel<fragile> c(0);
  auto run = [&]() -> weft::task<void> {
    try {
      (void)co_await c.async_push(fragile());
      (void)co_await c.async_push(fragile());
    } catch (const std::runtime_error &) {
    }
  };
  auto sender = weft::async(run);
  int received = 0, thrown = 0;
  while (received + thrown < 1) {
    try {
      if (auto v = c.pop())
        ++received;
    } catch (const std::runtime_error &) {
      ++thrown;
    }
  }
  c.close();
  sender.get();
  EXPECT_EQ(received + thrown, 1);
}

TEST(coro_sync, a_condition_variable_gives_the_lock_up_and_back) {
  weft::mutex m;
  weft::condition_variable changed;
  int turn = 0;
  const int players = 6, rounds = test::scaled(50, 4);
  all_at_once(players, [&](int me) -> weft::task<void> {
    for (int r = 0; r < rounds; ++r) {
      co_await m.async_lock();
      std::unique_lock lock(m, std::adopt_lock);
      co_await weft::async_wait(changed, lock, [&] { return turn % players == me; });
      EXPECT_TRUE(lock.owns_lock());
      ++turn;
      lock.unlock();
      changed.notify_all();
    }
  });
  EXPECT_EQ(turn, players * rounds);
}

/// Lets players pass a ball by a condition variable for any lock. `take()` is awaited and returns the
/// lock.
template <class Take>
void passes_a_ball(Take take) {
  weft::condition_variable_any changed;
  int turn = 0;
  const int players = 6, rounds = test::scaled(50, 4);
  all_at_once(players, [&](int me) -> weft::task<void> {
    for (int r = 0; r < rounds; ++r) {
      auto lock = co_await take();
      co_await weft::async_wait(changed, lock, [&] { return turn % players == me; });
      ++turn;
      lock.unlock();
      changed.notify_all();
    }
  });
  EXPECT_EQ(turn, players * rounds);
}

TEST(coro_sync, a_condition_variable_for_any_lock_gives_it_up_and_back) {
  weft::timed_mutex timed;
  passes_a_ball([&]() -> weft::task<std::unique_lock<weft::timed_mutex>> {
    co_await timed.async_lock();
    co_return std::unique_lock(timed, std::adopt_lock);
  });
  weft::recursive_mutex recursive;
  passes_a_ball([&]() -> weft::task<std::unique_lock<weft::recursive_mutex>> {
    co_await recursive.async_lock();
    co_return std::unique_lock(recursive, std::adopt_lock);
  });
}

TEST(coro_sync, a_condition_variable_takes_a_mutex_or_a_shared_lock) {
  weft::condition_variable_any changed;
  weft::shared_mutex m;
  std::atomic<int> waiting{0}, over{0};
  bool open = false;
  weft::task_group g;
  for (int i = 0; i < 3; ++i)
    g.spawn([&]() -> weft::task<void> {
      co_await m.async_lock_shared();
      std::shared_lock lock(m, std::adopt_lock);
      ++waiting;
      co_await weft::async_wait(changed, lock, [&] { return open; });
      EXPECT_TRUE(lock.owns_lock());
      ++over;
    });
  g.spawn([&]() -> weft::task<void> {
    co_await m.async_lock();
    ++waiting;
    co_await weft::async_wait(changed, m, [&] { return open; });
    ++over;
    m.unlock();
  });
  while (waiting < 4)
    weft::taskyield();
  {
    const std::lock_guard held(m); // all of them have given it up
    EXPECT_EQ(over, 0);
    open = true;
  }
  changed.notify_all();
  g.wait();
  EXPECT_EQ(over, 4);
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(coro_sync, waits_with_any_lock_end_by_deadline_or_stop_with_the_lock_taken) {
  weft::timed_mutex m;
  weft::condition_variable_any v;
  std::stop_source stop;
  std::atomic<bool> may_stop{false}, may_notify{false};
  auto run = [&]() -> weft::task<void> {
    co_await m.async_lock();
    std::unique_lock lock(m, std::adopt_lock);
    EXPECT_EQ(co_await weft::async_wait_for(v, lock, 1ms), std::cv_status::timeout);
    EXPECT_TRUE(lock.owns_lock());
    may_stop = true;
    EXPECT_FALSE(co_await weft::async_wait(v, lock, stop.get_token()));
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_FALSE(co_await weft::async_wait(v, lock, stop.get_token(), [] { return false; }));
    EXPECT_TRUE(co_await weft::async_wait(v, lock, stop.get_token(), [] { return true; }));
    EXPECT_FALSE(m.try_lock());
    may_notify = true;
    EXPECT_EQ(co_await weft::async_wait_for(v, lock, 1h), std::cv_status::no_timeout);
    EXPECT_TRUE(co_await weft::async_wait(v, lock, std::stop_token()));
    co_await weft::async_wait(v, lock);
    EXPECT_TRUE(lock.owns_lock());
  };
  auto f = weft::async(run);
  while (!may_stop)
    weft::this_task::sleep_for(1ms);
  stop.request_stop();
  while (!may_notify)
    weft::this_task::sleep_for(1ms);
  while (f.wait_for(1ms) != weft::future_status::ready)
    v.notify_one();
  f.get();
}

TEST(coro_sync, a_condition_variable_for_any_lock_refuses_one_that_is_not_held) {
  weft::timed_mutex m;
  weft::condition_variable_any v;
  auto run = [&]() -> weft::task<void> {
    std::unique_lock lock(m, std::defer_lock);
    co_await weft::async_wait(v, lock);
  };
  EXPECT_THROW(run().get(), std::system_error);
  v.notify_all(); // the waiter has left the list
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

/// Is a lock that another thread finds its waiter by, and that is not given up then.
struct refuses_when_notified {
  test::gate &waits, &is_granted;
  void lock() {}
  void unlock() {
    waits.open();
    while (!is_granted.is_open())
      std::this_thread::yield();
    throw std::logic_error("on purpose");
  }
  weft::detail::async_turn async_lock() { return {}; }
};
/// Is in front of others in a list, and holds the grants of all behind it up.
struct holds_grants_up : weft::detail::notified_event {
  test::gate is_granted;
  std::atomic<bool> may_go{false};
  bool was_left_early = false; // by the one behind it
  std::atomic<bool> is_left{false};
  holds_grants_up() {
    this->resume = [](weft::detail::wait_node<> &node) {
      auto &self = static_cast<holds_grants_up &>(node);
      self.is_granted.open();
      std::this_thread::sleep_for(20ms); // longer than a wait takes that does not wait for its grant
      self.was_left_early = self.is_left;
      self.came.set();
    };
  }
};

TEST(coro_sync, a_lock_that_cannot_be_given_up_waits_for_a_grant_that_has_begun) {
  struct stays {
    void lock() {}
    void unlock() {}
  } first_lock;
  const auto check = [&first_lock](const auto &wait) {
    weft::condition_variable_any changed;
    holds_grants_up first;
    changed.begin_wait_by_event(first, first_lock);
    test::gate waits;
    refuses_when_notified lock{waits, first.is_granted};
    std::thread notifier([&] {
      while (!waits.is_open()) // runs no task meanwhile: the one that waits keeps its thread until the grant
        std::this_thread::yield();
      changed.notify_all(); // takes both, and grants the first one first
    });
    wait(changed, lock, first);
    notifier.join();
    EXPECT_FALSE(first.was_left_early);
  };
  check([](auto &changed, auto &lock, auto &first) {
    EXPECT_THROW(changed.wait(lock), std::logic_error);
    first.is_left = true;
  });
  check([](auto &changed, auto &lock, auto &first) {
    auto run = [&]() -> weft::task<void> {
      try {
        co_await weft::async_wait(changed, lock);
        ADD_FAILURE() << "it was given up";
      } catch (const std::logic_error &) {
        first.is_left = true;
      }
    };
    weft::async(run).get();
  });
}

TEST(coro_sync, recursive_mutexes_belong_to_the_task_of_the_coroutine) {
  weft::recursive_mutex m;
  excludes([&] { return m.async_lock(); }, [&] { m.unlock(); });
  weft::recursive_timed_mutex t;
  excludes([&] { return t.async_lock(); }, [&] { t.unlock(); });
  auto within_1ms = [&]() -> weft::task<bool> {
    const bool taken = co_await t.async_try_lock_for(1ms);
    if (taken)
      t.unlock();
    co_return taken;
  };
  std::stop_source stop;
  stop.request_stop();
  auto unless_stopped = [&]() -> weft::task<bool> {
    co_return co_await t.async_lock(stop.get_token());
  };
  auto inner = [&]() -> weft::task<void> {
    co_await t.async_lock(); // the task has it
    EXPECT_TRUE(co_await t.async_try_lock_for(0ms));
    EXPECT_TRUE(co_await t.async_lock(std::stop_token()));
    t.unlock();
    t.unlock();
    t.unlock();
  };
  auto run = [&]() -> weft::task<void> {
    co_await t.async_lock();
    co_await inner();
    co_await weft::this_task::async_yield(); // perhaps on another worker
    EXPECT_FALSE(co_await weft::async([&] { return t.try_lock(); }));
    EXPECT_FALSE(co_await weft::async(within_1ms));
    EXPECT_FALSE(co_await weft::async(unless_stopped));
    t.unlock();
    EXPECT_TRUE(co_await weft::async(within_1ms));
  };
  run().get();
}

TEST(coro_sync, calls_once_and_waits_for_the_call) {
  weft::once_flag flag;
  std::atomic<int> calls{0};
  weft::event begun, may_end;
  auto slow = [&](int by) -> weft::task<void> {
    begun.set();
    co_await may_end.async_wait();
    calls += by;
  };
  weft::task_group g;
  for (int i = 0; i < 4; ++i)
    g.spawn([&]() -> weft::task<void> {
      co_await weft::async_call_once(flag, slow, 1);
      EXPECT_EQ(calls, 1);
    });
  g.spawn([&] {
    begun.wait();
    weft::call_once(flag, [&] { calls += 100; });
    EXPECT_EQ(calls, 1);
  });
  begun.wait();
  EXPECT_EQ(calls, 0);
  may_end.set();
  g.wait();
  weft::async_call_once(flag, [&] { calls += 100; }).get(); // it was called
  EXPECT_EQ(calls, 1);
}

TEST(coro_sync, the_next_one_calls_after_an_exception_of_the_first) {
  weft::once_flag flag;
  int calls = 0;
  auto run = [&]() -> weft::task<void> {
    for (int i = 0; i < 2; ++i)
      try {
        co_await weft::async_call_once(flag, [&] {
          ++calls;
          throw std::logic_error("not yet");
        });
      } catch (const std::logic_error &) {
      }
    co_await weft::async_call_once(flag, [&] { calls += 10; });
    co_await weft::async_call_once(flag, [&] { calls += 100; });
  };
  run().get();
  EXPECT_EQ(calls, 12);
}

TEST(coro_sync, gives_up_the_wait_for_another_call) {
  weft::once_flag flag;
  weft::event begun, may_end;
  const auto no_call = [] { ADD_FAILURE() << "another call runs, or has returned"; };
  std::stop_source requested, stop;
  requested.request_stop();
  weft::future<void> first =
      weft::async(weft::async_call_once(flag, [&]() -> weft::task<void> {
        begun.set();
        co_await may_end.async_wait();
      }));
  begun.wait();
  const std::stop_token now = requested.get_token(), later = stop.get_token(), never;
  auto run = [&]() -> weft::task<void> {
    EXPECT_FALSE(co_await weft::async_call_once(flag, now, no_call));
    EXPECT_FALSE(co_await weft::async_call_once_for(flag, 1ms, no_call));
    weft::future<bool> waits = weft::async(weft::async_call_once(flag, later, no_call));
    EXPECT_EQ(co_await weft::async_wait_for(waits, 1ms), std::future_status::timeout);
    stop.request_stop();
    EXPECT_FALSE(co_await waits);
    waits = weft::async(weft::async_call_once(flag, never, no_call));
    may_end.set();
    EXPECT_TRUE(co_await waits);
    EXPECT_TRUE(co_await weft::async_call_once(flag, now, no_call)); // it was called
  };
  run().get();
  first.get();

  weft::once_flag free;
  int calls = 0;
  auto count = [&](int by) -> weft::task<void> {
    co_await weft::this_task::async_yield();
    if ((calls += by) == 1)
      throw std::logic_error("the first");
  };
  auto call = [&]() -> weft::task<void> {
    bool threw = false;
    try {
      (void)co_await weft::async_call_once_for(free, 0s, count, 1);
    } catch (const std::logic_error &) {
      threw = true;
    }
    EXPECT_TRUE(threw);
    EXPECT_TRUE(co_await weft::async_call_once_for(free, 0s, count, 10)); // nothing to wait for
    EXPECT_TRUE(co_await weft::async_call_once_for(free, 0s, count, 100));
  };
  call().get();
  EXPECT_EQ(calls, 11);
}

TEST(coro_sync, joins_threads) {
  weft::event may_end;
  std::atomic<bool> ended{false};
  weft::thread t([&] {
    may_end.wait();
    ended = true;
  });
  weft::jthread stopped([](std::stop_token stop) {
    while (!stop.stop_requested())
      weft::this_thread::yield();
  });
  auto joins = weft::async([&]() -> weft::task<void> {
    co_await t.async_join();
    EXPECT_TRUE(ended);
    EXPECT_FALSE(t.joinable());
    EXPECT_THROW((void)t.async_join(), std::system_error);
    stopped.request_stop();
    co_await stopped.async_join();
    EXPECT_FALSE(stopped.joinable());
  });
  EXPECT_EQ(joins.wait_for(2ms), weft::future_status::timeout);
  may_end.set();
  joins.get();
}

TEST(coro_sync, a_thread_that_joins_itself_is_refused) {
  std::atomic<bool> refused{false};
  weft::event known;
  weft::thread t;
  t = weft::thread([&] {
    known.wait();
    try {
      (void)t.async_join();
    } catch (const std::system_error &e) {
      refused = e.code() == std::errc::resource_deadlock_would_occur;
    }
  });
  known.set();
  while (!refused)
    weft::taskyield();
  t.join();
}

TEST(coro_sync, a_condition_variable_refuses_a_lock_that_is_not_held) {
  weft::mutex m;
  weft::condition_variable v;
  auto run = [&]() -> weft::task<void> {
    std::unique_lock lock(m, std::defer_lock);
    co_await v.async_wait(lock);
  };
  EXPECT_THROW(run().get(), std::system_error);
  v.notify_all();
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(coro_sync, deadlines_meet_grants) {
  const int rounds = test::scaled(400);
  weft::binary_semaphore s(0);
  weft::condition_variable v;
  weft::mutex m;
  long units = 0;
  auto taker = weft::async([&]() -> weft::task<void> {
    for (int i = 0; i < rounds; ++i) {
      if (co_await s.async_try_acquire_for(std::chrono::microseconds(i % 30)))
        ++units;
      std::unique_lock lock(m);
      (void)co_await v.async_wait_for(lock, std::chrono::microseconds(i % 20));
      EXPECT_TRUE(lock.owns_lock());
    }
  });
  long given = 0;
  while (!taker.is_ready()) {
    s.release();
    ++given;
    v.notify_one();
    weft::this_task::sleep_for(5us);
  }
  taker.get();
  while (s.try_acquire())
    ++units;
  EXPECT_EQ(units, given);
}

TEST(coro_sync, stop_requests_meet_grants) {
  const int rounds = test::scaled(300);
  weft::counting_semaphore<> s(0);
  long units = 0;
  for (int i = 0; i < rounds; ++i) {
    std::stop_source stop;
    auto taker = weft::async(
        [&]() -> weft::task<bool> { co_return co_await s.async_acquire(stop.get_token()); });
    auto requester = weft::async([&] { stop.request_stop(); });
    s.release();
    units += taker.get() ? 1 : 0;
    requester.get();
    while (s.try_acquire())
      ++units;
  }
  EXPECT_EQ(units, rounds);
}

TEST(coro_sync, waits_for_the_tasks_of_a_group) {
  auto run = []() -> weft::task<int> {
    std::atomic<int> done{0};
    weft::task_group g;
    co_await weft::async_wait(g); // empty
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 20; ++i)
        g.spawn([&] {
          weft::taskyield();
          ++done;
        });
      co_await weft::async_wait(g);
      EXPECT_EQ(done, 20 * (round + 1));
    }
    g.spawn([] { throw std::logic_error("x"); });
    try {
      co_await weft::async_wait(g);
      ADD_FAILURE() << "no exception";
    } catch (const std::logic_error &) {
    }
    co_return done;
  };
  EXPECT_EQ(run().get(), 60);
}

TEST(coro_sync, refuses_the_group_of_another_task) {
  weft::task_group g;
  auto run = [&]() -> weft::task<void> { co_await weft::async_wait(g); };
  try {
    run().get();
    ADD_FAILURE() << "no error";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::invalid_argument);
  }
}

TEST(coro_sync, waits_for_children) {
  auto run = []() -> weft::task<void> {
    int x = 0;
    co_await weft::async_taskwait();
    for (int round = 1; round <= 3; ++round) {
      for (int i = 0; i < 10; ++i)
        weft::spawn([&x] { ++x; }, weft::inout(x));
      co_await weft::async_taskwait();
      EXPECT_EQ(x, 10 * round);
    }
    weft::spawn([] { throw std::logic_error("x"); });
    try {
      co_await weft::async_taskwait();
      ADD_FAILURE() << "no exception";
    } catch (const std::logic_error &) {
    }
  };
  run().get();
}

/// Waits for the tasks of a group, or for the children of the task, by each form with a limit.
template <class Spawn, class Stop, class For, class Until, class Plain>
weft::task<void> gives_children_up(Spawn spawn, Stop by_stop, For within, Until until, Plain plain) {
  std::stop_source requested, stop;
  requested.request_stop();
  EXPECT_TRUE(co_await by_stop(requested.get_token())); // there is nothing to wait for
  for (int i = 0; i != 3; ++i) {
    weft::event may_end;
    int done = 0;
    spawn([&] {
      may_end.wait();
      ++done;
    });
    EXPECT_FALSE(co_await within(0s));
    EXPECT_FALSE(co_await within(300us));
    EXPECT_FALSE(co_await by_stop(requested.get_token()));
    const auto soon = std::chrono::steady_clock::now() + 300us;
    EXPECT_FALSE(co_await until(soon));
    EXPECT_GE(std::chrono::steady_clock::now(), soon);
    std::stop_source now;
    std::jthread requester([now]() mutable { now.request_stop(); });
    EXPECT_FALSE(co_await by_stop(now.get_token()));
    spawn([] {});
    may_end.set();
    EXPECT_TRUE(co_await within(std::chrono::hours::max()));
    EXPECT_EQ(done, 1);
  }
  const int rounds = test::scaled(200, 20);
  for (int i = 0; i != rounds; ++i) { // an end, a time and a request, whichever is first
    std::stop_source of_child;
    std::atomic<int> ended{0};
    spawn([&] {
      of_child.request_stop();
      ended.fetch_add(1, std::memory_order_relaxed); // the wait orders it
    });
    bool over = false;
    if (i % 2 == 0)
      over = co_await by_stop(of_child.get_token());
    else
      over = co_await within(std::chrono::microseconds(i % 50));
    if (!over)
      co_await plain();
    EXPECT_EQ(ended.load(std::memory_order_relaxed), 1);
  }
  spawn([] { throw std::logic_error("x"); });
  bool thrown = false;
  try {
    EXPECT_TRUE(co_await by_stop(stop.get_token()));
  } catch (const std::logic_error &) {
    thrown = true;
  }
  EXPECT_TRUE(thrown);
}

TEST(coro_sync, waits_for_children_end_at_a_limit) {
  auto run = [] {
    return gives_children_up([](auto f) { weft::spawn(f); },
                             [](const std::stop_token &stop) { return weft::async_taskwait(stop); },
                             [](auto most) { return weft::async_taskwait_for(most); },
                             [](auto time) { return weft::async_taskwait_until(time); },
                             [] { return weft::async_taskwait(); });
  };
  run().get();
}

TEST(coro_sync, waits_for_a_group_end_at_a_limit) {
  auto run = []() -> weft::task<void> {
    weft::task_group g;
    auto waits = gives_children_up(
        [&g](auto f) { g.spawn(f); },
        [&g](const std::stop_token &stop) { return weft::async_wait(g, stop); },
        [&g](auto most) { return weft::async_wait_for(g, most); },
        [&g](auto time) { return weft::async_wait_until(g, time); },
        [&g] { return weft::async_wait(g); });
    co_await std::move(waits);
  };
  run().get();
}

TEST(coro_sync, waits_for_children_by_a_clock_that_is_set_wait_again) {
  static std::atomic<int> g_asked;
  struct late_clock { // is set back until it has been asked nine times
    using duration = std::chrono::microseconds;
    using time_point = std::chrono::time_point<late_clock>;
    static time_point now() { return time_point(++g_asked < 9 ? 0us : 100us); }
  };
  auto run = [&]() -> weft::task<void> {
    weft::task_group g;
    weft::event may_end;
    g.spawn([&] { may_end.wait(); });
    weft::spawn([&] { may_end.wait(); });
    EXPECT_FALSE(co_await weft::async_wait_until(g, late_clock::time_point(100us)));
    EXPECT_GE(g_asked, 9);
    g_asked = 0;
    EXPECT_FALSE(co_await weft::async_taskwait_until(late_clock::time_point(100us)));
    EXPECT_GE(g_asked, 9);
    may_end.set();
    EXPECT_TRUE(co_await weft::async_wait_until(g, late_clock::time_point::max()));
    EXPECT_TRUE(co_await weft::async_taskwait_until(late_clock::time_point::max()));
  };
  run().get();
}

TEST(coro_sync, sleeps_and_yields) {
  auto run = []() -> weft::task<void> {
    const auto begin = std::chrono::steady_clock::now();
    co_await weft::this_task::async_sleep_for(2ms);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 2ms);
    co_await weft::this_task::async_sleep_for(0ms);
    for (int i = 0; i < 100; ++i)
      co_await weft::this_task::async_yield();
  };
  all_at_once(5, [&](int) { return run(); });
}

TEST(coro_sync, a_thread_outside_of_weft_lets_coroutines_go_on) {
  weft::event e;
  weft::promise<int> p;
  weft::channel<int> c(0);
  weft::mutex m;
  m.lock();
  auto waiting = weft::async([&]() -> weft::task<int> {
    co_await e.async_wait();
    int sum = co_await p.get_future();
    sum += *co_await c.async_pop();
    co_await m.async_lock();
    m.unlock();
    co_return sum;
  });
  std::thread outside([&] {
    e.set();
    p.set_value(40);
    (void)c.push(2);
    m.unlock();
  });
  EXPECT_EQ(waiting.get(), 42);
  outside.join();
}

} // namespace
