// SPDX-License-Identifier: Apache-2.0
// Coroutines that await each other: values, exceptions, lives of frames and closures, chains of any length.
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/coro.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

/// Counts how many of it live.
struct counted {
  static inline std::atomic<int> g_alive{0};
  counted() { ++g_alive; }
  counted(const counted &) { ++g_alive; }
  counted(counted &&) noexcept { ++g_alive; }
  counted &operator=(const counted &) = default;
  ~counted() { --g_alive; }
};

weft::task<int> answer() { co_return 42; }
weft::task<void> nothing() { co_return; }
weft::task<int> fails() {
  throw std::logic_error("on purpose");
  co_return 0;
}
weft::task<long> fib(int n) {
  if (n < 2)
    co_return n;
  co_return co_await fib(n - 1) + co_await fib(n - 2);
}

TEST(coro_task, runs_from_plain_code) {
  EXPECT_EQ(answer().get(), 42);
  nothing().get();
  EXPECT_THROW(fails().get(), std::logic_error);
  EXPECT_EQ(fib(15).get(), 610);
}

TEST(coro_task, begins_when_it_is_awaited_and_not_before) {
  bool begun = false;
  auto make = [&]() -> weft::task<void> {
    begun = true;
    co_return;
  };
  {
    weft::task<void> t = make();
    EXPECT_TRUE(t.valid());
  }
  EXPECT_FALSE(begun);
  auto outer = [&]() -> weft::task<void> {
    auto t = make();
    EXPECT_FALSE(begun);
    co_await std::move(t);
    EXPECT_TRUE(begun);
    EXPECT_FALSE(t.valid());
  };
  outer().get();
  EXPECT_TRUE(begun);
}

TEST(coro_task, moves_values_and_refers_to_references) {
  static int g_value = 3;
  auto reference = []() -> weft::task<int &> { co_return g_value; };
  auto unique = []() -> weft::task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
  auto outer = [&]() -> weft::task<int> {
    int &r = co_await reference();
    r = 5;
    auto p = co_await unique();
    co_return *p + r;
  };
  EXPECT_EQ(outer().get(), 12);
  EXPECT_EQ(g_value, 5);
}

TEST(coro_task, passes_exceptions_up_the_calls) {
  auto middle = []() -> weft::task<int> { co_return co_await fails() + 1; };
  auto outer = [&]() -> weft::task<std::string> {
    try {
      co_await middle();
    } catch (const std::logic_error &e) {
      co_return e.what();
    }
    co_return "none";
  };
  EXPECT_EQ(outer().get(), "on purpose");
}

TEST(coro_task, destroys_each_object_once) {
  {
    auto inner = [](counted by_value) -> weft::task<counted> {
      counted local;
      co_return by_value;
    };
    auto outer = [&](counted c) -> weft::task<void> {
      counted here;
      counted a = co_await inner(c);
      counted b = co_await inner(counted{});
      EXPECT_EQ(counted::g_alive, 5); // the argument of get() as well
      co_return;
    };
    outer(counted{}).get();
    auto never = outer(counted{});
    EXPECT_EQ(counted::g_alive, 1);
  }
  EXPECT_EQ(counted::g_alive, 0);
}

TEST(coro_task, refuses_to_run_twice) {
  auto outer = []() -> weft::task<weft::errc> {
    auto t = answer();
    EXPECT_EQ(co_await std::move(t), 42);
    try {
      co_await std::move(t); // NOLINT: on purpose
    } catch (const weft::error &e) {
      co_return e.code();
    }
    co_return weft::errc::shut_down;
  };
  EXPECT_EQ(outer().get(), weft::errc::invalid_argument);
  weft::task<int> none;
  EXPECT_FALSE(none.valid());
  EXPECT_THROW(none.get(), weft::error);
}

TEST(coro_task, is_assigned) {
  auto make = [](counted, int n) -> weft::task<int> { co_return n; };
  auto a = make({}, 1), b = make({}, 2);
  EXPECT_EQ(counted::g_alive, 2);
  a = std::move(b);
  EXPECT_EQ(counted::g_alive, 1);
  EXPECT_FALSE(b.valid()); // NOLINT: on purpose
  EXPECT_EQ(a.get(), 2);
  EXPECT_EQ(counted::g_alive, 0);
}

TEST(coro_task, a_spawned_coroutine_keeps_its_closure_and_its_accesses) {
  int x = 0, seen = 0;
  weft::event go;
  weft::spawn(
      [&x, &go, c = counted{}]() -> weft::task<void> {
        auto f = weft::async([&go] { go.wait(); });
        co_await f;
        EXPECT_EQ(counted::g_alive, 1);
        x = 1;
      },
      weft::out(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::this_task::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(seen, 0);
  go.set();
  weft::taskwait();
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(counted::g_alive, 0);
}

TEST(coro_task, goes_where_callables_go) {
  weft::task_group g;
  std::atomic<int> sum{0};
  auto add = [&](int n) -> weft::task<int> {
    sum += n;
    co_return n;
  };
  g.spawn([&] { return add(1); }).get();
  auto h = g.spawn(add(2));
  g.wait();
  EXPECT_EQ(h.get(), 2);
  EXPECT_EQ(weft::async(add(3)).get(), 3);
  EXPECT_EQ(weft::async(add, 4).get(), 4);
  EXPECT_EQ(weft::async(add, 5).then([&](int n) { return add(n + 1); }).get(), 6);
  EXPECT_EQ(sum, 1 + 2 + 3 + 4 + 5 + 6);
}

TEST(coro_task, a_chain_of_deferred_continuations_is_dropped) {
  const auto alive = std::make_shared<int>(0);
  const auto chain = [&alive](int links) {
    weft::future<int> last = weft::async(weft::launch::deferred, [] { return 0; });
    for (int i = 0; i != links; ++i)
      last = last.then(weft::launch::deferred,
                       [alive](int v) -> weft::task<int> { co_return v + 1; });
    return last;
  };
  EXPECT_EQ(chain(3).get(), 3);
  EXPECT_TRUE(test::eventually([&] { return alive.use_count() == 1; }));
  weft::future<int> last = chain(100'000);
  EXPECT_EQ(alive.use_count(), 100'001);
  last = {};
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(coro_task, a_chain_of_ready_children_needs_no_stack) {
  auto child = [](long n) -> weft::task<long> { co_return n; };
  auto loop = [&](long rounds) -> weft::task<long> {
    long sum = 0;
    for (long i = 0; i < rounds; ++i)
      sum += co_await child(1);
    co_return sum;
  };
  EXPECT_EQ(loop(test::scaled(100'000)).get(), test::scaled(100'000));
}

weft::task<int> deep(int n) {
  if (n == 0) // GCC 12 evaluates a co_await below ?: in any case
    co_return 0;
  co_return 1 + co_await deep(n - 1);
}

TEST(coro_task, calls_nest_as_deep_as_there_is_memory) { EXPECT_EQ(deep(100'000).get(), 100'000); }

weft::future<int> eager(int n, weft::future<int> before) { co_return n + co_await before; }
weft::future<int> at_once(int n) { co_return n; }
weft::future<void> throws_at_once() {
  throw std::runtime_error("eager");
  co_return;
}

TEST(coro_future, runs_at_once_until_it_waits) {
  auto f = at_once(3);
  EXPECT_TRUE(f.is_ready());
  EXPECT_EQ(f.get(), 3);
  auto g = throws_at_once();
  EXPECT_TRUE(g.has_exception());
  EXPECT_THROW(g.get(), std::runtime_error);

  weft::promise<int> p;
  auto h = eager(1, p.get_future());
  EXPECT_FALSE(h.is_ready());
  p.set_value(41);
  EXPECT_EQ(h.get(), 42);
}

TEST(coro_future, many_wait_for_each_other) {
  weft::promise<int> p;
  weft::future<int> last = p.get_future();
  const int n = 1000;
  for (int i = 0; i < n; ++i)
    last = eager(1, std::move(last));
  p.set_value(0);
  EXPECT_EQ(last.get(), n);
}

} // namespace
