// SPDX-License-Identifier: Apache-2.0
// Futures, promises, continuations and combinations of futures.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/refusal.hpp"
#include "support/scale.hpp"

#include <weft/future.hpp>
#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <list>
#include <memory>
#include <pthread.h>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using test::dawdle;

/// Runs `f` as a task, and waits for it.
template <class F>
void in_task(F f) {
  weft::task_group group;
  group.spawn(f);
  group.wait();
}

template <class F>
std::future_errc code_of(F f) {
  try {
    f();
  } catch (const std::future_error &e) {
    return static_cast<std::future_errc>(e.code().value());
  }
  ADD_FAILURE() << "no future_error";
  return {};
}

// ---- async

TEST(async, returns_what_the_callable_returns_under_each_policy) {
  for (const auto policy : {weft::launch::async, weft::launch::deferred, weft::launch::fork,
                            weft::launch::sync, weft::launch::async | weft::launch::deferred}) {
    EXPECT_EQ(weft::async(policy, [](int a, int b) { return a + b; }, 40, 2).get(), 42);
    in_task([&] {
      auto f =
          weft::async(policy, [](std::unique_ptr<int> p) { return p; }, std::make_unique<int>(7));
      EXPECT_EQ(*f.get(), 7);
      EXPECT_FALSE(f.valid());
      EXPECT_THROW(weft::async(policy, [] { throw std::logic_error("x"); }).get(),
                   std::logic_error);
    });
  }
  EXPECT_THROW((void)weft::async(static_cast<weft::launch>(0), [] {}), weft::error);
}

TEST(async, of_a_reference_refers_to_the_object) {
  int x = 1;
  weft::future<int &> f = weft::async([&]() -> int & { return x; });
  f.get() = 2;
  EXPECT_EQ(x, 2);
}

TEST(future, of_a_named_type_is_made_of_the_arguments) {
  EXPECT_EQ(weft::make_ready_future<std::string>(3, 'x').get(), "xxx");
  EXPECT_EQ(weft::make_ready_future<double>(1).get(), 1.0);
  EXPECT_TRUE(weft::make_ready_future<std::string>().get().empty());
  int x = 1;
  weft::future<int &> f = weft::make_ready_future<int &>(x);
  EXPECT_EQ(&f.get(), &x);
}

TEST(future, shows_its_exception_and_keeps_it) {
  auto failed = weft::async([] { throw std::domain_error("d"); });
  std::exception_ptr seen = failed.get_exception_ptr();
  ASSERT_TRUE(seen);
  EXPECT_THROW(std::rethrow_exception(seen), std::domain_error);
  EXPECT_THROW(failed.get(), std::domain_error);
  EXPECT_FALSE(weft::make_ready_future(1).get_exception_ptr());
  EXPECT_THROW((void)weft::future<int>().get_exception_ptr(), std::future_error);
}

TEST(async, deferred_starts_with_the_first_wait) {
  in_task([] {
    bool ran = false;
    auto f = weft::async(weft::launch::deferred, [&] { return ran = true; });
    EXPECT_EQ(f.wait_for(1ms), std::future_status::deferred);
    weft::taskwait(); // does not wait for what nothing has started
    EXPECT_FALSE(ran);
    EXPECT_TRUE(f.get());
    EXPECT_TRUE(ran);
  });
}

TEST(async, deferred_and_never_waited_for_is_destroyed_unrun) {
  auto alive = std::make_shared<int>(0);
  bool ran = false;
  {
    auto f = weft::async(weft::launch::deferred, [&ran, alive] { ran = true; });
  }
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_FALSE(ran);
}

TEST(async, deferred_starts_when_something_continues_from_it) {
  auto f = weft::async(weft::launch::deferred, [] { return 1; });
  auto g = weft::async(weft::launch::deferred, [] { return 2; });
  EXPECT_EQ(f.then([](int i) { return i + 1; }).get(), 2);
  auto [h] = weft::when_all(std::move(g)).get();
  EXPECT_EQ(h.get(), 2);
}

TEST(async, sync_is_over_when_it_returns) {
  bool ran = false;
  auto f = weft::async(weft::launch::sync, [&] { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_TRUE(f.is_ready());
  f.get();
}

TEST(async, fork_runs_the_child_before_the_caller_goes_on) {
  if (weft::worker_count() != 1)
    GTEST_SKIP() << "with more workers a thief may continue the caller meanwhile";
  in_task([] {
    std::string order;
    auto f = weft::async(weft::launch::fork, [&] { order += 'c'; });
    order += 'p';
    f.get();
    EXPECT_EQ(order, "cp");
    auto g = weft::async(weft::launch::async, [&] { order += 'C'; });
    order += 'P';
    g.get();
    EXPECT_EQ(order, "cpPC");
  });
}

TEST(async, fork_lets_another_worker_go_on_with_the_caller) {
  if (weft::worker_count() < 2)
    GTEST_SKIP() << "one worker runs one after the other";
  in_task([] {
    std::atomic<bool> caller_went_on{false};
    std::atomic<int> child{-1};
    const int before = weft::worker_id();
    auto f = weft::async(weft::launch::fork, [&] {
      child = weft::worker_id();
      while (!caller_went_on) // keeps its worker
        std::this_thread::yield();
    });
    EXPECT_NE(weft::worker_id(), before); // under launch::async the caller stays
    while (child == -1) // else get() might run it here
      std::this_thread::yield();
    EXPECT_EQ(child, before);
    caller_went_on = true;
    f.get();
  });
}

TEST(async, async_or_deferred_is_deferred_while_no_worker_sleeps) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    in_task([] {
      bool ran = false;
      auto f = weft::async(weft::launch::async | weft::launch::deferred, [&] { ran = true; });
      weft::taskyield();
      EXPECT_EQ(f.wait_for(1ms), std::future_status::deferred);
      EXPECT_FALSE(ran);
      f.get();
      EXPECT_TRUE(ran);
    });
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(async, async_or_deferred_is_async_while_a_worker_sleeps) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    in_task([] {
      std::atomic<bool> ran{false};
      weft::future<void> f;
      do // the other worker falls asleep
        f = weft::async(weft::launch::async | weft::launch::deferred, [&] { ran = true; });
      while (f.wait_for(0s) == std::future_status::deferred);
      while (!ran) // keeps its worker: the other one runs the task
        std::this_thread::yield();
    });
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(async, is_a_child_that_taskwait_waits_for) {
  bool ran = false;
  (void)weft::async([&] {
    dawdle();
    ran = true;
  });
  weft::taskwait();
  EXPECT_TRUE(ran);
}

// ---- futures

TEST(future, of_a_handle_is_the_same_task) {
  int x = 0;
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  weft::future<int> f = weft::spawn([&] { return x; }, weft::in(x));
  EXPECT_EQ(f.get(), 1);
}

TEST(future, waits_no_longer_than_it_is_asked_to) {
  test::gate gate;
  auto f = weft::async([&] { return gate.pass(); });
  EXPECT_EQ(f.wait_for(1ms), std::future_status::timeout);
  EXPECT_EQ(f.wait_for(0ms), std::future_status::timeout);
  EXPECT_EQ(f.wait_until(std::chrono::steady_clock::now() + 1ms), std::future_status::timeout);
  gate.open();
  EXPECT_EQ(f.wait_for(std::chrono::hours(1)), std::future_status::ready);
  EXPECT_TRUE(f.get());
}

TEST(future, a_wait_ends_with_its_stop_token) {
  in_task([] {
    weft::promise<int> p;
    auto f = p.get_future();
    std::stop_source stop;
    weft::spawn([&] {
      dawdle();
      stop.request_stop();
    });
    try {
      f.get(stop.get_token());
      ADD_FAILURE() << "there is no value";
    } catch (const weft::error &e) {
      EXPECT_EQ(e.code(), weft::errc::cancelled);
    }
    EXPECT_THROW(f.get(stop.get_token()), weft::error) << "requested before";
    p.set_value(3);
    EXPECT_EQ(f.get(stop.get_token()), 3) << "the value is there";
    weft::taskwait();
  });
}

TEST(future, timeouts_and_ends_race_without_loss) {
  const int rounds = test::scaled(300, 30);
  in_task([&] {
    for (int i = 0; i != rounds; ++i) {
      weft::promise<int> p;
      auto f = p.get_future().share();
      weft::spawn([&p, i] {
        weft::this_task::sleep_for(std::chrono::microseconds(i % 100));
        p.set_value(i);
      });
      for (int k = 0; k != 3; ++k)
        weft::spawn([f, i] {
          while (f.wait_for(std::chrono::microseconds(40)) != std::future_status::ready) {
          }
          EXPECT_EQ(f.get(), i);
        });
      weft::taskwait();
    }
  });
}

TEST(future, asked_to_stop_is_skipped_or_sees_it) {
  in_task([] {
    weft::promise<void> first;
    auto before = first.get_future();
    auto f = before.then([](weft::future<void>) { return 1; });
    f.request_stop();
    first.set_value();
    EXPECT_THROW(f.get(), weft::error);
    auto g =
        weft::async([] { return test::eventually([] { return weft::this_task::cancelled(); }); });
    g.request_stop();
    try {
      EXPECT_TRUE(g.get());
    } catch (const weft::error &e) { // it had not begun
      EXPECT_EQ(e.code(), weft::errc::cancelled);
    }
  });
}

TEST(future, shared_by_many_is_waited_for_by_all) {
  std::atomic<int> sum{0};
  for (int round = 0; round != 20; ++round) {
    weft::shared_future<std::string> f = weft::async([] { return std::string("abc"); });
    for (int i = 0; i != 8; ++i)
      weft::spawn([f, &sum] { sum += static_cast<int>(f.get().size()); });
    std::thread([f, &sum] { sum += static_cast<int>(f.get().size()); }).join();
    weft::taskwait();
  }
  EXPECT_EQ(sum, 20 * 9 * 3);
}

TEST(future, an_exception_of_a_shared_one_reaches_all) {
  weft::shared_future<int> f = weft::async([]() -> int { throw std::logic_error("all"); });
  auto g = f;
  EXPECT_THROW(f.get(), std::logic_error);
  EXPECT_THROW(g.get(), std::logic_error);
  EXPECT_TRUE(f.has_exception());
  EXPECT_FALSE(f.has_value());
}

TEST(future, without_a_state_says_so) {
  weft::future<int> f;
  EXPECT_EQ(code_of([&] { f.get(); }), std::future_errc::no_state);
  EXPECT_EQ(code_of([&] { (void)f.wait_for(1ms); }), std::future_errc::no_state);
  EXPECT_EQ(code_of([&] { (void)f.then([](int) {}); }), std::future_errc::no_state);
  EXPECT_EQ(code_of([&] { (void)weft::when_all(std::move(f)); }), std::future_errc::no_state);
  EXPECT_THROW(weft::spawn([] {}, weft::after(f)), weft::error);
}

// ---- promises

TEST(promise, is_kept_by_any_thread) {
  for (int i = 0; i != 50; ++i) {
    weft::promise<int> p;
    auto f = p.get_future();
    std::thread t([&p, i] { p.set_value(i); });
    EXPECT_EQ(f.get(), i);
    t.join();
  }
}

TEST(promise, is_kept_once) {
  weft::promise<int> p;
  auto f = p.get_future();
  EXPECT_EQ(code_of([&] { (void)p.get_future(); }), std::future_errc::future_already_retrieved);
  p.set_value(1);
  EXPECT_EQ(code_of([&] { p.set_value(2); }), std::future_errc::promise_already_satisfied);
  EXPECT_EQ(code_of([&] { p.set_exception(std::make_exception_ptr(1)); }),
            std::future_errc::promise_already_satisfied);
  EXPECT_EQ(f.get(), 1);
  weft::promise<int> moved = std::move(p);
  EXPECT_EQ(code_of([&] { p.set_value(2); }), std::future_errc::no_state); // NOLINT: on purpose
}

TEST(promise, takes_what_makes_a_value) {
  weft::promise<std::pair<int, std::string>> pair;
  pair.set_value({1, "one"});
  EXPECT_EQ(pair.get_future().get(), std::pair(1, std::string("one")));
  weft::promise<std::vector<int>> list;
  list.set_value({1, 2, 3});
  EXPECT_EQ(list.get_future().get(), (std::vector{1, 2, 3}));
  weft::promise<std::string> text;
  text.set_value("text"); // no string is made for the call
  EXPECT_EQ(text.get_future().get(), "text");
  weft::promise<std::unique_ptr<int>> moved;
  auto one = std::make_unique<int>(1);
  moved.set_value(std::move(one));
  EXPECT_EQ(*moved.get_future().get(), 1);
  const std::string kept = "kept";
  weft::promise<std::string> copied;
  copied.set_value(kept);
  EXPECT_EQ(copied.get_future().get(), kept);
  int object = 1;
  weft::promise<int &> reference;
  reference.set_value(object);
  EXPECT_EQ(&reference.get_future().get(), &object);
  weft::promise<void> nothing;
  nothing.set_value();
  nothing.get_future().get();
}

TEST(promise, refuses_an_exception_that_is_none) {
  weft::promise<int> p;
  weft::future<int> f = p.get_future();
  const std::string refusal =
      "a promise is given a null std::exception_ptr, which holds no exception; set a value, or pass std::current_exception() in a handler";
  EXPECT_EQ(test::refusal([&] { p.set_exception(nullptr); }), refusal);
  EXPECT_FALSE(f.is_ready());
  p.set_value(3); // it is as it was
  EXPECT_EQ(f.get(), 3);
  EXPECT_EQ(
      test::refusal([] { (void)weft::make_exceptional_future<int>(std::exception_ptr()); }),
      refusal);
}

TEST(promise, broken_says_so) {
  weft::future<int> f;
  {
    f = weft::promise<int>().get_future();
  }
  EXPECT_EQ(code_of([&] { f.get(); }), std::future_errc::broken_promise);
  {
    weft::promise<std::string> nobody_asks;
  }
}

struct throws_when_copied {
  explicit throws_when_copied(bool t) : throws(t) {}
  throws_when_copied(const throws_when_copied &other) : throws(other.throws) {
    if (throws)
      throw std::logic_error("copy");
  }
  bool throws;
};

TEST(promise, a_value_that_cannot_be_copied_leaves_it_as_it_was) {
  weft::promise<throws_when_copied> p;
  auto f = p.get_future();
  const throws_when_copied bad(true), good(false);
  EXPECT_THROW(p.set_value(bad), std::logic_error);
  EXPECT_FALSE(f.is_ready());
  p.set_value(good);
  EXPECT_FALSE(f.get().throws);
}

TEST(async, a_callable_that_cannot_be_copied_makes_no_task) {
  const auto f = [bad = throws_when_copied(false)]() mutable { return bad.throws; };
  EXPECT_FALSE(weft::async(f).get());
  struct bad_callable {
    bad_callable() = default;
    bad_callable(const bad_callable &) { throw std::logic_error("copy"); }
    void operator()() const {}
  } const bad;
  EXPECT_THROW((void)weft::async(bad), std::logic_error);
  weft::promise<int> p;
  auto ready = p.get_future();
  struct bad_continuation : bad_callable {
    void operator()(weft::future<int>) const {}
  } const worse;
  EXPECT_THROW((void)ready.then(worse), std::logic_error);
  EXPECT_TRUE(ready.valid()) << "it was not consumed";
  p.set_value(1);
  EXPECT_EQ(ready.get(), 1);
}

TEST(packaged_task, keeps_the_result_of_its_call) {
  weft::packaged_task<int(int, int)> t([](int a, int b) {
    if (b == 0)
      throw std::domain_error("0");
    return a / b;
  });
  auto f = t.get_future();
  t(6, 3);
  EXPECT_EQ(f.get(), 2);
  EXPECT_EQ(code_of([&] { t(1, 1); }), std::future_errc::promise_already_satisfied);
  t.reset();
  auto g = t.get_future();
  t(1, 0);
  EXPECT_THROW(g.get(), std::domain_error);
  weft::packaged_task<void()> none;
  EXPECT_FALSE(none.valid());
  EXPECT_EQ(code_of([&] { none(); }), std::future_errc::no_state);
}

TEST(packaged_task, lets_its_callable_end_the_thread) {
  for (const bool cancels : {false, true}) {
    weft::packaged_task<int()> task([cancels]() -> int {
      if (cancels) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
      }
      pthread_exit(nullptr);
    });
    weft::future<int> result = task.get_future();
    pthread_t thread;
    const auto run = [](void *given) -> void * {
      (*static_cast<weft::packaged_task<int()> *>(given))();
      return given;
    };
    ASSERT_EQ(pthread_create(&thread, nullptr, run, &task), 0);
    void *returned = &task;
    ASSERT_EQ(pthread_join(thread, &returned), 0);
    EXPECT_EQ(returned, cancels ? PTHREAD_CANCELED : nullptr);
    ASSERT_TRUE(result.is_ready());
    EXPECT_EQ(code_of([&] { result.get(); }), std::future_errc::broken_promise);
    EXPECT_EQ(code_of([&] { task(); }), std::future_errc::promise_already_satisfied);
  }
}

TEST(make_future, is_ready) {
  EXPECT_EQ(weft::make_ready_future(std::string("x")).get(), "x");
  weft::make_ready_future().get();
  EXPECT_THROW(weft::make_exceptional_future<int>(std::logic_error("x")).get(), std::logic_error);
  EXPECT_TRUE(weft::make_ready_future(1).has_value());
}

// ---- then

TEST(then, takes_the_future_or_its_value) {
  static_assert(
      std::is_same_v<decltype(weft::make_ready_future(1).then([](int) {})), weft::future<void>>);
  EXPECT_EQ(
      weft::async([] { return 1; }).then([](weft::future<int> f) { return f.get() + 1; }).get(), 2);
  EXPECT_EQ(weft::async([] { return 1; }).then([](int i) { return i + 2; }).get(), 3);
  EXPECT_EQ(weft::async([] {}).then([] { return 4; }).get(), 4);
  EXPECT_EQ(weft::make_ready_future(2).share().then([](int i) { return i * 3; }).get(), 6);
}

TEST(then, passes_an_exception_by_a_continuation_of_the_value) {
  bool called = false;
  auto f = weft::async([]() -> int {
             throw std::logic_error("first");
           }).then([&](int) {
               called = true;
             }).then([&](weft::future<void> g) {
    EXPECT_THROW(g.get(), std::logic_error);
    return 5;
  });
  EXPECT_EQ(f.get(), 5);
  EXPECT_FALSE(called);
}

TEST(then, of_a_function_that_returns_a_future_is_one_of_its_value) {
  auto f = weft::async([] { return 1; }).then([](int i) {
    return weft::async([i] {
      dawdle();
      return std::to_string(i);
    });
  });
  static_assert(std::is_same_v<decltype(f), weft::future<std::string>>);
  EXPECT_EQ(f.get(), "1");
  EXPECT_THROW(
      weft::make_ready_future()
          .then([] { return weft::make_exceptional_future<int>(std::logic_error("inner")); })
          .get(),
      std::logic_error);
  EXPECT_EQ(
      code_of([] { weft::make_ready_future().then([] { return weft::future<int>(); }).get(); }),
      std::future_errc::broken_promise);
  bool over = false;
  weft::make_ready_future().then([&] { return weft::async([&] { dawdle(), over = true; }); }).get();
  EXPECT_TRUE(over);
}

TEST(then, runs_no_code_of_the_user_on_the_thread_that_keeps_the_promise) {
  weft::promise<int> p;
  std::thread::id ran_on;
  auto f = p.get_future().then([&](int) { ran_on = std::this_thread::get_id(); });
  std::thread t([&] { p.set_value(1); });
  const std::thread::id keeper = t.get_id();
  t.join();
  f.get();
  EXPECT_NE(ran_on, keeper);
}

TEST(then, chains_of_any_length_need_no_stack) {
  const int links = test::scaled(1'000'000, 10'000);
  weft::promise<int> p;
  weft::future<int> f = p.get_future();
  in_task([&] {
    for (int i = 0; i != links; ++i)
      f = f.then([](int v) { return v + 1; });
    p.set_value(0);
    EXPECT_EQ(f.get(), links);
  });
}

TEST(then, with_accesses_keeps_its_place_among_its_siblings) {
  for (int i = 0; i != 50; ++i) {
    int x = 0;
    weft::promise<int> p;
    weft::spawn([&] { x = 1; }, weft::out(x));
    auto f = p.get_future().then([&](int v) { return x = 10 * x + v; }, weft::inout(x),
                                 weft::label("in order"));
    auto h = weft::spawn([&] { return 2 * x; }, weft::in(x)); // after the continuation
    dawdle();
    EXPECT_FALSE(h.ready());
    p.set_value(5);
    EXPECT_EQ(h.get(), 30);
    EXPECT_EQ(f.get(), 15);
  }
}

// ---- after

TEST(after, holds_a_task_beside_its_accesses) {
  for (int i = 0; i != 30; ++i) {
    int x = 0, y = 0;
    weft::promise<void> a, b;
    auto fa = a.get_future(), fb = b.get_future();
    weft::spawn([&] { x = 1; }, weft::out(x));
    auto h = weft::spawn([&] { return y = x + 1; }, weft::in(x), weft::out(y), weft::after(fa),
                         weft::after(fb));
    auto k = weft::spawn([] { return 7; }, weft::after(h), weft::after(fb));
    a.set_value();
    dawdle();
    EXPECT_FALSE(h.ready());
    EXPECT_FALSE(k.ready());
    b.set_value();
    EXPECT_EQ(h.get() + k.get(), 9);
    weft::taskwait();
    EXPECT_EQ(y, 2);
  }
}

TEST(after, holds_a_task_with_an_empty_list_of_accesses_from_its_waiter) {
  in_task([] {
    int x = 0;
    weft::promise<void> p;
    auto ready = p.get_future();
    auto h = weft::spawn([&x] { return x; }, weft::accesses({}), weft::after(ready));
    weft::spawn([&] {
      x = 7;
      p.set_value();
    });
    EXPECT_EQ(h.get(), 7);
  });
}

TEST(after, works_in_final_and_undeferred_tasks_and_with_turns) {
  in_task([] {
    auto f = weft::async([] { dawdle(); });
    bool ran = false;
    weft::spawn([&] { ran = f.is_ready(); }, weft::after(f), weft::if_(false));
    EXPECT_TRUE(ran);
    int x = 0;
    auto g = weft::async([] { dawdle(); });
    weft::spawn([&] { x += g.is_ready() ? 1 : 100; }, weft::commutative(x), weft::after(g));
    weft::spawn([&] { x += 10; }, weft::commutative(x));
    weft::taskwait();
    EXPECT_EQ(x, 11);
    auto later = weft::async([] {
      dawdle();
      return 3;
    });
    int got = 0;
    weft::spawn([&] { weft::spawn([&] { got = later.is_ready() ? 1 : -1; }, weft::after(later)); },
                weft::final());
    weft::taskwait();
    EXPECT_EQ(got, 1);
  });
}

// ---- several

std::vector<weft::future<int>> numbers(int n) {
  std::vector<weft::future<int>> all;
  for (int i = 0; i != n; ++i)
    all.push_back(weft::async([i] {
      if (i % 3 == 0)
        weft::taskyield();
      return i;
    }));
  return all;
}

TEST(when_all, is_ready_when_all_are) {
  in_task([] {
    auto all = weft::when_all(numbers(100)).get();
    int sum = 0;
    for (auto &f : all) {
      EXPECT_TRUE(f.is_ready());
      sum += f.get();
    }
    EXPECT_EQ(sum, 4950);
    auto some = numbers(10);
    EXPECT_EQ(weft::when_all(some.begin(), some.end()).get().size(), 10u);
    some = numbers(10);
    EXPECT_EQ(weft::when_all_n(some.begin(), 4).get().size(), 4u);
    EXPECT_TRUE(weft::when_all(std::vector<weft::future<int>>()).get().empty());
    auto [a, b, c] = weft::when_all(weft::async([] { return 1; }), weft::async([] {}),
                                    weft::make_exceptional_future<int>(std::logic_error("c")))
                         .get();
    EXPECT_EQ(a.get(), 1);
    b.get();
    EXPECT_THROW(c.get(), std::logic_error);
    EXPECT_EQ(std::tuple_size_v<decltype(weft::when_all().get())>, 0u);
  });
}

TEST(when_all, nested_deeply_needs_no_stack) {
  const int depth = test::scaled(100'000, 2'000);
  weft::promise<int> p;
  weft::future<void> last = p.get_future().then([](int) {});
  in_task([&] {
    std::vector<weft::shared_future<void>> keep;
    weft::shared_future<void> f = std::move(last);
    for (int i = 0; i != depth; ++i) {
      auto all = weft::when_all(f);
      f = weft::shared_future<void>(
          all.then([](weft::future<std::tuple<weft::shared_future<void>>>) {}));
    }
    p.set_value(1);
    f.get();
  });
}

TEST(when_any, names_the_first_and_forgets_the_others) {
  in_task([] {
    for (int round = 0; round != 30; ++round) {
      std::vector<weft::promise<int>> promises(5);
      std::vector<weft::future<int>> futures;
      for (auto &p : promises)
        futures.push_back(p.get_future());
      auto any = weft::when_any(std::move(futures));
      promises[3].set_value(33);
      auto result = any.get();
      EXPECT_EQ(result.index, 3u);
      EXPECT_EQ(result.futures[3].get(), 33);
      for (std::size_t i : {0u, 1u, 2u, 4u})
        promises[i].set_value(1);
      EXPECT_EQ(result.futures[0].get(), 1);
    }
    EXPECT_EQ(weft::when_any(std::vector<weft::future<int>>()).get().index,
              static_cast<std::size_t>(-1));
  });
}

TEST(when_any, leaves_nothing_behind_in_a_future_that_stays) {
  in_task([] {
    weft::promise<int> never;
    weft::shared_future<int> stays = never.get_future();
    const int rounds = test::scaled(2000, 100);
    for (int i = 0; i != rounds; ++i) {
      auto any = weft::when_any(stays, weft::make_ready_future(i).share()).get();
      EXPECT_EQ(any.index, 1u);
    }
    never.set_value(1); // fires no leftover
  });
}

TEST(when_any, races_of_all_inputs_lose_nothing) {
  in_task([] {
    const int rounds = test::scaled(500, 50);
    for (int i = 0; i != rounds; ++i) {
      auto any = weft::when_any(numbers(4)).get();
      EXPECT_EQ(any.futures[any.index].get(), static_cast<int>(any.index));
      weft::taskwait();
    }
  });
}

TEST(when_any, cancels_the_rest_if_asked_to) {
  in_task([] {
    std::vector<weft::future<int>> futures;
    futures.push_back(weft::async(
        [] { return test::eventually([] { return weft::this_task::cancelled(); }) ? 1 : 2; }));
    futures.push_back(weft::make_ready_future(5));
    auto any = weft::when_any(weft::cancel_rest, std::move(futures)).get();
    EXPECT_EQ(any.index, 1u);
    try {
      EXPECT_EQ(any.futures[0].get(), 1);
    } catch (const weft::error &e) { // it had not begun
      EXPECT_EQ(e.code(), weft::errc::cancelled);
    }
  });
}

TEST(when_some, waits_for_as_many_as_it_is_asked_for) {
  in_task([] {
    auto some = weft::when_some(3, numbers(7)).get();
    EXPECT_EQ(some.indices.size(), 3u);
    for (const std::size_t i : some.indices)
      EXPECT_TRUE(some.futures[i].is_ready());
    EXPECT_TRUE(weft::when_some(0, numbers(2)).get().indices.empty());
    EXPECT_THROW((void)weft::when_some(3, numbers(2)), weft::error);
    weft::taskwait();
  });
}

TEST(when_each, calls_once_for_each_one_at_a_time) {
  in_task([] {
    int sum = 0, calls = 0;
    weft::when_each(
        [&](std::size_t i, weft::future<int> f) {
          ++calls;
          const int value = f.get();
          EXPECT_EQ(static_cast<int>(i), value);
          sum += value;
        },
        numbers(50))
        .get();
    EXPECT_EQ(calls, 50);
    EXPECT_EQ(sum, 1225);
    EXPECT_THROW(
        weft::when_each([](weft::future<int>) { throw std::logic_error("f"); }, numbers(1)).get(),
        std::logic_error);
  });
}

TEST(dataflow, calls_with_futures_values_and_ranges) {
  in_task([] {
    auto f = weft::dataflow([](weft::future<int> a, int b) { return a.get() + b; },
                            weft::async([] { return 1; }), 2);
    EXPECT_EQ(f.get(), 3);
    auto g = weft::dataflow(weft::unwrapping([](int a, const std::vector<int> &all, int c) {
                              for (int i : all)
                                a += i;
                              return a + c;
                            }),
                            weft::async([] { return 1; }), numbers(4), 100);
    EXPECT_EQ(g.get(), 107);
    auto rows = weft::dataflow(
        [](std::vector<weft::future<int>> of_array, std::vector<weft::shared_future<int>> of_list) {
          return of_array[1].get() + of_list[0].get();
        },
        std::array{weft::async([] { return 1; }), weft::async([] { return 2; })},
        std::list{weft::async([] { return 30; }).share()});
    EXPECT_EQ(rows.get(), 32);
    auto pair = weft::dataflow(
        [](std::tuple<weft::future<int>, weft::future<void>> both, std::tuple<int, int> plain) {
          return std::get<0>(both).get() + std::get<1>(plain);
        },
        std::tuple(weft::async([] { return 4; }), weft::async([] {})), std::tuple(1, 2));
    EXPECT_EQ(pair.get(), 6);
    auto values =
        weft::dataflow(weft::unwrapping([](std::tuple<int, std::string> both, int c) {
                         return std::get<0>(both) + static_cast<int>(std::get<1>(both).size()) + c;
                       }),
                       std::tuple(weft::async([] { return 7; }), weft::async([] {}),
                                  weft::async([] { return std::string("xy"); })),
                       weft::make_ready_future(10));
    EXPECT_EQ(values.get(), 19);
    weft::promise<int> late;
    std::array held{late.get_future()};
    auto waits = weft::dataflow([](std::vector<weft::future<int>> all) { return all[0].get(); },
                                std::span(held));
    EXPECT_FALSE(waits.is_ready());
    late.set_value(5);
    EXPECT_EQ(waits.get(), 5);
    EXPECT_THROW((void)weft::dataflow([](auto) {}, std::array<weft::future<int>, 1>()),
                 std::future_error);
    auto h = weft::dataflow([] { return weft::async([] { return 9; }); });
    static_assert(std::is_same_v<decltype(h), weft::future<int>>);
    EXPECT_EQ(h.get(), 9);
    auto k = weft::dataflow(weft::unwrapping([](int v) { return v; }),
                            weft::make_exceptional_future<int>(std::logic_error("in")));
    EXPECT_THROW(k.get(), std::logic_error);
  });
}

TEST(post_function, runs_without_a_future) {
  std::atomic<int> ran{0};
  for (int i = 0; i != 20; ++i)
    weft::post([&] { ++ran; });
  EXPECT_TRUE(test::eventually([&] { return ran == 20; }));
}

/// Counts the results that are alive.
struct counted {
  static inline std::atomic<int> s_alive{0};
  counted() { ++s_alive; }
  counted(const counted &) { ++s_alive; }
  counted(counted &&) noexcept { ++s_alive; }
  ~counted() { --s_alive; }
};

void copy_often(const weft::shared_future<counted> &original) {
  for (int i = 0; i != 8; ++i) {
    const weft::shared_future<counted> one = original, other = one; // dropped at once
    EXPECT_TRUE(other.valid());
  }
}

TEST(future, copies_count_while_a_manager_enters_accesses) {
  const auto end = test::in_process({{"WEFT_MANAGE_MODE", "central"}, {"WEFT_WORKERS", "3"}}, [] {
    constexpr int k_rows = 64;
    int rows[k_rows] = {};
    for (int round = 0; round != test::scaled(1500, 50); ++round) {
      std::vector<weft::shared_future<counted>> all;
      for (int &row : rows) {
        all.push_back(weft::future<counted>(
                          weft::spawn([] { return counted(); }, weft::inout(row), weft::tracked))
                          .share());
        copy_often(all.back());
      }
      weft::taskwait();
      EXPECT_EQ(counted::s_alive, k_rows);
    }
    EXPECT_EQ(counted::s_alive, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(future, copies_count_while_a_final_task_begins_a_deferred_one) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    for (int round = 0; round != test::scaled(20000, 2000); ++round) {
      {
        const auto deferred = weft::async(weft::launch::deferred, [] { return counted(); }).share();
        std::atomic<bool> is_over{false};
        weft::spawn([&] { deferred.wait(), is_over = true; }, weft::final(true));
        for (int i = 1; !is_over; ++i) {
          copy_often(deferred);
          if (i % 1000 == 0)
            weft::taskyield(); // the task may have no other worker
        }
        weft::taskwait();
        EXPECT_EQ(counted::s_alive, 1);
      }
      EXPECT_EQ(counted::s_alive, 0);
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
