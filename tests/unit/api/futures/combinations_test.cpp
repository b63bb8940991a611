// SPDX-License-Identifier: Apache-2.0
// Each form of when_all, when_any, when_some and when_each: several futures, a vector, a range, a number of them.
#include "in_task.hpp"
#include "support/gate.hpp"

#include <weft/counters.hpp>
#include <weft/future.hpp>
#include <weft/stop.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using test::in_task;

std::vector<weft::future<int>> numbers(int n) {
  std::vector<weft::future<int>> all;
  for (int i = 0; i != n; ++i)
    all.push_back(weft::async([i] { return i; }));
  return all;
}

std::vector<weft::shared_future<int>> shared_numbers(int n) {
  std::vector<weft::shared_future<int>> all;
  for (auto &f : numbers(n))
    all.push_back(std::move(f));
  return all;
}

/// Expects that the futures have the numbers from 0 on.
template <class Futures>
void expect_numbers(Futures &&all, std::size_t n) {
  ASSERT_EQ(all.size(), n);
  for (std::size_t i = 0; i != n; ++i)
    EXPECT_EQ(all[i].get(), static_cast<int>(i));
}

TEST(when_all_forms, take_several_a_vector_a_range_and_a_number) {
  in_task([] {
    expect_numbers(weft::when_all(numbers(5)).get(), 5);
    auto some = numbers(5);
    expect_numbers(weft::when_all(some.begin(), some.end()).get(), 5);
    EXPECT_FALSE(some[0].valid()); // moved
    some = numbers(5);
    expect_numbers(weft::when_all_n(some.begin(), 3).get(), 3);
    EXPECT_FALSE(some[2].valid());
    EXPECT_TRUE(some[3].valid());
    EXPECT_TRUE(weft::when_all_n(some.begin() + 3, 0).get().empty());
    auto shared = shared_numbers(4);
    expect_numbers(weft::when_all(shared).get(), 4);
    expect_numbers(weft::when_all_n(shared.begin(), 2).get(), 2);
    expect_numbers(weft::when_all(shared.begin(), shared.end()).get(), 4);
    expect_numbers(shared, 4); // copied
    auto [a, b] = weft::when_all(std::move(some[3]), shared[1]).get();
    EXPECT_EQ(a.get() + b.get(), 4);
  });
}

TEST(when_all_forms, refuse_a_future_without_a_state) {
  in_task([] {
    auto some = numbers(3);
    (void)some[1].get();
    EXPECT_THROW((void)weft::when_all(std::move(some)), weft::future_error);
    EXPECT_THROW((void)weft::when_all(weft::future<int>()), weft::future_error);
    EXPECT_THROW((void)weft::when_any(weft::future<int>()), weft::future_error);
    EXPECT_THROW((void)weft::when_some(1, weft::future<int>()), weft::future_error);
    EXPECT_THROW((void)weft::when_each([](weft::future<int>) {}, weft::future<int>()),
                 weft::future_error);
  });
}

template <class Result>
void expect_one_of(Result result, std::size_t n) {
  ASSERT_EQ(result.futures.size(), n);
  ASSERT_LT(result.index, n);
  EXPECT_TRUE(result.futures[result.index].is_ready());
  expect_numbers(result.futures, n);
}

TEST(when_any_forms, take_several_a_vector_a_range_and_a_number) {
  in_task([] {
    expect_one_of(weft::when_any(numbers(4)).get(), 4);
    auto some = numbers(5);
    expect_one_of(weft::when_any(some.begin(), some.end()).get(), 5);
    some = numbers(5);
    expect_one_of(weft::when_any_n(some.begin(), 3).get(), 3);
    EXPECT_TRUE(some[4].valid());
    EXPECT_EQ(weft::when_any_n(some.begin() + 3, 0).get().index, static_cast<std::size_t>(-1));
    auto shared = shared_numbers(3);
    expect_one_of(weft::when_any_n(shared.begin(), 3).get(), 3);
    auto pair = weft::when_any(weft::make_ready_future(1), shared[2]).get();
    EXPECT_EQ(std::get<0>(pair.futures).get() + std::get<1>(pair.futures).get(), 3);
  });
}

TEST(when_any_forms, cancel_the_rest_of_several_and_of_a_vector) {
  in_task([] {
    for (const bool vector : {true, false}) {
      weft::promise<int> p;
      weft::shared_future<int> first = p.get_future();
      weft::promise<int> keeps_waiting;
      bool ran = false;
      weft::shared_future<int> waits =
          keeps_waiting.get_future().then([&](int v) { return ran = true, v; });
      p.set_value(1);
      if (vector)
        EXPECT_EQ(
            weft::when_any(weft::cancel_rest, std::vector<weft::shared_future<int>>{waits, first})
                .get()
                .index,
            1u);
      else
        EXPECT_EQ(weft::when_any(weft::cancel_rest, waits, first).get().index, 1u);
      keeps_waiting.set_value(2);
      try {
        (void)waits.get();
        ADD_FAILURE() << "it was asked to stop before it began";
      } catch (const weft::error &e) {
        EXPECT_EQ(e.code(), weft::errc::cancelled);
      }
      EXPECT_FALSE(ran);
    }
  });
}

template <class Result>
void expect_some_of(Result result, std::size_t needed, std::size_t n) {
  ASSERT_EQ(result.futures.size(), n);
  ASSERT_EQ(result.indices.size(), needed);
  for (const std::size_t i : result.indices) {
    ASSERT_LT(i, n);
    EXPECT_TRUE(result.futures[i].is_ready());
  }
  std::sort(result.indices.begin(), result.indices.end());
  EXPECT_EQ(std::adjacent_find(result.indices.begin(), result.indices.end()), result.indices.end());
  expect_numbers(result.futures, n);
}

TEST(when_some_forms, take_several_a_vector_a_range_and_a_number) {
  in_task([] {
    expect_some_of(weft::when_some(2, numbers(4)).get(), 2, 4);
    expect_some_of(weft::when_some(4, numbers(4)).get(), 4, 4);
    auto some = numbers(5);
    expect_some_of(weft::when_some(3, some.begin(), some.end()).get(), 3, 5);
    some = numbers(5);
    expect_some_of(weft::when_some_n(2, some.begin(), 3).get(), 2, 3);
    EXPECT_TRUE(some[3].valid());
    EXPECT_THROW((void)weft::when_some_n(3, some.begin() + 3, 2), weft::error);
    auto shared = shared_numbers(3);
    expect_some_of(weft::when_some_n(1, shared.begin(), 3).get(), 1, 3);
    expect_some_of(weft::when_some(weft::cancel_rest, 3, shared).get(), 3, 3);
    auto pair = weft::when_some(2, shared[1], weft::make_ready_future(5)).get();
    EXPECT_EQ(pair.indices.size(), 2u);
    EXPECT_EQ(std::get<1>(pair.futures).get(), 5);
  });
}

TEST(when_some_forms, name_the_futures_in_the_order_of_their_ends) {
  in_task([] {
    std::vector<weft::promise<int>> promises(4);
    std::vector<weft::shared_future<int>> all;
    for (auto &p : promises)
      all.push_back(p.get_future());
    auto some = weft::when_some(3, all);
    for (const std::size_t i : {2u, 0u, 3u}) {
      EXPECT_FALSE(some.is_ready());
      promises[i].set_value(0);
    }
    EXPECT_EQ(some.get().indices, (std::vector<std::size_t>{2, 0, 3}));
    promises[1].set_value(0);
  });
}

TEST(when_each_forms, take_several_a_vector_a_range_and_a_number) {
  in_task([] {
    int sum = 0;
    const auto add = [&sum](std::size_t i, auto f) {
      const int v = f.get();
      EXPECT_EQ(static_cast<int>(i), v);
      sum += v + 1;
    };
    weft::when_each(add, numbers(4)).get();
    EXPECT_EQ(std::exchange(sum, 0), 10);
    auto some = numbers(4);
    weft::when_each(add, some.begin(), some.end()).get();
    EXPECT_EQ(std::exchange(sum, 0), 10);
    some = numbers(4);
    weft::when_each_n(add, some.begin(), 2).get();
    EXPECT_EQ(std::exchange(sum, 0), 3);
    EXPECT_TRUE(some[2].valid());
    weft::when_each_n(add, some.begin() + 2, 0).get();
    EXPECT_EQ(sum, 0);
    weft::when_each([&sum](auto f) { sum += f.get(); }, weft::make_ready_future(20),
                    weft::make_ready_future(3).share())
        .get();
    EXPECT_EQ(sum, 23);
  });
}

TEST(when_each_forms, call_in_the_order_of_the_ends) {
  in_task([] {
    std::vector<weft::promise<int>> promises(3);
    std::vector<weft::future<int>> all;
    for (auto &p : promises)
      all.push_back(p.get_future());
    std::vector<std::size_t> order;
    weft::promise<void> called[3];
    std::vector<weft::future<void>> was_called;
    for (auto &c : called)
      was_called.push_back(c.get_future());
    weft::future<void> each = weft::when_each(
        [&](std::size_t i, weft::future<int>) {
          order.push_back(i);
          called[i].set_value();
        },
        std::move(all));
    for (const std::size_t i : {1u, 2u, 0u}) {
      promises[i].set_value(0);
      was_called[i].get();
    }
    each.get();
    EXPECT_EQ(order, (std::vector<std::size_t>{1, 2, 0}));
  });
}

TEST(when_each_forms, no_stack_waits_for_a_future) {
  constexpr int k_groups = 20;
  std::atomic<int> begun{0};
  std::vector<weft::promise<void>> promises(k_groups);
  std::vector<weft::future<void>> all;
  for (auto &p : promises)
    all.push_back(weft::when_each([&](std::size_t i, weft::future<void>) { begun += i == 0; },
                                  weft::make_ready_future(), p.get_future()));
  ASSERT_TRUE(test::eventually([&] { return begun == k_groups; }));
  test::dawdle();
  EXPECT_LT(weft::counters::take().value("/threads/count/instantaneous/suspended"), k_groups);
  for (auto &p : promises)
    p.set_value();
  for (auto &each : all)
    each.get();
}

TEST(when_each_forms, one_call_at_a_time_also_while_it_waits) {
  in_task([] {
    constexpr int k_futures = 8;
    weft::event go;
    int calls = 0, at_once = 0, most_at_once = 0;
    std::atomic<int> ended{0};
    std::vector<weft::future<int>> some;
    for (int i = 0; i != k_futures; ++i)
      some.push_back(weft::async([&ended, i] { return ++ended, i; }));
    auto each = weft::when_each(
        [&](std::size_t i, weft::future<int> f) {
          most_at_once = std::max(most_at_once, ++at_once);
          if (calls++ == 0)
            go.wait();
          EXPECT_EQ(f.get(), static_cast<int>(i));
          weft::taskyield();
          --at_once;
        },
        std::move(some));
    EXPECT_TRUE(test::eventually([&] { return ended == k_futures; }));
    test::dawdle();
    go.set();
    each.get();
    EXPECT_EQ(calls, k_futures);
    EXPECT_EQ(most_at_once, 1);
  });
}

TEST(when_each_forms, are_over_when_nothing_of_the_calls_is_left) {
  in_task([] {
    const auto kept = std::make_shared<int>(0);
    std::atomic<int> ended{0};
    for (int round = 0; round != 20; ++round) {
      ended = 0;
      weft::when_each(
          [&ended, kept](auto) {
            weft::spawn([&ended] {
              test::dawdle();
              ++ended;
            });
          },
          numbers(3))
          .get();
      EXPECT_EQ(ended, 3);
      EXPECT_EQ(kept.use_count(), 1);
    }
    auto fails = weft::when_each(
        [](auto) { weft::spawn([] { throw std::range_error("below a call"); }); }, numbers(1));
    EXPECT_THROW(fails.get(), std::range_error);
    int calls = 0;
    auto first_fails = weft::when_each(
        [&calls](auto) {
          if (++calls == 1)
            throw std::logic_error("first");
          throw std::range_error("later");
        },
        numbers(3));
    EXPECT_THROW(first_fails.get(), std::logic_error);
    EXPECT_EQ(calls, 3);
  });
}

template <class Futures>
concept gathers = requires(Futures &&all) { weft::when_all(static_cast<Futures &&>(all)); };
static_assert(gathers<std::array<weft::future<int>, 2>>);
static_assert(!gathers<std::array<weft::future<int>, 2> &>); // moved: it has to say so
static_assert(gathers<std::array<weft::shared_future<int>, 2> &>); // copied
static_assert(gathers<std::span<weft::future<int>> &>);
static_assert(!gathers<std::array<int, 2>>);

TEST(combinations, take_every_range) {
  in_task([] {
    const auto array = [] {
      return std::array{weft::async([] { return 0; }), weft::async([] { return 1; })};
    };
    expect_numbers(weft::when_all(array()).get(), 2);
    auto kept = array();
    expect_numbers(weft::when_all(std::span(kept)).get(), 2);
    EXPECT_FALSE(kept[0].valid());
    auto shared = shared_numbers(3);
    const std::list<weft::shared_future<int>> list(shared.begin(), shared.end());
    expect_numbers(weft::when_all(list).get(), 3);
    expect_numbers(weft::when_all(std::span(shared).first(2)).get(), 2);
    expect_one_of(weft::when_any(array()).get(), 2);
    EXPECT_EQ(weft::when_some(2, array()).get().indices.size(), 2U);
    EXPECT_TRUE(weft::when_all(std::array<weft::future<int>, 0>()).get().empty());
    int sum = 0;
    weft::when_each(
        [&](std::size_t i, weft::future<int> f) { sum += static_cast<int>(i) + f.get(); }, array())
        .get();
    EXPECT_EQ(sum, 2);
  });
}

/// Expects that choose(one that is ready, one that waits) asks the second one to stop.
template <class Choose>
void expect_stops_rest(Choose choose) {
  in_task([&] {
    weft::event begun;
    std::array<weft::future<bool>, 2> all{weft::make_ready_future(true), weft::async([&] {
                                            begun.set();
                                            const auto stop = weft::this_task::stop_token();
                                            weft::event never;
                                            return !never.wait(stop);
                                          })};
    begun.wait();
    auto chosen = choose(all);
    EXPECT_TRUE(chosen.futures[0].is_ready());
    EXPECT_TRUE(chosen.futures[1].get());
  });
}

TEST(combinations, cancel_the_rest_in_each_form) {
  using weft::cancel_rest;
  expect_stops_rest(
      [](auto &all) { return weft::when_any(cancel_rest, all.begin(), all.end()).get(); });
  expect_stops_rest([](auto &all) { return weft::when_any(cancel_rest, std::move(all)).get(); });
  expect_stops_rest([](auto &all) { return weft::when_any_n(cancel_rest, all.begin(), 2).get(); });
  expect_stops_rest(
      [](auto &all) { return weft::when_some(cancel_rest, 1, all.begin(), all.end()).get(); });
  expect_stops_rest(
      [](auto &all) { return weft::when_some(cancel_rest, 1, std::move(all)).get(); });
  expect_stops_rest(
      [](auto &all) { return weft::when_some_n(cancel_rest, 1, all.begin(), 2).get(); });
  in_task([] {
    auto [indices, futures] =
        weft::when_some(cancel_rest, 2, weft::make_ready_future(1), weft::make_ready_future(2))
            .get();
    EXPECT_EQ(indices.size(), 2U);
    EXPECT_EQ(std::get<1>(futures).get(), 2);
  });
}

TEST(combinations, a_stop_request_asks_no_input) {
  in_task([] {
    test::gate go;
    const weft::shared_future<bool> input =
        weft::async([&go] { return go.pass() && !weft::this_task::cancelled(); });
    auto all = weft::when_all(input);
    auto any = weft::when_any(input);
    auto some = weft::when_some(1, input);
    auto each = weft::when_each([](weft::shared_future<bool>) {}, input);
    auto next = input.then([](bool) {});
    auto flow = weft::dataflow([](weft::shared_future<bool>) {}, input);
    all.request_stop();
    any.request_stop();
    some.request_stop();
    each.request_stop();
    next.request_stop();
    flow.request_stop();
    go.open();
    EXPECT_TRUE(input.get());
    EXPECT_TRUE(std::get<0>(all.get()).get()); // these have no task
    EXPECT_EQ(some.get().indices.size(), 1u);
    EXPECT_THROW(any.get(), weft::error);
    try {
      each.get(); // its task waits for no input, so it may have begun before the request
    } catch (const weft::error &e) {
      EXPECT_EQ(e.code(), weft::errc::cancelled);
    }
    EXPECT_THROW(next.get(), weft::error);
    EXPECT_THROW(flow.get(), weft::error);
  });
}

TEST(waits, for_all_keep_the_futures_and_throw_the_first_exception) {
  in_task([] {
    auto some = numbers(4);
    weft::wait_all(some);
    expect_numbers(some, 4);
    some = numbers(4);
    weft::wait_all_n(some.begin(), 2);
    EXPECT_TRUE(some[1].is_ready());
    (void)some[0].get(); // one without a state is passed over
    weft::wait_all(some.begin(), some.end());
    EXPECT_TRUE(some[3].is_ready());
    weft::future<int> lazy = weft::async(weft::launch::deferred, [] { return 7; });
    weft::future<int> bad = weft::async([]() -> int { throw std::out_of_range("bad"); });
    EXPECT_THROW(weft::wait_all(some, bad, lazy), std::out_of_range);
    EXPECT_EQ(lazy.get(), 7);
    EXPECT_THROW(bad.get(), std::out_of_range); // it stayed there
    weft::wait_all();
  });
}

TEST(waits, for_some_and_any_count_those_that_are_ready) {
  in_task([] {
    weft::promise<int> never, soon;
    std::vector<weft::future<int>> some;
    some.push_back(never.get_future());
    some.push_back(soon.get_future());
    some.push_back(weft::make_exceptional_future<int>(std::logic_error("kept")));
    weft::wait_any(some); // no exception of theirs
    weft::wait_any(some[0], some[2]);
    weft::wait_any(some.begin(), some.end());
    weft::wait_any_n(some.begin() + 2, 1);
    auto keeper = weft::async([&] { soon.set_value(3); });
    weft::wait_some(2, some);
    EXPECT_TRUE(some[1].is_ready());
    EXPECT_FALSE(some[0].is_ready());
    weft::wait_some(2, some.begin(), some.end());
    weft::wait_some_n(5, some.begin() + 1, 2); // no more than there are
    weft::wait_some(0, some[0]);
    weft::future<int> lazy = weft::async(weft::launch::deferred, [] { return 7; });
    weft::wait_any(some[0], lazy); // started by the wait
    EXPECT_TRUE(lazy.is_ready());
    EXPECT_THROW(some[2].get(), std::logic_error);
    never.set_value(1);
    keeper.get();
  });
}

TEST(waits, leave_nothing_behind_at_futures_that_stay) {
  in_task([] {
    weft::promise<int> kept;
    weft::future<int> stays = kept.get_future();
    for (int i = 0; i != 1000; ++i)
      weft::wait_any(stays, weft::async([] { return 1; }));
    kept.set_value(5);
    EXPECT_EQ(stays.get(), 5);
  });
}

TEST(waits, for_each_call_with_all) {
  in_task([] {
    int sum = 0;
    weft::wait_each([&](weft::future<int> f) { sum += f.get(); }, numbers(5));
    EXPECT_EQ(sum, 10);
    auto some = numbers(5);
    weft::wait_each_n([&](weft::future<int> f) { sum += f.get(); }, some.begin(), 3);
    EXPECT_EQ(sum, 13);
    EXPECT_THROW(weft::wait_each([](weft::future<int>) { throw 1; }, numbers(1)), int);
  });
}

TEST(split_future, gives_each_part_a_future) {
  in_task([] {
    auto [number, text] =
        weft::split_future(weft::async([] { return std::tuple(1, std::string("b")); }));
    EXPECT_EQ(number.get(), 1);
    EXPECT_EQ(text.get(), "b");
    auto parts = weft::split_future(weft::make_ready_future(std::vector<int>{0, 1}), 3);
    ASSERT_EQ(parts.size(), 3U);
    EXPECT_EQ(parts[0].get(), 0);
    EXPECT_EQ(parts[1].get(), 1);
    EXPECT_THROW(parts[2].get(), std::out_of_range);
    auto bad = weft::split_future(
        weft::make_exceptional_future<std::vector<int>>(std::logic_error("whole")), 2);
    EXPECT_THROW(bad[0].get(), std::logic_error);
    EXPECT_THROW(bad[1].get(), std::logic_error);
    EXPECT_TRUE(weft::split_future(weft::make_ready_future(std::vector<int>()), 0).empty());
  });
}

TEST(sync, returns_what_the_task_returned) {
  in_task([] {
    EXPECT_EQ(weft::sync([](int a, int b) { return a * b; }, 6, 7), 42);
    EXPECT_THROW(weft::sync([] { throw std::runtime_error("in it"); }), std::runtime_error);
  });
}

TEST(combinations, of_promises_that_threads_keep) {
  for (int round = 0; round != 20; ++round) {
    std::vector<weft::promise<int>> promises(3);
    std::vector<weft::shared_future<int>> all;
    for (auto &p : promises)
      all.push_back(p.get_future());
    auto whole = weft::when_all(all);
    auto any = weft::when_any(all);
    auto some = weft::when_some(2, all);
    std::vector<std::thread> keepers;
    for (int i = 0; i != 3; ++i)
      keepers.emplace_back([&promises, i] { promises[static_cast<std::size_t>(i)].set_value(i); });
    expect_numbers(whole.get(), 3);
    expect_one_of(any.get(), 3);
    expect_some_of(some.get(), 2, 3);
    for (std::thread &t : keepers)
      t.join();
  }
}

TEST(unwrapping, gives_references_of_a_range) {
  in_task([] {
    int a = 1, b = 2;
    std::vector<weft::future<int &>> both;
    both.push_back(weft::make_ready_future<int &>(a));
    both.push_back(weft::make_ready_future<int &>(b));
    weft::dataflow(weft::unwrapping([](const std::vector<std::reference_wrapper<int>> &all) {
                     for (int &each : all)
                       each *= 10;
                   }),
                   std::move(both))
        .get();
    EXPECT_EQ(a + b, 30);
  });
}

} // namespace
