// SPDX-License-Identifier: Apache-2.0
#include "park/eventcount.hpp"
#include "support/death_test.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;

std::int64_t in_ms(int ms) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now + std::chrono::milliseconds(ms))
      .count();
}

TEST(Eventcount, WakesNobodyWhenNobodySleeps) {
  eventcount<> idle(4);
  EXPECT_FALSE(idle.notify_one());
  EXPECT_FALSE(idle.notify_worker(3));
  EXPECT_EQ(idle.notify_all(), 0u);
  EXPECT_EQ(idle.idle(), 0u);
}

TEST(Eventcount, CancelTellsWhetherOneWasChosen) {
  eventcount<> idle(4);
  idle.prepare(2);
  EXPECT_EQ(idle.idle(), 1u);
  EXPECT_FALSE(idle.cancel(2));
  EXPECT_EQ(idle.idle(), 0u);
  idle.prepare(2);
  EXPECT_TRUE(idle.notify_one());
  EXPECT_FALSE(idle.notify_one()); // already chosen
  EXPECT_TRUE(idle.cancel(2));
  idle.found(2);
  EXPECT_FALSE(idle.notify_one());
  EXPECT_EQ(idle.searching(), 0u);
}

TEST(Eventcount, CountsSleepersBesideOne) {
  eventcount<> idle(130);
  EXPECT_EQ(idle.sleepers_beside(129), 0u);
  idle.prepare(129);
  EXPECT_EQ(idle.sleepers_beside(129), 0u);
  EXPECT_EQ(idle.sleepers_beside(65), 1u) << "another one of another group";
  idle.prepare(1);
  idle.prepare(65);
  EXPECT_EQ(idle.sleepers_beside(129), 2u);
  EXPECT_EQ(idle.sleepers_beside(0), 3u);
  idle.cancel(1);
  EXPECT_EQ(idle.sleepers_beside(129), 1u);
  idle.cancel(65);
  idle.cancel(129);
  EXPECT_EQ(idle.sleepers_beside(0), 0u);
}

TEST(Eventcount, WakesOneAtATimeHoweverMuchIsPushed) {
  eventcount<> idle(8);
  for (std::size_t id = 0; id < 8; ++id)
    idle.prepare(id);
  int woken = 0;
  for (int i = 0; i < 1000; ++i)
    woken += idle.notify_one();
  EXPECT_EQ(woken, 1);
  for (std::size_t id = 0; id < 8; ++id) { // each relays to the next
    EXPECT_EQ(idle.idle(), 7 - id);
    EXPECT_TRUE(idle.commit(id));
    EXPECT_FALSE(idle.notify_one());
    idle.found(id);
  }
  EXPECT_EQ(idle.searching(), 0u);
}

TEST(Eventcount, WakesNobodyWhileAnAwakeWorkerSearches) {
  eventcount<> idle(3);
  idle.prepare(0);
  ASSERT_TRUE(idle.begin_search(1, 2));
  ASSERT_TRUE(idle.begin_search(2, 2));
  EXPECT_FALSE(idle.notify_one());
  idle.found(1); // worker 2 still searches
  EXPECT_EQ(idle.idle(), 1u);
  idle.end_search(2);
  EXPECT_EQ(idle.idle(), 1u); // the searcher will look again before it sleeps
  EXPECT_TRUE(idle.notify_one());
  EXPECT_TRUE(idle.cancel(0));
  idle.end_search(0);
  EXPECT_EQ(idle.searching(), 0u);
}

TEST(Eventcount, LimitsHowManySearchAndCountsEachOnce) {
  eventcount<> idle(3);
  EXPECT_TRUE(idle.begin_search(0, 1));
  EXPECT_TRUE(idle.begin_search(0, 1));
  EXPECT_FALSE(idle.begin_search(1, 1));
  EXPECT_EQ(idle.searching(), 1u);
  idle.found(1); // does not search: nothing happens
  EXPECT_EQ(idle.searching(), 1u);
  idle.prepare(0);
  EXPECT_EQ(idle.searching(), 0u);
  EXPECT_TRUE(idle.begin_search(1, 1));
  idle.found(1); // the last: wakes worker 0
  EXPECT_TRUE(idle.cancel(0));
  EXPECT_EQ(idle.searching(), 1u);
}

TEST(Eventcount, ANotificationBetweenPrepareAndCommitEndsTheSleepAtOnce) {
  eventcount<> idle(1);
  idle.prepare(0);
  EXPECT_TRUE(idle.notify_worker(0));
  EXPECT_TRUE(idle.commit(0));
  EXPECT_EQ(idle.idle(), 0u);
}

TEST(Eventcount, ADeadlineEndsTheSleep) {
  eventcount<> idle(1);
  idle.prepare(0);
  EXPECT_FALSE(idle.commit(0, in_ms(5)));
  EXPECT_EQ(idle.idle(), 0u);
  EXPECT_FALSE(idle.notify_one());
}

TEST(Eventcount, KeepsTheHighestIdsApart) {
  eventcount<> idle(1088);
  for (std::size_t id : {0u, 63u, 64u, 1087u})
    idle.prepare(id);
  EXPECT_EQ(idle.idle(), 4u);
  EXPECT_TRUE(idle.notify_worker(64));
  EXPECT_FALSE(idle.notify_worker(64));
  EXPECT_FALSE(idle.notify_worker(65));
  EXPECT_TRUE(idle.commit(64));
  EXPECT_EQ(idle.notify_all(), 3u);
  for (std::size_t id : {0u, 63u, 1087u})
    EXPECT_TRUE(idle.commit(id));
}

TEST(Eventcount, WakesTwoSleepersAtOnce) {
  eventcount<> idle(2);
  std::vector<std::thread> sleepers;
  for (std::size_t id : {0u, 1u})
    sleepers.emplace_back([&idle, id] {
      idle.prepare(id);
      EXPECT_TRUE(idle.commit(id));
    });
  while (idle.idle() < 2)
    std::this_thread::yield();
  EXPECT_EQ(idle.notify_all(), 2u);
  for (auto &s : sleepers)
    s.join();
}

/// Workers sleep whenever there is nothing to take; if a wake-up were lost, the test would hang.
TEST(Eventcount, LosesNoWakeUpUnderLoad) {
  constexpr int units = test::scaled(20'000);
  constexpr int workers = 3;
  eventcount<> idle(workers);
  std::atomic<int> work{0}, done{0};
  const auto take = [&] {
    int n = work.load(std::memory_order_relaxed);
    while (n > 0)
      if (work.compare_exchange_weak(n, n - 1, std::memory_order_relaxed))
        return true;
    return false;
  };
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < workers; ++id)
    threads.emplace_back([&, id] {
      while (done.load(std::memory_order_relaxed) < units) {
        if (take()) {
          idle.found(id);
          if (done.fetch_add(1, std::memory_order_relaxed) + 1 == units)
            idle.notify_all();
          continue;
        }
        idle.prepare(id);
        if (work.load(std::memory_order_relaxed) > 0 ||
            done.load(std::memory_order_relaxed) == units) {
          if (!idle.cancel(id))
            idle.notify_one();
        } else {
          idle.commit(id);
        }
      }
    });
  for (int i = 0; i < units; ++i) {
    work.fetch_add(1, std::memory_order_relaxed);
    idle.notify_one();
  }
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(done.load(), units);
  EXPECT_EQ(work.load(), 0);
  EXPECT_EQ(idle.idle(), 0u);
}

TEST(EventcountDeath, RefusesAnIdBeyondItsLimit) {
  test::use_a_process_for_each_death();
  eventcount<> idle(2);
  EXPECT_DEATH(idle.prepare(2), "eventcount: id 2 is outside 0..1");
}

} // namespace
