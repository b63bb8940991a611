// SPDX-License-Identifier: Apache-2.0
// Waits for children and for groups that end at a time or by a stop request.
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

namespace {

using namespace std::chrono_literals;
using limited_steady = std::chrono::steady_clock;

/// Goes at half the speed of the steady clock: each wait is over before its time has come.
struct half_speed_clock {
  using duration = limited_steady::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<half_speed_clock>;
  [[maybe_unused]] static constexpr bool is_steady = false;
  static time_point now() noexcept {
    return time_point(limited_steady::now().time_since_epoch() / 2);
  }
};

struct of_children {
  template <class F>
  void spawn(F f) {
    weft::spawn(std::move(f));
  }
  void wait() { weft::taskwait(); }
  bool wait(const std::stop_token &stop) { return weft::taskwait(stop); }
  template <class D>
  bool wait_for(D most) {
    return weft::taskwait_for(most);
  }
  template <class T>
  bool wait_until(T time) {
    return weft::taskwait_until(time);
  }
};
struct of_group : weft::task_group {};

template <class Tasks>
class limited_wait_for : public testing::Test {};
using scopes_of_tasks = testing::Types<of_children, of_group>;
TYPED_TEST_SUITE(limited_wait_for, scopes_of_tasks);

TYPED_TEST(limited_wait_for, nothing_is_over_at_once) {
  std::stop_source requested;
  requested.request_stop();
  TypeParam tasks;
  for (int i = 0; i != 2; ++i) {
    EXPECT_TRUE(tasks.wait(requested.get_token()));
    EXPECT_TRUE(tasks.wait_for(0s));
    EXPECT_TRUE(tasks.wait_for(-1s));
    EXPECT_TRUE(tasks.wait_until(limited_steady::now() - 1s));
    tasks.spawn([] {});
    tasks.wait();
  }
}

template <class Tasks>
void gives_up_and_waits_again() {
  Tasks tasks;
  std::stop_source requested;
  requested.request_stop();
  for (int i = 0; i != 3; ++i) {
    weft::event may_end;
    int done = 0; // of each child; the wait orders it
    tasks.spawn([&] {
      may_end.wait();
      weft::spawn([&] { ++done; }); // a descendant
    });
    EXPECT_FALSE(tasks.wait_for(0s));
    EXPECT_FALSE(tasks.wait_for(300us));
    EXPECT_FALSE(tasks.wait(requested.get_token()));
    const auto soon = limited_steady::now() + 300us;
    EXPECT_FALSE(tasks.wait_until(soon));
    EXPECT_GE(limited_steady::now(), soon);
    const auto by_slow = half_speed_clock::now() + 300us;
    EXPECT_FALSE(tasks.wait_until(by_slow));
    EXPECT_GE(half_speed_clock::now(), by_slow);
    tasks.spawn([] {}); // the counter goes on from what it was
    may_end.set();
    EXPECT_TRUE(tasks.wait_for(std::chrono::hours::max()));
    EXPECT_EQ(done, 1);
  }
  tasks.wait();
}

TYPED_TEST(limited_wait_for, time_gives_up_and_waits_again) {
  gives_up_and_waits_again<TypeParam>();
  weft::spawn([] { gives_up_and_waits_again<TypeParam>(); }); // with a parent
  weft::taskwait();
  std::thread(gives_up_and_waits_again<TypeParam>).join(); // a thread of the program
}

template <class Tasks>
void gives_up_on_request() {
  Tasks tasks;
  for (const bool by_thread : {false, true}) {
    weft::event may_end;
    std::atomic<bool> done{false};
    std::stop_source stop, never;
    tasks.spawn([&] {
      may_end.wait();
      done = true;
    });
    std::jthread requester;
    if (by_thread)
      requester = std::jthread([&] { stop.request_stop(); });
    else
      weft::spawn_function([stop]() mutable { stop.request_stop(); });
    EXPECT_FALSE(tasks.wait(stop.get_token()));
    EXPECT_FALSE(done);
    may_end.set();
    EXPECT_TRUE(tasks.wait(never.get_token()));
    EXPECT_TRUE(done);
    EXPECT_TRUE(tasks.wait(std::stop_token()));
  }
}

TYPED_TEST(limited_wait_for, a_stop_request_gives_up) {
  gives_up_on_request<TypeParam>();
  std::thread(gives_up_on_request<TypeParam>).join();
}

TYPED_TEST(limited_wait_for, an_end_and_a_limit_may_come_together) {
  weft::spawn([] {
    TypeParam tasks;
    const int rounds = test::scaled(200, 20);
    for (int i = 0; i != rounds; ++i) {
      std::atomic<int> done{0};
      std::stop_source stop;
      for (int k = 0; k != 3; ++k)
        tasks.spawn([&, k] {
          if (k == 1)
            stop.request_stop();
          done.fetch_add(1, std::memory_order_relaxed); // the wait orders it
        });
      const bool over = i % 2 == 0 ? tasks.wait(stop.get_token())
                                   : tasks.wait_for(std::chrono::microseconds(i % 50));
      if (over) {
        EXPECT_EQ(done.load(std::memory_order_relaxed), 3);
      }
      tasks.wait();
      EXPECT_EQ(done.load(std::memory_order_relaxed), 3);
    }
  });
  weft::taskwait();
}

TYPED_TEST(limited_wait_for, an_exception_is_left_for_the_wait_that_ends) {
  TypeParam tasks;
  weft::event may_end;
  std::atomic<bool> begun{false}, thrown{false};
  tasks.spawn([&] {
    begun = true; // an exception skips no task of the group that has begun
    may_end.wait();
  });
  ASSERT_TRUE(test::eventually([&] { return begun.load(); }));
  tasks.spawn([&] {
    thrown = true;
    throw std::logic_error("x");
  });
  ASSERT_TRUE(test::eventually([&] { return thrown.load(); }));
  EXPECT_FALSE(tasks.wait_for(100us));
  EXPECT_FALSE(tasks.wait_until(limited_steady::now()));
  may_end.set();
  EXPECT_THROW((void)tasks.wait_for(1h), std::logic_error);
  EXPECT_TRUE(tasks.wait_for(0s)) << "an exception is given once";
}

TYPED_TEST(limited_wait_for, tasks_runs_none_in_place) {
  weft::spawn([] {
    TypeParam tasks;
    const auto waiter = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    std::uintptr_t child = 0;
    tasks.spawn([&] { child = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); });
    EXPECT_TRUE(tasks.wait_for(1h));
    EXPECT_TRUE(child > waiter || waiter - child > 60'000) << "on the stack of the waiter";
  });
  weft::taskwait();
}

TEST(limited_wait, for_children_is_refused_in_a_callback) {
  weft::errc code{};
  auto waits = [&] {
    try {
      (void)weft::taskwait_for(1h); // also with nothing to wait for
    } catch (const weft::error &e) {
      code = e.code();
    }
  };
  weft::spawn([] {}, weft::onready(waits));
  weft::taskwait();
  EXPECT_EQ(code, weft::errc::no_block);
}

TEST(limited_wait, of_a_group_is_refused_in_another_task) {
  weft::task_group g;
  weft::errc code{};
  weft::spawn([&] {
    try {
      (void)g.wait_for(0s);
    } catch (const weft::error &e) {
      code = e.code();
    }
  });
  weft::taskwait();
  EXPECT_EQ(code, weft::errc::invalid_argument);
}

TEST(limited_wait, of_a_cancelled_group_ends_and_renews_it) {
  weft::task_group g;
  weft::event may_end;
  g.spawn([&] { may_end.wait(); });
  g.cancel();
  EXPECT_FALSE(g.wait_for(0s));
  EXPECT_TRUE(g.cancelled()) << "a wait that gives up changes nothing";
  may_end.set();
  EXPECT_TRUE(g.wait_for(1h));
  EXPECT_FALSE(g.cancelled());
}

} // namespace
