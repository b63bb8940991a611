// SPDX-License-Identifier: Apache-2.0
// Policies: when they are called, and what becomes of those that throw, block or contradict each
// other.
#include "support/case_process.hpp"
#include "support/listener.hpp"
#include "support/scale.hpp"
#include "tune/policies.hpp"

#include <weft/tune.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

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
    EXPECT_TRUE(soon([&] { // each policy looks by itself: `up` need not have seen the 1 yet
      level = level == 1 ? 12 : 1;
      return above >= 2;
    }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, a_level_is_read_with_no_lock_held) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    static std::atomic<bool> is_read{false}, is_entered{false};
    weft::counters::level app(
        "/app/level",
        [](void *) {
          if (is_read.exchange(true))
            return 1.0;
          EXPECT_TRUE(soon([] { return is_entered.load(); })) << "a thread may enter a policy";
          return 1.0;
        },
        nullptr);
    std::thread other([] {
      EXPECT_TRUE(soon([] { return is_read.load(); }));
      tune::policy two("two", tune::when::every(1h), [](const tune::policy_call &) {});
      is_entered = true;
    });
    tune::policy one("one", tune::when::above("/app/level", 10, 1ms),
                     [](const tune::policy_call &) {});
    other.join();
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
    {
      const test::listener errors;
      happens.fire();
      EXPECT_TRUE(soon([&] { return inside.load(); }));
      EXPECT_TRUE(soon([&] { return errors.has_heard("policy 'stuck' has not returned for"); }));
      std::this_thread::sleep_for(1200ms); // for a second report: the watcher rests for a second at most
    }
    weft::spawn([] {});
    weft::taskwait();
    weft::shutdown();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  const auto first = end.output.find("policy 'stuck' has not returned for");
  EXPECT_NE(first, std::string::npos) << end;
  EXPECT_EQ(end.output.find("policy 'stuck' has not returned for", first + 1), std::string::npos)
      << "once: " << end;
  EXPECT_TRUE(contains(end.output, "policy 'stuck' has not returned; the program ends without it"))
      << end;
}

TEST(policy, one_that_does_not_return_keeps_no_exit_waiting) {
  const auto end = test::in_process(k_on, [] {
    static std::atomic<bool> inside{false};
    static tune::event happens;
    struct witness {
      std::string text = "what it holds was destroyed";
      explicit witness() = default;
      witness(witness &&from) noexcept : text(std::exchange(from.text, "")) {}
      ~witness() {
        if (!text.empty())
          std::puts(text.c_str());
      }
    };
    static tune::policy stuck("stuck", tune::when::at(happens),
                              [holds = witness()](const tune::policy_call &) {
                                inside = true;
                                for (;;)
                                  std::this_thread::sleep_for(1h);
                              });
    weft::start(); // so exit() ends Weft first, and destroys the policy then
    happens.fire();
    EXPECT_TRUE(soon([&] { return inside.load(); }));
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "policy 'stuck' has not returned; the program ends without it"))
      << end;
  EXPECT_FALSE(contains(end.output, "was destroyed")) << "its call may go on: " << end;
}

TEST(policy, one_that_returns_after_it_was_given_up_does_no_harm) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    static std::atomic<bool> inside{false}, goes_on{false}, withdrawn{false};
    static tune::event happens;
    auto *const slow =
        new tune::policy("slow", tune::when::at(happens), [](const tune::policy_call &) {
          inside = true;
          while (!goes_on)
            std::this_thread::sleep_for(1ms);
        });
    happens.fire();
    EXPECT_TRUE(soon([&] { return inside.load(); }));
    std::thread other([slow] { // waits for the call when it is given up
      delete slow;
      withdrawn = true;
    });
    weft::shutdown();
    EXPECT_TRUE(soon([&] { return withdrawn.load(); }));
    other.join();
    goes_on = true;
    std::this_thread::sleep_for(20ms); // the thread that calls policies ends
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "policy 'slow' has not returned; the program ends without it"))
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

TEST(policy, of_a_count_the_growth_per_second_is_compared) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    weft::counters::counter fast("/app/fast", "made up"), slow("/app/slow", "made up");
    slow.add(1'000'000'000); // large, but it does not grow
    tune::policy grows("grows", tune::when::above("/app/fast", 1e6, 1ms),
                       [](const tune::policy_call &) {});
    tune::policy is_large("large", tune::when::above("/app/slow", 1e6, 1ms),
                          [](const tune::policy_call &) {});
    EXPECT_TRUE(soon([&] {
      fast.add(1'000'000'000); // each millisecond
      return grows.calls() > 0;
    }));
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(is_large.calls(), 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, an_interval_begins_at_the_call_before) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    weft::counters::counter app("/app/count", "made up");
    app.add(1000);
    tune::event happens;
    std::atomic<double> grown{-1}, all{-1};
    tune::policy one("one", tune::when::at(happens), [&](const tune::policy_call &call) {
      grown = call.interval().value("/app/count");
      all = call.now().value("/app/count");
    });
    happens.fire();
    EXPECT_TRUE(soon([&] { return one.calls() == 1; }));
    EXPECT_EQ(grown, 0) << "nothing is known of the time before";
    EXPECT_EQ(all, 1000);
    app.add(7);
    happens.fire();
    EXPECT_TRUE(soon([&] { return one.calls() == 2; }));
    EXPECT_EQ(grown, 7);
    EXPECT_EQ(all, 1007);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, an_interval_begins_at_the_call_before_also_where_a_counter_is_looked_at_in_between) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    struct gauge {
      std::atomic<double> level{1};
      std::atomic<int> looks{0};
    } seen;
    weft::counters::level app(
        "/app/level",
        [](void *p) {
          auto &of = *static_cast<gauge *>(p);
          char name[16] = ""; // the watcher reads levels, too
          pthread_getname_np(pthread_self(), name, sizeof name);
          of.looks += std::strcmp(name, "weft-tuner") == 0;
          return of.level.load();
        },
        &seen);
    weft::counters::counter work("/app/work", "made up");
    std::atomic<double> grown{-1};
    tune::policy one("one", tune::when::above("/app/level", 10, 1ms),
                     [&](const tune::policy_call &call) {
                       grown = call.interval().value("/app/work");
                     });
    const auto look_twice = [&] {
      const int before = seen.looks;
      EXPECT_TRUE(soon([&] { return seen.looks > before + 1; }));
    };
    for (const std::uint64_t call : {1, 2}) {
      look_twice();
      work.add(7);
      look_twice();
      seen.level = 11;
      EXPECT_TRUE(soon([&] { return one.calls() == call; }));
      EXPECT_EQ(grown, 7) << "since the first look, or the call before: " << call;
      seen.level = 1;
    }
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, each_is_called_also_where_the_first_is_always_due) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    const auto slow = [](const tune::policy_call &) { std::this_thread::sleep_for(5ms); };
    tune::policy one("one", tune::when::every(1ms), slow), two("two", tune::when::every(1ms), slow),
        three("three", tune::when::every(1ms), slow);
    EXPECT_TRUE(
        soon([&] { return one.calls() >= 2 && two.calls() >= 2 && three.calls() >= 2; }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, a_call_may_withdraw_its_own_policy) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    static std::atomic<int> calls{0};
    static std::atomic<weft::rt::entered_policy *> own{nullptr};
    weft::rt::policy_event happens;
    weft::rt::policy_plan plan;
    plan.name = "own";
    plan.event = &happens;
    plan.call = [](void *, const weft::rt::policy_moment &) {
      static_cast<void>(weft::rt::withdraw_policy(own));
      ++calls;
    };
    own = weft::rt::enter_policy(std::move(plan));
    tune::policy other("other", tune::when::every(1ms), [](const tune::policy_call &) {});
    fire(happens);
    EXPECT_TRUE(soon([&] { return calls == 1; }));
    const auto seen = other.calls();
    EXPECT_TRUE(soon([&] { return other.calls() > seen + 1; })) << "the others go on";
    EXPECT_EQ(happens.listeners, 0u);
    fire(happens);
    EXPECT_EQ(happens.fired, 1u) << "no policy listens";
    EXPECT_EQ(calls, 1);
    tune::policy again("own", tune::when::every(1ms), [](const tune::policy_call &) {});
    EXPECT_TRUE(soon([&] { return again.calls() > 0; })) << "the name is free";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, a_program_may_exit_in_a_call) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    static tune::event happens;
    new tune::policy("last", tune::when::at(happens), [](const tune::policy_call &) { exit(7); });
    happens.fire();
    for (;;)
      std::this_thread::sleep_for(1h);
  });
  EXPECT_TRUE(end.exited(7)) << end;
  EXPECT_FALSE(contains(end.output, "has not returned")) << end;
}

TEST(policy, what_changes_nothing_is_no_decision) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    tune::event happens;
    tune::policy one("one", tune::when::at(happens), [](const tune::policy_call &call) {
      EXPECT_TRUE(call.set("spin.us", "7"));
      EXPECT_TRUE(call.set("spin.us", "7us"));
    });
    happens.fire();
    EXPECT_TRUE(soon([&] { return one.calls() == 1; }));
    EXPECT_EQ(tune::decisions().size(), 1u);
    EXPECT_EQ(weft::counters::take().value("/tuner/count/decisions"), 1);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, one_that_sets_what_there_is_not_has_thrown) {
  const auto end = test::in_process(k_on, [] {
    weft::start();
    tune::policy one("one", tune::when::every(1ms),
                     [](const tune::policy_call &call) { call.set("spin.uz", "7"); });
    EXPECT_TRUE(soon([&] { return one.has_thrown(); }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "policy 'one' has thrown (")) << end;
  EXPECT_TRUE(contains(end.output, "spin.uz")) << end;
}

TEST(policy, the_thread_runs_where_there_is_something_to_call) {
  const auto threads_with = [](const char *workers, const char *caps) {
    const test::environment settings{
        {"WEFT_WORKERS", workers}, {"WEFT_TUNE", "on"}, {"WEFT_TUNE_WORKERS", caps}};
    const auto end = test::in_process(settings, [] {
      weft::start();
      std::printf("threads: %u", weft::rt::policy_threads());
      tune::policy one("one", tune::when::every(1h), [](const tune::policy_call &) {});
      std::printf("%u", weft::rt::policy_threads());
      weft::shutdown();
      std::printf("%u.", weft::rt::policy_threads());
    });
    EXPECT_TRUE(end.exited(0)) << end;
    return end.output;
  };
  EXPECT_TRUE(contains(threads_with("2", "off"), "threads: 010."));
  EXPECT_TRUE(contains(threads_with("2", "work"), "threads: 110."));
  EXPECT_TRUE(contains(threads_with("1", "work"), "threads: 010.")) << "one worker always stays";
}

TEST(policy, a_cap_begins_only_where_the_setting_leaves_workers) {
  const test::environment settings{{"WEFT_WORKERS", "3"},
                                   {"WEFT_TUNE", "on"},
                                   {"WEFT_TUNE_WORKERS", "work"},
                                   {"WEFT_SCHED_WORKERS", "1"}};
  const auto end = test::in_process(settings, [] {
    weft::start();
    EXPECT_EQ(weft::rt::policy_threads(), 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Runs tasks of which each waits for the one before, and which take far longer than their creation,
/// until `holds`: more workers end no more of them per second.
template <class Holds>
bool chain_until(Holds holds) {
  int link = 0;
  for (int i = 0; i < 200'000; ++i) {
    for (int k = 0; k < 100; ++k)
      weft::spawn(
          [] {
            const auto until = std::chrono::steady_clock::now() + 5us;
            while (std::chrono::steady_clock::now() < until) {
            }
          },
          weft::inout(link));
    weft::taskwait();
    if (holds())
      return true;
  }
  return false;
}

bool has_decided(const char *what) {
  const auto all = tune::decisions();
  return std::any_of(all.begin(), all.end(), [what](const std::string &each) {
    return each.rfind("worker cap: sched.workers=1: ", 0) == 0 && contains(each, what);
  });
}

TEST(policy, a_worker_that_adds_nothing_is_sent_away) {
  auto settings = k_on;
  settings.push_back({"WEFT_TUNE_WORKERS", "work"});
  const auto end = test::in_process(settings, [] {
    weft::start();
    const auto was_decided = [] {
      const auto all = tune::decisions();
      return std::find(all.begin(), all.end(),
                       "worker cap: sched.workers=1: the others added too little to the tasks "
                       "that end per second") != all.end();
    };
    EXPECT_TRUE(chain_until(was_decided));
    EXPECT_TRUE(chain_until([] { return tune::get("sched.workers") == "1"; }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Is a quota of processors, as a control group has one: so many tasks go on at a time, and every tenth
/// sleeps, so that the rate depends on the quota and not on what else the machine does.
class quota {
 public:
  void set(int tasks) {
    const std::lock_guard hold(m_mutex);
    m_free += tasks - m_tasks;
    m_tasks = tasks;
    m_changed.notify_all();
  }
  void spend() {
    std::unique_lock hold(m_mutex);
    m_changed.wait(hold, [this] { return m_free > 0; });
    --m_free;
    if (++m_spent % 10 == 0) {
      hold.unlock();
      std::this_thread::sleep_for(1ms);
      hold.lock();
    }
    ++m_free;
    m_changed.notify_one();
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_changed;
  int m_tasks = 0, m_free = 0, m_spent = 0;
};

TEST(policy, a_cap_follows_a_quota_that_changes_while_the_program_runs) {
  auto settings = k_on;
  settings.push_back({"WEFT_TUNE_WORKERS", "work"});
  const auto end = test::in_process(settings, [] {
    weft::start();
    quota allowed;
    const std::string few = "worker cap: sched.workers=1: ", many = "worker cap: sched.workers=2: ";
    const std::string too_little = few + "the others added too little to the tasks that end per second";
    std::size_t seen = 0; // decisions
    const auto work_until = [&](const std::string &decision) {
      for (int i = 0; i < 20'000; ++i) {
        for (int k = 0; k < 100; ++k)
          weft::spawn([&allowed] { allowed.spend(); });
        weft::taskwait();
        const auto all = tune::decisions();
        if (all.size() > seen && all.back().rfind(decision, 0) == 0) {
          seen = all.size();
          return all.back();
        }
      }
      return std::string("none");
    };
    allowed.set(1);
    ASSERT_EQ(work_until(few), too_little);
    allowed.set(2);
    ASSERT_EQ(work_until(many), many + "each adds enough to the tasks that end per second");
    allowed.set(1);
    ASSERT_EQ(work_until(few), too_little);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, a_cap_stays_below_what_the_user_has_set) {
  auto settings = k_on;
  settings[0].second = "3";
  settings.push_back({"WEFT_TUNE_WORKERS", "work"});
  settings.push_back({"WEFT_SCHED_WORKERS", "2"});
  const auto end = test::in_process(settings, [] {
    weft::start();
    EXPECT_TRUE(chain_until([] {
      EXPECT_NE(tune::get("sched.workers"), "3");
      return has_decided("the others added too little");
    }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, a_cap_ends_when_others_set_the_number_of_workers) {
  for (const char *goal : {"work", "watts"}) {
    auto settings = k_on;
    for (const auto &more : test::environment{{"WEFT_TUNE_WORKERS", goal},
                                              {"WEFT_TUNE_WATTS", "0.1:0.5"},
                                              {"WEFT_POWER_BUSY", "5"},
                                              {"WEFT_POWER_IDLE", "1"}})
      settings.push_back(more);
    const auto end = test::in_process(settings, [] {
      weft::start();
      EXPECT_TRUE(chain_until([] { return has_decided(""); }));
      EXPECT_TRUE(chain_until([] { return tune::get("sched.workers") == "1"; }));
      tune::set("sched.workers", "2");
      EXPECT_TRUE(chain_until([] {
        EXPECT_EQ(tune::get("sched.workers"), "2");
        const auto all = tune::decisions();
        return all.back() == "worker cap: ends: sched.workers was set to 2 by others";
      }));
      EXPECT_EQ(tune::get("sched.workers"), "2");
    });
    EXPECT_TRUE(end.exited(0)) << goal << end;
  }
}

TEST(policy, a_cap_ends_also_when_others_set_the_number_that_it_has_chosen) {
  auto settings = k_on;
  settings.push_back({"WEFT_TUNE_WORKERS", "work"});
  const auto end = test::in_process(settings, [] {
    weft::start();
    EXPECT_TRUE(chain_until([] { return has_decided(""); }));
    EXPECT_TRUE(chain_until([] { return tune::get("sched.workers") == "1"; }));
    tune::set("sched.workers", "1");
    EXPECT_TRUE(chain_until([] {
      EXPECT_EQ(tune::get("sched.workers"), "1");
      return tune::decisions().back() ==
             "worker cap: ends: sched.workers was set to 1 by others";
    }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, one_that_is_always_due_does_not_keep_the_cap_from_looking) {
  auto settings = k_on;
  settings.push_back({"WEFT_TUNE_WORKERS", "work"});
  const auto end = test::in_process(settings, [] {
    const tune::policy slow("slow", tune::when::every(1ms), [](const tune::policy_call &) {
      std::this_thread::sleep_for(2ms); // longer than its period
    });
    EXPECT_TRUE(chain_until([] { return tune::get("sched.workers") == "1"; }));
    EXPECT_GT(slow.calls(), 1u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, power_above_the_band_sends_workers_away) {
  auto settings = k_on; // each worker takes 5 W in the estimate while it works, and 1 W else
  for (const auto &more : test::environment{{"WEFT_WORKERS", "2"},
                                            {"WEFT_TUNE_WORKERS", "watts"},
                                            {"WEFT_TUNE_WATTS", "0.1:0.5"},
                                            {"WEFT_POWER_BUSY", "5"},
                                            {"WEFT_POWER_IDLE", "1"}})
    settings.push_back(more);
  const auto end = test::in_process(settings, [] {
    weft::start();
    EXPECT_TRUE(soon([] { return has_decided("the power left tune.watts: "); }));
    EXPECT_TRUE(soon([] { return tune::get("sched.workers") == "1"; }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

/// Runs tasks of which one works at a time, while those of other workers spin, until `holds`.
template <class Holds>
bool spin_until(Holds holds) {
  std::atomic<bool> busy{false};
  for (int i = 0; i < 200'000; ++i) {
    for (int k = 0; k < 100; ++k)
      weft::spawn([&busy] {
        while (busy.exchange(true)) {
        }
        const auto until = std::chrono::steady_clock::now() + 20us;
        while (std::chrono::steady_clock::now() < until) {
        }
        busy = false;
      });
    weft::taskwait();
    if (holds())
      return true;
  }
  return false;
}

TEST(policy, a_worker_that_costs_energy_and_adds_nothing_is_sent_away) {
  auto settings = k_on;
  for (const auto &more : test::environment{{"WEFT_WORKERS", "2"},
                                            {"WEFT_TUNE_WORKERS", "energy"},
                                            {"WEFT_POWER_BUSY", "5"},
                                            {"WEFT_POWER_IDLE", "0.1"}})
    settings.push_back(more);
  const auto end = test::in_process(settings, [] {
    weft::start();
    EXPECT_TRUE(spin_until([] { return has_decided("a task takes less energy than"); }));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(policy, a_band_of_watts_that_is_none_is_refused) {
  auto settings = k_on;
  settings.push_back({"WEFT_TUNE_WORKERS", "watts"});
  const auto end = test::in_process(settings, [] { weft::start(); });
  EXPECT_FALSE(end.exited(0)) << end;
  EXPECT_TRUE(contains(end.output, "setting tune.watts cannot be '' with tune.workers=watts: it must "
                                   "be two numbers of watts, the lower one first, as 40:60"))
      << end;
}

TEST(policy, a_cap_of_workers_that_cannot_be_followed_ends) {
  auto settings = k_on;
  settings.push_back({"WEFT_TUNE_WORKERS", "work"});
  settings.push_back({"WEFT_WATCH_MAX_SPARES", "0"});
  settings.push_back({"WEFT_WATCH_HANG", "off"});
  const auto end = test::in_process(settings, [] {
    std::atomic<int> calls{0};
    tune::policy one("one", tune::when::every(1ms), [&](const tune::policy_call &) { ++calls; });
    std::FILE *const heard = std::tmpfile();
    dup2(fileno(heard), 2);
    EXPECT_TRUE(chain_until([heard] {
      char text[4096] = "";
      return pread(fileno(heard), text, sizeof text - 1, 0) > 0 &&
             contains(text, "the cap of workers (tune.workers) has ended: setting sched.workers = "
                            "1 cannot be followed");
    }));
    const int seen = calls;
    EXPECT_TRUE(soon([&] { return calls > seen; })) << "policies are called still";
    EXPECT_EQ(tune::get("sched.workers"), "all");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
