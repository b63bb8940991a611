// SPDX-License-Identifier: Apache-2.0
// block and unblock, timed waits, sleep_for.
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

TEST(block, unblock_lets_a_blocked_task_go_on) {
  std::atomic<weft::detail::task *> who{nullptr};
  bool after = false;
  weft::spawn([&] {
    who = weft::this_task::self().get();
    weft::this_task::block();
    after = true;
  });
  ASSERT_TRUE(test::eventually([&] { return who != nullptr; }));
  test::dawdle();
  weft::unblock(weft::task_ref(who));
  weft::taskwait();
  EXPECT_TRUE(after);
}

TEST(block, an_unblock_may_come_before_its_block) {
  bool after = false;
  weft::spawn([&] {
    weft::unblock(weft::this_task::self());
    weft::this_task::block();
    after = true;
  });
  weft::taskwait();
  EXPECT_TRUE(after);
}

TEST(block, a_second_unblock_before_the_block_is_an_error) {
  weft::errc code{};
  weft::spawn([&] {
    weft::task_ref me = weft::this_task::self();
    weft::unblock(me);
    try {
      weft::unblock(me);
    } catch (const weft::error &e) {
      code = e.code();
    }
    weft::this_task::block(); // the first unblock still counts
  });
  weft::taskwait();
  EXPECT_EQ(code, weft::errc::no_block);
}

TEST(block, a_std_thread_may_unblock) {
  std::atomic<int> rounds{0};
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t) {
    auto box = std::make_shared<std::atomic<weft::detail::task *>>(nullptr);
    const int n = test::scaled(200, 20);
    weft::spawn([box, &rounds] {
      for (int i = 0; i != n; ++i) {
        box->store(weft::this_task::self().get());
        weft::this_task::block();
        ++rounds;
      }
    });
    threads.emplace_back([box] {
      for (int i = 0; i != n; ++i) {
        weft::detail::task *task;
        while (!(task = box->exchange(nullptr)))
          std::this_thread::yield();
        weft::unblock(weft::task_ref(task));
      }
    });
  }
  weft::taskwait();
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(rounds, 4 * test::scaled(200, 20));
}

TEST(block, two_tasks_may_play_ping_pong) {
  weft::task_ref refs[2];
  std::atomic<int> ready{0};
  int count = 0;
  const int n = test::scaled(1000, 50);
  for (int me = 0; me != 2; ++me)
    weft::spawn([&, me] {
      refs[me] = weft::this_task::self();
      ++ready;
      if (!test::eventually([&] { return ready == 2; }))
        return;
      for (int i = 0; i != n; ++i) {
        if (me == 1 || i > 0)
          weft::this_task::block();
        ++count; // only one of the two is not blocked
        if (me == 0 || i < n - 1)
          weft::unblock(refs[1 - me]);
      }
    });
  weft::taskwait();
  EXPECT_EQ(count, 2 * n);
}

TEST(block, the_worker_goes_on_with_other_work) {
  weft::task_ref blocked;
  test::gate gate;
  int others = 0;
  bool after = false;
  weft::spawn([&] {
    blocked = weft::this_task::self();
    gate.open();
    weft::this_task::block();
    after = true;
  });
  EXPECT_TRUE(gate.pass());
  int x = 0;
  for (int i = 0; i != 20; ++i)
    weft::spawn([&] { ++others; }, weft::inout(x));
  weft::taskwait(weft::inout(x)); // with one worker too
  EXPECT_EQ(others, 20);
  EXPECT_FALSE(after);
  weft::unblock(blocked);
  weft::taskwait();
  EXPECT_TRUE(after);
}

TEST(block, the_main_task_and_an_external_thread_may_block_too) {
  weft::task_ref main = weft::this_task::self();
  EXPECT_TRUE(main);
  EXPECT_EQ(main, weft::this_task::self());
  weft::spawn([main] { test::dawdle(), weft::unblock(main); });
  weft::this_task::block();
  weft::taskwait();
  bool after = false;
  std::thread([&] {
    weft::task_ref me = weft::this_task::self();
    EXPECT_NE(me, main);
    weft::spawn([me] { test::dawdle(), weft::unblock(me); });
    weft::this_task::block();
    weft::taskwait();
    after = true;
  }).join();
  EXPECT_TRUE(after);
}

TEST(block, many_blocked_tasks_hold_no_worker) {
  const int n = test::scaled(2000, 100);
  std::vector<weft::task_ref> refs(static_cast<std::size_t>(n));
  std::atomic<int> blocked{0}, resumed{0};
  for (auto &r : refs)
    weft::spawn([&] {
      r = weft::this_task::self();
      ++blocked;
      weft::this_task::block();
      ++resumed;
    });
  ASSERT_TRUE(test::eventually([&] { return blocked == n; }));
  for (auto r : refs)
    weft::unblock(r);
  weft::taskwait();
  EXPECT_EQ(resumed, n);
}

TEST(block, block_for_returns_false_when_the_time_is_over) {
  bool unblocked = true;
  weft::spawn([&] { unblocked = weft::this_task::block_for(2ms); });
  weft::taskwait();
  EXPECT_FALSE(unblocked);
}

TEST(block, block_for_returns_true_when_unblocked) {
  bool before = false, during = false;
  weft::spawn([&] {
    weft::unblock(weft::this_task::self());
    before = weft::this_task::block_for(1min);
    weft::spawn([me = weft::this_task::self()] { test::dawdle(), weft::unblock(me); });
    during = weft::this_task::block_for(1min);
  });
  weft::taskwait();
  EXPECT_TRUE(before);
  EXPECT_TRUE(during);
}

TEST(block, block_for_no_time_at_all_does_not_wait_for_an_unblock) {
  bool first = true, second = true, third = false;
  weft::spawn([&] {
    first = weft::this_task::block_for(0ns);
    second = weft::this_task::block_for(-1s);
    weft::unblock(weft::this_task::self());
    third = weft::this_task::block_for(1min);
  });
  weft::taskwait();
  EXPECT_FALSE(first);
  EXPECT_FALSE(second);
  EXPECT_TRUE(third);
}

TEST(block, block_for_the_longest_of_all_times_waits_for_an_unblock) {
  const auto wait = [](auto longest) {
    std::atomic<weft::detail::task *> who{nullptr};
    bool unblocked = false;
    weft::spawn([&] {
      who = weft::this_task::self().get();
      unblocked = weft::this_task::block_for(longest);
    });
    EXPECT_TRUE(test::eventually([&] { return who != nullptr; }));
    test::dawdle();
    weft::unblock(weft::task_ref(who));
    weft::taskwait();
    EXPECT_TRUE(unblocked);
  };
  wait(std::chrono::nanoseconds::max());
  wait(std::chrono::hours::max());
  wait(std::chrono::duration<double>(1e300));
}

TEST(block, block_for_the_shortest_of_all_times_returns) {
  EXPECT_FALSE(weft::this_task::block_for(std::chrono::nanoseconds::min()));
  EXPECT_FALSE(weft::this_task::block_for(std::chrono::hours::min()));
  weft::this_task::sleep_for(std::chrono::hours::min());
  EXPECT_FALSE(weft::this_task::block_for(std::chrono::duration<double>(1e-300)))
      << "rounded up to one nanosecond";
}

TEST(block, an_unblock_that_races_with_the_timeout_is_never_lost) {
  // Each round: one unblock, one timed block. When the time wins, the unblock counts for a plain block.
  std::atomic<weft::detail::task *> box{nullptr};
  const int n = test::scaled(300, 30);
  int timeouts = 0, rounds = 0;
  weft::spawn([&] {
    for (int i = 0; i != n; ++i) {
      box = weft::this_task::self().get();
      if (!weft::this_task::block_for(std::chrono::microseconds(60))) {
        ++timeouts;
        weft::this_task::block();
      }
      ++rounds;
    }
  });
  std::thread waker([&] {
    for (int i = 0; i != n; ++i) {
      weft::detail::task *task;
      while (!(task = box.exchange(nullptr)))
        std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(i % 5 * 15));
      weft::unblock(weft::task_ref(task));
    }
  });
  weft::taskwait();
  waker.join();
  EXPECT_EQ(rounds, n);
  std::printf("%d of %d timed blocks ran out\n", timeouts, n);
}

TEST(block, an_empty_reference_is_false) {
  weft::task_ref none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none, weft::task_ref());
}

TEST(sleep, lasts_at_least_as_long_as_asked) {
  std::atomic<int> early{0};
  for (int i = 0; i != 20; ++i)
    weft::spawn([&early, i] {
      auto d = std::chrono::microseconds(100 * i);
      auto start = std::chrono::steady_clock::now();
      weft::this_task::sleep_for(d);
      early += std::chrono::steady_clock::now() - start < d; // the promise is about the clock
    });
  weft::taskwait();
  EXPECT_EQ(early, 0);
}

TEST(sleep, of_zero_or_less_returns) {
  weft::this_task::sleep_for(0s);
  weft::this_task::sleep_for(-1s);
  bool after = false;
  weft::spawn([&] { weft::this_task::sleep_for_ns(0), after = true; });
  weft::taskwait();
  EXPECT_TRUE(after);
}

TEST(sleep, until_a_point_in_time_passes_it) {
  auto when = std::chrono::steady_clock::now() + 2ms;
  weft::this_task::sleep_until(when);
  EXPECT_GE(std::chrono::steady_clock::now(), when);
}

TEST(sleep, a_thousand_sleepers_hold_no_worker) {
  const int n = test::scaled(1000, 50);
  std::atomic<int> asleep{0}, most{0}, awake{0};
  for (int i = 0; i != n; ++i)
    weft::spawn([&] {
      const int now = ++asleep;
      for (int m = most; m < now && !most.compare_exchange_weak(m, now);) {
      }
      weft::this_task::sleep_for(1ms);
      // On a full machine each could have slept before the next one begins.
      awake += test::eventually([&] { return most > weft::worker_count(); });
      --asleep;
    });
  weft::taskwait();
  EXPECT_EQ(awake, n);
  EXPECT_GT(most, weft::worker_count()) << "more tasks slept at once than there are workers";
}

} // namespace
