// SPDX-License-Identifier: Apache-2.0
// Policies: when they are called, and what becomes of those that throw, block or contradict each
// other.
#include "support/case_process.hpp"
#include "support/scale.hpp"

#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

namespace tune = weft::tune;
using namespace std::chrono_literals;

const test::environment k_on{
    {"WEFT_WORKERS", "2"}, {"WEFT_TUNE", "on"}, {"WEFT_TUNE_HISTORY", "none"}};

template <class Holds>
bool soon(Holds holds) {
  for (int i = 0; i < 20'000; ++i) {
    if (holds())
      return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(policy, is_called_at_intervals_by_a_thread_that_is_no_worker) {
  const auto end = test::in_process(k_on, [] {
    std::atomic<int> calls{0}, tid{0};
    tune::policy early("early", tune::when::every(1ms), [&](const tune::policy_call &call) {
      EXPECT_EQ(call.name(), "early");
      EXPECT_GE(call.now().value("/threads/count/cumulative"), 0);
      EXPECT_GE(call.interval().span().count(), 0);
      tid = gettid();
      ++calls;
    });
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(calls, 0) << "not before Weft starts";
    weft::start();
    EXPECT_TRUE(soon([&] { return calls >= 3; }));
    EXPECT_NE(tid, gettid());
    EXPECT_GE(early.calls(), 2u);
    EXPECT_FALSE(early.has_thrown());
    EXPECT_GE(weft::counters::take().value("/tuner/count/policy-calls"), 2);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, is_not_called_unless_tune_is_on) {
  const auto end = test::in_process({{"WEFT_TUNE", "granularity"}}, [] {
    std::atomic<int> calls{0};
    tune::event happens;
    tune::policy one("one", tune::when::every(1ms), [&](const tune::policy_call &) { ++calls; });
    tune::policy two("two", tune::when::at(happens), [&](const tune::policy_call &) { ++calls; });
    weft::start();
    happens.fire();
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(calls, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, hears_events_from_tasks_and_sets_knobs) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    tune::event happens;
    std::optional<tune::policy> one;
    happens.fire(); // before there is a policy
    one.emplace("one", tune::when::at(happens),
                [](const tune::policy_call &call) { EXPECT_TRUE(call.set("spin.us", "7")); });
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(one->calls(), 0u) << "what happened before does not count";
    weft::spawn([&] { happens.fire(); });
    weft::taskwait();
    EXPECT_TRUE(soon([&] { return one->calls() == 1; }));
    EXPECT_EQ(tune::get("spin.us"), "7us");
    ASSERT_FALSE(tune::decisions().empty());
    EXPECT_EQ(tune::decisions().back(), "one: spin.us=7us (was 20us)");
    one.reset();
    happens.fire();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, is_called_when_a_counter_passes_its_limit) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    std::atomic<double> level{5};
    weft::counters::level app(
        "/app/level", [](void *p) { return static_cast<std::atomic<double> *>(p)->load(); },
        &level);
    std::atomic<int> above{0}, below{0};
    tune::policy up("up", tune::when::above("/app/level", 10, 1ms),
                    [&](const tune::policy_call &) { ++above; });
    tune::policy down("down", tune::when::below("/app/level", 3, 1ms),
                      [&](const tune::policy_call &) { ++below; });
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(above + below, 0);
    level = 11;
    EXPECT_TRUE(soon([&] { return above == 1; }));
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(above, 1) << "once, until it has come back";
    level = 1;
    EXPECT_TRUE(soon([&] { return below == 1; }));
    level = 12;
    EXPECT_TRUE(soon([&] { return above == 2; }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, one_that_throws_is_named_and_not_called_again) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    std::atomic<int> others{0};
    tune::policy bad("bad", tune::when::every(1ms),
                     [](const tune::policy_call &) { throw std::runtime_error("no idea"); });
    tune::policy worse("worse", tune::when::every(1ms), [](const tune::policy_call &) { throw 5; });
    tune::policy unknown("unknown", tune::when::above("/no/counter", 1, 1ms),
                         [](const tune::policy_call &) {});
    tune::policy good("good", tune::when::every(1ms), [&](const tune::policy_call &) { ++others; });
    EXPECT_TRUE(
        soon([&] { return bad.has_thrown() && worse.has_thrown() && unknown.has_thrown(); }));
    const int seen = others;
    EXPECT_TRUE(soon([&] { return others > seen + 2; })) << "the others go on";
    EXPECT_EQ(bad.calls(), 1u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "policy 'bad' has thrown (no idea); it is not called again"))
      << end;
  EXPECT_TRUE(
      contains(end.output, "policy 'worse' has thrown (something that is no std::exception)"))
      << end;
  EXPECT_TRUE(contains(end.output, "policy 'unknown' has thrown (")) << end;
}

TEST(policy, one_that_does_not_return_is_reported_and_the_program_ends) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    static std::atomic<bool> inside{false};
    static tune::event happens;
    new tune::policy("stuck", tune::when::at(happens), [](const tune::policy_call &) {
      inside = true;
      for (;;)
        std::this_thread::sleep_for(1h);
    });
    happens.fire();
    EXPECT_TRUE(soon([&] { return inside.load(); }));
    std::this_thread::sleep_for(2500ms); // the watcher rests for a second at most
    weft::spawn([] {});
    weft::taskwait();
    weft::shutdown();
    _exit(0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "policy 'stuck' has not returned for")) << end;
  EXPECT_TRUE(contains(end.output, "policy 'stuck' has not returned; the program ends without it"))
      << end;
}

TEST(policy, of_two_that_contradict_each_other_the_first_wins) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    std::atomic<int> refused{0};
    tune::policy first("first", tune::when::every(1ms), [](const tune::policy_call &call) {
      EXPECT_TRUE(call.set("spin.us", "3"));
    });
    EXPECT_TRUE(soon([&] { return first.calls() > 0; }));
    tune::policy second("second", tune::when::every(1ms), [&](const tune::policy_call &call) {
      refused += !call.set("spin.us", "9");
    });
    EXPECT_TRUE(soon([&] { return refused > 3; }));
    EXPECT_TRUE(soon([&] { return tune::get("spin.us") == "3us"; }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output,
                       "policies 'first' and 'second' contradict each other: they set spin.us "
                       "to 3 and 9 in turn; 'first' came first and keeps it"))
      << end;
}

TEST(policy, an_end_waits_for_the_call_that_is_under_way) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    for (int i = 0; i < 20; ++i) {
      std::atomic<bool> inside{false};
      {
        tune::policy one("one", tune::when::every(1ms), [&](const tune::policy_call &) {
          inside = true;
          std::this_thread::sleep_for(2ms);
          inside = false;
        });
        EXPECT_TRUE(soon([&] { return inside.load() || one.calls() > 0; }));
      }
      EXPECT_FALSE(inside);
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, refuses_what_cannot_be) {
  const auto end = test::in_process(k_on, [] {
    const auto none = [](const tune::policy_call &) {};
    tune::policy one("one", tune::when::every(1ms), none);
    EXPECT_THROW(tune::policy("one", tune::when::every(1ms), none), weft::error);
    EXPECT_THROW(tune::policy("", tune::when::every(1ms), none), weft::error);
    EXPECT_THROW(tune::policy("two", tune::when::every(999us), none), weft::error);
    EXPECT_THROW(tune::policy("two", tune::when::every(-1ms), none), weft::error);
    EXPECT_THROW(tune::policy("two", tune::when::above("nothing", 1), none), weft::error);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, a_session_is_a_place_where_policies_are_called) {
  const auto end = test::in_process(k_on, [] {
    tune::knob size("app.size", 4, tune::range{1, 8});
    tune::session tuned(size);
    tune::policy one("one", tune::when::at(tuned.calls()), [](const tune::policy_call &) {});
    EXPECT_TRUE(soon([&] {
      tune::trial call(tuned, 1);
      return one.calls() >= 2;
    }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, a_child_of_fork_runs_with_the_policies_of_its_parent) {
  if (test::k_thread_sanitized)
    GTEST_SKIP() << "ThreadSanitizer ends a child of fork that begins a thread";
  const auto end = test::in_process(k_on, [] {
    std::atomic<int> calls{0};
    weft::start();
    tune::policy one("one", tune::when::every(1ms), [&](const tune::policy_call &) { ++calls; });
    EXPECT_TRUE(soon([&] { return calls > 0; }));
    const pid_t child = fork();
    if (child == 0) {
      calls = 0;
      weft::spawn([] {});
      weft::taskwait();
      _exit(soon([&] { return calls > 0; }) ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, the_cap_of_workers_runs_beside_tasks) {
  auto settings = k_on;
  settings.push_back({"WEFT_TUNE_WORKERS", "true"});
  const auto end = test::in_process(settings, [] {
    weft::start();
    const auto until = std::chrono::steady_clock::now() + 600ms;
    std::atomic<long> sum{0};
    while (std::chrono::steady_clock::now() < until) {
      for (int i = 0; i < 200; ++i)
        weft::spawn([&] { ++sum; });
      weft::taskwait();
    }
    EXPECT_GT(sum, 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
