// SPDX-License-Identifier: Apache-2.0
// Exceptions of callables, of their copies and of values; exceptions that no caller asks for.
#include "in_task.hpp"
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"
#include "task/wait/listed_states.hpp"
#include "worker/runtime.hpp"

#include <weft/future.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using test::in_task;
using weft::launch;

/// Throws at the n-th copy or move, of a callable or of a value; counts those that are alive.
struct fragile {
  explicit fragile(int copies) : left(copies) { ++s_alive; }
  fragile(const fragile &other) : left(other.left) { count(); }
  fragile(fragile &&other) : left(other.left) { count(); } // NOLINT: may throw
  fragile &operator=(const fragile &) = default;
  ~fragile() { --s_alive; }
  int operator()() const { return 1; }
  int operator()(int v) const { return v; }
  void count() {
    if (left-- == 0)
      throw std::range_error("copy");
    ++s_alive;
  }
  int left;
  inline static std::atomic<int> s_alive = 0;
};

TEST(fragile_callable, leaves_nothing_whichever_copy_fails) {
  in_task([] {
    int thrown = 0, whole = 0;
    for (const launch policy : {launch::async, launch::deferred, launch::fork, launch::sync})
      for (int n = 0; n != 8; ++n) {
        const auto attempt = [&](auto make) {
          try {
            const fragile f(n);
            EXPECT_EQ(make(f), 1);
            ++whole;
          } catch (const std::range_error &) {
            ++thrown;
          }
          weft::taskwait();
          EXPECT_EQ(fragile::s_alive, 0);
        };
        attempt([&](const fragile &f) { return weft::async(policy, f).get(); });
        attempt([&](const fragile &f) { return weft::make_ready_future(1).then(policy, f).get(); });
        attempt([&](const fragile &f) {
          return weft::dataflow(policy, weft::unwrapping(f), weft::make_ready_future(1)).get();
        });
        attempt([&](const fragile &f) {
          return weft::make_ready_future(1).share().then(policy, f).get();
        });
      }
    EXPECT_GT(thrown, 16);
    EXPECT_GT(whole, 16);
  });
}

TEST(fragile_callable, of_a_packaged_task_and_of_when_each) {
  in_task([] {
    int thrown = 0;
    for (int n = 0; n != 6; ++n) {
      try {
        const fragile f(n);
        weft::packaged_task<int()> task(f);
        weft::future<int> result = task.get_future();
        task();
        EXPECT_EQ(result.get(), 1);
      } catch (const std::range_error &) {
        ++thrown;
      }
      try {
        weft::when_each([f = fragile(n)](weft::future<int> v) { EXPECT_EQ(f(v.get()), 3); },
                        weft::make_ready_future(3))
            .get();
      } catch (const std::range_error &) {
        ++thrown;
      }
      weft::taskwait();
      EXPECT_EQ(fragile::s_alive, 0);
    }
    EXPECT_GE(thrown, 2);
  });
}

TEST(fragile_value, is_the_exception_of_what_it_comes_from) {
  in_task([] {
    int thrown = 0, whole = 0;
    for (int n = 0; n != 6; ++n) {
      const auto attempt = [&](auto make) {
        try {
          make();
          ++whole;
        } catch (const std::range_error &) {
          ++thrown;
        }
        weft::taskwait();
        EXPECT_TRUE(test::eventually([] { // an entry that a wait left behind keeps the result
          weft::taskyield();
          return fragile::s_alive == 0;
        }));
      };
      attempt([n] { (void)weft::async([n] { return fragile(n); }).get(); });
      attempt([n] {
        (void)weft::async([n] { return fragile(n); }).then([](fragile f) { return f; }).get();
      });
      attempt([n] { // unwrapped: the value is moved to the outer future
        (void)weft::async([] {
        }).then([n] {
            return weft::async([n] { return fragile(n); });
          }).get();
      });
      attempt([n] {
        weft::promise<fragile> p;
        weft::future<fragile> f = p.get_future();
        p.set_value(fragile(n));
        (void)f.get();
      });
    }
    EXPECT_GT(thrown, 4);
    EXPECT_GT(whole, 4);
  });
}

TEST(failing_callable, is_the_exception_of_its_future) {
  in_task([] {
    const auto fails = [](auto &&...) -> int { throw std::domain_error("callable"); };
    for (const launch policy : {launch::async, launch::deferred, launch::fork, launch::sync}) {
      EXPECT_THROW((void)weft::async(policy, fails).get(), std::domain_error);
      EXPECT_THROW((void)weft::make_ready_future(1).then(policy, fails).get(), std::domain_error);
      EXPECT_THROW((void)weft::dataflow(policy, fails, weft::make_ready_future(1)).get(),
                   std::domain_error);
    }
    weft::future<int> inner = weft::async([] {}).then(
        [&] { return weft::async([&]() -> int { throw std::domain_error("inner"); }); });
    EXPECT_THROW((void)inner.get(), std::domain_error);
    weft::future<int> none = weft::async([] {}).then([] { return weft::future<int>(); });
    EXPECT_THROW((void)none.get(), weft::future_error);
    weft::packaged_task<int()> task(fails);
    weft::future<int> result = task.get_future();
    task();
    EXPECT_THROW((void)result.get(), std::domain_error);
    int calls = 0;
    EXPECT_THROW(weft::when_each(
                     [&](weft::future<int>) {
                       ++calls;
                       throw std::domain_error("each");
                     },
                     weft::make_ready_future(1), weft::make_ready_future(2))
                     .get(),
                 std::domain_error);
    EXPECT_GE(calls, 1);
  });
}

// ---- threads that do not use Weft

TEST(plain_thread, continues_from_combines_and_waits) {
  std::thread([] {
    weft::promise<int> p;
    weft::future<int> f = p.get_future().then([](int v) { return v + 1; });
    weft::future<int> g =
        weft::dataflow([](int a, weft::future<int> b) { return a + b.get(); }, 10, std::move(f));
    std::thread([&p] { p.set_value(1); }).join();
    EXPECT_EQ(g.get(), 12);
    weft::future<int> nested =
        weft::async([] { return weft::async([] { return 3; }); }).get().then([](int v) {
          return weft::async([v] { return v * v; });
        });
    EXPECT_EQ(nested.get(), 9);
    EXPECT_THROW((void)weft::async([]() -> int { throw std::domain_error("t"); }).get(),
                 std::domain_error);
  }).join();
}

TEST(plain_thread, keeps_a_chain_of_a_million_links) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int links = 20'000;
#else
  constexpr int links = 1'000'000;
#endif
  weft::promise<int> p;
  weft::future<int> f = p.get_future();
  for (int i = 0; i != links; ++i)
    f = f.then([](int v) { return v + 1; });
  std::thread([&p] { p.set_value(0); }).join();
  EXPECT_EQ(f.get(), links);
}

// ---- exceptions that no caller asks for

void lose_exceptions() {
  in_task([] {
    static_cast<void>(weft::spawn([]() -> int { throw std::domain_error("of a handle"); },
                                  weft::label("handled")));
    static_cast<void>(weft::async([] { throw std::domain_error("of a future"); }));
    static_cast<void>(weft::make_exceptional_future<int>(std::domain_error("of a promise")));
    try { // those that a caller asked for
      weft::async([] { throw std::range_error("harmless"); }).get();
    } catch (const std::range_error &) {
    }
    const weft::shared_future<void> shared = weft::async([] { throw std::range_error("copied"); });
    const weft::shared_future<void> other = shared;
    EXPECT_THROW(other.get(), std::range_error);
  });
  weft::taskwait();
}

bool tells(const test::ending &end, const char *what) {
  return end.output.find(what) != std::string::npos;
}

TEST(unobserved, is_reported_by_default) {
  const auto end = test::in_process({}, &lose_exceptions);
  EXPECT_TRUE(end.exited(0)) << end;
  for (const char *what : {"of a handle", "of a future", "of a promise", "handled"})
    EXPECT_TRUE(tells(end, what)) << end;
  EXPECT_FALSE(tells(end, "harmless") || tells(end, "copied")) << end;
}

TEST(unobserved, is_reported_when_that_is_set) {
  const auto end = test::in_process({{"WEFT_FUTURE_UNOBSERVED", "report"}}, &lose_exceptions);
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(tells(end, "of a future")) << end;
}

TEST(unobserved, is_ignored_when_that_is_set) {
  const auto end = test::in_process({{"WEFT_FUTURE_UNOBSERVED", "ignore"}}, &lose_exceptions);
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(tells(end, "of a handle") || tells(end, "of a future") || tells(end, "of a promise"))
      << end;
}

TEST(unobserved, ends_the_program_when_that_is_set) {
  const auto end = test::in_process({{"WEFT_FUTURE_UNOBSERVED", "terminate"}}, &lose_exceptions);
  EXPECT_FALSE(end.exited(0)) << end;
  EXPECT_TRUE(tells(end, "future.unobserved is terminate")) << end;
}

TEST(unobserved, a_task_that_was_asked_to_stop_ends_no_program) {
  const auto end = test::in_process({{"WEFT_FUTURE_UNOBSERVED", "terminate"}}, [] {
    in_task([] {
      weft::promise<void> p;
      weft::future<void> f = p.get_future().then([] {});
      f.request_stop();
      p.set_value();
    });
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

std::size_t listed_states() {
  std::size_t n = 0;
  weft::rt::for_each_listed_state(
      [](weft::detail::task &, void *count) { ++*static_cast<std::size_t *>(count); }, &n);
  return n;
}

TEST(listed_states, are_there_while_tasks_are_held_back) {
  in_task([] {
    const std::size_t others = listed_states();
    weft::promise<int> first, second, asked;
    const weft::shared_future<int> shared = first.get_future();
    auto waits = asked.get_future(); // has no continuation
    auto one = shared.then([](int x) { return x; });
    auto other = shared.then([](int x) { return x; });
    EXPECT_EQ(listed_states(), others + 1);
    auto both = weft::when_all(shared, second.get_future()).then([](auto) { return 2; });
    EXPECT_EQ(listed_states(), others + 2);
    first.set_value(1);
    EXPECT_EQ(one.get() + other.get(), 2);
    EXPECT_EQ(listed_states(), others + 1);
    auto late = shared.then([](int x) { return x; }); // of what is ready
    EXPECT_EQ(listed_states(), others + 1);
    second.set_value(1);
    EXPECT_EQ(both.get() + late.get(), 3);
    EXPECT_EQ(listed_states(), others);
    asked.set_value(0);
    waits.get();
  });
}

TEST(listed_states, are_removed_however_continuations_and_ends_race) {
  const std::size_t others = listed_states();
  for (int round = 0; round < test::scaled(300); ++round) {
    weft::promise<int> p;
    const weft::shared_future<int> f = p.get_future();
    std::atomic<int> begun{0}, sum{0};
    std::vector<std::jthread> threads;
    for (int t = 0; t != 2; ++t)
      threads.emplace_back([&] {
        ++begun;
        for (int i = 0; i != 4; ++i)
          sum += f.then([](int x) { return x; }).get();
      });
    while (begun != 2 && round % 2 == 0)
      std::this_thread::yield();
    p.set_value(1);
    threads.clear();
    ASSERT_EQ(sum, 8);
  }
  EXPECT_EQ(listed_states(), others);
}

/// The thread that sets the value is stopped between the publication and what follows.
TEST(promise, may_be_destroyed_as_soon_as_its_result_is_seen) {
  in_task([] {
    const std::size_t others = listed_states();
    auto first = std::make_unique<weft::promise<int>>();
    weft::future<int> seen = first->get_future();
    weft::spawn([] {}, weft::after(seen));
    auto &gate = weft::rt::the_runtime().gate;
    gate.close();
    std::thread setter([&p = *first] { p.set_value(1); });
    while (!seen.is_ready())
      std::this_thread::yield();
    first.reset();
    seen = {};
    // The next state may be where the first one was.
    weft::promise<int> second;
    weft::spawn([] {}, weft::after(second.get_future()));
    EXPECT_GE(listed_states(), others + 1);
    gate.open();
    setter.join();
    EXPECT_EQ(listed_states(), others + 1) << "the second promise is still waited for";
    second.set_value(2);
    weft::taskwait();
    EXPECT_EQ(listed_states(), others);
  });
}

/// A link of a chain, in each way to make one.
template <class T>
weft::future<int> link(int way, weft::future<int> before, T counted) {
  switch (way) {
  case 0:
    return before.then(launch::deferred, [counted](int v) { return v + 1; });
  case 1:
    return before.then(launch::deferred,
                       [counted](int v) { return weft::make_ready_future(v + 1); });
  case 2:
    return weft::dataflow(launch::deferred,
                          weft::unwrapping([counted](int v, int more) { return v + more; }),
                          std::move(before), weft::make_ready_future(1));
  default: {
    struct alignas(64) wide {
      T counted;
      int operator()(int v) const { return v + 1; }
    };
    return before.then(launch::deferred, wide{counted});
  }
  }
}

TEST(deferred_chain, of_any_length_is_dropped) {
  const auto alive = std::make_shared<int>(0);
  for (int way = 0; way != 4; ++way) {
    in_task([&] {
      weft::future<int> last = weft::async(launch::deferred, [] { return 0; });
      for (int i = 0; i != test::scaled(100'000); ++i)
        last = link(way, std::move(last), alive);
      EXPECT_EQ(alive.use_count(), 1 + test::scaled(100'000));
    });
    EXPECT_EQ(alive.use_count(), 1) << way;
  }
}

TEST(deferred_chain, is_kept_from_where_another_future_refers_to_it) {
  const auto alive = std::make_shared<int>(0);
  for (int way = 0; way != 4; ++way)
    in_task([&] {
      weft::future<int> last = weft::async(launch::deferred, [] { return 0; });
      for (int i = 0; i != 3; ++i)
        last = link(way, std::move(last), alive);
      const weft::shared_future<int> middle = last.share();
      weft::future<int> end = middle.then(launch::deferred, [alive](int v) { return v; });
      end = weft::dataflow(launch::deferred,
                           [alive](weft::shared_future<int> a, weft::future<int> b,
                                   weft::shared_future<int>) { return a.get() + b.get(); },
                           middle, std::move(end), middle);
      const long before = alive.use_count();
      end = {};
      EXPECT_EQ(alive.use_count(), before - 2);
      EXPECT_EQ(middle.get(), 3);
    });
  EXPECT_TRUE(test::eventually([&] { return alive.use_count() == 1; }));
}

TEST(deferred_chain, of_many_inputs_is_dropped) {
  const auto alive = std::make_shared<int>(0);
  in_task([&] {
    const auto input = [&] { return weft::async(launch::deferred, [alive] { return 1; }); };
    auto sum = [alive](auto... each) { return (each.get() + ...); };
    for (const bool called : {false, true}) {
      auto all = weft::dataflow(launch::deferred, sum, input(), input(), input(), input(), input(),
                                input(), input(), input(), input(), input(), input(), input(),
                                input(), input(), input(), input(), input(), input());
      EXPECT_EQ(alive.use_count(), 2 + 19);
      if (called) {
        EXPECT_EQ(all.get(), 18);
      }
    }
  });
  EXPECT_TRUE(test::eventually([&] { return alive.use_count() == 1; }));
}

/// A closure that its call has used up is not destroyed; one that was not called, or threw, is.
TEST(then_failure, keeps_nothing_of_its_input_however_it_ends) {
  enum class ending { called, called_without_result, throws, skipped };
  for (const ending how :
       {ending::called, ending::called_without_result, ending::throws, ending::skipped})
    for (const bool in_place : {true, false}) {
      const auto held = std::make_shared<int>(3);
      const auto body = [&] {
        weft::promise<std::shared_ptr<int>> p;
        auto input = p.get_future();
        if (how == ending::called_without_result) {
          auto f = input.then([](const std::shared_ptr<int> &v) { EXPECT_EQ(*v, 3); });
          p.set_value(held);
          f.get();
          return;
        }
        static bool throws;
        throws = how == ending::throws;
        auto f = input.then([](const std::shared_ptr<int> &v) {
          if (throws)
            throw std::domain_error("meant");
          return *v;
        });
        if (how == ending::skipped)
          f.request_stop();
        p.set_value(held);
        if (how == ending::called)
          EXPECT_EQ(f.get(), 3);
        else
          EXPECT_ANY_THROW(f.get());
      };
      if (in_place)
        in_task(body);
      else
        body();
      EXPECT_TRUE(test::eventually([&] { return held.use_count() == 1; }))
          << static_cast<int>(how) << ' ' << in_place;
    }
}

} // namespace
