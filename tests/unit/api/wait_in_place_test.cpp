// SPDX-License-Identifier: Apache-2.0
// A wait for a task with a handle runs the task in place when it may, and else suspends. Also the
// waiters that are attached to a task, and records that are posted.
#include "support/gate.hpp"
#include "support/scale.hpp"
#include "worker/runtime.hpp"

#include <weft/future.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using test::dawdle;

constexpr int k_most_tries = 20'000; // a thief may be quicker, time and again

/// Returns where the stack of the caller is.
[[gnu::noinline]] std::uintptr_t here() noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}
/// Says whether `body` ran on top of the frame at `waiter`: below it on the same stack.
bool is_on_top_of(std::uintptr_t body, std::uintptr_t waiter) noexcept {
  return body < waiter && waiter - body < 60'000;
}

/// Runs `f` as a task, because a thread's own stack hosts no task, and waits for it.
template <class F>
void in_task(F f) {
  weft::task_group group;
  group.spawn(f);
  group.wait();
}

/// Calls `f` until it returns true.
template <class F>
bool happens(F f) {
  for (int i = 0; i != k_most_tries; ++i)
    if (f())
      return true;
  return false;
}

TEST(wait_in_place, runs_the_newest_task_of_the_worker) {
  in_task([] {
    EXPECT_TRUE(happens([] {
      auto h = weft::spawn([] { return here(); });
      return is_on_top_of(h.get(), here());
    }));
  });
}

TEST(wait_in_place, runs_a_task_that_others_came_after) {
  in_task([] {
    EXPECT_TRUE(happens([] {
      int later = 0;
      auto h = weft::spawn([] { return here(); });
      weft::spawn([&] { ++later; }, weft::inout(later));
      weft::spawn([&] { ++later; }, weft::inout(later));
      const bool in_place = is_on_top_of(h.get(), here());
      weft::taskwait(); // drops the entry that was left behind
      EXPECT_EQ(later, 2);
      return in_place;
    }));
  });
}

TEST(wait_in_place, runs_a_task_of_another_task) {
  in_task([] {
    EXPECT_TRUE(happens([] {
      std::uintptr_t body = 0, waiter = 0;
      weft::handle<void> handed;
      weft::spawn([&] { handed = weft::spawn([&] { body = here(); }, weft::tracked); },
                  weft::out(handed));
      weft::spawn(
          [&] {
            waiter = here();
            handed.get();
          },
          weft::in(handed));
      weft::taskwait();
      return is_on_top_of(body, waiter);
    }));
  });
}

TEST(wait_in_place, runs_a_task_of_any_priority) {
  in_task([] {
    for (const int p : {-5, 0, 5})
      EXPECT_TRUE(happens([&] {
        auto h = weft::spawn([] { return here(); }, weft::priority(p));
        return is_on_top_of(h.get(), here());
      })) << p;
  });
}

TEST(wait_in_place, runs_a_task_whose_data_is_free) {
  in_task([] {
    int x = 0;
    EXPECT_TRUE(happens([&] {
      auto h = weft::spawn([&] { return ++x, here(); }, weft::inout(x));
      return is_on_top_of(h.get(), here());
    }));
  });
}

TEST(wait_in_place, runs_a_task_that_asks_for_a_stack_that_is_left) {
  in_task([] {
    EXPECT_TRUE(happens([] {
      auto h = weft::spawn([] { return here(); }, weft::stack_bytes(8 << 10));
      return is_on_top_of(h.get(), here());
    }));
  });
}

/// Waits as `wait` does for a task that runs in place under get(): its body must lie elsewhere.
template <class Future, class Wait>
void expect_elsewhere(Wait wait) {
  in_task([&] {
    for (int i = 0; i != 50; ++i) {
      Future f = weft::async([] { return here(); });
      wait(f);
      EXPECT_FALSE(is_on_top_of(f.get(), here()));
    }
  });
}

TEST(wait_in_place, does_not_run_a_future_below_a_wait_with_a_limit) {
  using std::chrono::hours;
  const std::stop_source never;
  const auto all = [&]<class Future>(std::type_identity<Future>) {
    expect_elsewhere<Future>(
        [](Future &f) { EXPECT_EQ(f.wait_for(hours(1)), weft::future_status::ready); });
    expect_elsewhere<Future>([](Future &f) {
      EXPECT_EQ(f.wait_until(std::chrono::steady_clock::now() + hours(1)),
                weft::future_status::ready);
    });
    expect_elsewhere<Future>([](Future &f) {
      EXPECT_EQ(f.wait_until(std::chrono::system_clock::now() + hours(1)),
                weft::future_status::ready);
    });
  };
  all(std::type_identity<weft::future<std::uintptr_t>>());
  all(std::type_identity<weft::shared_future<std::uintptr_t>>());
  in_task([&] {
    for (int i = 0; i != 50; ++i) {
      auto f = weft::async([] { return here(); });
      EXPECT_FALSE(is_on_top_of(f.get(never.get_token()), here()));
      weft::shared_future<std::uintptr_t> g = weft::async([] { return here(); });
      EXPECT_FALSE(is_on_top_of(g.get(never.get_token()), here()));
    }
  });
}

TEST(wait_in_place, does_not_run_a_task_that_asks_for_more_stack_than_is_left) {
  in_task([] {
    for (int i = 0; i != 20; ++i) {
      auto h = weft::spawn(
          [] {
            volatile char room[300 << 10];
            room[0] = 1;
            room[sizeof room - 1] = 1;
            return room[0] == 1 ? here() : 0;
          },
          weft::stack_bytes(1 << 20));
      const std::uintptr_t body = h.get();
      EXPECT_NE(body, 0u);
      EXPECT_FALSE(is_on_top_of(body, here()));
    }
  });
}

TEST(wait_in_place, does_not_run_a_task_whose_data_is_held) {
  in_task([] {
    for (int i = 0; i != 20; ++i) {
      test::gate gate;
      int x = 0;
      weft::spawn([&] { x = gate.pass() ? 1 : -1; }, weft::out(x));
      auto h = weft::spawn([&] { return x; }, weft::in(x));
      weft::spawn([&] {
        dawdle();
        gate.open();
      });
      EXPECT_EQ(h.get(), 1);
      weft::taskwait();
    }
  });
}

TEST(wait_in_place, does_not_run_on_a_threads_own_stack) {
  for (int i = 0; i != 200; ++i) {
    auto h = weft::spawn([] { return here(); });
    EXPECT_FALSE(is_on_top_of(h.get(), here()));
  }
}

/// Runs `f(arg)` as an independent function on some workers, and waits for it.
void run_on(const weft::worker_set &set, std::function<void()> f) {
  std::atomic<bool> over{false};
  std::function<void()> both[] = {std::move(f), [&over] { over = true; }};
  weft::function_options options;
  options.on = set;
  const auto call = [](void *p) { (*static_cast<std::function<void()> *>(p))(); };
  weft::spawn_function(call, &both[0], call, &both[1], options);
  EXPECT_TRUE(test::eventually([&] { return over.load(); }));
}

TEST(wait_in_place, does_not_run_a_task_that_other_workers_must_run) {
  const int last = weft::worker_count() - 1;
  if (last == 0)
    GTEST_SKIP() << "one worker is in every set";
  for (int i = 0; i != 50; ++i) {
    weft::handle<int> h;
    run_on(weft::worker_set::of_workers({last}),
           [&] { h = weft::spawn([] { return weft::worker_id(); }); });
    int ran_on = -1;
    in_task([&] { ran_on = h.get(); });
    EXPECT_EQ(ran_on, last);
  }
}

TEST(wait_in_place, keeps_a_waiter_on_its_workers) {
  const int last = weft::worker_count() - 1;
  if (last == 0)
    GTEST_SKIP() << "one worker is in every set";
  for (int i = 0; i != 50; ++i) {
    // It suspends, and goes on at any worker. A waiter below it would go on there, too.
    weft::handle<std::uintptr_t> h = weft::spawn([] {
      const std::uintptr_t at = here();
      dawdle();
      return at;
    });
    run_on(weft::worker_set::of_workers({last}), [&] {
      EXPECT_FALSE(is_on_top_of(h.get(), here()));
      EXPECT_EQ(weft::worker_id(), last);
    });
  }
}

TEST(wait_in_place, runs_a_task_of_the_waiters_own_workers) {
  std::vector<int> all;
  for (int id = 0; id != weft::worker_count(); ++id)
    all.push_back(id);
  bool in_place = false;
  run_on(weft::worker_set::of_workers({weft::worker_count() - 1}), [&] {
    in_place = happens([] {
      auto h = weft::spawn([] { return here(); });
      return is_on_top_of(h.get(), here());
    });
  });
  EXPECT_TRUE(in_place);
}

int depth_first(int depth) {
  if (depth == 0)
    return 0;
  auto h = weft::spawn([depth] { return depth_first(depth - 1); });
  return 1 + h.get();
}

TEST(wait_in_place, of_any_depth_needs_no_deep_stack) {
  const int depth = test::scaled(20'000, 1000);
  in_task([&] { EXPECT_EQ(depth_first(depth), depth); });
}

TEST(wait_in_place, throws_what_the_body_throws_and_keeps_the_exception_that_is_handled) {
  in_task([] {
    for (int i = 0; i != 100; ++i)
      try {
        throw std::runtime_error("outer");
      } catch (const std::runtime_error &outer) {
        auto h = weft::spawn([]() -> int {
          EXPECT_EQ(std::current_exception(), nullptr);
          throw std::logic_error("inner");
        });
        EXPECT_THROW(h.get(), std::logic_error);
        try {
          throw;
        } catch (const std::exception &again) {
          EXPECT_STREQ(again.what(), "outer");
        }
      }
  });
}

TEST(wait_in_place, of_a_cancelled_task_says_so) {
  in_task([] {
    weft::task_group group;
    group.cancel();
    bool ran = false;
    auto h = group.spawn([&] { return ran = true; });
    try {
      h.get();
      ADD_FAILURE() << "a skipped task has no result";
    } catch (const weft::error &e) {
      EXPECT_EQ(e.code(), weft::errc::cancelled);
    }
    group.wait();
    EXPECT_FALSE(ran);
  });
}

TEST(wait_in_place, the_label_is_the_tasks_own) {
  in_task([] {
    const std::string mine = weft::this_task::label();
    auto h =
        weft::spawn([] { return std::string(weft::this_task::label()); }, weft::label("inner"));
    EXPECT_EQ(h.get(), "inner");
    EXPECT_EQ(weft::this_task::label(), mine);
  });
}

TEST(wait_in_place, a_body_may_wait_there) {
  in_task([] {
    for (int i = 0; i != 50; ++i) {
      auto h = weft::spawn([] {
        auto inner = weft::spawn([] {
          dawdle();
          return 1;
        });
        weft::taskyield();
        return 1 + inner.get();
      });
      EXPECT_EQ(h.get(), 2);
    }
  });
}

TEST(wait_in_place, makes_ready_what_waits_for_the_task) {
  in_task([] {
    for (int i = 0; i != 200; ++i) {
      int x = 0;
      auto h = weft::spawn([&] { return ++x; }, weft::inout(x));
      weft::spawn([&] { ++x; }, weft::inout(x));
      EXPECT_EQ(h.get(), 1);
      weft::taskwait();
      EXPECT_EQ(x, 2);
    }
  });
}

TEST(wait_in_place, ends_behind_what_the_body_leaves_to_others) {
  in_task([] {
    for (int i = 0; i != 200; ++i) {
      std::atomic<bool> is_sent{false}, has_child_run{false};
      std::thread sender;
      auto h = weft::spawn([&] {
        weft::this_task::increase_events();
        sender = std::thread([&, self = weft::this_task::self()] {
          is_sent = true;
          weft::decrease_events(self);
        });
        weft::spawn([&] { has_child_run = true; });
        return 1;
      });
      EXPECT_EQ(h.get(), 1);
      EXPECT_TRUE(is_sent);
      sender.join();
      weft::taskwait();
      EXPECT_TRUE(has_child_run);
    }
  });
}

TEST(wait_in_place, passes_on_the_end_to_a_task_that_comes_after) {
  in_task([] {
    for (int i = 0; i != 200; ++i) {
      bool is_over = false;
      auto h = weft::spawn([] { return 1; });
      weft::spawn([&] { is_over = true; }, weft::after(h));
      EXPECT_EQ(h.get(), 1);
      weft::taskwait();
      EXPECT_TRUE(is_over);
    }
  });
}

/// Counts its objects, so that a test sees whether closures and results are destroyed once.
struct counted {
  explicit counted(std::atomic<int> &n) : alive(&n) { ++*alive; }
  counted(const counted &other) : alive(other.alive) { ++*alive; }
  counted &operator=(const counted &) = default;
  ~counted() { --*alive; }
  std::atomic<int> *alive;
};

TEST(wait_in_place, frees_what_it_ran_and_what_it_left_behind) {
  std::atomic<int> alive{0};
  const int rounds = test::scaled(2000, 100);
  for (int i = 0; i != rounds; ++i)
    in_task([&alive] {
      const counted c(alive);
      std::vector<weft::handle<counted>> handles;
      for (int k = 0; k != 4; ++k)
        handles.push_back(weft::spawn([c] { return c; }));
      for (auto &h : handles)
        h.get();
      (void)weft::spawn([c] { return c; }); // no waiter
    });
  EXPECT_TRUE(test::eventually([&] { return alive == 0; }));
}

/// Waits for its children in the order of their spawns, so all but the last one leave an entry.
int count_in_order(int depth) {
  if (depth == 0)
    return 1;
  std::vector<weft::handle<int>> below;
  for (int i = 0; i != 5; ++i)
    below.push_back(weft::spawn([depth] { return count_in_order(depth - 1); }));
  int sum = 0;
  for (auto &h : below)
    sum += h.get();
  return sum;
}

TEST(wait_in_place, of_a_tree_in_order_piles_up_no_entries) {
  in_task([] {
    if (!weft::rt::this_worker().own.deque)
      GTEST_SKIP() << "entries in a queue of all workers stay until they come to the front";
    EXPECT_EQ(count_in_order(4), 625);
    std::size_t left = 0;
    weft::rt::this_worker().own.deque->for_each([&left](weft::rt::runnable *) { ++left; });
    EXPECT_LT(left, 100U); // of 624 that were left behind
  });
}

TEST(wait_in_place, in_a_group_that_is_waited_for_leaves_entries_of_other_lineages_alone) {
  in_task([] {
    const int rounds = test::scaled(500, 50);
    for (int i = 0; i != rounds; ++i) {
      auto outside = weft::spawn([] { return 1; });
      auto claimed = weft::spawn([] { return 2; });
      auto newest = weft::spawn([] { return 3; });
      EXPECT_EQ(claimed.get(), 2);
      std::atomic<int> inside{0};
      weft::task_group group;
      group.spawn([&] { ++inside; });
      auto h = group.spawn([&] { return ++inside; });
      group.wait(); // meets `newest`, which is of no interest, or the entry of `claimed`
      EXPECT_EQ(inside, 2);
      h.get();
      EXPECT_EQ(newest.get() + outside.get(), 4);
    }
  });
}

TEST(wait_in_place, many_tasks_wait_for_each_others_tasks) {
  const int rounds = test::scaled(40, 4);
  for (int round = 0; round != rounds; ++round) {
    std::vector<weft::handle<int>> handles(64);
    std::atomic<int> sum{0};
    for (int i = 0; i != 64; ++i)
      weft::spawn(
          [&, i] {
            handles[static_cast<std::size_t>(i)] = weft::spawn([i] {
              if (i % 7 == 0)
                weft::taskyield();
              return i;
            });
          },
          weft::out(handles[static_cast<std::size_t>(i)]));
    for (int i = 64; i-- != 0;)
      weft::spawn([&, i] { sum += handles[static_cast<std::size_t>(i)].get(); },
                  weft::inout(handles[static_cast<std::size_t>(i)]));
    weft::taskwait();
    EXPECT_EQ(sum, 64 * 63 / 2);
  }
}

// ---- records that are posted

struct counting_record : weft::detail::call_record {
  explicit counting_record(std::atomic<int> &n) noexcept : call_record(&run), count(&n) {}
  static void run(call_record *r) noexcept { ++*static_cast<counting_record *>(r)->count; }
  std::atomic<int> *count;
};

TEST(post, calls_each_record_once) {
  std::atomic<int> calls{0};
  std::vector<counting_record> records(1000, counting_record(calls));
  for (counting_record &r : records)
    weft::detail::post(r);
  EXPECT_TRUE(test::eventually([&] { return calls == 1000; }));
}

TEST(post, a_call_is_no_part_of_what_functions_are_below) {
  struct naming_record : weft::detail::call_record {
    naming_record() noexcept : call_record(&run) {}
    static void run(call_record *r) noexcept {
      static_cast<naming_record *>(r)->label.store(weft::this_task::label());
    }
    std::atomic<const char *> label{nullptr};
  };
  naming_record record;
  weft::detail::post(record);
  ASSERT_TRUE(test::eventually([&] { return record.label != nullptr; }));
  EXPECT_STREQ(record.label, "posted call");
}

TEST(post, works_from_tasks_and_from_threads_that_do_not_use_weft) {
  std::atomic<int> calls{0};
  std::vector<counting_record> records(200, counting_record(calls));
  in_task([&] {
    for (int i = 0; i != 100; ++i)
      weft::detail::post(records[static_cast<std::size_t>(i)]);
  });
  std::thread([&] {
    for (int i = 100; i != 200; ++i)
      weft::detail::post(records[static_cast<std::size_t>(i)]);
  }).join();
  EXPECT_TRUE(test::eventually([&] { return calls == 200; }));
}

TEST(post, a_call_may_spawn_and_wait) {
  struct record : weft::detail::call_record {
    record() noexcept : call_record(&run) {}
    static void run(call_record *r) noexcept {
      auto &self = *static_cast<record *>(r);
      auto h = weft::spawn([] {
        dawdle();
        return 5;
      });
      int x = h.get();
      weft::spawn([&self, &x] { self.late = ++x; });
      weft::taskwait();
      self.over = true;
    }
    std::atomic<int> late{0};
    std::atomic<bool> over{false};
  } r;
  weft::detail::post(r);
  EXPECT_TRUE(test::eventually([&] { return r.over.load(); }));
  EXPECT_EQ(r.late, 6);
}

TEST(post, a_call_is_over_when_the_tasks_that_it_has_spawned_are) {
  struct record : weft::detail::call_record {
    explicit record(test::gate &g) noexcept : call_record(&run), gate(&g) {}
    static void run(call_record *r) noexcept {
      auto &self = *static_cast<record *>(r);
      weft::spawn([&self] { self.passed = self.gate->pass(); });
    }
    test::gate *gate;
    std::atomic<bool> passed{false};
  };
  test::gate gate;
  record r(gate);
  weft::detail::post(r);
  dawdle();
  gate.open();
  EXPECT_TRUE(test::eventually([&] { return r.passed.load(); }));
}

} // namespace
