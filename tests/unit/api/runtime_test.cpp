// SPDX-License-Identifier: Apache-2.0
// The runtime as a whole: numbers, settings, the throttle, shutdown.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace {

TEST(runtime, the_number_of_workers_is_what_the_setting_says) {
  auto end = test::in_process({{"WEFT_WORKERS", "7"}}, [] { EXPECT_EQ(weft::worker_count(), 7); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime, worker_zero_is_the_first_thread) {
  EXPECT_EQ(weft::worker_id(), 0);
  EXPECT_GE(weft::worker_count(), 1);
}

TEST(runtime, tasks_run_on_workers_and_other_threads_count_from_the_limit) {
  const auto end = test::in_process(
      {{"WEFT_WATCH_MAX_SPARES", "0"}}, [] { // those run tasks, too, and count from the limit
        std::atomic<int> outside{0};
        for (int i = 0; i != 200; ++i)
          weft::spawn([&] {
            outside += weft::worker_id() < 0 || weft::worker_id() >= weft::worker_count();
          });
        weft::taskwait();
        EXPECT_EQ(outside, 0);
        int id = -1;
        std::thread([&] { id = weft::worker_id(); }).join();
        EXPECT_GE(id, weft::worker_count());
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime, totals_count_what_has_happened) {
  weft::taskwait();
  auto before = weft::stats();
  int x = 0;
  for (int i = 0; i != 500; ++i)
    weft::spawn([&] { ++x; }, weft::inout(x));
  weft::spawn([] { weft::this_task::sleep_for(std::chrono::microseconds(200)); });
  weft::taskwait();
  auto after = weft::stats();
  EXPECT_EQ(after.spawned - before.spawned, 501u);
  EXPECT_EQ(after.executed - before.executed, 501u);
  EXPECT_GT(after.suspended, before.suspended);
}

TEST(runtime, the_bodies_that_workers_ran_add_up) {
  for (int i = 0; i != 500; ++i)
    weft::spawn([] {});
  weft::taskwait();
  std::uint64_t sum = 0;
  for (int id = 0; id != weft::worker_count() + 8; ++id)
    sum += weft::executed_by(id);
  EXPECT_GE(sum, 500u);
  EXPECT_LE(sum, weft::stats().executed);
}

TEST(runtime, totals_never_go_back) {
  std::atomic<bool> stop{false};
  std::atomic<int> backwards{0};
  std::thread observer([&] {
    weft::statistics last;
    while (!stop) {
      auto now = weft::stats();
      backwards += now.spawned < last.spawned || now.executed < last.executed ||
                   now.suspended < last.suspended || now.stolen < last.stolen ||
                   now.slept < last.slept || now.throttled < last.throttled;
      last = now;
    }
  });
  for (int round = 0; round != test::scaled(50, 5); ++round) {
    for (int i = 0; i != 100; ++i)
      weft::spawn([] { weft::taskyield(); });
    weft::taskwait();
  }
  stop = true;
  observer.join();
  EXPECT_EQ(backwards, 0);
}

TEST(runtime, memory_of_tasks_is_given_back) {
  int x = 0;
  auto before = weft::stats().live_bytes;
  for (int round = 0; round != 5; ++round) {
    for (int i = 0; i != 1000; ++i)
      weft::spawn([&] { ++x; }, weft::inout(x));
    weft::taskwait();
  }
  // Each worker keeps up to 64 KiB of difference to itself.
  EXPECT_LE(weft::stats().live_bytes,
            before + static_cast<std::uint64_t>(weft::worker_count() + 2) * (64u << 10));
}

TEST(runtime, configure_sets_a_value_before_the_start) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    weft::configure("workers", "3"); // over the environment
    weft::configure("sched.policy", "central");
    EXPECT_EQ(weft::worker_count(), 3);
    int x = 0;
    weft::spawn([&] { x = 1; });
    weft::taskwait();
    EXPECT_EQ(x, 1);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

std::string refusal(const char *key, const char *value, weft::errc code = weft::errc::bad_setting) {
  try {
    weft::configure(key, value);
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  return "accepted";
}

TEST(runtime, a_wrong_setting_that_nothing_catches_ends_the_program_with_one_line) {
  const auto end = test::in_process({{"WEFT_WORKERS", "abc"}}, [] {
    std::fputs("flushed\n", stdout); // not lost
    []() noexcept { weft::spawn([] {}); }(); // the test's own handler is not reached
  });
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(end.printed(
      "weft: error: setting workers cannot be 'abc' (from environment WEFT_WORKERS): it must be auto, or an integer from 1 to 1024\n"))
      << end;
  EXPECT_TRUE(end.printed("flushed\n")) << end;
  EXPECT_FALSE(end.printed("terminate called")) << end;
}

TEST(runtime, a_wrong_setting_can_be_caught_and_other_errors_terminate_as_ever) {
  const auto end = test::in_process({{"WEFT_WORKERS", "abc"}}, [] {
    EXPECT_THROW(weft::spawn([] {}), weft::error);
    const auto fail = [] { throw std::runtime_error("another"); };
    [&]() noexcept { fail(); }();
  });
  EXPECT_TRUE(end.aborted()) << end;
  EXPECT_TRUE(end.printed("another")) << end;
}

TEST(runtime, configure_names_the_nearest_key) {
  auto end = test::in_process({}, [] {
    std::string text = refusal("worker", "4");
    EXPECT_NE(text.find("workers"), std::string::npos) << text;
    text = refusal("sched.polcy", "central");
    EXPECT_NE(text.find("sched.policy"), std::string::npos) << text;
    text = refusal("sched.policy", "centrl");
    EXPECT_NE(text.find("central"), std::string::npos) << text;
    EXPECT_NE(text.find("stealing"), std::string::npos) << text;
    EXPECT_NE(refusal("workers", "0"), "accepted");
    EXPECT_NE(refusal("workers", "many"), "accepted");
    EXPECT_NE(refusal("workers", ""), "accepted");
    EXPECT_NE(refusal("", "1"), "accepted");
    weft::configure("workers", "2"); // a refused value leaves everything as it was
    EXPECT_EQ(weft::worker_count(), 2);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime, configure_after_the_start_is_too_late) {
  weft::start();
  int before = weft::worker_count();
  EXPECT_NE(refusal("workers", "3", weft::errc::already_started), "accepted");
  EXPECT_EQ(weft::worker_count(), before);
}

TEST(runtime, an_unknown_variable_is_reported_with_the_nearest_name) {
  auto end = test::in_process({{"WEFT_SCHED_POLCY", "central"}}, [] {
    weft::spawn([] {});
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("WEFT_SCHED_POLCY")) << end;
  EXPECT_TRUE(end.printed("WEFT_SCHED_POLICY")) << end;
}

TEST(runtime, start_may_be_called_by_many_threads_at_once) {
  auto end = test::in_process({{"WEFT_WORKERS", "3"}}, [] {
    std::vector<std::thread> threads;
    std::atomic<int> ran{0};
    for (int t = 0; t != 8; ++t)
      threads.emplace_back([&] {
        weft::start();
        weft::spawn([&] { ++ran; });
        weft::taskwait();
      });
    for (auto &t : threads)
      t.join();
    EXPECT_EQ(ran, 8);
    EXPECT_EQ(weft::worker_count(), 3);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

template <class F>
weft::errc refused_with(F &&f) {
  try {
    f();
  } catch (const weft::error &e) {
    return e.code();
  }
  return {};
}

TEST(runtime, after_shutdown_every_use_is_an_error) {
  auto end = test::in_process({}, [] {
    std::atomic<int> ran{0};
    for (int i = 0; i != 100; ++i)
      weft::spawn([&] { test::dawdle(), ++ran; });
    weft::shutdown(); // waits for them
    EXPECT_EQ(ran, 100);
    EXPECT_EQ(refused_with([] { weft::spawn([] {}); }), weft::errc::shut_down);
    EXPECT_EQ(refused_with([] { weft::spawn([] { return 1; }).wait(); }), weft::errc::shut_down);
    EXPECT_EQ(refused_with([] { weft::start(); }), weft::errc::shut_down);
    EXPECT_EQ(refused_with([] {
                weft::task_group g;
                g.spawn([] {});
              }),
              weft::errc::shut_down);
    EXPECT_EQ(refused_with([] { (void)weft::this_task::self(); }), weft::errc::shut_down);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime, after_shutdown_no_call_that_needs_a_worker_is_accepted) {
  auto end = test::in_process({}, [] {
    weft::task_group group;
    auto handle = weft::spawn([] { return 1; });
    weft::shutdown();
    const std::pair<const char *, void (*)()> calls[] = {
        {"configure", [] { weft::configure("workers", "2"); }},
        {"worker_count", [] { (void)weft::worker_count(); }},
        {"worker_id", [] { (void)weft::worker_id(); }},
        {"taskwait", [] { weft::taskwait(); }},
        {"taskyield", [] { weft::taskyield(); }},
        {"sleep_for", [] { weft::this_task::sleep_for(std::chrono::milliseconds(1)); }},
        {"block", [] { weft::this_task::block(); }},
        {"block_for", [] { (void)weft::this_task::block_for(std::chrono::milliseconds(1)); }},
        {"increase_events", [] { weft::this_task::increase_events(); }},
        {"join", [] { weft::join([] {}, [] {}); }},
        {"service",
         [] {
           weft::service s("s", weft::poll_point::idle, [](void *) { return false; }, nullptr);
         }},
    };
    for (const auto &[name, call] : calls)
      EXPECT_EQ(refused_with(call), weft::errc::shut_down) << name;
    EXPECT_EQ(refused_with([&] { group.wait(); }), weft::errc::shut_down);
    EXPECT_EQ(refused_with([&] { handle.wait(); }), weft::errc::shut_down);
    std::thread([] {
      EXPECT_EQ(refused_with([] { weft::spawn([] {}); }), weft::errc::shut_down);
    }).join();
    weft::shutdown(); // a second one does nothing
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime, after_shutdown_the_totals_can_be_read) {
  auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    for (int i = 0; i != 100; ++i)
      weft::spawn([] {});
    weft::shutdown();
    EXPECT_EQ(weft::stats().spawned, 100u);
    EXPECT_EQ(weft::executed_by(0) + weft::executed_by(1), 100u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime, with_stats_set_the_end_of_the_program_tells_who_did_what) {
  auto end = test::in_process({{"WEFT_STATS", "true"}, {"WEFT_WORKERS", "2"}}, [] {
    for (int i = 0; i != 123; ++i)
      weft::spawn([] {});
    weft::taskwait();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("weft: stats: 123 tasks spawned, 123 run by 2 workers; ")) << end;
  EXPECT_TRUE(end.printed("\nweft: stats: worker 0 (main): 123 tasks spawned, ")) << end;
  EXPECT_TRUE(end.printed("\nweft: stats: worker 1 (started): 0 tasks spawned, ")) << end;
}

TEST(runtime, with_stats_set_an_exit_inside_of_a_task_tells_them_too) {
  auto end = test::in_process({{"WEFT_STATS", "true"},
                               {"TSAN_OPTIONS", "report_thread_leaks=0"},
                               {"ASAN_OPTIONS", "detect_leaks=0"}},
                              [] {
                                weft::spawn([] { std::exit(7); });
                                weft::taskwait();
                              });
  EXPECT_TRUE(end.exited(7)) << end;
  EXPECT_TRUE(end.printed("weft: stats: 1 tasks spawned, 1 run by ")) << end;
}

TEST(runtime, without_stats_set_the_end_is_silent) {
  auto end = test::in_process({{"WEFT_STATS", "false"}, {"WEFT_PRESET", "none"}}, [] {
    weft::spawn([] {});
    weft::shutdown();
  });
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft: ")) << end;
}

TEST(runtime, configure_without_a_key_or_a_value_is_refused) {
  auto end = test::in_process({}, [] {
    EXPECT_NE(refusal(nullptr, "2", weft::errc::invalid_argument), "accepted");
    EXPECT_NE(refusal("workers", nullptr, weft::errc::invalid_argument), "accepted");
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime, shutdown_without_a_start_is_accepted) {
  auto end = test::in_process({}, [] { weft::shutdown(); });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(runtime, shutdown_inside_of_a_task_is_refused) {
  auto end = test::in_process({}, [] {
    bool refused = false;
    weft::spawn([&] { refused = refused_with([] { weft::shutdown(); }) != weft::errc{}; });
    weft::taskwait();
    EXPECT_TRUE(refused);
    bool ran = false;
    weft::spawn([&] { ran = true; });
    weft::taskwait();
    EXPECT_TRUE(ran);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle, holds_a_producer_back_and_bounds_memory) {
  auto end = test::in_process({{"WEFT_THROTTLE_BYTES", "256KiB"}}, [] {
    const int n = test::scaled(200'000);
    std::atomic<int> ran{0};
    std::atomic<std::uint64_t> most{0};
    for (int i = 0; i != n; ++i)
      weft::spawn([&, i] {
        ++ran;
        if (i % 64 == 0)
          if (auto now = weft::stats().live_bytes; now > most)
            most = now;
      });
    weft::taskwait();
    EXPECT_EQ(ran, n);
    if (weft::worker_count() == 1) { // more of them may keep up with the producer
      EXPECT_GT(weft::stats().throttled, 0u);
    }
    // Each worker keeps up to 64 KiB of difference to itself.
    EXPECT_LE(most, (256u << 10) + static_cast<unsigned>(weft::worker_count() + 2) * (64u << 10));
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle, holds_nested_producers_and_chains_back_without_deadlock) {
  auto end = test::in_process({{"WEFT_THROTTLE_BYTES", "64KiB"}}, [] {
    const int n = test::scaled(300, 60);
    std::atomic<int> ran{0};
    int x = 0;
    for (int i = 0; i != n; ++i) {
      weft::spawn(
          [&] {
            for (int k = 0; k != 50; ++k)
              weft::spawn([&] { ++ran, ++x; }, weft::inout(x));
          },
          weft::weak_inout(x));
      weft::spawn([&] {
        for (int k = 0; k != 20; ++k)
          weft::spawn([&] { ++ran; });
        weft::taskwait();
      });
    }
    weft::taskwait();
    EXPECT_EQ(ran, 70 * n);
    EXPECT_EQ(x, 50 * n);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle, lets_a_producer_go_on_when_its_tasks_only_wait_for_it) {
  auto end = test::in_process({{"WEFT_THROTTLE_BYTES", "64KiB"}}, [] {
    // All live tasks wait for data that the producer gives free only after the last spawn.
    const int n = 5000;
    std::atomic<int> ran{0};
    int x = 0;
    std::atomic<weft::detail::task *> holder{nullptr};
    weft::spawn([&] { weft::this_task::increase_events(), holder = weft::this_task::self().get(); },
                weft::out(x));
    EXPECT_TRUE(test::eventually([&] { return holder != nullptr; }));
    for (int i = 0; i != n; ++i)
      weft::spawn([&] { ++ran; }, weft::in(x));
    weft::decrease_events(weft::task_ref(holder));
    weft::taskwait();
    EXPECT_EQ(ran, n);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle, soft_holds_a_producer_back_whose_worker_has_other_work) {
  auto end = test::in_process({{"WEFT_THROTTLE_SOFT", "64KiB"}, {"WEFT_WORKERS", "1"}}, [] {
    const int n = test::scaled(50'000, 5'000);
    int ran = 0;
    std::uint64_t most = 0;
    for (int i = 0; i != n; ++i) {
      weft::spawn([&] { ++ran; });
      most = std::max(most, weft::stats().live_bytes);
    }
    EXPECT_GT(ran, n / 2) << "tasks run while their creator is held back";
    weft::taskwait();
    EXPECT_EQ(ran, n);
    EXPECT_GT(weft::stats().throttled, 0u);
    EXPECT_LE(most, 3 * (64u << 10)); // a worker keeps up to 64 KiB to itself
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle, soft_lets_a_producer_run_ahead_whose_worker_has_no_other_work) {
  auto end = test::in_process({{"WEFT_THROTTLE_SOFT", "64KiB"}, {"WEFT_WORKERS", "1"}}, [] {
    const int n = test::scaled(20'000, 5'000);
    int ran = 0, x = 0;
    std::atomic<weft::detail::task *> holder{nullptr};
    weft::spawn([&] { weft::this_task::increase_events(), holder = weft::this_task::self().get(); },
                weft::out(x));
    while (!holder)
      weft::taskyield();
    for (int i = 0; i != n; ++i)
      weft::spawn([&] { ++ran; }, weft::inout(x));
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(weft::stats().throttled, 0u);
    weft::decrease_events(weft::task_ref(holder));
    weft::taskwait();
    EXPECT_EQ(ran, n);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(throttle, off_accepts_any_number) {
  auto end =
      test::in_process({{"WEFT_THROTTLE_BYTES", "off"}, {"WEFT_THROTTLE_SOFT", "64KiB"}}, [] {
        const int n = test::scaled(50'000);
        std::atomic<int> ran{0};
        for (int i = 0; i != n; ++i)
          weft::spawn([&] { ++ran; });
        weft::taskwait();
        EXPECT_EQ(ran, n);
        EXPECT_EQ(weft::stats().throttled, 0u);
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
