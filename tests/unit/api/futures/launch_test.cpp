// SPDX-License-Identifier: Apache-2.0
// Launch policies of continuations: then(policy, f) and dataflow(policy, f, ...).
#include "in_task.hpp"
#include "support/refusal.hpp"

#include <weft/future.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using test::in_task;
using weft::launch;

constexpr launch k_policies[] = {launch::async, launch::deferred, launch::fork, launch::sync,
                                 launch::async | launch::deferred};

TEST(then_launch, gives_the_value_under_each_policy) {
  in_task([] {
    for (const launch policy : k_policies)
      for (const bool ready : {true, false}) {
        weft::promise<int> p;
        weft::future<int> f = p.get_future();
        if (ready)
          p.set_value(20);
        weft::future<int> g = f.then(policy, [](int v) { return v + 1; });
        EXPECT_FALSE(f.valid());
        if (!ready)
          p.set_value(20);
        EXPECT_EQ(g.get(), 21);
      }
  });
}

TEST(then_launch, passes_exceptions_under_each_policy) {
  in_task([] {
    for (const launch policy : k_policies) {
      bool called = false;
      weft::future<int> f =
          weft::make_exceptional_future<int>(std::logic_error("before")).then(policy, [&](int v) {
            return called = true, v;
          });
      EXPECT_THROW((void)f.get(), std::logic_error);
      EXPECT_FALSE(called);
      weft::future<bool> seen =
          weft::make_exceptional_future<int>(std::logic_error("before"))
              .then(policy, [](weft::future<int> v) { return v.has_exception(); });
      EXPECT_TRUE(seen.get());
      weft::future<void> thrown =
          weft::make_ready_future(1).then(policy, [](int) { throw std::domain_error("own"); });
      EXPECT_THROW(thrown.get(), std::domain_error);
    }
  });
}

TEST(then_launch, unwraps_a_future_under_each_policy) {
  in_task([] {
    for (const launch policy : k_policies) {
      auto f = weft::async([] { return 4; }).then(policy, [](int v) {
        return weft::async([v] {
          weft::taskyield();
          return v * 10;
        });
      });
      static_assert(std::is_same_v<decltype(f), weft::future<int>>);
      EXPECT_EQ(f.get(), 40);
    }
  });
}

TEST(then_launch, sync_runs_at_once_where_the_result_is_there) {
  in_task([] {
    bool ran = false;
    weft::future<int> f = weft::make_ready_future(1).then(launch::sync, [&](int v) {
      ran = true;
      return v;
    });
    EXPECT_TRUE(ran);
    EXPECT_TRUE(f.is_ready());
  });
}

TEST(then_launch, sync_waits_with_a_task_where_it_is_not) {
  in_task([] {
    weft::promise<int> p;
    std::atomic<bool> ran{false};
    weft::future<void> f = p.get_future().then(launch::sync, [&](int) { ran = true; });
    EXPECT_FALSE(ran);
    std::thread([&] { p.set_value(1); }).join();
    f.get();
    EXPECT_TRUE(ran);
  });
}

TEST(then_launch, sync_runs_no_code_of_the_user_on_the_thread_that_keeps_the_promise) {
  weft::promise<int> p;
  std::thread::id ran_on;
  weft::future<void> f =
      p.get_future().then(launch::sync, [&](int) { ran_on = std::this_thread::get_id(); });
  std::thread keeper([&] { p.set_value(1); });
  const std::thread::id keeper_id = keeper.get_id();
  keeper.join();
  f.get();
  EXPECT_NE(ran_on, std::thread::id());
  EXPECT_NE(ran_on, keeper_id);
}

TEST(then_launch, deferred_runs_when_it_is_waited_for) {
  in_task([] {
    weft::promise<int> p;
    std::atomic<int> ran{0};
    weft::future<int> f = p.get_future().then(launch::deferred, [&](int v) {
      ++ran;
      return v + 1;
    });
    p.set_value(1);
    weft::taskwait();
    EXPECT_EQ(f.wait_for(1ms), weft::future_status::deferred);
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(f.get(), 2);
    EXPECT_EQ(ran, 1);
  });
}

TEST(then_launch, deferred_waits_for_what_is_not_ready) {
  in_task([] {
    weft::promise<int> p;
    weft::future<int> f = p.get_future().then(launch::deferred, [](int v) { return v + 1; });
    std::thread keeper([&] {
      std::this_thread::sleep_for(1ms);
      p.set_value(6);
    });
    EXPECT_EQ(f.get(), 7);
    keeper.join();
    weft::future<bool> ready = weft::async([] {
                                 weft::taskyield();
                               }).then(launch::deferred, [](weft::future<void> before) {
      return before.is_ready(); // also for a callable that takes the future
    });
    EXPECT_TRUE(ready.get());
  });
}

TEST(then_launch, deferred_and_never_waited_for_is_destroyed_unrun) {
  in_task([] {
    bool ran = false;
    auto held = std::make_shared<int>(1);
    {
      weft::future<void> f =
          weft::make_ready_future(1).then(launch::deferred, [&ran, held](int) { ran = true; });
      EXPECT_EQ(held.use_count(), 2);
    }
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_FALSE(ran);
  });
}

weft::shared_future<int> *g_deferred = nullptr;

template <class Use>
struct using_operation {
  void operator()(int &into, const int &from) const {
    into += from;
    Use{}();
  }
};

/// Refuses the use of a deferred future in the operation of a reduction; the future stays as it was.
template <class Use>
void stays_deferred_in_an_operation(Use, const char *refusal) {
  bool ran = false;
  weft::shared_future<int> f = weft::async(launch::deferred, [&] {
                                 ran = true;
                                 return 2;
                               }).share();
  g_deferred = &f;
  int x = 0;
  weft::spawn([&] { weft::reduction_local(x) = 3; }, weft::reduction(x, using_operation<Use>{}, 0));
  try {
    weft::taskwait();
    ADD_FAILURE() << "it was not refused";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::not_a_task);
    EXPECT_NE(std::string(e.what()).find(refusal), std::string::npos) << e.what();
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(f.wait_for(0ms), std::future_status::deferred);
  EXPECT_EQ(f.get(), 2);
}

TEST(deferred, stays_so_where_the_operation_of_a_reduction_asks_for_it) {
  constexpr const char *k_refusal =
      "a deferred future is waited for in the operation of a reduction below task";
  stays_deferred_in_an_operation([] { (void)g_deferred->get(); }, k_refusal);
  stays_deferred_in_an_operation([] { weft::spawn([] {}, weft::after(*g_deferred)); }, k_refusal);
}

TEST(deferred, stays_so_while_a_taskiter_records) {
  bool ran = false;
  weft::shared_future<int> f = weft::async(launch::deferred, [&] {
                                 ran = true;
                                 return 2;
                               }).share();
  std::vector<std::string> said;
  weft::taskiter(
      3,
      [&] {
        said.push_back(test::refusal([&] { (void)f.get(); }));
        said.push_back(test::refusal([&] { weft::spawn([] {}, weft::after(f)); }));
      },
      weft::label("loop"));
  weft::taskwait();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].find("a deferred future is waited for while taskiter 'loop' records"), 0u)
      << said[0];
  EXPECT_NE(said[1].find("waits for a future in a taskiter"), std::string::npos) << said[1];
  EXPECT_FALSE(ran);
  EXPECT_EQ(f.wait_for(0ms), std::future_status::deferred);
  EXPECT_EQ(f.get(), 2);
}

TEST(then_launch, deferred_ones_in_a_row_start_from_the_last) {
  in_task([] {
    weft::future<int> f = weft::async(launch::deferred, [] { return 0; });
    for (int i = 0; i != 1000; ++i)
      f = f.then(launch::deferred, [](int v) { return v + 1; });
    EXPECT_EQ(f.get(), 1000);
  });
}

TEST(then_launch, fork_runs_before_the_caller_goes_on) {
  if (weft::worker_count() != 1)
    GTEST_SKIP() << "with more workers a thief may continue the caller meanwhile";
  in_task([] {
    bool ran = false;
    weft::future<void> f = weft::make_ready_future(1).then(launch::fork, [&](int) { ran = true; });
    EXPECT_TRUE(ran);
    f.get();
  });
}

TEST(then_launch, of_a_shared_future_leaves_it_there) {
  in_task([] {
    for (const launch policy : k_policies) {
      weft::shared_future<int> f = weft::make_ready_future(3).share();
      weft::future<int> one = f.then(policy, [](int v) { return v; });
      weft::future<int> two =
          f.then(policy, [](const weft::shared_future<int> &v) { return v.get(); });
      EXPECT_EQ(one.get() + two.get() + f.get(), 9);
    }
  });
}

template <class F>
void expect_invalid_argument(F f) {
  try {
    f();
    ADD_FAILURE() << "a policy that is none was taken";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("launch policy"), std::string::npos) << e.what();
  }
}

TEST(then_launch, refuses_what_is_no_policy) {
  const auto none = static_cast<launch>(64);
  const auto both = launch::sync | launch::fork;
  for (const launch policy : {none, both}) {
    expect_invalid_argument([=] { (void)weft::async(policy, [] {}); });
    expect_invalid_argument([=] { (void)weft::make_ready_future(1).then(policy, [](int) {}); });
    expect_invalid_argument([=] { (void)weft::dataflow(policy, [] {}); });
  }
  EXPECT_THROW((void)weft::future<int>().then(launch::sync, [](int) {}), weft::future_error);
  EXPECT_THROW((void)weft::shared_future<int>().then(launch::sync, [](int) {}), weft::future_error);
}

TEST(dataflow_launch, calls_once_under_each_policy) {
  in_task([] {
    for (const launch policy : k_policies) {
      int calls = 0;
      std::vector<weft::future<int>> range;
      for (int i = 0; i != 3; ++i)
        range.push_back(weft::async([i] { return i; }));
      weft::future<int> f =
          weft::dataflow(policy, weft::unwrapping([&](int a, int b, const std::vector<int> &c) {
                           ++calls;
                           return a + b + c[0] + c[1] + c[2];
                         }),
                         weft::async([] { return 10; }), 100, std::move(range));
      EXPECT_EQ(f.get(), 113);
      EXPECT_EQ(calls, 1);
    }
  });
}

TEST(dataflow_launch, sync_and_deferred_choose_when) {
  in_task([] {
    bool ran = false;
    weft::future<void> f = weft::dataflow(
        launch::sync, [&](weft::future<int>) { ran = true; }, weft::make_ready_future(1));
    EXPECT_TRUE(ran);
    ran = false;
    weft::future<void> g = weft::dataflow(
        launch::deferred, [&](weft::future<int>) { ran = true; }, weft::make_ready_future(1));
    weft::taskwait();
    EXPECT_FALSE(ran);
    g.get();
    EXPECT_TRUE(ran);
    EXPECT_THROW((void)weft::dataflow(
                     launch::sync, [](weft::future<int>) {}, weft::future<int>()),
                 weft::future_error);
  });
}

} // namespace
