// SPDX-License-Identifier: Apache-2.0
// Coroutines and awaitables of other libraries beside those of Weft, exceptions from every place, cancellation.
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/coro.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <gtest/gtest.h>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// Is a coroutine type that knows nothing of Weft: begins at once, and destroys itself at the end.
struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

weft::task<int> twice(int n) {
  co_await weft::this_task::async_yield();
  co_return 2 * n;
}
weft::task<int> fails() {
  co_await weft::this_task::async_yield();
  throw std::logic_error("on purpose");
}

TEST(coro_outside, a_coroutine_of_another_library_awaits_everything) {
  weft::latch over(1);
  weft::mutex m;
  weft::timed_mutex t;
  weft::condition_variable changed;
  weft::channel<int> c(0);
  weft::promise<int> p;
  bool flag = false;
  int sum = 0;
  weft::latch tried(1); // so that the test unlocks t only when the timed lock is given up, however late that is
  t.lock();
  m.lock();
  [](auto &...all) -> detached {
    auto refs = std::tie(all...);
    auto &[over, tried, m, t, changed, c, p, flag, sum] = refs;
    sum += co_await twice(1);
    try {
      co_await fails();
    } catch (const std::logic_error &) {
      sum += 10;
    }
    sum += co_await p.get_future();
    sum += co_await weft::async([] { return 1000; });
    sum += *co_await c.async_pop();
    EXPECT_FALSE(co_await t.async_try_lock_for(1ms));
    tried.count_down();
    co_await t.async_lock();
    t.unlock();
    co_await m.async_lock();
    std::unique_lock lock(m, std::adopt_lock);
    while (!flag)
      co_await changed.async_wait(lock);
    lock.unlock();
    co_await weft::this_task::async_sleep_for(1ms);
    co_await weft::this_task::async_yield();
    std::stop_source stop;
    auto never = weft::promise<int>();
    auto f = never.get_future();
    EXPECT_EQ(co_await weft::async_wait_for(f, 1ms), std::future_status::timeout);
    stop.request_stop();
    try {
      co_await weft::async_get(f, stop.get_token());
    } catch (const weft::error &) {
      sum += 100'000;
    }
    over.count_down();
  }(over, tried, m, t, changed, c, p, flag, sum);
  p.set_value(100);
  EXPECT_EQ(c.push(10'000), weft::channel_status::success);
  tried.wait();
  t.unlock();
  m.unlock();
  m.lock();
  flag = true;
  m.unlock();
  while (!over.try_wait()) {
    changed.notify_one();
    weft::this_task::sleep_for(1ms);
  }
  EXPECT_EQ(sum, 111'112);
}

/// Has steps of which each sets the next one, in the object that the driver has awaited.
struct steps {
  weft::task<int> next;
  std::vector<int> seen;
  weft::latch over{1};
};
weft::task<int> second_of(steps &) { co_return 2; }
weft::task<int> first_of(steps &all) {
  all.next = second_of(all);
  co_return 1;
}
detached drive(steps &all) {
  while (all.next.valid())
    all.seen.push_back(co_await std::move(all.next));
  all.over.count_down();
}

TEST(coro_outside, an_awaited_object_may_take_another_coroutine_meanwhile) {
  steps all;
  all.next = first_of(all);
  drive(all);
  all.over.wait();
  EXPECT_EQ(all.seen, (std::vector{1, 2}));
}

/// Resumes a coroutine in the way that it is given.
enum class how { from_a_thread, at_once, not_suspended, ready, by_handle, noop };
struct awaitable {
  how way;
  int value;
  std::thread *thread;
  [[nodiscard]] bool await_ready() const noexcept { return way == how::ready; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) const {
    switch (way) {
    case how::at_once:
      h.resume();
      return std::noop_coroutine();
    case how::from_a_thread:
    case how::noop:
      *thread = std::thread([h] { h.resume(); });
      return std::noop_coroutine();
    default:
      return h;
    }
  }
  [[nodiscard]] int await_resume() const noexcept { return value; }
};
struct says_bool {
  bool suspends;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> h) const {
    if (suspends)
      h.resume();
    return suspends;
  }
  void await_resume() const noexcept {}
};
struct throws_at {
  int where;
  bool await_ready() const {
    if (where == 0)
      throw std::runtime_error("ready");
    return false;
  }
  void await_suspend(std::coroutine_handle<> h) const {
    if (where == 1)
      throw std::runtime_error("suspend");
    h.resume();
  }
  void await_resume() const {
    if (where == 2)
      throw std::runtime_error("resume");
  }
};
struct by_operator {
  int value;
};
awaitable operator co_await(by_operator o) { return {how::at_once, o.value, nullptr}; }
struct by_member {
  int value;
  awaitable operator co_await() const { return {how::ready, value, nullptr}; }
};

TEST(coro_outside, a_coroutine_of_weft_awaits_what_others_resume) {
  std::thread first, second;
  auto run = [&]() -> weft::task<int> {
    const char *const before = weft::this_task::label();
    int sum = 0;
    sum += co_await awaitable{how::from_a_thread, 1, &first};
    EXPECT_STREQ(weft::this_task::label(), before); // the task, not the thread that resumed it
    sum += co_await awaitable{how::at_once, 10, nullptr};
    sum += co_await awaitable{how::not_suspended, 100, nullptr};
    sum += co_await awaitable{how::ready, 1000, nullptr};
    sum += co_await awaitable{how::noop, 10'000, &second};
    co_await says_bool{true};
    co_await says_bool{false};
    sum += co_await by_operator{100'000};
    sum += co_await by_member{1'000'000};
    sum += co_await twice(5'000'000);
    co_await std::suspend_never();
    co_return sum;
  };
  EXPECT_EQ(run().get(), 11'111'111);
  first.join();
  second.join();
}

/// Is an awaiter that its owner looks at, and that cannot be copied or moved.
struct counts_its_waits {
  int waits = 0;
  mutable int results = 0;
  counts_its_waits() = default;
  counts_its_waits(const counts_its_waits &) = delete;
  counts_its_waits &operator=(const counts_its_waits &) = delete;
  ~counts_its_waits() = default;
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    ++waits;
    h.resume();
  }
  void await_suspend(std::coroutine_handle<> h) const { h.resume(); }
  int await_resume() const noexcept { return ++results; }
};
struct refers_to_one {
  counts_its_waits &one;
  counts_its_waits &operator co_await() const noexcept { return one; }
};
struct makes_one {
  counts_its_waits operator co_await() const noexcept { return {}; } // NOLINT
};
/// Is an awaiter whose owner resumes what waits.
struct held_gate {
  test::gate *is_waited_for;
  std::coroutine_handle<> waiting = nullptr;
  [[nodiscard]] static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) noexcept {
    waiting = h;
    is_waited_for->open();
  }
  static void await_resume() noexcept {}
};

TEST(coro_outside, an_awaiter_that_exists_is_not_copied) {
  counts_its_waits one;
  auto run = [&one]() -> weft::task<int> {
    int sum = co_await one;
    sum += 10 * co_await refers_to_one{one};
    sum += 100 * co_await std::as_const(one);
    sum += 1000 * co_await counts_its_waits{};
    sum += 10'000 * co_await makes_one{};
    co_return sum;
  };
  EXPECT_EQ(run().get(), 11'321);
  EXPECT_EQ(one.waits, 2); // a const one counts none
  EXPECT_EQ(one.results, 3);
}

TEST(coro_outside, the_owner_of_an_awaiter_finds_the_handle_in_it) {
  test::gate waited_for;
  held_gate gate{&waited_for};
  auto over = weft::async([&]() -> weft::task<void> { co_await gate; });
  ASSERT_TRUE(waited_for.pass());
  ASSERT_TRUE(gate.waiting);
  gate.waiting.resume();
  over.get();
}

TEST(coro_outside, exceptions_of_awaitables_reach_the_coroutine) {
  auto run = []() -> weft::task<std::string> {
    std::string all;
    for (int i = 0; i < 4; ++i)
      try {
        co_await throws_at{i};
        all += "none";
      } catch (const std::runtime_error &e) {
        all += e.what();
        all += ' ';
      }
    co_return all;
  };
  EXPECT_EQ(run().get(), "ready suspend resume none");
}

TEST(coro_outside, many_awaits_of_what_is_resumed_at_once) {
  auto run = []() -> weft::task<long> {
    long sum = 0;
    for (int i = 0; i < test::scaled(20'000); ++i)
      sum += co_await by_operator{1};
    co_return sum;
  };
  EXPECT_EQ(run().get(), test::scaled(20'000));
}

// ---- exceptions, and where they go

TEST(coro_errors, go_where_those_of_a_task_go) {
  weft::spawn([]() -> weft::task<void> { co_await fails(); });
  EXPECT_THROW(weft::taskwait(), std::logic_error);

  weft::task_group g;
  g.spawn([]() -> weft::task<void> { co_await fails(); });
  EXPECT_THROW(g.wait(), std::logic_error);

  auto h = weft::spawn([]() -> weft::task<int> { co_return co_await fails(); });
  EXPECT_THROW(h.get(), std::logic_error);

  auto f = weft::async(fails).then([](weft::future<int> before) {
    EXPECT_TRUE(before.has_exception());
    return 3;
  });
  EXPECT_EQ(f.get(), 3);
}

struct throws_when_copied {
  throws_when_copied() = default;
  throws_when_copied(const throws_when_copied &) { throw std::domain_error("copied"); }
  throws_when_copied(throws_when_copied &&) { throw std::domain_error("moved"); }
};

TEST(coro_errors, of_results_and_callables) {
  auto result = []() -> weft::task<throws_when_copied> { co_return throws_when_copied(); };
  EXPECT_THROW((void)result().get(), std::domain_error);
  auto none = []() -> weft::task<void> { return {}; };
  auto code = [](auto f) {
    try {
      weft::async(f).get();
    } catch (const weft::error &e) {
      return e.code();
    }
    return weft::errc::shut_down;
  };
  EXPECT_EQ(code(none), weft::errc::invalid_argument);
  auto throws = []() -> weft::task<void> { throw std::domain_error("no coroutine"); };
  EXPECT_THROW(weft::async(throws).get(), std::domain_error);
  auto outer = [&]() -> weft::task<void> { co_await none(); };
  EXPECT_EQ(code(outer), weft::errc::invalid_argument);
  auto invalid = []() -> weft::task<void> {
    weft::future<int> f;
    co_await f;
  };
  EXPECT_THROW(weft::async(invalid).get(), std::future_error);
}

// ---- cancellation

TEST(coro_cancel, a_cancelled_group_skips_what_has_not_begun_and_nothing_else) {
  weft::task_group g(weft::exception_policy::first_cancels);
  weft::event go;
  std::atomic<int> begun{0}, ended{0}, seen{0};
  for (int i = 0; i < 3; ++i)
    g.spawn([&]() -> weft::task<void> {
      ++begun;
      co_await go.async_wait();
      seen += weft::this_task::cancelled();
      ++ended;
    });
  while (begun < 3)
    weft::this_task::sleep_for(100us);
  g.cancel();
  g.spawn([&]() -> weft::task<void> {
    ++begun;
    co_return;
  });
  weft::this_task::sleep_for(1ms);
  go.set();
  g.wait();
  EXPECT_EQ(begun, 3);
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(seen, 3);
}

TEST(coro_cancel, a_request_to_stop_is_seen_by_the_coroutine) {
  weft::event go;
  auto f = weft::async([&]() -> weft::task<bool> {
    co_await go.async_wait();
    co_return weft::this_task::cancelled();
  });
  weft::this_task::sleep_for(1ms);
  f.request_stop();
  go.set();
  try {
    EXPECT_TRUE(f.get());
  } catch (const weft::error &e) { // it had not begun
    EXPECT_EQ(e.code(), weft::errc::cancelled);
  }
}

TEST(coro_cancel, waits_for_futures_end_by_result_deadline_or_stop) {
  auto run = []() -> weft::task<void> {
    weft::promise<int> p;
    auto f = p.get_future();
    EXPECT_EQ(co_await weft::async_wait_for(f, 1ms), std::future_status::timeout);
    EXPECT_EQ(co_await weft::async_wait_for(f, 0ms), std::future_status::timeout);
    auto lazy = weft::async(weft::launch::deferred, [] { return 1; });
    EXPECT_EQ(co_await weft::async_wait_for(lazy, 1ms), std::future_status::deferred);
    EXPECT_EQ(co_await lazy, 1);
    std::stop_source stop;
    auto requester = weft::async([&] {
      weft::this_task::sleep_for(1ms);
      stop.request_stop();
    });
    for (int i = 0; i < 2; ++i)
      try {
        co_await weft::async_get(f, stop.get_token());
        ADD_FAILURE() << "no error";
      } catch (const weft::error &e) {
        EXPECT_EQ(e.code(), weft::errc::cancelled);
      }
    co_await requester;
    EXPECT_TRUE(f.valid());
    p.set_value(3);
    EXPECT_EQ(co_await weft::async_wait_for(f, 1ms), std::future_status::ready);
    auto shared = f.share();
    EXPECT_EQ(co_await shared, 3);
    EXPECT_EQ(co_await weft::async_get(shared, std::stop_token()), 3);
    auto deferred = weft::async(weft::launch::deferred, [] { return 4; });
    EXPECT_EQ(co_await weft::async_get(deferred, std::stop_source().get_token()), 4);
    EXPECT_THROW((void)weft::async_get(deferred, stop.get_token()), std::future_error);
    EXPECT_THROW((void)weft::async_wait_for(deferred, 1ms), std::future_error);
  };
  weft::async(run).get();
}

TEST(coro_cancel, results_meet_deadlines_and_stops) {
  const int rounds = test::scaled(400);
  int got = 0, late = 0, stopped = 0;
  for (int i = 0; i < rounds; ++i) {
    weft::promise<int> p;
    std::stop_source stop;
    auto waiter = weft::async([&, f = p.get_future(), i]() mutable -> weft::task<void> {
      if (i % 2) {
        const auto how = co_await weft::async_wait_for(f, std::chrono::microseconds(i % 20));
        how == std::future_status::ready ? ++got : ++late;
        co_return;
      }
      try {
        co_await weft::async_get(f, stop.get_token());
        ++got;
      } catch (const weft::error &) {
        ++stopped;
      }
    });
    auto requester = weft::async([&] { stop.request_stop(); });
    p.set_value(1);
    waiter.get();
    requester.get();
  }
  EXPECT_EQ(got + late + stopped, rounds);
}

// ---- tasks of special kinds

TEST(coro_kinds, final_and_undeferred_tasks_end_before_the_spawn_returns) {
  int x = 0;
  auto body = [&x]() -> weft::task<void> {
    co_await weft::this_task::async_sleep_for(1ms);
    ++x;
  };
  weft::spawn(
      [&] {
        weft::spawn(body);
        EXPECT_EQ(x, 1);
      },
      weft::final());
  weft::taskwait();
  weft::spawn(body, weft::if_(false));
  EXPECT_EQ(x, 2);
  EXPECT_EQ(weft::spawn(twice(2), weft::if_(false)).get(), 4);
  weft::spawn([]() -> weft::task<void> { co_await fails(); }, weft::if_(false));
  EXPECT_THROW(weft::taskwait(), std::logic_error);
  weft::spawn(body, weft::if_(true));
  weft::taskwait();
  EXPECT_EQ(x, 3);
}

/// Needs more stack than a task has that asks for none.
[[gnu::noinline]] int use_much_stack(int i) {
  volatile char much[300 << 10];
  for (std::size_t at = 0; at < sizeof(much); at += 1024)
    much[at] = static_cast<char>(i);
  return much[sizeof(much) - 1024];
}

TEST(coro_kinds, keep_priority_stack_and_worker_set) {
  auto run = []() -> weft::task<int> {
    for (int i = 0; i < 10; ++i)
      co_await weft::this_task::async_yield();
    co_return 1;
  };
  const auto run_deep = [](int yields) -> weft::task<int> {
    for (int i = 0; i < yields; ++i) {
      co_await weft::this_task::async_yield(); // each run has the stack that was asked for
      EXPECT_EQ(use_much_stack(i), i);
    }
    co_return 1;
  };
  EXPECT_EQ(weft::spawn(run_deep(10), weft::priority(3), weft::stack_bytes(512 << 10)).get(), 1);
  EXPECT_EQ(weft::spawn(run, weft::priority(-3), weft::label("slow")).get(), 1);
}

TEST(coro_kinds, a_taskiter_takes_coroutines_that_need_not_wait) {
  int x = 0;
  weft::taskiter(3, [&] {
    weft::spawn(
        [&x]() -> weft::task<void> {
          auto child = []() -> weft::task<int> { co_return 1; };
          x += co_await child();
        },
        weft::inout(x));
  });
  EXPECT_EQ(x, 3);
}

TEST(coro_kinds, a_taskiter_refuses_coroutines_that_wait) {
  try {
    weft::taskiter(2, [&] {
      weft::spawn([]() -> weft::task<void> { co_await weft::this_task::async_yield(); });
    });
    weft::taskwait();
    ADD_FAILURE() << "no error";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::not_supported);
  }
}

weft::future<int> eager() { co_return 1; }
TEST(coro_kinds, a_taskiter_refuses_to_record_an_eager_coroutine) {
  int refused = 0;
  try {
    weft::taskiter(2, [&] {
      try {
        (void)eager();
      } catch (const weft::error &e) {
        refused += e.code() == weft::errc::not_supported;
      }
    });
    weft::taskwait();
  } catch (const weft::error &) {
  }
  EXPECT_EQ(refused, 1);
}

struct begins_a_coroutine {
  void operator()(int &into, const int &from) const {
    into += from;
    (void)eager();
  }
};
TEST(coro_kinds, the_operation_of_a_reduction_refuses_to_begin_an_eager_coroutine) {
  int x = 0;
  weft::spawn([&] { weft::reduction_local(x) = 3; }, weft::label("adds"),
              weft::reduction(x, begins_a_coroutine{}, 0));
  try {
    weft::taskwait();
    ADD_FAILURE() << "it was not refused";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::not_a_task);
    EXPECT_NE(std::string(e.what()).find("a coroutine that returns a future begins in the operation of a reduction below task"),
              std::string::npos)
        << e.what();
  }
}

TEST(coro_kinds, accesses_children_and_events_belong_to_the_whole_coroutine) {
  int x = 0, order = 0;
  weft::event go;
  weft::spawn(
      [&]() -> weft::task<void> {
        co_await go.async_wait();
        weft::spawn([&] { x = 1; }); // a child of the task
        const auto self = weft::this_task::self();
        weft::this_task::increase_events(1);
        weft::spawn([self] { weft::decrease_events(self, 1); });
        co_await weft::this_task::async_yield();
        order = 1;
      },
      weft::out(order), weft::wait);
  weft::spawn(
      [&] {
        EXPECT_EQ(order, 1);
        EXPECT_EQ(x, 1);
      },
      weft::in(order));
  go.set();
  weft::taskwait();
}

TEST(coro_kinds, a_coroutine_may_block) {
  auto run = []() -> weft::task<int> {
    weft::this_task::sleep_for(100us);
    co_await weft::this_task::async_yield();
    weft::spawn([] { weft::taskyield(); });
    weft::taskwait();
    const int n = weft::async([] { return 5; }).get();
    co_await weft::this_task::async_yield();
    co_return n;
  };
  EXPECT_EQ(run().get(), 5);
}

} // namespace
