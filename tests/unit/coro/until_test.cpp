// SPDX-License-Identifier: Apache-2.0
// Awaits that end at a time or by a stop request: of each object, by clocks that are set and by one that is not.
#include "support/scale.hpp"
#include "support/scripted_clock.hpp"

#include <weft/coro.hpp>
#include <weft/sync.hpp>
#include <weft/thread.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

/// Goes at half the speed of the steady clock: each wait is over before its time has come.
struct slow_clock {
  using duration = steady::duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<slow_clock>;
  [[maybe_unused]] static constexpr bool is_steady = false;
  static time_point now() noexcept { return time_point(steady::now().time_since_epoch() / 2); }
};

/// Is what waits end by: a unit of a semaphore.
struct unit {
  weft::counting_semaphore<> semaphore{0};
  template <class Time>
  weft::task<bool> until(Time time) {
    co_return co_await semaphore.async_try_acquire_until(time);
  }
  void grant() { semaphore.release(); }
  void undo() {}
};
template <class Mutex>
struct free_mutex {
  Mutex mutex;
  free_mutex() { mutex.lock(); }
  template <class Time>
  weft::task<bool> until(Time time) {
    co_return co_await mutex.async_try_lock_until(time);
  }
  void grant() { mutex.unlock(); }
  void undo() {} // the waiter has it
};
/// The waiter gives it up, because it belongs to its task.
struct free_recursive_mutex {
  weft::recursive_timed_mutex mutex;
  free_recursive_mutex() { mutex.lock(); }
  template <class Time>
  weft::task<bool> until(Time time) {
    if (!co_await mutex.async_try_lock_until(time))
      co_return false;
    EXPECT_TRUE(co_await mutex.async_try_lock_until(Time())); // the task has it
    mutex.unlock();
    mutex.unlock();
    co_return true;
  }
  void grant() { mutex.unlock(); }
  void undo() { mutex.lock(); }
};
struct free_for_readers {
  weft::shared_mutex mutex;
  free_for_readers() { mutex.lock(); }
  template <class Time>
  weft::task<bool> until(Time time) {
    co_return co_await mutex.async_try_lock_shared_until(time);
  }
  void grant() { mutex.unlock(); }
  void undo() {
    mutex.unlock_shared();
    mutex.lock();
  }
};
struct end_of_latch {
  std::optional<weft::latch> latch{1};
  template <class Time>
  weft::task<bool> until(Time time) {
    co_return co_await latch->async_wait_until(time);
  }
  void grant() { latch->count_down(); }
  void undo() { latch.emplace(1); }
};
struct set_event {
  weft::event event;
  template <class Time>
  weft::task<bool> until(Time time) {
    co_return co_await event.async_wait_until(time);
  }
  void grant() { event.set(); }
  void undo() { event.reset(); }
};
struct end_of_phase {
  weft::barrier<> barrier{2};
  weft::barrier<>::arrival_token arrival = barrier.arrive();
  template <class Time>
  weft::task<bool> until(Time time) {
    co_return co_await barrier.async_wait_until(arrival, time);
  }
  void grant() { (void)barrier.arrive(); }
  void undo() { arrival = barrier.arrive(); }
};
struct received_value {
  weft::channel<std::unique_ptr<int>> channel{4};
  int sent = 0, received = 0;
  template <class Time>
  weft::task<bool> until(Time time) {
    auto value = co_await channel.async_pop_until(time);
    if (value) {
      EXPECT_EQ(**value, received++);
    }
    co_return value.has_value();
  }
  void grant() {
    EXPECT_EQ(channel.try_push(std::make_unique<int>(sent++)), weft::channel_status::success);
  }
  void undo() {}
};
/// Sends values; those of waits that timed out do not come.
struct sent_value {
  weft::channel<std::unique_ptr<int>> channel{1};
  int sent = 0;
  sent_value() {
    EXPECT_EQ(channel.try_push(std::make_unique<int>(-1)), weft::channel_status::success);
  }
  template <class Time>
  weft::task<bool> until(Time time) {
    const auto how = co_await channel.async_push_until(std::make_unique<int>(sent), time);
    if (how != weft::channel_status::success) {
      EXPECT_EQ(how, weft::channel_status::timeout);
    }
    co_return how == weft::channel_status::success;
  }
  void grant() {
    std::unique_ptr<int> value;
    EXPECT_EQ(channel.try_pop(value), weft::channel_status::success);
    EXPECT_EQ(*value, sent++ - 1);
  }
  void undo() {}
};
template <class Variable, class Mutex>
struct condition {
  Mutex mutex;
  Variable changed;
  bool holds = false;
  template <class Time>
  weft::task<bool> until(Time time) {
    co_await mutex.async_lock();
    std::unique_lock lock(mutex, std::adopt_lock);
    const bool seen = co_await weft::async_wait_until(changed, lock, time, [&] { return holds; });
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_EQ(seen, holds);
    co_return seen;
  }
  void grant() {
    const std::lock_guard lock(mutex);
    holds = true;
    changed.notify_one();
  }
  void undo() { holds = false; }
};
struct end_of_task {
  weft::promise<void> promise;
  weft::future<void> future = promise.get_future();
  template <class Time>
  weft::task<bool> until(Time time) {
    const auto how = co_await weft::async_wait_until(future, time);
    co_return how == weft::future_status::ready;
  }
  void grant() { promise.set_value(); }
  void undo() {
    promise = weft::promise<void>();
    future = promise.get_future();
  }
};
/// The call that others wait for fails, so that the next one calls.
struct turn_to_call {
  struct failed {};
  std::optional<weft::once_flag> flag;
  weft::event may_fail;
  weft::future<void> call;
  turn_to_call() { undo(); }
  template <class Time>
  weft::task<bool> until(Time time) {
    int calls = 0;
    const bool called = co_await weft::async_call_once_until(*flag, time, [&] { ++calls; });
    EXPECT_EQ(calls, called ? 1 : 0);
    co_return called;
  }
  void grant() {
    may_fail.set();
    EXPECT_THROW(call.get(), failed);
  }
  void undo() {
    flag.emplace();
    may_fail.reset();
    call = begin_call();
  }
  weft::future<void> begin_call() { // returns when it waits
    co_await weft::async_call_once(*flag, [this]() -> weft::task<void> {
      co_await may_fail.async_wait();
      throw failed();
    });
  }
};

/// Begins an await in the caller: when it returns, that waits.
template <class Object, class Time>
weft::future<bool> begin_wait(Object &of, Time time) {
  co_return co_await of.until(time);
}

template <class Clock, class Object>
void ends_by_grant_or_time() {
  Object of;
  const auto late = [](auto after) { return Clock::now() + after; };
  EXPECT_FALSE(of.until(late(-1ms)).get());
  for (int i = 0; i < 3; ++i) { // a wait that has ended is in no list: the next one gets the grant
    const auto soon = late(std::chrono::microseconds(200));
    EXPECT_FALSE(of.until(soon).get());
    EXPECT_GE(Clock::now(), soon); // also when the clock is slow
    auto other = begin_wait(of, late(100us));
    auto waits = begin_wait(of, late(1h));
    EXPECT_FALSE(other.get());
    of.grant();
    EXPECT_TRUE(waits.get());
    of.undo();
  }
  of.grant();
  EXPECT_TRUE(of.until(late(-1ms)).get()); // there is nothing to wait for
}

template <class Object>
class await_until : public testing::Test {};
using objects_with_times =
    testing::Types<unit, free_mutex<weft::timed_mutex>, free_mutex<weft::shared_mutex>,
                   free_recursive_mutex, free_for_readers, end_of_latch, set_event, end_of_phase,
                   received_value, sent_value, condition<weft::condition_variable, weft::mutex>,
                   condition<weft::condition_variable_any, weft::timed_mutex>, end_of_task,
                   turn_to_call>;
TYPED_TEST_SUITE(await_until, objects_with_times);

TYPED_TEST(await_until, ends_by_a_grant_or_its_time) {
  ends_by_grant_or_time<steady, TypeParam>();
  ends_by_grant_or_time<slow_clock, TypeParam>();
}

TEST(coro_until, a_channel_that_closes_ends_awaits_of_any_clock) {
  weft::channel<int> full(0), empty;
  auto run = [&]() -> weft::task<void> {
    const auto late = slow_clock::now() + 1h;
    auto pushes = weft::async([&]() -> weft::task<weft::channel_status> {
      co_return co_await full.async_push_until(1, late);
    });
    auto pops = weft::async(
        [&]() -> weft::task<bool> { co_return (co_await empty.async_pop_until(late)).has_value(); });
    EXPECT_EQ(co_await weft::async_wait_for(pops, 1ms), weft::future_status::timeout);
    full.close();
    empty.close();
    EXPECT_EQ(co_await pushes, weft::channel_status::closed);
    EXPECT_FALSE(co_await pops);
  };
  run().get();
}

TEST(coro_until, arrives_at_a_latch_and_waits) {
  weft::latch l(4);
  auto run = [&](std::ptrdiff_t count) -> weft::task<void> {
    co_await l.async_arrive_and_wait(count);
    EXPECT_TRUE(l.try_wait());
  };
  auto first = weft::async([&] { return run(1); });
  EXPECT_FALSE(l.try_wait());
  weft::async([&] { return run(3); }).get();
  first.get();
  EXPECT_THROW((void)l.async_arrive_and_wait(), weft::error); // counts too often, in the call
}

/// Waits for a notification, with the lock, until a time.
template <class Time>
weft::future<std::cv_status> begin_bare_wait(weft::condition_variable &v, weft::mutex &m,
                                             Time time) {
  std::unique_lock lock(m);
  const auto how = co_await v.async_wait_until(lock, time);
  EXPECT_TRUE(lock.owns_lock());
  co_return how;
}
template <class Time>
weft::future<std::cv_status> begin_bare_wait(weft::condition_variable_any &v,
                                             weft::timed_mutex &m, Time time) {
  std::unique_lock lock(m);
  const auto how = co_await weft::async_wait_until(v, lock, time);
  EXPECT_TRUE(lock.owns_lock());
  co_return how;
}
template <class Variable, class Mutex>
void notifies_or_times_out() {
  Variable v;
  Mutex m;
  EXPECT_EQ(begin_bare_wait(v, m, steady::now() - 1ms).get(), std::cv_status::timeout);
  const auto soon = steady::now() + 300us;
  EXPECT_EQ(begin_bare_wait(v, m, soon).get(), std::cv_status::timeout);
  EXPECT_GE(steady::now(), soon);
  auto waits = begin_bare_wait(v, m, slow_clock::now() + 1h);
  v.notify_one(); // the waits before are in no list
  EXPECT_EQ(waits.get(), std::cv_status::no_timeout);
  const auto by_slow_clock = slow_clock::now() + 1ms;
  EXPECT_EQ(begin_bare_wait(v, m, by_slow_clock).get(), std::cv_status::timeout);
  EXPECT_GE(slow_clock::now(), by_slow_clock);
  using clock = test::scripted_clock;
  EXPECT_EQ(begin_bare_wait(v, m, clock::begin(v, 9)).get(), std::cv_status::timeout);
  EXPECT_GE(clock::s_asked, 10) << "it ended before its time";
  EXPECT_EQ(begin_bare_wait(v, m, clock::begin(v, INT_MAX, 3)).get(), std::cv_status::no_timeout);
  EXPECT_EQ(begin_bare_wait(v, m, clock::begin(v, 3, 3)).get(), std::cv_status::no_timeout);
  EXPECT_THROW((void)begin_bare_wait(v, m, clock::begin(v, INT_MAX, -1, 3)).get(), clock::failed);
  EXPECT_EQ(begin_bare_wait(v, m, clock::begin(v, INT_MAX, 3, 3)).get(),
            std::cv_status::no_timeout);
  v.notify_all(); // finds none of the waits that have ended
  EXPECT_TRUE(m.try_lock());
  m.unlock();
}

TEST(coro_until, a_notification_or_the_time_ends_the_wait_for_it) {
  notifies_or_times_out<weft::condition_variable, weft::mutex>();
  notifies_or_times_out<weft::condition_variable_any, weft::timed_mutex>();
}

/// Waits for a condition by each form that takes a token.
template <class Variable, class Mutex>
struct stoppable_condition : condition<Variable, Mutex> {
  enum form { with_token, with_token_and_duration, with_token_and_time, with_token_and_slow_time };
  static constexpr form forms[] = {with_token, with_token_and_duration, with_token_and_time,
                                   with_token_and_slow_time};
  template <class Duration>
  weft::future<bool> begin(form how, std::stop_token stop, Duration most) {
    std::unique_lock lock(this->mutex);
    const auto asks = [this] { return this->holds; };
    bool seen = false;
    switch (how) {
    case with_token:
      seen = co_await weft::async_wait(this->changed, lock, stop, asks);
      break;
    case with_token_and_duration:
      seen = co_await weft::async_wait_for(this->changed, lock, stop, most, asks);
      break;
    case with_token_and_time:
      seen = co_await weft::async_wait_until(this->changed, lock, stop, steady::now() + most, asks);
      break;
    case with_token_and_slow_time:
      seen = co_await weft::async_wait_until(this->changed, lock, stop, slow_clock::now() + most,
                                             asks);
      break;
    }
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_EQ(seen, this->holds);
    co_return seen;
  }
};
template <class Condition>
void waits_for_a_condition_end_by_stop() {
  for (const auto how : Condition::forms) {
    Condition c;
    std::stop_source stop, requested;
    requested.request_stop();
    EXPECT_FALSE(c.begin(how, requested.get_token(), 1h).get());
    auto waits = c.begin(how, stop.get_token(), 1h), other = c.begin(how, {}, 1h);
    stop.request_stop();
    EXPECT_FALSE(waits.get());
    c.changed.notify_all(); // the condition does not hold
    EXPECT_EQ(other.wait_for(100us), weft::future_status::timeout);
    if (how != Condition::with_token) {
      EXPECT_FALSE(c.begin(how, {}, 200us).get());
    }
    c.grant(); // wakes the one that is left
    EXPECT_TRUE(other.get());
    EXPECT_TRUE(c.begin(how, requested.get_token(), 1h).get());
  }
}

TEST(coro_until, a_stop_request_ends_the_wait_for_a_condition) {
  waits_for_a_condition_end_by_stop<
      stoppable_condition<weft::condition_variable, weft::mutex>>();
  waits_for_a_condition_end_by_stop<
      stoppable_condition<weft::condition_variable_any, weft::timed_mutex>>();
}

TEST(coro_until, a_condition_ends_the_wait_within_a_duration) {
  condition<weft::condition_variable, weft::mutex> c;
  auto within = [&](auto most) -> weft::future<bool> {
    std::unique_lock lock(c.mutex);
    co_return co_await weft::async_wait_for(c.changed, lock, most, [&] { return c.holds; });
  };
  EXPECT_FALSE(within(200us).get());
  auto waits = within(std::chrono::hours::max()); // has no end
  c.grant();
  EXPECT_TRUE(waits.get());
  EXPECT_TRUE(within(0s).get());
}

TEST(coro_until, plain_waits_for_a_condition_take_tokens_and_times) {
  condition<weft::condition_variable, weft::mutex> c;
  std::stop_source stop, requested;
  requested.request_stop();
  const auto asks = [&] { return c.holds; };
  {
    std::unique_lock lock(c.mutex);
    EXPECT_FALSE(c.changed.wait(lock, requested.get_token(), asks));
    EXPECT_FALSE(c.changed.wait_for(lock, stop.get_token(), 100us, asks));
    EXPECT_FALSE(c.changed.wait_until(lock, stop.get_token(), slow_clock::now() + 100us, asks));
  }
  auto waits = weft::async([&] {
    std::unique_lock lock(c.mutex);
    EXPECT_FALSE(c.changed.wait(lock, stop.get_token(), asks));
    EXPECT_FALSE(c.changed.wait_for(lock, stop.get_token(), 1h, asks));
    EXPECT_FALSE(c.changed.wait_until(lock, stop.get_token(), steady::now() + 1h, asks));
    EXPECT_TRUE(lock.owns_lock());
  });
  EXPECT_EQ(waits.wait_for(100us), weft::future_status::timeout);
  stop.request_stop();
  waits.get();
  auto granted = weft::async([&] {
    std::unique_lock lock(c.mutex);
    return c.changed.wait_for(lock, std::stop_token(), 1h, asks) &&
           c.changed.wait(lock, std::stop_token(), asks) &&
           c.changed.wait_until(lock, std::stop_token(), steady::now() + 1h, asks);
  });
  c.grant();
  EXPECT_TRUE(granted.get());
}

// ---- time

weft::future<bool> begin_sleep(std::chrono::nanoseconds time, std::stop_token stop) {
  co_return co_await weft::this_task::async_sleep_for(time, stop);
}
template <class Time>
weft::future<bool> begin_sleep_until(Time end, std::stop_token stop) {
  co_return co_await weft::this_task::async_sleep_until(end, stop);
}

TEST(coro_until, sleeps_until_a_time_of_any_clock) {
  auto run = []() -> weft::task<void> {
    const auto end = steady::now() + 300us;
    co_await weft::this_task::async_sleep_until(end);
    EXPECT_GE(steady::now(), end);
    const auto slow_end = slow_clock::now() + 300us;
    co_await weft::this_task::async_sleep_until(slow_end);
    EXPECT_GE(slow_clock::now(), slow_end);
    co_await weft::this_task::async_sleep_until(std::chrono::system_clock::time_point());
    const auto later = slow_clock::now() + 300us;
    EXPECT_TRUE(co_await weft::this_task::async_sleep_until(later, std::stop_token()));
    EXPECT_GE(slow_clock::now(), later);
  };
  run().get();
}

TEST(coro_until, a_stop_request_ends_a_sleep) {
  std::stop_source stop, requested;
  requested.request_stop();
  const std::chrono::nanoseconds for_ever = std::chrono::nanoseconds::max();
  EXPECT_FALSE(begin_sleep(1h, requested.get_token()).get());
  EXPECT_FALSE(begin_sleep_until(slow_clock::now() + 1h, requested.get_token()).get());
  EXPECT_TRUE(begin_sleep(0s, requested.get_token()).get()); // the time was over first
  auto sleeps = begin_sleep(1h, stop.get_token()), ever = begin_sleep(for_ever, stop.get_token()),
       until = begin_sleep_until(steady::now() + 1h, stop.get_token()),
       slowly = begin_sleep_until(slow_clock::now() + 1h, stop.get_token());
  EXPECT_EQ(ever.wait_for(100us), weft::future_status::timeout);
  EXPECT_FALSE(sleeps.is_ready());
  const auto end = steady::now() + 300us;
  EXPECT_TRUE(begin_sleep_until(end, stop.get_token()).get());
  EXPECT_GE(steady::now(), end);
  stop.request_stop();
  EXPECT_FALSE(sleeps.get());
  EXPECT_FALSE(ever.get());
  EXPECT_FALSE(until.get());
  EXPECT_FALSE(slowly.get());
}

TEST(coro_until, a_stop_request_ends_a_sleep_on_a_stack) {
  std::stop_source stop;
  std::atomic<int> ended{0};
  weft::task_group g;
  for (int i = 0; i < 2; ++i)
    g.spawn([&, i] {
      EXPECT_FALSE(i == 0 ? weft::this_thread::sleep_for(1h, stop.get_token())
                          : weft::this_task::sleep_until(slow_clock::now() + 1h, stop.get_token()));
      ++ended;
    });
  const auto end = steady::now() + 300us;
  EXPECT_TRUE(weft::this_task::sleep_until(end, stop.get_token()));
  EXPECT_GE(steady::now(), end);
  EXPECT_EQ(ended, 0);
  stop.request_stop();
  g.wait();
  EXPECT_EQ(ended, 2);
  EXPECT_FALSE(weft::this_task::sleep_for(1h, stop.get_token()));
  EXPECT_TRUE(weft::this_task::sleep_for(0s, stop.get_token()));
}

TEST(coro_until, sleepers_meet_stop_requests) {
  const int rounds = test::scaled(200);
  for (int i = 0; i < rounds; ++i) {
    std::stop_source stop;
    auto sleeps = begin_sleep(std::chrono::microseconds(i % 40), stop.get_token());
    auto requests = weft::async([&] { stop.request_stop(); });
    (void)sleeps.get(); // either
    requests.get();
  }
}

// ---- threads and tasks

template <class Thread>
weft::future<bool> begin_join(Thread &t, std::stop_token stop) {
  co_return co_await t.async_join(stop);
}

TEST(coro_until, a_stop_request_ends_a_join_and_leaves_the_thread) {
  weft::event may_end;
  weft::thread t([&] { may_end.wait(); });
  weft::jthread j([&] { may_end.wait(); });
  std::stop_source stop, requested;
  requested.request_stop();
  EXPECT_FALSE(begin_join(t, requested.get_token()).get());
  EXPECT_FALSE(j.join(requested.get_token()));
  auto joins = begin_join(t, stop.get_token()), joins_other = begin_join(j, stop.get_token());
  weft::thread third([&] { may_end.wait(); });
  auto plain = weft::async([&] { return third.join(stop.get_token()); });
  EXPECT_EQ(joins.wait_for(100us), weft::future_status::timeout);
  stop.request_stop();
  EXPECT_FALSE(joins.get());
  EXPECT_FALSE(joins_other.get());
  EXPECT_FALSE(plain.get());
  EXPECT_TRUE(t.joinable() && j.joinable() && third.joinable());
  EXPECT_FALSE(j.get_stop_token().stop_requested());
  auto joins_again = begin_join(t, {});
  may_end.set();
  EXPECT_TRUE(joins_again.get());
  EXPECT_FALSE(t.joinable());
  EXPECT_TRUE(begin_join(j, {}).get());
  EXPECT_TRUE(third.join(std::stop_token()));
  EXPECT_FALSE(j.joinable() || third.joinable());
  EXPECT_THROW((void)third.join(stop.get_token()), std::system_error);
  EXPECT_THROW((void)t.async_join(stop.get_token()), std::system_error);
}

weft::future<int> begin_get(weft::handle<int> &h, std::stop_token stop) {
  co_return co_await weft::async_get(h, stop);
}

TEST(coro_until, a_stop_request_ends_the_wait_for_a_task_by_its_handle) {
  weft::event may_end;
  weft::handle<int> h = weft::spawn(
      [&] {
        may_end.wait();
        return 7;
      },
      weft::tracked);
  std::stop_source stop;
  auto waits = begin_get(h, stop.get_token());
  EXPECT_EQ(waits.wait_for(100us), weft::future_status::timeout);
  stop.request_stop();
  EXPECT_THROW((void)waits.get(), weft::error);
  EXPECT_THROW((void)begin_get(h, stop.get_token()).get(), weft::error);
  EXPECT_TRUE(h.valid());
  auto again = begin_get(h, {});
  may_end.set();
  EXPECT_EQ(again.get(), 7);
  EXPECT_FALSE(h.valid());
  EXPECT_THROW((void)begin_get(h, {}).get(), weft::error);
}

TEST(coro_until, times_meet_grants) {
  const int rounds = test::scaled(300);
  weft::counting_semaphore<> s(0);
  weft::channel<int> c(0);
  long units = 0, values = 0;
  auto taker = weft::async([&]() -> weft::task<void> {
    for (int i = 0; i < rounds; ++i) {
      const auto most = std::chrono::microseconds(i % 30);
      units += co_await s.async_try_acquire_until(steady::now() + most) ? 1 : 0;
      units += co_await s.async_try_acquire_until(slow_clock::now() + most) ? 1 : 0;
      values += co_await c.async_pop_until(slow_clock::now() + most) ? 1 : 0;
    }
  });
  long given = 0, sent = 0;
  while (!taker.is_ready()) {
    s.release();
    ++given;
    const auto how = c.push_for(1, 5us);
    EXPECT_TRUE(how == weft::channel_status::success || how == weft::channel_status::timeout);
    sent += how == weft::channel_status::success ? 1 : 0;
  }
  taker.get();
  while (s.try_acquire())
    ++units;
  EXPECT_EQ(units, given);
  EXPECT_EQ(values, sent);
}

} // namespace
