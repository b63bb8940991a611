// SPDX-License-Identifier: Apache-2.0
// Handles: results of tasks.
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using test::dawdle;

TEST(handle, get_returns_the_result) {
  auto h = weft::spawn([] { return 42; });
  static_assert(std::is_same_v<decltype(h), weft::handle<int>>);
  EXPECT_TRUE(h.valid());
  EXPECT_EQ(h.get(), 42);
  EXPECT_FALSE(h.valid());
}

TEST(handle, the_result_may_be_move_only) {
  auto h = weft::spawn([] {
    dawdle();
    return std::make_unique<std::string>("moved");
  });
  EXPECT_EQ(*h.get(), "moved");
}

TEST(handle, the_result_needs_no_default_constructor) {
  struct value {
    explicit value(int v) : v(v) {}
    int v;
  };
  EXPECT_EQ(weft::spawn([] { return value(3); }).get().v, 3);
}

TEST(handle, a_tracked_task_without_result_has_a_handle) {
  int x = 0;
  auto h = weft::spawn([&] { dawdle(), x = 1; }, weft::tracked);
  static_assert(std::is_same_v<decltype(h), weft::handle<void>>);
  h.get();
  EXPECT_EQ(x, 1);
  static_assert(std::is_void_v<decltype(weft::spawn([] {}))>);
}

TEST(handle, ready_tells_that_the_body_has_ended) {
  test::gate gate;
  auto h = weft::spawn([&] { return gate.pass(); });
  EXPECT_FALSE(h.ready());
  gate.open();
  h.wait();
  EXPECT_TRUE(h.ready());
  h.wait();
  EXPECT_TRUE(h.get());
}

TEST(handle, wait_does_not_wait_for_children_of_the_task) {
  test::gate gate;
  bool passed = false;
  auto h = weft::spawn([&] {
    weft::spawn([&] { passed = gate.pass(); });
    return 1;
  });
  EXPECT_EQ(h.get(), 1);
  gate.open(); // not reached if get() waited for the child
  weft::taskwait();
  EXPECT_TRUE(passed);
}

TEST(handle, respects_the_data_flow) {
  int x = 0;
  weft::spawn([&] { dawdle(), x = 20; }, weft::out(x));
  auto a = weft::spawn([&] { return x + 1; }, weft::in(x));
  auto b = weft::spawn([&] { return x + 2; }, weft::in(x), weft::label("b"), weft::priority(3));
  EXPECT_EQ(a.get() + b.get(), 43);
  weft::taskwait();
}

TEST(handle, may_be_dropped_before_and_after_the_task_has_run) {
  std::atomic<int> ran{0};
  auto alive = std::make_shared<int>(0);
  for (int i = 0; i != 50; ++i)
    (void)weft::spawn([&ran, alive] { return ++ran, alive; });
  weft::taskwait();
  EXPECT_EQ(ran, 50);
  EXPECT_TRUE(test::eventually([&] { return alive.use_count() == 1; }))
      << "a result was not destroyed";
  {
    auto h = weft::spawn([alive] { return alive; });
    weft::taskwait();
    EXPECT_EQ(alive.use_count(), 2) << "only the result is left";
  }
  EXPECT_TRUE(test::eventually([&] { return alive.use_count() == 1; }));
}

TEST(handle, can_be_moved) {
  auto a = weft::spawn([] { return std::string("a"); });
  auto b = weft::spawn([] { return std::string("b"); });
  weft::handle<std::string> c = std::move(a);
  EXPECT_FALSE(a.valid());
  a = std::move(b);
  EXPECT_EQ(a.get() + c.get(), "ba");
  weft::handle<std::string> empty;
  EXPECT_FALSE(empty.valid());
  empty = weft::spawn([] { return std::string("d"); });
  EXPECT_EQ(empty.get(), "d");
}

TEST(handle, many_may_be_kept_in_a_container) {
  std::vector<weft::handle<int>> handles;
  const int n = test::scaled(1000, 50);
  for (int i = 0; i != n; ++i)
    handles.push_back(weft::spawn([i] { return i * i; }));
  for (int i = n; i-- > 0;)
    EXPECT_EQ(handles[static_cast<std::size_t>(i)].get(), i * i);
}

int fib(int n) {
  if (n < 2)
    return n;
  auto a = weft::spawn([n] { return fib(n - 1); });
  int b = fib(n - 2);
  return a.get() + b;
}

TEST(handle, recursion_over_handles_gives_the_result) {
  EXPECT_EQ(fib(test::k_sanitized ? 11 : 17), test::k_sanitized ? 89 : 1597);
}

TEST(handle, another_task_may_wait_for_it) {
  auto a = weft::spawn([] {
    dawdle();
    return 10;
  });
  int seen = 0;
  weft::spawn([&seen, a = std::move(a)]() mutable { seen = a.get(); });
  weft::taskwait();
  EXPECT_EQ(seen, 10);
}

TEST(handle, an_external_thread_may_wait_for_it) {
  auto a = weft::spawn([] {
    dawdle();
    return 10;
  });
  int seen = 0;
  std::thread waiter([&] { seen = a.get(); });
  weft::taskwait();
  waiter.join();
  EXPECT_EQ(seen, 10);
}

TEST(handle, waits_for_external_events_of_the_task) {
  std::atomic<weft::detail::task *> held{nullptr};
  auto h = weft::spawn([&] {
    weft::this_task::increase_events();
    held = weft::this_task::self().get();
    return 5;
  });
  ASSERT_TRUE(test::eventually([&] { return held != nullptr; }));
  dawdle();
  EXPECT_FALSE(h.ready());
  std::thread other([&] { weft::decrease_events(weft::task_ref(held)); });
  EXPECT_EQ(h.get(), 5);
  other.join();
}

TEST(handle, of_an_undeferred_task_is_ready_at_once) {
  auto h = weft::spawn([] { return 8; }, weft::if_(false));
  EXPECT_TRUE(h.ready());
  EXPECT_EQ(h.get(), 8);
}

TEST(handle, of_a_child_of_a_final_task_is_ready_at_once) {
  bool ready = false;
  int result = 0;
  weft::spawn(
      [&] {
        auto h = weft::spawn([] { return 9; });
        ready = h.ready();
        result = h.get();
      },
      weft::final());
  weft::taskwait();
  EXPECT_TRUE(ready);
  EXPECT_EQ(result, 9);
}

} // namespace
