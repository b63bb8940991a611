// SPDX-License-Identifier: Apache-2.0
// Coroutines that continue from futures: what they refer to lives until they are over.
#include "support/gate.hpp"

#include <weft/coro.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using weft::launch;
constexpr launch k_policies[] = {launch::async, launch::deferred, launch::sync, launch::fork};

std::mutex g_lock;
std::set<const void *> g_alive;

/// Is a value of which one may ask, by its address, whether it is alive.
class known {
 public:
  explicit known(int n = 0) : m_number(n) { enter(); }
  known(const known &other) : m_number(other.m_number) { enter(); }
  known(known &&other) noexcept : m_number(std::exchange(other.m_number, -1)) { enter(); }
  known &operator=(const known &) = default;
  known &operator=(known &&) = default;
  ~known() {
    const std::lock_guard guard(g_lock);
    g_alive.erase(this);
  }
  [[nodiscard]] int number() const noexcept { return m_number; }
  static bool is_alive(const void *address) {
    const std::lock_guard guard(g_lock);
    return g_alive.count(address) != 0;
  }
  static bool none_is_left() {
    const std::lock_guard guard(g_lock);
    return g_alive.empty();
  }

 private:
  void enter() const {
    const std::lock_guard guard(g_lock);
    g_alive.insert(this);
  }
  int m_number;
};

weft::future<known> ready(int n) { return weft::make_ready_future<known>(n); }

/// Returns the number of a value after a suspension, or -1 if the value has not lived so long.
weft::task<int> number_later(const known &v) {
  co_await weft::this_task::async_yield();
  co_return known::is_alive(&v) ? v.number() : -1;
}
weft::future<int> number_later_at_once(const known &v) {
  co_await weft::this_task::async_yield();
  co_return known::is_alive(&v) ? v.number() : -1;
}

TEST(coro_continuation, keeps_the_value_that_it_refers_to) {
  for (const launch policy : k_policies) {
    EXPECT_EQ(ready(1).then(policy, number_later).get(), 1);
    EXPECT_EQ(ready(2).then(policy, number_later_at_once).get(), 2);
    EXPECT_EQ(ready(3).share().then(policy, number_later).get(), 3);
    EXPECT_EQ(ready(4)
                  .then(policy,
                        [](known &&v) -> weft::task<int> {
                          co_await weft::this_task::async_yield();
                          co_return known::is_alive(&v) ? v.number() : -1;
                        })
                  .get(),
              4);
  }
  EXPECT_TRUE(test::eventually(known::none_is_left)); // a task drops its closure after its end
}

TEST(coro_continuation, takes_a_value_a_reference_and_nothing) {
  EXPECT_EQ(ready(1).then([](known v) -> weft::task<int> { co_return v.number(); }).get(), 1);
  int x = 2;
  EXPECT_EQ(weft::make_ready_future<int &>(x)
                .then([&x](int &r) -> weft::task<bool> { co_return &r == &x; })
                .get(),
            true);
  EXPECT_EQ(weft::make_ready_future().then([]() -> weft::task<int> { co_return 3; }).get(), 3);
}

TEST(coro_continuation, of_an_exception_is_not_called) {
  for (const launch policy : k_policies) {
    auto failed = weft::make_exceptional_future<known>(std::logic_error("before"));
    int calls = 0;
    auto after = failed.then(policy, [&calls](const known &) -> weft::task<void> {
      ++calls;
      co_return;
    });
    EXPECT_THROW(after.get(), std::logic_error);
    EXPECT_EQ(calls, 0);
  }
}

TEST(coro_dataflow, keeps_what_it_refers_to) {
  const auto sum = [](const auto &all) {
    int n = 0;
    for (const auto &each : all)
      n += known::is_alive(&each) ? each.number() : -100;
    return n;
  };
  for (const launch policy : k_policies) {
    // A range comes from a future of its own.
    std::vector<weft::shared_future<known>> shared{ready(1), ready(2)};
    const auto later = [](const std::vector<weft::shared_future<known>> &all) -> weft::task<std::size_t> {
      const std::vector<weft::shared_future<known>> *const place = &all;
      co_await weft::this_task::async_yield();
      co_return place->size() + static_cast<std::size_t>((*place)[1].get().number());
    };
    EXPECT_EQ(weft::dataflow(policy, later, shared).get(), 4u);
    EXPECT_EQ(weft::dataflow(policy, weft::unwrapping(number_later), ready(5)).get(), 5);
    EXPECT_EQ(weft::dataflow(policy,
                             weft::unwrapping([sum](const std::vector<known> &all, const known &one)
                                                  -> weft::task<int> {
                               co_await weft::this_task::async_yield();
                               co_return sum(all) + (known::is_alive(&one) ? one.number() : -100);
                             }),
                             shared, ready(4))
                  .get(),
              7);
  }
  EXPECT_TRUE(test::eventually(known::none_is_left)); // a task drops its closure after its end
}

TEST(coro_unwrapping, gives_exceptions_and_nothing_as_the_callable_does) {
  auto throws = weft::unwrapping([](const known &) -> weft::task<void> {
    co_await weft::this_task::async_yield();
    throw std::logic_error("on purpose");
  });
  EXPECT_THROW(ready(1).then(throws).get(), std::logic_error);
  int got = 0;
  auto stores = weft::unwrapping([&got](const known &v) -> weft::task<void> {
    co_await weft::this_task::async_yield();
    got = v.number();
  });
  ready(2).then(stores).get();
  EXPECT_EQ(got, 2);
  auto refers = weft::unwrapping([&got](const known &) -> weft::task<int &> { co_return got; });
  EXPECT_EQ(&ready(3).then(refers).get(), &got);
}

/// Is a coroutine of a callable that has a value of its own. It says -1 if the callable has not lived
/// until the end.
struct adds_own {
  known own;
  weft::task<int> operator()(const known &v) const {
    co_await weft::this_task::async_yield();
    co_return known::is_alive(&own) && known::is_alive(&v) ? own.number() + v.number() : -1;
  }
};
weft::task<int> sum_of(const known &a, const known &b) { co_return a.number() + b.number(); }

TEST(coro_unwrapping, keeps_its_callable_when_the_wrapper_is_gone) {
  for (const launch policy : k_policies) {
    const auto a = ready(1).share(), b = ready(2).share();
    EXPECT_EQ(weft::async(policy, [a] { return weft::unwrapping(adds_own{known(10)})(a); }).get(), 11);
    EXPECT_EQ(weft::async(policy, [a, b] { return weft::unwrapping(sum_of)(a, b); }).get(), 3);
    EXPECT_EQ(ready(3)
                  .then(policy,
                        [](weft::future<known> v) {
                          return weft::unwrapping(adds_own{known(20)})(std::move(v));
                        })
                  .get(),
              23);
  }
  EXPECT_TRUE(test::eventually(known::none_is_left)); // a task drops its closure after its end
}

TEST(coro_unwrapping, gives_each_call_a_callable_of_its_own) {
  weft::task<int> first, second;
  {
    auto adds = weft::unwrapping(adds_own{known(10)});
    first = adds(ready(1));
    second = adds(ready(2));
  }
  EXPECT_EQ(second.get(), 12);
  EXPECT_EQ(first.get(), 11);
}

TEST(coro_unwrapping, moves_a_callable_that_cannot_be_copied) {
  const auto made = [](int n) {
    return weft::unwrapping([own = std::make_unique<int>(n)](const known &v) -> weft::task<int> {
      co_await weft::this_task::async_yield();
      co_return *own + v.number();
    });
  };
  for (const launch policy : k_policies) {
    EXPECT_EQ(ready(1).then(policy, made(10)).get(), 11);
    EXPECT_EQ(weft::dataflow(policy, made(20), ready(2)).get(), 22);
  }
  auto adds = made(30);
  EXPECT_EQ(std::move(adds)(ready(3)).get(), 33);
}

} // namespace
