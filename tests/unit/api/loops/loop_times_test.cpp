// SPDX-License-Identifier: Apache-2.0
// What loops make of the clock, in a time of the test's.
#include "api/cpp/loop_times.hpp"
#include "support/case_process.hpp"
#include "worker/runtime.hpp"

#include <weft/algorithm.hpp>
#include <weft/runtime.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

namespace {

std::uint64_t wake_ups_seen() { return weft::detail::g_wake_ups.seen; }

/// Waits until all workers but this one sleep.
void wait_until_the_others_sleep() {
  const weft::rt::runtime &rt = weft::rt::the_runtime();
  const auto sleepers = [&] {
    unsigned n = 0;
    for (unsigned id = 0; id < rt.workers; ++id)
      n += rt.idle.announced(id);
    return n;
  };
  while (sleepers() + 1 < rt.workers || rt.idle.searching() != 0)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

/// Is a loop whose iterations take 5 us, and whose later ones, wherever the caller begins, wait until all workers take
/// part.
struct loop_of_all_workers {
  std::atomic<std::uint64_t> seen{0}; // one bit per worker
  std::atomic<std::uint64_t> begun{0}; // iterations
  const std::uint64_t all = (std::uint64_t{1} << weft::worker_count()) - 1;

  void run(weft::detail::loop_body body) {
    weft::detail::loop_request request;
    request.size = 4096;
    request.body = body;
    request.context = this;
    request.participate = [](void *p, weft::detail::loop_blocks &blocks) {
      for (std::uint64_t first = 0, count = 0; blocks.next(first, count);)
        static_cast<loop_of_all_workers *>(p)->block(count);
    };
    weft::detail::run_loop(request);
  }
  void block(std::uint64_t count) {
    using clock = std::chrono::steady_clock;
    seen |= std::uint64_t{1} << weft::worker_id();
    for (auto until = clock::now() + count * std::chrono::microseconds(5); clock::now() < until;) {
    }
    const auto limit = clock::now() + std::chrono::seconds(60);
    const bool is_late = begun.fetch_add(count) >= 64;
    while (is_late && seen != all && clock::now() < limit)
      std::this_thread::yield();
    EXPECT_TRUE(!is_late || seen == all) << "a worker did not come";
  }
};

TEST(loop_times, a_late_helper_counts_as_a_slow_one) {
  using namespace weft::detail;
  EXPECT_EQ(wake_after(5000, 13'000), 6000);
  EXPECT_EQ(wake_after(10'000, 1e12), 15'000);
  EXPECT_EQ(wake_after(k_most_wake_ns, 1e12), k_most_wake_ns);
  EXPECT_EQ(wake_after(k_least_wake_ns, 0), k_least_wake_ns);
}

TEST(loop_times, a_wake_up_is_forgotten_while_it_keeps_loops_serial) {
  using namespace weft::detail;
  EXPECT_TRUE(is_left_for_wake(k_least_shared_ns, k_most_wake_ns));
  EXPECT_FALSE(is_left_for_wake(k_least_shared_ns - 1, k_most_wake_ns)) << "too short in any case";
  EXPECT_FALSE(is_left_for_wake(2 * k_most_wake_ns, k_most_wake_ns)) << "it is shared";
  double wake = k_most_wake_ns;
  int loops = 0;
  for (; is_left_for_wake(k_least_shared_ns, wake); ++loops)
    wake = forget_wake(wake);
  EXPECT_GT(loops, 500) << "slowly, because a wake-up may take so long";
  EXPECT_LT(loops, 700);
  EXPECT_EQ(forget_wake(k_least_wake_ns), k_least_wake_ns);
}

TEST(loop_times, a_worker_that_searches_for_work_need_not_be_woken) {
  const auto end = test::in_process(
      {{"WEFT_WORKERS", "2"}, {"WEFT_SCHED_POLICY", "stealing"}, {"WEFT_WAIT_POLICY", "help"}}, [] {
        weft::start();
        weft::detail::loop_site site;
        weft::detail::loop_request request;
        request.size = 1000;
        request.site = &site;
        request.participate = [](void *, weft::detail::loop_blocks &blocks) {
          for (std::uint64_t first = 0, count = 0; blocks.next(first, count);) {
          }
        };
        const auto is_shared = [&] {
          site.ns = 30.0F; // 30 us are more than a loop needs, and less than two such wake-ups
          weft::detail::g_wake_ups.ns = static_cast<float>(weft::detail::k_most_wake_ns);
          return weft::detail::run_alone(request) == 0;
        };
        wait_until_the_others_sleep();
        EXPECT_FALSE(is_shared());
        bool shared = false;
        for (int i = 0; i != 100'000 && !shared; ++i) {
          weft::spawn([] {}); // wakes the other worker, which then searches for a while
          weft::taskwait();
          shared = is_shared();
        }
        EXPECT_TRUE(shared);
      });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(loop_times, a_loop_measures_the_wake_up_of_the_worker_that_its_caller_wakes) {
  const auto end = test::in_process({{"WEFT_WORKERS", "4"}}, [] {
    weft::start();
    const std::uint64_t first = wake_ups_seen();
    for (int i = 0; i < 20; ++i) {
      wait_until_the_others_sleep();
      const std::uint64_t before = wake_ups_seen();
      loop_of_all_workers().run(weft::detail::loop_body::computes);
      EXPECT_LE(wake_ups_seen() - before, 1u) << "the others were woken by helpers";
    }
    EXPECT_GE(wake_ups_seen() - first, 1u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(loop_times, a_loop_of_a_task_measures_it_too) {
  // A thread that sleeps at its taskwait comes to no loop.
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WAIT_POLICY", "help"}}, [] {
    weft::start();
    std::uint64_t measured = 0;
    for (int i = 0; i < 20; ++i) {
      weft::spawn([&measured] {
        wait_until_the_others_sleep();
        const std::uint64_t before = wake_ups_seen();
        loop_of_all_workers().run(weft::detail::loop_body::may_wait);
        measured += wake_ups_seen() - before;
      });
      weft::taskwait();
    }
    EXPECT_GE(measured, 1u);
    EXPECT_LE(measured, 20u) << "one in each call";
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(loop_times, a_loop_that_wakes_nobody_measures_nothing) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] {
    weft::start();
    std::atomic<bool> over{false};
    weft::spawn([&over] { // the other worker is busy, or this one runs it below
      while (!over)
        std::this_thread::yield();
    });
    while (weft::rt::the_runtime().idle.announced(1) || weft::rt::the_runtime().idle.searching())
      std::this_thread::yield();
    const std::uint64_t before = wake_ups_seen();
    std::vector<int> x(100'000, 1);
    weft::for_each(weft::execution::par, x.begin(), x.end(), [](int &v) { v += 1; });
    over = true;
    weft::taskwait();
    EXPECT_EQ(wake_ups_seen() - before, 0u);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(loop_times, a_look_at_the_clock_is_no_part_of_a_block) {
  using weft::detail::without_look;
  EXPECT_EQ(without_look(1000, 30), 970u);
  EXPECT_EQ(without_look(60, 30), 30u);
  EXPECT_EQ(without_look(50, 30), 25u) << "half of it stays";
  EXPECT_EQ(without_look(1, 30), 1u);
  EXPECT_EQ(without_look(0, 30), 0u);
  EXPECT_EQ(without_look(1000, UINT64_MAX), 500u) << "a look that was preempted";
}

/// Is a loop that ends at `ends`, seen by a helper whose pauses take 10 ns.
struct loop_of_another {
  std::uint64_t ends, caller_waits_from = UINT64_MAX;
  std::uint64_t tick = 10; // 0: the clock stands still, and with it the caller
  std::uint64_t now = 100;
  int looks = 0, clocks = 0;

  bool goes_on(std::uint64_t until) {
    return weft::detail::goes_on(
        until, [this] { return ++looks, now >= ends; }, [this] { return now >= caller_waits_from; },
        [this] { return ++clocks, now; }, [this] { now += tick; });
  }
};

TEST(loop_times, a_loop_that_is_over_needs_no_helper) {
  loop_of_another over{.ends = 100};
  EXPECT_FALSE(over.goes_on(0));
  EXPECT_FALSE(over.goes_on(500));
  EXPECT_EQ(over.clocks, 0);
}

TEST(loop_times, a_loop_that_is_shared_gets_its_helper_at_once) {
  loop_of_another shared{.ends = 10'000};
  EXPECT_TRUE(shared.goes_on(0));
  EXPECT_EQ(shared.looks, 1);
  EXPECT_EQ(shared.clocks, 0);
  EXPECT_EQ(shared.now, 100u);
}

TEST(loop_times, a_helper_waits_for_the_end_that_was_predicted) {
  loop_of_another early{.ends = 300};
  EXPECT_FALSE(early.goes_on(500)) << "it ends before";
  EXPECT_EQ(early.now, 300u);
  loop_of_another late{.ends = 10'000};
  EXPECT_TRUE(late.goes_on(500));
  EXPECT_EQ(late.now, 500u) << "not before, and not later";
  loop_of_another past{.ends = 10'000};
  EXPECT_TRUE(past.goes_on(100)) << "the time is over already";
  EXPECT_EQ(past.now, 100u);
}

TEST(loop_times, a_caller_that_waits_gets_its_helper_at_once) {
  loop_of_another waits{.ends = 10'000, .caller_waits_from = 0};
  EXPECT_TRUE(waits.goes_on(5000));
  EXPECT_EQ(waits.now, 100u);
  loop_of_another later{.ends = 10'000, .caller_waits_from = 200};
  EXPECT_TRUE(later.goes_on(5000));
  EXPECT_EQ(later.now, 200u);
}

TEST(loop_times, a_clock_that_jumps_or_stands_still_holds_no_helper_for_ever) {
  loop_of_another still{.ends = 10'000, .tick = 0};
  EXPECT_TRUE(still.goes_on(5000));
  EXPECT_EQ(still.looks, weft::detail::k_most_looks + 1);
  loop_of_another jumps{.ends = UINT64_MAX, .tick = std::uint64_t{3600} * 1'000'000'000};
  EXPECT_TRUE(jumps.goes_on(5000));
  EXPECT_EQ(jumps.looks, 2);
}

TEST(loop_times, a_loop_that_gets_longer_asks_for_more_participants) {
  const auto end = test::in_process({{"WEFT_WORKERS", "8"}}, [] {
    // The site knows short iterations, of which 20,000 are worth three or four participants. In every
    // seventh call those of the last quarter take long until six workers have come. Where workers wake
    // late, a call is left to its caller from its begin on, so a later one has to show it.
    std::atomic<unsigned> seen{0};
    bool gets_longer = false;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::vector<int> items(20'000);
    std::iota(items.begin(), items.end(), 0);
    for (int call = 1; std::popcount(seen.load()) < 6 && std::chrono::steady_clock::now() < until;
         ++call) {
      gets_longer = call % 7 == 0;
      seen = 0;
      weft::for_each(weft::execution::par, items.begin(), items.end(), [&](int i) {
        if (!gets_longer || i < 15'000)
          return;
        seen |= 1u << weft::worker_id();
        const auto begin = std::chrono::steady_clock::now();
        while (std::popcount(seen.load()) < 6 && std::chrono::steady_clock::now() < until &&
               std::chrono::steady_clock::now() - begin < std::chrono::microseconds(200)) {
        }
      });
    }
    EXPECT_GE(std::popcount(seen.load()), 6);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
