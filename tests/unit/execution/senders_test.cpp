// SPDX-License-Identifier: Apache-2.0
// weft/execution.hpp, with a library of ours in the place of the program's.
#include "p2300_fake.hpp"
#include "support/death_test.hpp"
#include "support/gate.hpp"

#include <weft/execution.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace {

namespace ex = p2300_fake;

static_assert(WEFT_HAS_P2300);
static_assert(std::is_empty_v<weft::scheduler>);
static_assert(std::is_same_v<decltype(ex::get_completion_scheduler_t<ex::set_value_t>()(
                                 ex::get_env(weft::get_scheduler().schedule()))),
                             weft::scheduler>);
// What is asked for the scheduler of an error is not Weft's: a schedule sends none.
static_assert(!std::is_invocable_v<ex::get_completion_scheduler_t<ex::set_error_t>,
                                   weft::detail::scheduler_attributes>);

// A library's task, and what turns schedulers into one type, take a scheduler that cannot fail.
struct stoppable_env {
  weft::inplace_stop_token query(ex::get_stop_token_t) const noexcept { return {}; }
};
template <class... Env>
using ends_of_schedule = ex::completion_signatures_of_t<weft::detail::schedule_sender, Env...>;
static_assert(
    std::is_same_v<ends_of_schedule<ex::empty_env>, ex::completion_signatures<ex::set_value_t()>>);
static_assert(std::is_same_v<ends_of_schedule<weft::detail::waiter_env>,
                             ex::completion_signatures<ex::set_value_t()>>);
static_assert(std::is_same_v<ends_of_schedule<stoppable_env>,
                             ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>>);
static_assert(std::is_same_v<ends_of_schedule<>,
                             ex::completion_signatures<ex::set_value_t(), ex::set_stopped_t()>>);

TEST(sender_scheduler, completes_on_a_worker) {
  EXPECT_EQ(weft::get_scheduler(), weft::scheduler());
  EXPECT_EQ(ex::get_forward_progress_guarantee_t()(weft::get_scheduler()),
            ex::forward_progress_guarantee::parallel);
  const auto result =
      weft::sync_wait(ex::then(weft::get_scheduler().schedule(), [] { return weft::worker_id(); }));
  ASSERT_TRUE(result.has_value());
  EXPECT_GE(std::get<0>(*result), 0);
}

TEST(sender_scheduler, its_waiters_offer_it) {
  using env = weft::detail::waiter_env;
  EXPECT_EQ(ex::get_scheduler_t()(env()), weft::scheduler());
  EXPECT_EQ(ex::get_delegation_scheduler_t()(env()), weft::scheduler());
  EXPECT_EQ(ex::get_start_scheduler_t()(env()), weft::scheduler());
}

/// Ends with a note; its token is that of a source.
struct receiver {
  using receiver_concept = ex::receiver_tag;
  struct env {
    weft::inplace_stop_token query(ex::get_stop_token_t) const noexcept { return token; }
    weft::inplace_stop_token token;
  };
  struct note {
    std::string how;
    int value = 0;
    weft::event done;
    weft::inplace_stop_source stop;
    void end(const char *by) {
      how += by;
      done.set();
    }
  };
  void set_value(int v = 0) noexcept {
    to->value = v;
    to->end("value");
  }
  void set_error(std::exception_ptr) noexcept { to->end("error"); }
  void set_stopped() noexcept { to->end("stopped"); }
  env get_env() const noexcept { return {to->stop.get_token()}; }
  note *to;
};

TEST(sender_scheduler, is_stopped_if_that_was_requested_before) {
  receiver::note n, m;
  auto goes_on = ex::connect(weft::get_scheduler().schedule(), receiver{&n});
  ex::start(goes_on);
  n.done.wait();
  EXPECT_EQ(n.how, "value");
  m.stop.request_stop();
  auto stops = ex::connect(weft::get_scheduler().schedule(), receiver{&m});
  ex::start(stops);
  m.done.wait();
  EXPECT_EQ(m.how, "stopped");
}

TEST(sender_scheduler, takes_a_receiver_that_is_told_of_a_value_alone) {
  struct plain {
    void set_value() noexcept { done->set(); }
    [[nodiscard]] ex::empty_env get_env() const noexcept { return {}; }
    weft::event *done;
  };
  weft::event done;
  auto operation = ex::connect(weft::get_scheduler().schedule(), plain{&done});
  ex::start(operation);
  done.wait();
}

TEST(sender_scheduler_death, ends_a_program_that_schedules_after_shutdown) {
  test::use_a_process_for_each_death();
  EXPECT_DEATH(
      {
        weft::start();
        weft::shutdown();
        receiver::note n;
        auto operation = ex::connect(weft::get_scheduler().schedule(), receiver{&n});
        ex::start(operation);
      },
      "after shutdown");
}

// ---- sync_wait

TEST(sync_wait, returns_what_is_sent) {
  EXPECT_TRUE(weft::sync_wait(ex::just()).has_value());
  const auto two = weft::sync_wait(ex::just(1, std::string("b")));
  EXPECT_EQ(two, std::make_optional(std::make_tuple(1, std::string("b"))));
}

TEST(sync_wait, throws_what_is_sent_as_an_error) {
  const auto fails = [](auto error) {
    (void)weft::sync_wait(ex::then(ex::just(), [error]() -> int { throw error; }));
  };
  EXPECT_THROW(fails(std::runtime_error("x")), std::runtime_error);
  EXPECT_THROW(fails(5), int);
}

/// Sends an error and has a value that it does not send.
template <class Error>
struct error_sender {
  using sender_concept = ex::sender_tag;
  using completion_signatures =
      ex::completion_signatures<ex::set_value_t(), ex::set_error_t(Error)>;
  template <class R>
  struct state {
    void start() noexcept { to.set_error(error); }
    Error error;
    R to;
  };
  template <class R>
  state<R> connect(R r) && {
    return {error, std::move(r)};
  }
  Error error;
};

TEST(sync_wait, throws_errors_of_every_type) {
  EXPECT_THROW((void)weft::sync_wait(error_sender<int>{3}), int);
  EXPECT_THROW((void)weft::sync_wait(error_sender<std::exception_ptr>{
                   std::make_exception_ptr(std::logic_error("x"))}),
               std::logic_error);
  try {
    (void)weft::sync_wait(
        error_sender<std::error_code>{std::make_error_code(std::errc::timed_out)});
    FAIL();
  } catch (const std::system_error &e) {
    EXPECT_EQ(e.code(), std::errc::timed_out);
  }
}

TEST(sync_wait, a_value_that_cannot_be_copied_is_an_error) {
  struct refuses {
    refuses() = default;
    refuses(const refuses &) { throw 7; }
  };
  struct sender {
    using completion_signatures = ex::completion_signatures<ex::set_value_t(refuses)>;
    struct state {
      void start() noexcept {
        const refuses r;
        to.set_value(r);
      }
      weft::detail::waited<std::tuple<refuses>>::receiver to;
    };
    state connect(weft::detail::waited<std::tuple<refuses>>::receiver r) && { return {r}; }
  };
  EXPECT_THROW((void)weft::sync_wait(sender()), int);
}

TEST(sync_wait, suspends_the_task) {
  weft::event go;
  weft::task_group g;
  std::atomic<int> waiting{0}, sum{0};
  constexpr int n = 100; // more than there are workers
  for (int i = 0; i != n; ++i)
    g.spawn([&] {
      ++waiting;
      sum += std::get<0>(*weft::sync_wait(ex::then(weft::get_scheduler().schedule(), [&] {
        go.wait();
        return 1;
      })));
    });
  g.spawn([&] {
    while (waiting != n)
      weft::taskyield();
    go.set();
  });
  g.wait();
  EXPECT_EQ(sum, n);
}

TEST(sync_wait, works_on_a_thread_of_the_program) {
  int got = 0;
  std::thread([&] {
    got =
        std::get<0>(*weft::sync_wait(ex::then(weft::get_scheduler().schedule(), [] { return 5; })));
  }).join();
  EXPECT_EQ(got, 5);
}

TEST(sync_wait, is_refused_before_the_start_where_no_wait_may_be) {
  struct outcome {
    weft::errc code{};
    bool started = false;
  } seen;
  weft::spawn([] {},
              weft::onready(
                  [](void *p) {
                    auto &o = *static_cast<outcome *>(p);
                    try {
                      (void)weft::sync_wait(ex::then(ex::just(), [&o] { o.started = true; }));
                    } catch (const weft::error &e) {
                      o.code = e.code();
                    }
                  },
                  &seen));
  weft::taskwait();
  EXPECT_EQ(seen.code, weft::errc::no_block);
  EXPECT_FALSE(seen.started);
}

TEST(wait_surely, waits_where_no_task_can_be_suspended) {
  struct both {
    weft::event done;
    bool saw = false;
  } b;
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    b.done.set();
  });
  weft::spawn([] {}, weft::onready(
                         [](void *p) {
                           weft::detail::wait_surely(static_cast<both *>(p)->done);
                           static_cast<both *>(p)->saw = static_cast<both *>(p)->done.is_set();
                         },
                         &b));
  weft::taskwait();
  setter.join();
  EXPECT_TRUE(b.saw);
}

// ---- bulk

template <class Tag, class Policy>
void bulk_calls_each_once(Tag tag, Policy policy) {
  for (int n : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
    const auto call = [&](int i) { ++calls[static_cast<std::size_t>(i)]; };
    auto before = weft::get_scheduler().schedule();
    if constexpr (std::is_same_v<Tag, ex::bulk_unchunked_t>) {
      weft::sync_wait(ex::bulk_as(tag, before, policy, n, call));
    } else {
      weft::sync_wait(ex::bulk_as(tag, before, policy, n, [&](int i, int end) {
        for (; i < end; ++i)
          call(i);
      }));
    }
    for (const auto &c : calls)
      EXPECT_EQ(c, 1);
  }
}

TEST(sender_bulk, calls_each_index_once) {
  bulk_calls_each_once(ex::bulk_chunked_t(), ex::par);
  bulk_calls_each_once(ex::bulk_chunked_t(), ex::par_unseq);
  bulk_calls_each_once(ex::bulk_chunked_t(), ex::seq);
  bulk_calls_each_once(ex::bulk_unchunked_t(), ex::par);
  bulk_calls_each_once(ex::bulk_unchunked_t(), ex::seq);
}

TEST(sender_bulk, a_negative_shape_is_none) {
  bool called = false;
  weft::sync_wait(ex::bulk_as(ex::bulk_unchunked_t(), weft::get_scheduler().schedule(), ex::par, -5,
                              [&](int) { called = true; }));
  EXPECT_FALSE(called);
}

TEST(sender_bulk, runs_side_by_side) {
  // Index 0 waits for index 1: in order that would hang.
  weft::event second;
  weft::sync_wait(
      ex::bulk_as(ex::bulk_unchunked_t(), weft::get_scheduler().schedule(), ex::par, 2, [&](int i) {
        if (i == 0)
          second.wait();
        else
          second.set();
      }));
}

TEST(sender_bulk, has_more_indices_that_wait_than_workers) {
  constexpr int k_indices = 8;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60); // of all
  std::atomic<int> arrived{0}, met{0};
  weft::sync_wait(ex::bulk_as(ex::bulk_unchunked_t(), weft::get_scheduler().schedule(), ex::par,
                              k_indices, [&](int) {
                                ++arrived;
                                static_cast<void>(test::eventually([&] {
                                  return arrived == k_indices ||
                                         std::chrono::steady_clock::now() > end;
                                }));
                                met += arrived == k_indices;
                              }));
  EXPECT_EQ(met, k_indices);
}

TEST(sender_bulk, in_order_is_one_call) {
  int calls = 0;
  weft::sync_wait(ex::bulk_as(ex::bulk_chunked_t(), weft::get_scheduler().schedule(), ex::seq, 100,
                              [&](int first, int end) {
                                ++calls;
                                EXPECT_EQ(end - first, 100);
                              }));
  EXPECT_EQ(calls, 1);
}

TEST(sender_bulk, passes_values_and_exceptions_on) {
  std::atomic<int> sum{0};
  const auto before = [] { return weft::as_sender(weft::async([] { return 3; })); };
  using on_weft = weft::detail::bulk_receiver<true, int, void (*)(int, int &), receiver>;
  (void)sizeof(on_weft);
  weft::detail::bulk_sender<true, int, std::function<void(int, int &)>, decltype(before())> s{
      10, [&](int i, int &v) { sum += i * v; }, before()};
  const auto result = weft::sync_wait(std::move(s));
  EXPECT_EQ(std::get<0>(*result), 3);
  EXPECT_EQ(sum, 3 * 45);
  auto throws = ex::bulk_as(ex::bulk_unchunked_t(), weft::get_scheduler().schedule(), ex::par, 100,
                            [](int i) {
                              if (i == 50)
                                throw std::out_of_range("50");
                            });
  EXPECT_THROW(weft::sync_wait(std::move(throws)), std::out_of_range);
}

TEST(sender_bulk, a_sender_may_be_connected_twice) {
  std::atomic<int> calls{0};
  const auto s = ex::bulk_as(ex::bulk_unchunked_t(), weft::get_scheduler().schedule(), ex::par, 10,
                             [&](int) { ++calls; });
  weft::sync_wait(s);
  weft::sync_wait(s);
  EXPECT_EQ(calls, 20);
}

TEST(sender_bulk, is_stopped_and_fails_as_the_sender_before) {
  receiver::note n;
  n.stop.request_stop();
  std::atomic<int> calls{0};
  auto op = ex::connect(ex::bulk_as(ex::bulk_unchunked_t(), weft::get_scheduler().schedule(),
                                    ex::par, 10, [&](int) { ++calls; }),
                        receiver{&n});
  ex::start(op);
  n.done.wait();
  EXPECT_EQ(n.how, "stopped");
  const auto throws = [] { throw 8; };
  EXPECT_THROW(weft::sync_wait(ex::bulk_as(ex::bulk_unchunked_t(),
                                           ex::then(weft::get_scheduler().schedule(), throws),
                                           ex::par, 10, [&](int) { ++calls; })),
               int);
  EXPECT_EQ(calls, 0);
}

/// Calls bulk in this task, which completes where it is called.
template <class F>
auto bulk_here(int n, F f) {
  auto before = weft::as_sender(weft::make_ready_future(3));
  return weft::sync_wait(weft::detail::bulk_sender<true, int, F, decltype(before)>{
      n, std::move(f), std::move(before)});
}

TEST(sender_bulk, in_a_cancelled_task_is_stopped) {
  weft::task_group g;
  std::atomic<int> calls{0};
  bool has_value = true;
  g.spawn([&] {
    g.cancel();
    has_value = bulk_here(1000, [&](int, int) { ++calls; }).has_value();
  });
  g.wait();
  EXPECT_FALSE(has_value);
  EXPECT_LT(calls, 1000);
}

TEST(sender_bulk, that_has_made_all_calls_is_not_stopped) {
  weft::task_group g;
  bool has_value = false;
  g.spawn([&] {
    std::atomic<int> calls{0};
    has_value = bulk_here(10,
                          [&](int, int) {
                            if (++calls == 10)
                              g.cancel();
                          })
                    .has_value();
  });
  g.wait();
  EXPECT_TRUE(has_value);
}

TEST(sender_bulk, is_stopped_by_what_a_call_waits_for) {
  const auto refused = [](int, int) {
    auto f = weft::async(weft::launch::deferred, [] {});
    f.request_stop();
    f.get();
  };
  EXPECT_FALSE(bulk_here(10, refused).has_value());
  EXPECT_THROW(bulk_here(10,
                         [](int, int) {
                           throw weft::error(weft::errc::deadlock, "meant");
                         }),
               weft::error);
}

// ---- futures

TEST(as_sender, completes_with_the_result) {
  EXPECT_EQ(std::get<0>(*weft::sync_wait(weft::as_sender(weft::async([] { return 4; })))), 4);
  EXPECT_TRUE(weft::sync_wait(weft::as_sender(weft::async([] {}))).has_value());
  EXPECT_EQ(std::get<0>(*weft::sync_wait(weft::as_sender(weft::make_ready_future(6)))), 6);
  EXPECT_THROW(weft::sync_wait(weft::as_sender(weft::async([]() -> int { throw 9; }))), int);
  EXPECT_THROW(weft::sync_wait(weft::as_sender(weft::future<int>())), std::future_error);
}

TEST(as_sender, begins_a_deferred_task) {
  EXPECT_EQ(std::get<0>(*weft::sync_wait(
                weft::as_sender(weft::async(weft::launch::deferred, [] { return 4; })))),
            4);
}

TEST(as_sender, of_a_cancelled_task_is_stopped) {
  auto f = weft::async(weft::launch::deferred, [] { return 1; });
  f.request_stop();
  EXPECT_FALSE(weft::sync_wait(weft::as_sender(std::move(f))).has_value());
}

TEST(as_sender, completes_on_a_worker_for_a_promise_of_a_thread) {
  weft::promise<int> p;
  receiver::note n;
  auto op = ex::connect(weft::as_sender(p.get_future()), receiver{&n});
  ex::start(op);
  std::thread([&] { p.set_value(11); }).join();
  n.done.wait();
  EXPECT_EQ(n.how, "value");
  EXPECT_EQ(n.value, 11);
}

TEST(as_sender, is_stopped_before_the_future_is_ready) {
  weft::promise<int> p;
  receiver::note n;
  {
    auto op = ex::connect(weft::as_sender(p.get_future()), receiver{&n});
    ex::start(op);
    n.stop.request_stop();
    n.done.wait();
  }
  EXPECT_EQ(n.how, "stopped");
  p.set_value(1); // nothing is left that waits for it
}

TEST(as_sender, is_stopped_by_a_request_before_its_start) {
  weft::promise<int> p;
  receiver::note n;
  n.stop.request_stop();
  auto op = ex::connect(weft::as_sender(p.get_future()), receiver{&n});
  ex::start(op);
  n.done.wait();
  EXPECT_EQ(n.how, "stopped");
}

TEST(as_sender, requests_race_with_values) {
  for (int round = 0; round != 500; ++round) {
    weft::promise<int> p;
    receiver::note n;
    auto op = ex::connect(weft::as_sender(p.get_future()), receiver{&n});
    weft::task_group g;
    g.spawn([&] { ex::start(op); });
    g.spawn([&] { p.set_value(5); });
    g.spawn([&] { n.stop.request_stop(); });
    g.wait();
    n.done.wait();
    EXPECT_TRUE(n.how == "value" ? n.value == 5 : n.how == "stopped") << n.how;
  }
}

TEST(as_future, is_of_what_is_sent) {
  static_assert(std::is_same_v<decltype(weft::as_future(ex::just())), weft::future<void>>);
  static_assert(std::is_same_v<decltype(weft::as_future(ex::just(1))), weft::future<int>>);
  static_assert(std::is_same_v<decltype(weft::as_future(ex::just(1, 2.0))),
                               weft::future<std::tuple<int, double>>>);
  weft::as_future(ex::just()).get();
  EXPECT_EQ(weft::as_future(ex::just(1)).get(), 1);
  EXPECT_EQ(weft::as_future(ex::just(1, 2.0)).get(), std::make_tuple(1, 2.0));
  auto later = weft::as_future(ex::then(weft::get_scheduler().schedule(), [] { return 8; }));
  EXPECT_EQ(later.then([](int v) { return v + 1; }).get(), 9);
}

TEST(as_future, keeps_errors_and_stops) {
  EXPECT_THROW(weft::as_future(ex::then(ex::just(), []() -> int { throw 2; })).get(), int);
  EXPECT_THROW(weft::as_future(error_sender<int>{3}).get(), int);
  auto f = weft::async(weft::launch::deferred, [] { return 1; });
  f.request_stop();
  try {
    weft::as_future(weft::as_sender(std::move(f))).get();
    FAIL();
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::cancelled);
  }
}

TEST(as_future, keeps_what_the_move_of_a_value_throws) {
  struct fragile {
    explicit fragile(int n) : moves_left(n) {}
    fragile(fragile &&other) : moves_left(other.moves_left - 1) { // NOLINT: it may throw
      if (moves_left < 0)
        throw std::length_error("moved");
    }
    int moves_left;
  };
  int thrown = 0, whole = 0;
  for (int moves = 2; moves != 8; ++moves) // the library's own take two
    try {
      (void)weft::as_future(ex::just(fragile(moves))).get();
      ++whole;
    } catch (const std::length_error &) {
      ++thrown;
    }
  EXPECT_GE(thrown, 1);
  EXPECT_GE(whole, 1);
}

TEST(as_future, ends_the_operation_before_it_is_ready) {
  auto kept = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = kept;
  auto f = weft::as_future(
      ex::then(weft::get_scheduler().schedule(), [k = std::move(kept)] { return *k; }));
  f.wait();
  EXPECT_TRUE(seen.expired());
  EXPECT_EQ(f.get(), 1);
}

} // namespace
