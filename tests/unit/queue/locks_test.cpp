// SPDX-License-Identifier: Apache-2.0
#include "queue/delegation_lock.hpp"
#include "queue/spin_lock.hpp"
#include "queue/ticket_lock.hpp"
#include "support/death_test.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;

/// Runs body(thread) on `count` threads.
template <class F>
void on_threads(int count, F body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&body, t] { body(t); });
  for (auto &t : threads)
    t.join();
}

template <class Lock>
long count_under(Lock &lock, int threads, int rounds) {
  long count = 0;
  on_threads(threads, [&](int) {
    for (int i = 0; i < rounds; ++i) {
      lock.lock();
      ++count;
      lock.unlock();
    }
  });
  return count;
}

TEST(TicketLock, IsTakenOnceAtATime) {
  for (std::size_t slots : {0u, 1u, 2u, 3u, 64u}) {
    ticket_lock<> lock(slots);
    for (int round = 0; round < 200; ++round) { // round the slots more than once
      lock.lock();
      EXPECT_FALSE(lock.try_lock());
      lock.unlock();
      EXPECT_TRUE(lock.try_lock());
      EXPECT_FALSE(lock.try_lock());
      lock.unlock();
    }
  }
}

TEST(TicketLock, ExcludesMoreThreadsThanCpusAndSlots) {
  constexpr int rounds = test::scaled(4'000);
  for (std::size_t slots : {1u, 2u, 64u}) {
    ticket_lock<> lock(slots);
    EXPECT_EQ(count_under(lock, 8, rounds), 8L * rounds);
  }
}

TEST(TicketLock, TryLockExcludesToo) {
  constexpr int rounds = test::scaled(20'000);
  ticket_lock<> lock(2);
  long count = 0;
  std::atomic<long> successes{0};
  on_threads(3, [&](int t) {
    for (int i = 0; i < rounds; ++i) {
      if (t == 0)
        lock.lock();
      else if (!lock.try_lock())
        continue;
      ++count;
      lock.unlock();
      successes.fetch_add(1, std::memory_order_relaxed);
    }
  });
  EXPECT_EQ(count, successes.load());
  EXPECT_TRUE(lock.try_lock());
}

TEST(SpinLock, Excludes) {
  constexpr int rounds = test::scaled(50'000);
  spin_lock<> lock;
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_EQ(count_under(lock, 4, rounds), 4L * rounds);
}

TEST(DelegationLock, WithoutWaitersIsALock) {
  delegation_lock<int> lock(3);
  EXPECT_EQ(lock.size(), 3u);
  for (int round = 0; round < 20; ++round) {
    int item = -1;
    EXPECT_EQ(lock.lock_or_delegate(2, item), delegation::owner);
    EXPECT_EQ(item, -1);
    delegation_lock<int>::run waiters;
    EXPECT_FALSE(lock.take_waiters(waiters));
    EXPECT_FALSE(lock.try_lock());
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
  }
}

TEST(DelegationLock, HandsTheWaiterItsResultAndKeepsTheLock) {
  delegation_lock<int> lock(2);
  int item = 0;
  ASSERT_EQ(lock.lock_or_delegate(0, item), delegation::owner);
  int received = 0;
  delegation how = delegation::owner;
  std::thread waiter([&] { how = lock.lock_or_delegate(1, received); });
  delegation_lock<int>::run waiters;
  while (!lock.take_waiters(waiters))
    std::this_thread::yield();
  ASSERT_EQ(waiters.size(), 1u);
  EXPECT_EQ(waiters.id(0), 1u);
  lock.set_item(waiters, 0, 42);
  lock.dismiss(waiters);
  EXPECT_FALSE(lock.take_waiters(waiters));
  EXPECT_FALSE(lock.try_lock());
  lock.unlock(waiters);
  waiter.join();
  EXPECT_EQ(how, delegation::delegated);
  EXPECT_EQ(received, 42);
  EXPECT_TRUE(lock.try_lock());
}

TEST(DelegationLock, GivesTheLockToAWaiterThatIsNotServed) {
  delegation_lock<int> lock(2);
  int item = 0;
  ASSERT_EQ(lock.lock_or_delegate(0, item), delegation::owner);
  delegation how = delegation::delegated;
  std::thread waiter([&] {
    int mine = 0;
    how = lock.lock_or_delegate(1, mine);
    lock.unlock();
  });
  delegation_lock<int>::run waiters;
  while (!lock.take_waiters(waiters))
    std::this_thread::yield();
  lock.unlock();
  waiter.join();
  EXPECT_EQ(how, delegation::owner);
}

/// Lets as many threads as there are ids wait, until a run has `expected` of them; then `owner` goes
/// on. Returns the ids of the run, and what each thread has got: -1 for the lock.
struct run_of_waiters {
  std::vector<std::size_t> ids;
  std::vector<int> got;
};
template <class F>
run_of_waiters with_waiters(std::size_t ids, std::size_t expected, F owner) {
  delegation_lock<int> lock(ids);
  lock.lock();
  run_of_waiters all{{}, std::vector<int>(ids)};
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < ids; ++id)
    threads.emplace_back([&, id] {
      if (lock.lock_or_delegate(id, all.got[id]) == delegation::delegated)
        return;
      all.got[id] = -1;
      lock.unlock();
    });
  delegation_lock<int>::run waiters;
  while (!lock.take_waiters(waiters) || waiters.size() != expected) // a look: none is let go
    std::this_thread::yield();
  for (std::size_t i = 0; i != waiters.size(); ++i)
    all.ids.push_back(waiters.id(i));
  owner(lock, waiters);
  for (std::thread &t : threads)
    t.join();
  return all;
}

TEST(DelegationLock, ServesWaitersInOneRun) {
  const run_of_waiters all = with_waiters(5, 5, [](auto &lock, auto &waiters) {
    for (std::size_t i = 0; i != waiters.size(); ++i)
      lock.set_item(waiters, i, 100 + static_cast<int>(waiters.id(i)));
    lock.dismiss(waiters);
    EXPECT_EQ(waiters.size(), 0u);
    lock.unlock(waiters);
  });
  EXPECT_EQ(std::set<std::size_t>(all.ids.begin(), all.ids.end()).size(), 5u);
  EXPECT_EQ(all.got, (std::vector<int>{100, 101, 102, 103, 104}));
}

TEST(DelegationLock, BoundsARun) {
  constexpr std::size_t most = delegation_lock<int>::k_run;
  const run_of_waiters all =
      with_waiters(most + 2, most, [](auto &lock, auto &) { lock.unlock(); });
  EXPECT_EQ(all.got, std::vector<int>(most + 2, -1));
}

/// Lets all threads draw numbers from a plain counter; owners draw for the waiters. Threads beyond
/// `ids` only lock.
void draw_numbers(int threads, int ids, int rounds) {
  delegation_lock<int> lock(static_cast<std::size_t>(ids));
  int next = 0;
  std::vector<std::vector<int>> drawn(static_cast<std::size_t>(threads));
  on_threads(threads, [&](int t) {
    for (int i = 0; i < rounds; ++i) {
      int n = -1;
      if (t >= ids)
        lock.lock();
      if (t >= ids || lock.lock_or_delegate(static_cast<std::size_t>(t), n) == delegation::owner) {
        delegation_lock<int>::run waiters;
        while (lock.take_waiters(waiters)) {
          for (std::size_t k = 0; k != waiters.size(); ++k)
            lock.set_item(waiters, k, next++);
          lock.dismiss(waiters);
        }
        n = next++;
        lock.unlock(waiters);
      }
      drawn[static_cast<std::size_t>(t)].push_back(n);
    }
  });
  std::vector<int> times(static_cast<std::size_t>(threads * rounds));
  for (const auto &mine : drawn)
    for (int n : mine)
      ++times.at(static_cast<std::size_t>(n));
  for (int n : times)
    EXPECT_EQ(n, 1);
}

TEST(DelegationLock, ServesOrAdmitsEveryCallOnce) { draw_numbers(4, 4, test::scaled(5'000)); }
TEST(DelegationLock, BearsMoreThreadsThanIds) { draw_numbers(8, 2, test::scaled(2'000)); }

TEST(DelegationLockDeath, RefusesAnIdBeyondItsSize) {
  test::use_a_process_for_each_death();
  delegation_lock<int> lock(2);
  int item = 0;
  EXPECT_DEATH((void)lock.lock_or_delegate(2, item), "delegation_lock: id 2 is outside 0..1");
}

} // namespace
