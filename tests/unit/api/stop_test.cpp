// SPDX-License-Identifier: Apache-2.0
// Stop sources in place, and the stop token of a task.
#include "support/case_process.hpp"
#include "support/scale.hpp"

#include <weft/future.hpp>
#include <weft/stop.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace {

using weft::inplace_stop_callback;
using weft::inplace_stop_source;
using weft::inplace_stop_token;

static_assert(inplace_stop_source::stop_possible());
static_assert(std::is_same_v<inplace_stop_token::callback_type<void (*)()>,
                             inplace_stop_callback<void (*)()>>);
static_assert(std::is_same_v<weft::stop_callback_for_t<std::stop_token, void (*)()>,
                             std::stop_callback<void (*)()>>);
static_assert(std::is_same_v<weft::stop_callback_for_t<inplace_stop_token, void (*)()>,
                             inplace_stop_callback<void (*)()>>);
static_assert(!weft::never_stop_token::stop_possible() &&
              weft::never_stop_token() == weft::never_stop_token());
static_assert(!std::is_copy_constructible_v<inplace_stop_source> &&
              !std::is_move_constructible_v<inplace_stop_source>);

TEST(inplace_stop, tokens_name_their_source) {
  inplace_stop_source a, b;
  inplace_stop_token t = a.get_token(), u = b.get_token();
  EXPECT_TRUE(t.stop_possible() && t == a.get_token() && t != u);
  EXPECT_FALSE(t.stop_requested());
  EXPECT_TRUE(a.request_stop());
  EXPECT_FALSE(a.request_stop());
  EXPECT_TRUE(a.stop_requested() && t.stop_requested());
  EXPECT_FALSE(b.stop_requested());
  t.swap(u);
  EXPECT_TRUE(t == b.get_token() && u == a.get_token());
  EXPECT_FALSE(inplace_stop_token().stop_requested());
}

TEST(inplace_stop, callbacks_are_called_once_in_the_request) {
  inplace_stop_source s;
  int first = 0, second = 0, removed = 0, late = 0;
  inplace_stop_callback a(s.get_token(), [&] { ++first; });
  inplace_stop_callback b(s.get_token(), [&] { ++second; });
  {
    inplace_stop_callback newest(s.get_token(), [&] { ++removed; });
    inplace_stop_callback also(s.get_token(), [&] { ++removed; });
  }
  EXPECT_EQ(first + second + removed, 0);
  s.request_stop();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(removed, 0);
  inplace_stop_callback after(s.get_token(), [&] { ++late; });
  EXPECT_EQ(late, 1);
  s.request_stop();
  EXPECT_EQ(first + second + late, 3);
}

TEST(inplace_stop, callbacks_leave_the_middle_of_the_list) {
  inplace_stop_source s;
  std::vector<int> calls;
  const auto note = [&calls](int n) { return [&calls, n] { calls.push_back(n); }; };
  using callback = inplace_stop_callback<decltype(note(0))>;
  std::optional<callback> each[5];
  for (int i = 0; i != 5; ++i)
    each[i].emplace(s.get_token(), note(i));
  each[2].reset(); // between others
  each[0].reset(); // the oldest
  each[4].reset(); // the newest
  s.request_stop();
  EXPECT_EQ(calls, (std::vector{3, 1}));
}

TEST(inplace_stop, a_token_without_a_source_calls_nothing) {
  int calls = 0;
  inplace_stop_callback c(inplace_stop_token(), [&] { ++calls; });
  weft::stop_callback_for_t<weft::never_stop_token, void (*)()> never(weft::never_stop_token(),
                                                                      [] {});
  EXPECT_EQ(calls, 0);
}

TEST(inplace_stop, a_callback_may_destroy_itself) {
  inplace_stop_source s;
  struct destroy {
    std::unique_ptr<inplace_stop_callback<destroy>> *at;
    void operator()() const { at->reset(); }
  };
  std::unique_ptr<inplace_stop_callback<destroy>> c;
  c = std::make_unique<inplace_stop_callback<destroy>>(s.get_token(), destroy{&c});
  s.request_stop();
  EXPECT_EQ(c, nullptr);
}

TEST(inplace_stop, a_callback_may_register_and_remove_others) {
  inplace_stop_source s;
  int inner = 0, other_calls = 0;
  auto count_other = [&] { ++other_calls; };
  std::optional<inplace_stop_callback<decltype(count_other)>> other(std::in_place, s.get_token(),
                                                                    count_other);
  inplace_stop_callback c(s.get_token(), [&] {
    inplace_stop_callback nested(s.get_token(), [&] { ++inner; });
    other.reset();
  });
  s.request_stop();
  EXPECT_EQ(inner, 1);
  EXPECT_EQ(other_calls, 0);
}

TEST(inplace_stop, a_throwing_function_registers_nothing) {
  struct thrower {
    explicit thrower(int) { throw 5; }
    void operator()() const {}
  };
  inplace_stop_source s;
  EXPECT_THROW((void)std::make_unique<inplace_stop_callback<thrower>>(s.get_token(), 1), int);
  EXPECT_TRUE(s.request_stop());
}

// The requester stays in the callback until the remover has been seen waiting, or for long enough that
// a remover that does not wait would be found out by the sanitizers and by `returned`.
template <class Start>
void remover_waits(Start start) {
  inplace_stop_source s;
  weft::event inside, go_on;
  weft::event removed;
  std::atomic<bool> returned{false};
  auto body = [&] {
    inside.set();
    go_on.wait(); // a callback may wait: it suspends its task
    returned = true;
  };
  std::optional<inplace_stop_callback<decltype(body)>> c(std::in_place, s.get_token(), body);
  weft::task_group g;
  g.spawn([&] { s.request_stop(); });
  inside.wait();
  start([&] {
    c.reset();
    EXPECT_TRUE(returned);
    removed.set();
  });
  for (int i = 0; i != 100; ++i)
    weft::taskyield();
  EXPECT_FALSE(removed.is_set());
  go_on.set();
  removed.wait();
  g.wait();
}

TEST(inplace_stop, a_task_that_removes_a_running_callback_is_suspended) {
  weft::task_group g;
  remover_waits([&](auto remove) { g.spawn(remove); });
  g.wait();
}

TEST(inplace_stop, a_thread_that_removes_a_running_callback_waits) {
  std::thread remover;
  remover_waits([&](auto remove) { remover = std::thread(remove); });
  remover.join();
}

TEST(inplace_stop, a_service_that_removes_a_running_callback_spins) {
  inplace_stop_source s;
  std::atomic<bool> inside{false}, go_on{false}, returned{false};
  auto body = [&] {
    inside = true;
    while (!go_on)
      std::this_thread::yield();
    returned = true;
  };
  std::optional<inplace_stop_callback<decltype(body)>> c(std::in_place, s.get_token(), body);
  std::thread requester([&] { s.request_stop(); });
  while (!inside)
    std::this_thread::yield();
  std::thread waker([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    go_on = true;
  });
  std::atomic<bool> served{false};
  struct state {
    std::optional<inplace_stop_callback<decltype(body)>> &c;
    std::atomic<bool> &returned, &served;
  } all{c, returned, served};
  // An onready function may not wait.
  weft::spawn([] {}, weft::onready(
                         [](void *p) {
                           auto &a = *static_cast<state *>(p);
                           a.c.reset();
                           a.served = a.returned.load();
                         },
                         &all));
  weft::taskwait();
  EXPECT_TRUE(served);
  requester.join();
  waker.join();
}

TEST(inplace_stop, removals_race_with_requests) {
  for (int round = 0; round != 300; ++round) {
    inplace_stop_source s;
    std::atomic<int> calls{0}, alive{0};
    weft::task_group g;
    for (int i = 0; i != 6; ++i)
      g.spawn([&] {
        auto data = std::make_unique<int>(7); // a late call touches it after its end
        inplace_stop_callback c(s.get_token(), [&calls, p = data.get()] { calls += *p == 7; });
        ++alive;
        if (calls == 0)
          weft::taskyield();
      });
    g.spawn([&] { s.request_stop(); });
    g.spawn([&] { s.request_stop(); });
    std::thread outside([&] { s.request_stop(); });
    g.wait();
    outside.join();
    EXPECT_EQ(alive, 6);
    EXPECT_LE(calls, 6);
    EXPECT_TRUE(s.stop_requested());
  }
}

// ---- this_task::stop_token()

TEST(stop_token_of_a_task, is_empty_where_nothing_can_cancel) {
  EXPECT_FALSE(weft::this_task::stop_token().stop_possible());
  bool possible = true;
  weft::spawn([&] { possible = weft::this_task::stop_token().stop_possible(); });
  weft::taskwait();
  EXPECT_FALSE(possible);
}

TEST(stop_token_of_a_task, is_that_of_its_group) {
  weft::task_group g;
  bool same = false, stopped = false;
  g.spawn([&] {
    same = weft::this_task::stop_token() == g.stop_token();
    g.cancel();
    stopped = weft::this_task::stop_token().stop_requested();
  });
  g.wait();
  EXPECT_TRUE(same);
  EXPECT_TRUE(stopped);
}

TEST(stop_token_of_a_task, is_requested_by_a_group_above) {
  weft::task_group g;
  bool before = true, after = false, cancelled = false;
  g.spawn([&] {
    weft::task_group inner;
    inner.spawn([&] {
      weft::spawn([&] {
        const std::stop_token t = weft::this_task::stop_token();
        before = t.stop_requested();
        g.cancel();
        after = t.stop_requested();
        cancelled = weft::this_task::cancelled();
      });
      weft::taskwait();
    });
    inner.wait();
  });
  g.wait();
  EXPECT_FALSE(before);
  EXPECT_TRUE(after);
  EXPECT_TRUE(cancelled);
}

TEST(stop_token_of_a_task, is_requested_through_a_future) {
  weft::event inside;
  weft::future<bool> f = weft::async([&] {
    const std::stop_token t = weft::this_task::stop_token();
    EXPECT_TRUE(t == weft::this_task::stop_token()); // the first call makes it
    weft::event stopped;
    std::stop_callback c(t, [&] { stopped.set(); });
    inside.set();
    stopped.wait();
    return t.stop_requested();
  });
  inside.wait();
  f.request_stop();
  f.request_stop();
  EXPECT_TRUE(f.get());
}

TEST(stop_token_of_a_task, is_requested_if_the_future_was_asked_before) {
  weft::event inside, asked;
  weft::future<bool> f = weft::async([&] {
    inside.set();
    asked.wait();
    return weft::this_task::stop_token().stop_requested();
  });
  inside.wait();
  f.request_stop();
  asked.set();
  EXPECT_TRUE(f.get());
}

TEST(stop_token_of_a_task, is_requested_by_the_choice_of_another) {
  weft::event inside;
  auto slow = weft::async([&] {
    weft::event stopped;
    std::stop_callback c(weft::this_task::stop_token(), [&] { stopped.set(); });
    inside.set();
    stopped.wait();
  });
  weft::promise<void> p;
  auto any = weft::when_any(weft::cancel_rest, p.get_future(), std::move(slow));
  inside.wait();
  p.set_value();
  auto result = any.get();
  EXPECT_EQ(result.index, 0u);
  std::get<1>(result.futures).wait();
}

/// Calls f in a task below so many others, whose bodies have ended.
template <class F>
void descend(int levels, const F &f) {
  if (levels == 0)
    return f();
  static_cast<void>(weft::async([levels, &f] { descend(levels - 1, f); }));
}

TEST(stop_token_of_a_task, is_had_below_any_number_of_tasks) {
  bool possible = false, requested = true;
  const auto look = [&] {
    const std::stop_token token = weft::this_task::stop_token();
    possible = token.stop_possible();
    requested = token.stop_requested();
  };
  weft::task_group g;
  g.spawn([&look] { descend(100'000, look); });
  g.wait();
  EXPECT_TRUE(possible);
  EXPECT_FALSE(requested);
}

TEST(stop_token_of_a_task, is_requested_below_any_number_of_tasks_on_a_small_stack) {
  weft::task_group g;
  weft::event stopped;
  std::stop_token innermost;
  const auto cancel = [&] {
    innermost = weft::this_task::stop_token();
    std::stop_callback tell(innermost, [&stopped] { stopped.set(); });
    weft::spawn([&g] { g.cancel(); }, weft::stack_bytes(96 << 10));
    stopped.wait();
  };
  g.spawn([&cancel] { descend(test::scaled(1'000'000), cancel); });
  g.wait();
  EXPECT_TRUE(innermost.stop_requested());
}

/// Asks, from within a task of one group far below another group, both of them, before any worker can
/// make the detour that the first of them asks for.
void ask_both(bool outer_first) {
  constexpr int k_calls = 15; // of relays: the 16th makes a detour
  weft::task_group outer, inner;
  int calls = 0;
  std::stop_token token;
  const auto ask = [&] {
    token = weft::this_task::stop_token();
    const std::stop_callback tell(token, [&calls] { ++calls; });
    (outer_first ? outer : inner).cancel();
    EXPECT_FALSE(token.stop_requested()) << "the first one makes a detour";
    (outer_first ? inner : outer).cancel();
    EXPECT_TRUE(token.stop_requested()) << "the other one needs none";
    EXPECT_EQ(calls, 1);
    weft::event later;
    weft::spawn([&later] { later.set(); }, weft::priority(-1));
    later.wait(); // the detour is made meanwhile
    EXPECT_EQ(calls, 1);
  };
  const auto begin = [&] { inner.spawn(ask); };
  outer.spawn([&begin] { descend(k_calls, begin); });
  outer.wait();
  inner.wait();
  EXPECT_TRUE(token.stop_requested());
}

TEST(stop_token_of_a_task, is_requested_by_a_group_and_a_task_above_at_once) {
  const auto end = test::in_process({{"WEFT_WORKERS", "1"}, {"WEFT_WATCH_MAX_SPARES", "0"}}, [] {
    ask_both(false);
    ask_both(true);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(stop_token_of_a_task, is_requested_far_below_the_task_of_a_future) {
  weft::event inside, stopped, go;
  const auto wait = [&] {
    std::stop_callback tell(weft::this_task::stop_token(), [&stopped] { stopped.set(); });
    inside.set();
    stopped.wait();
  };
  weft::future<void> first = weft::async([&] {
    descend(50, wait);
    go.wait();
  });
  inside.wait();
  first.request_stop();
  stopped.wait();
  go.set();
  weft::taskwait();
  EXPECT_TRUE(first.is_ready());
}

TEST(stop_token_of_a_task, is_requested_by_each_task_above) {
  for (const bool first_above : {false, true})
    for (int asked = 0; asked != 3; ++asked) {
      weft::event all, go;
      std::stop_token inner;
      weft::future<void> futures[3];
      weft::event set[3];
      futures[0] = weft::async([&] {
        set[0].wait();
        if (first_above) {
          EXPECT_TRUE(weft::this_task::stop_token().stop_possible());
        }
        futures[1] = weft::async([&] {
          set[1].wait();
          futures[2] = weft::async([&] {
            set[2].wait();
            inner = weft::this_task::stop_token();
            all.set();
            go.wait();
          });
          set[2].set();
          all.wait();
          go.wait();
        });
        set[1].set();
        all.wait();
        go.wait();
      });
      set[0].set();
      all.wait();
      EXPECT_FALSE(inner.stop_requested());
      futures[asked].request_stop();
      weft::event stopped;
      std::stop_callback tell(inner, [&stopped] { stopped.set(); });
      stopped.wait();
      EXPECT_TRUE(inner.stop_requested());
      go.set();
      futures[0].wait();
      futures[1].wait();
      futures[2].wait();
    }
}

TEST(stop_token_of_a_task, outlives_the_task) {
  std::stop_token kept = weft::async([] { return weft::this_task::stop_token(); }).get();
  EXPECT_FALSE(kept.stop_requested());
}

TEST(stop_token_of_a_task, requests_race_with_first_calls) {
  for (int round = 0; round != 200; ++round) {
    auto f = weft::async([] {
      const std::stop_token t = weft::this_task::stop_token();
      while (!t.stop_requested())
        weft::taskyield();
    });
    f.request_stop();
    try {
      f.get();
    } catch (const weft::error &e) {
      EXPECT_EQ(e.code(), weft::errc::cancelled);
    }
  }
}

} // namespace
