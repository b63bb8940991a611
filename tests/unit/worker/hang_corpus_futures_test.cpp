// SPDX-License-Identifier: Apache-2.0
// Programs of futures, continuations, coroutines and locks that hang: all are reported, with the
// cause.
#include "support/gate.hpp"
#include "unit/worker/hang_corpus.hpp"

#include <weft/coro.hpp>
#include <weft/future.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using test::must;
using test::sick;
using test::sick_program;
using test::why;

weft::promise<int> &the_promise() {
  static weft::promise<int> *const made = new weft::promise<int>; // never kept, never broken
  return *made;
}

void promise_of_nobody() {
  weft::spawn([] { the_promise().get_future().wait(); }, weft::label("asker"));
  weft::taskwait();
}

void shared_promise_of_nobody() {
  const weft::shared_future<int> f = the_promise().get_future();
  for (const char *name : {"first", "second"})
    weft::spawn([f] { f.wait(); }, weft::label(name));
  weft::taskwait();
}

void continuation_of_a_promise() {
  auto scaled = the_promise().get_future().then([](int x) { return 2 * x; }, weft::label("scales"));
  weft::spawn([&scaled] { return scaled.get(); }, weft::label("asker")).wait();
}

void continuation_that_nobody_has() {
  static_cast<void>(
      the_promise().get_future().then([](int x) { return 2 * x; }, weft::label("scales")));
  weft::taskwait();
}

/// What main waits for leads to none of them.
void continuations_beside_an_event() {
  static weft::promise<int> first, second, third;
  auto chain = first.get_future()
                   .then([](int x) { return 2 * x; }, weft::label("scales"))
                   .then([](int x) { return x; }, weft::label("prints"));
  auto both = weft::when_all(second.get_future(), third.get_future())
                  .then([](auto) {}, weft::label("of all"));
  weft::promise<int> kept; // leaves nothing behind
  auto done = kept.get_future().then([](int x) { return x; });
  kept.set_value(1);
  must(done.get() == 1);
  weft::event().wait();
}

void continuation_with_accesses() {
  static int x;
  weft::spawn([] { x = 1; }, weft::label("held"), weft::out(x),
              weft::after(the_promise().get_future()));
  weft::spawn([] { x = 2; }, weft::label("heir"), weft::inout(x));
  weft::taskwait();
}

void one_of_two_is_ready() {
  const weft::shared_future<int> ready = weft::make_ready_future(1),
                                 other = the_promise().get_future();
  weft::task_group g;
  g.spawn([] {}, weft::label("held"), weft::after(ready), weft::after(other));
  weft::spawn([other] { other.wait(); }, weft::label("asker"));
  weft::taskwait();
}

/// The tasks that they ran after are gone. Their ends were posted, which counts in the same word.
void ended_after_others() {
  static weft::event never;
  static std::array<int, 50> cells;
  weft::task_group g;
  for (int &cell : cells)
    g.spawn(
        [&cell] {
          weft::spawn([&cell] { cell = 1, never.wait(); }, weft::label("child"), weft::inout(cell));
        },
        weft::label("ended"), weft::after(weft::async([] {})));
  g.wait();
}

/// Each waits for what continues from the other.
void all_of_each_other() {
  static weft::future<int> after_left, after_right;
  static test::gate go;
  weft::shared_future<int> left = weft::future<int>(
      weft::spawn([] { return must(go.pass()), after_right.get(); }, weft::label("left")));
  weft::shared_future<int> right = weft::future<int>(
      weft::spawn([] { return must(go.pass()), after_left.get(); }, weft::label("right")));
  after_left = weft::when_all(left).then([](auto) { return 1; }, weft::label("after left"));
  after_right = right.then([](int) { return 1; }, weft::label("after right"));
  go.open();
  weft::taskwait();
}

template <class Combine>
void several_of_which_none_comes(Combine combine) {
  static weft::shared_future<int> blocked, kept;
  blocked = weft::future<int>(
      weft::spawn([] { return weft::this_task::block(), 1; }, weft::label("blocked")));
  kept = the_promise().get_future();
  weft::spawn([=] { combine(kept, blocked).wait(); }, weft::label("asker"));
  weft::taskwait();
}
void all_of_several() {
  several_of_which_none_comes([](auto &...each) { return weft::when_all(each...); });
}
void any_of_several() {
  several_of_which_none_comes([](auto &...each) { return weft::when_any(each...); });
}
/// The combination of one is an input of the other.
void all_of_some() {
  several_of_which_none_comes([](auto &one, auto &other) {
    std::vector<weft::future<weft::when_some_result<std::vector<weft::shared_future<int>>>>> parts;
    parts.push_back(weft::when_some(1, std::vector<weft::shared_future<int>>{one, other}));
    return weft::when_all(std::move(parts));
  });
}

void result_of_a_task_that_is_blocked() {
  static weft::future<int> inner;
  inner = weft::spawn([] { return weft::this_task::block(), 1; }, weft::label("inner"));
  auto outer =
      weft::make_ready_future(1).then([](int) { return std::move(inner); }, weft::label("outer"));
  weft::spawn([&outer] { outer.wait(); }, weft::label("asker"));
  weft::taskwait();
}

/// Each of the first two runs in place the next one, which is not its child; the third has a child,
/// and that waits on the same stack.
void waits_on_one_stack() {
  static weft::shared_future<int> third, second;
  third = weft::future<int>(weft::spawn(
      [] {
        weft::spawn([] { the_promise().get_future().wait(); }, weft::label("child of the third"));
        return weft::taskwait(), 1;
      },
      weft::label("third")));
  second = weft::future<int>(weft::spawn([] { return third.get() + 1; }, weft::label("second")));
  weft::spawn([] { return second.get() + 1; }, weft::label("first")).wait();
}

/// Returns whether two frames are on one stack: those of two stacks are further from each other.
bool are_on_one_stack(const void *frame, const void *other) {
  return std::abs(static_cast<const char *>(frame) - static_cast<const char *>(other)) <= 32 << 10;
}

/// The waiter for a group runs in place a member that a task has spawned which is not below it.
/// Another thread may take the member before the waiter does, so the program tries some times. Where
/// a wait runs no task (wait.policy), the waiter is suspended, and waits for the same.
void member_that_another_task_spawned() {
  static weft::task_group *the_group = nullptr;
  static const void *waiter_frame = nullptr;
  for (static int tries = 0;; ++tries) {
    weft::event has_group;
    const weft::shared_future<int> creator = weft::future<int>(weft::spawn(
        [&has_group] {
          has_group.wait();
          the_group->spawn(
              [] {
                if (tries == 100 || are_on_one_stack(waiter_frame, __builtin_frame_address(0)))
                  the_promise().get_future().wait();
              },
              weft::label("member"));
          return 0;
        },
        weft::label("creator")));
    weft::spawn(
        [&] {
          weft::task_group g;
          waiter_frame = __builtin_frame_address(0);
          the_group = &g;
          has_group.set();
          creator.get();
          return g.wait(), 0;
        },
        weft::label("waiter"))
        .wait();
  }
}

/// The waiter below has a lock; the task on top of it has not. Another thread may begin that task
/// before the waiter does, so the program tries until it is on top.
void lock_of_the_waiter_below() {
  weft::spawn(
      [] {
        static weft::mutex m;
        m.lock();
        const void *const below = __builtin_frame_address(0);
        const auto on_top = [below] {
          if (!are_on_one_stack(below, __builtin_frame_address(0)))
            return false;
          weft::spawn([] { m.lock(); }, weft::label("other"));
          the_promise().get_future().wait();
          return true;
        };
        while (!weft::spawn(on_top, weft::label("on top")).get()) {
        }
        return 0;
      },
      weft::label("below"))
      .wait();
}

template <class Mutex>
void opposite_order_of() {
  static Mutex a, b;
  static std::atomic<int> have{0};
  const auto both = [](Mutex &first, Mutex &second) {
    first.lock();
    ++have;
    must(test::eventually([] { return have == 2; }));
    second.lock();
  };
  weft::spawn([=] { both(a, b); }, weft::label("left"));
  weft::spawn([=] { both(b, a); }, weft::label("right"));
  weft::taskwait();
}

/// The lock is handed to the task that waits for it, which then waits for the main task.
void lock_that_was_handed_over() {
  static weft::timed_mutex m;
  static weft::mutex of_main;
  of_main.lock();
  m.lock();
  weft::spawn([] { m.lock(), of_main.lock(); }, weft::label("second"));
  do { // until the task waits or has it
    weft::this_task::sleep_for(1ms);
    m.unlock();
  } while (m.try_lock());
  m.lock();
}

void writer_behind_readers() {
  static weft::shared_mutex m;
  m.lock_shared();
  m.lock_shared();
  weft::spawn([] { m.lock(); }, weft::label("writer"));
  weft::taskwait();
}

void readers_that_wait() {
  static weft::event never;
  static std::atomic<int> have{0};
  const auto m = std::make_shared<weft::shared_mutex>(); // its address is no constant
  for (const char *name : {"one reader", "other reader"})
    weft::spawn(
        [m] {
          const std::shared_lock guard(*m);
          ++have;
          never.wait();
        },
        weft::label(name));
  must(test::eventually([] { return have == 2; }));
  weft::spawn([m] { m->lock(); }, weft::label("writer"));
  weft::taskwait();
}

template <class Mutex>
void coroutines_in_opposite_order() {
  static Mutex a, b;
  static weft::event both;
  static std::atomic<int> have{0};
  const auto locks = [](Mutex *first, Mutex *second) {
    return [=]() -> weft::task<void> {
      co_await first->async_lock();
      if (++have == 2)
        both.set();
      co_await both.async_wait();
      co_await second->async_lock();
    };
  };
  weft::spawn(locks(&a, &b), weft::label("left"));
  weft::spawn(locks(&b, &a), weft::label("right"));
  weft::taskwait();
}

void coroutine_awaits_a_promise() {
  weft::spawn(
      []() -> weft::task<void> {
        auto f = the_promise().get_future();
        co_await f;
      },
      weft::label("awaits"));
  weft::taskwait();
}

weft::task<void> waits_within(weft::latch &never) { co_await never.async_wait(); }
weft::task<void> awaits_that_which_waits(weft::latch &never) { co_await waits_within(never); }
void coroutine_below_others() {
  static weft::latch never(1);
  weft::spawn(awaits_that_which_waits(never), weft::label("outer"));
  weft::taskwait();
}

weft::future<int> waits_at_once(weft::latch &never) {
  co_await never.async_wait();
  co_return 1;
}
void eager_coroutine() {
  static weft::latch never(1);
  waits_at_once(never).get();
}

enum class locks { as_a_stack, as_a_coroutine, to_read };
/// The stack on which the coroutine took the lock is that of the waiter later.
template <class Mutex, locks How>
void coroutine_keeps_a_lock() {
  static weft::latch never(1);
  static weft::event held;
  const auto m = std::make_shared<Mutex>(); // its address is no constant
  weft::spawn(
      [m]() -> weft::task<void> {
        Mutex &kept = *m;
        if constexpr (How == locks::as_a_stack)
          kept.lock();
        else if constexpr (How == locks::to_read)
          co_await kept.async_lock_shared();
        else
          co_await kept.async_lock();
        held.set();
        co_await never.async_wait();
        kept.unlock();
      },
      weft::label("keeps"));
  held.wait();
  weft::spawn([m] { m->lock(); }, weft::label("waiter"));
  weft::taskwait();
}

void call_once_of_a_task() {
  static weft::event begun, never;
  const auto flag = std::make_shared<weft::once_flag>();
  weft::spawn(
      [flag] {
        weft::call_once(*flag, [] {
          begun.set();
          never.wait();
        });
      },
      weft::label("first"));
  begun.wait();
  weft::spawn([flag] { weft::call_once(*flag, [] {}); }, weft::label("second"));
  weft::taskwait();
}
void call_once_on_a_static_flag() {
  static weft::event begun, never;
  static weft::once_flag flag;
  weft::spawn(
      [] {
        weft::call_once(flag, [] {
          begun.set();
          never.wait();
        });
      },
      weft::label("first"));
  begun.wait();
  weft::spawn([] { weft::call_once(flag, [] {}); }, weft::label("second"));
  weft::taskwait();
}
void call_once_of_a_coroutine() {
  static weft::event begun, never;
  const auto flag = std::make_shared<weft::once_flag>();
  weft::spawn(
      [flag]() -> weft::task<void> {
        co_await weft::async_call_once(*flag, []() -> weft::task<void> {
          begun.set();
          co_await never.async_wait();
        });
      },
      weft::label("first"));
  begun.wait();
  weft::spawn(
      [flag]() -> weft::task<void> {
        co_await weft::async_call_once(*flag, [] {});
      },
      weft::label("second"));
  weft::taskwait();
}

/// The second one waits for the first, which awaits a task that waits for data of the second.
void coroutine_awaits_a_successor() {
  static int x;
  static weft::shared_future<int> later;
  static test::gate go;
  weft::spawn(
      []() -> weft::task<void> {
        must(go.pass());
        co_await later;
      },
      weft::label("awaits"), weft::out(x));
  later = weft::future<int>(weft::spawn([] { return x; }, weft::label("reads"), weft::in(x)));
  go.open();
  weft::taskwait();
}

const sick_program k_sick_futures[] = {
    {"a_promise_that_nobody_keeps",
     why::nobody_left,
     &promise_of_nobody,
     {"task 'asker' waits for promise 0x",
      "can only be made ready by the code that has the promise",
      "promise_of_nobody()::<lambda()>"}},
    {"a_shared_future_of_it",
     why::nobody_left,
     &shared_promise_of_nobody,
     {"task 'first' waits for promise 0x", "task 'second' waits for promise 0x"}},
    {"a_continuation_of_a_promise",
     why::nobody_left,
     &continuation_of_a_promise,
     {"task 'asker' waits for the end of task 'scales'",
      "task 'scales' is to run after promise 0x"}},
    {"a_continuation_that_nobody_has",
     why::nobody_left,
     &continuation_that_nobody_has,
     {"thread 'main' waits for its child task 'scales'", "task 'scales' is to run after promise 0x",
      "can only be made ready by the code that has the promise"}},
    {"continuations_of_what_nobody_waits_for",
     why::nobody_left,
     &continuations_beside_an_event,
     {"task 'scales' is to run after promise 0x", "task 'prints' is to run after task 'scales'",
      "task 'of all' is to run after when_all 0x", "promise 0x"}},
    {"a_continuation_with_accesses",
     why::nobody_left,
     &continuation_with_accesses,
     {"task 'heir' waits, with inout(0x", "for task 'held'",
      "task 'held' is to run after promise 0x"}},
    {"one_of_two_futures_is_ready",
     why::nobody_left,
     &one_of_two_is_ready,
     {"task 'held' is to run after promise 0x", "task 'asker' waits for promise 0x"}},
    {"tasks_that_ended_after_others_whose_children_wait",
     why::nobody_left,
     &ended_after_others,
     {"task 'child' waits for a weft::event", "task 'ended' waits for its child task 'child'"},
     {{"WEFT_MANAGE_MODE", "central"}, {"WEFT_MANAGE_BACKLOG", "0"}}},
    {"futures_of_each_other",
     why::circle,
     &all_of_each_other,
     {"task 'left' waits for the end of task 'after right'",
      "task 'after right' is to run after task 'right'",
      "task 'right' waits for the end of task 'after left'",
      "task 'after left' is to run after when_all 0x", " waits for task 'left'"}},
    {"all_of_several_futures",
     why::nobody_left,
     &all_of_several,
     {"task 'asker' waits for when_all 0x", " waits for promise 0x", " waits for task 'blocked'",
      "task 'blocked' is blocked"}},
    {"any_of_several_futures",
     why::nobody_left,
     &any_of_several,
     {"is to run after when_some 0x", " waits for one of several: promise 0x",
      " waits for one of several: task 'blocked'"}},
    {"all_of_some_futures",
     why::nobody_left,
     &all_of_some,
     {"task 'asker' waits for when_all 0x", " waits for when_some 0x",
      " waits for one of several: task 'blocked'"}},
    {"the_result_of_a_blocked_task",
     why::nobody_left,
     &result_of_a_task_that_is_blocked,
     {"task 'asker' waits for the end of task 'outer'",
      "task 'outer' has the result of task 'inner'", "task 'inner' is blocked"}},
    {"waits_on_one_stack",
     why::nobody_left,
     &waits_on_one_stack,
     {"task 'first' waits for the end of task 'second'",
      "task 'second' waits for the end of task 'third'",
      "task 'third' waits for its child task 'child of the third'",
      "task 'child of the third' waits for promise 0x"},
     {{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}},
    {"a_member_that_another_task_spawned",
     why::nobody_left,
     &member_that_another_task_spawned,
     {"task 'waiter' waits for the end of task 'member'|task 'waiter' waits in its group for task "
      "'member'",
      "task 'member' waits for promise 0x"},
     {{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}},
    {"a_lock_of_the_waiter_below",
     why::nobody_left,
     &lock_of_the_waiter_below,
     {"task 'other' waits for mutex", "is held on the stack of task 'on top'",
      "task 'on top' waits for promise 0x", "task 'below' waits for the end of task 'on top'"},
     {{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}},
    {"a_coroutine_awaits_a_promise",
     why::nobody_left,
     &coroutine_awaits_a_promise,
     {"task 'awaits' waits for promise 0x",
      "can only be made ready by the code that has the promise"}},
    {"coroutines_that_await_each_other",
     why::nobody_left,
     &coroutine_below_others,
     {"task 'outer' waits for a latch", "waits_within(", "awaits_that_which_waits("}},
    {"an_eager_coroutine",
     why::nobody_left,
     &eager_coroutine,
     {"waits for the end of task 'coroutine 0x", "waits_at_once("}},
    {"a_coroutine_that_locked_as_a_stack_does",
     why::nobody_left,
     &coroutine_keeps_a_lock<weft::mutex, locks::as_a_stack>,
     {"task 'waiter' waits for mutex", "is held, perhaps by task 'keeps'"},
     {{"WEFT_WORKERS", "1"}}},
    {"a_coroutine_that_holds_a_mutex",
     why::nobody_left,
     &coroutine_keeps_a_lock<weft::mutex, locks::as_a_coroutine>,
     {"task 'waiter' waits for mutex", "is held by task 'keeps'"},
     {{"WEFT_WORKERS", "1"}}},
    {"a_coroutine_that_reads",
     why::nobody_left,
     &coroutine_keeps_a_lock<weft::shared_mutex, locks::to_read>,
     {"task 'waiter' waits for mutex", "is held for reading, 1 time, perhaps by task 'keeps'"},
     {{"WEFT_WORKERS", "1"}}},
    {"a_call_once_of_a_task",
     why::nobody_left,
     &call_once_of_a_task,
     {"task 'second' waits for a call_once, which runs perhaps in task 'first'"}},
    {"a_call_once_on_a_static_flag",
     why::nobody_left,
     &call_once_on_a_static_flag,
     {"task 'second' waits for a call_once, which runs perhaps in task 'first'"}},
    {"a_call_once_of_a_coroutine",
     why::nobody_left,
     &call_once_of_a_coroutine,
     {"task 'second' waits for a call_once, which runs perhaps in task 'first'"}},
    {"a_coroutine_awaits_its_successor",
     why::circle,
     &coroutine_awaits_a_successor,
     {"task 'awaits' waits for the end of task 'reads'", "task 'reads' waits, with in(0x",
      "for task 'awaits'"}},
    {"two_timed_mutexes_in_opposite_order",
     why::circle,
     &opposite_order_of<weft::timed_mutex>,
     {"task 'left' waits for mutex", "task 'right' waits for mutex", "is held by task 'left'",
      "is held by task 'right'"}},
    {"two_shared_mutexes_in_opposite_order",
     why::circle,
     &opposite_order_of<weft::shared_mutex>,
     {"task 'left' waits for mutex", "task 'right' waits for mutex", "is held by task 'left'",
      "is held by task 'right'"}},
    {"a_lock_that_was_handed_over",
     why::circle,
     &lock_that_was_handed_over,
     {"thread 'main' waits for mutex", "is held by task 'second'", "task 'second' waits for mutex",
      "thread 'main'"}},
    {"a_writer_behind_readers",
     why::nobody_left,
     &writer_behind_readers,
     {"task 'writer' waits for mutex", "is held for reading, 2 times"}},
    {"a_writer_behind_readers_that_wait",
     why::nobody_left,
     &readers_that_wait,
     {"task 'writer' waits for mutex", "is held for reading, 2 times, perhaps by task 'one reader'",
      "is held for reading, 2 times, perhaps by task 'other reader'"}},
    {"coroutines_with_mutexes_in_opposite_order",
     why::circle,
     &coroutines_in_opposite_order<weft::mutex>,
     {"task 'left' waits for mutex", "task 'right' waits for mutex", "is held by task 'left'",
      "is held by task 'right'"}},
    {"coroutines_with_timed_mutexes_in_opposite_order",
     why::circle,
     &coroutines_in_opposite_order<weft::timed_mutex>,
     {"task 'left' waits for mutex", "task 'right' waits for mutex", "is held by task 'left'",
      "is held by task 'right'"}},
};

INSTANTIATE_TEST_SUITE_P(corpus_futures, sick, testing::ValuesIn(k_sick_futures),
                         [](const auto &p) { return std::string(p.param.name); });

} // namespace
