// SPDX-License-Identifier: Apache-2.0
// The synchronization objects of weft/sync.hpp, between tasks and threads.
#include "support/gate.hpp"
#include "support/refusal.hpp"
#include "support/scale.hpp"
#include "support/scripted_clock.hpp"

#include <weft/future.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <climits>
#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <set>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// Waits, as a task does that has other work, until `condition` holds.
template <class Condition>
void until(Condition condition) {
  while (!condition())
    weft::taskyield();
}

/// Runs `f` in as many tasks and two threads.
template <class F>
void in_tasks_and_threads(int tasks, F f) {
  std::vector<std::jthread> threads;
  for (int t = 0; t != 2; ++t)
    threads.emplace_back(f);
  for (int t = 0; t != tasks; ++t)
    weft::spawn(f);
  weft::taskwait();
}

template <class F>
void expect_refused(F f, const char *part) {
  try {
    f();
    ADD_FAILURE() << "was not refused: " << part;
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::invalid_argument);
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

// ---- semaphores

TEST(semaphore, lets_as_many_in_as_it_has_units) {
  weft::counting_semaphore<3> s(3);
  std::atomic<int> inside{0}, most{0}, rounds{0};
  const int n = test::scaled(300, 30);
  in_tasks_and_threads(20, [&] {
    for (int i = 0; i != n; ++i) {
      s.acquire();
      const int now = ++inside;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      if (i % 16 == 0)
        weft::taskyield();
      --inside;
      ++rounds;
      s.release();
    }
  });
  EXPECT_LE(most, 3);
  EXPECT_EQ(rounds, 22 * n);
  EXPECT_TRUE(s.try_acquire());
  EXPECT_TRUE(s.try_acquire());
  EXPECT_TRUE(s.try_acquire());
  EXPECT_FALSE(s.try_acquire());
}

TEST(semaphore, release_lets_waiters_go_on_and_keeps_the_rest) {
  weft::counting_semaphore<> s(0);
  std::atomic<int> in{0}, waiting{0};
  for (int t = 0; t != 4; ++t)
    weft::spawn([&] {
      ++waiting;
      s.acquire();
      ++in;
    });
  until([&] { return waiting == 4; });
  s.release(6);
  weft::taskwait();
  EXPECT_EQ(in, 4);
  EXPECT_TRUE(s.try_acquire());
  EXPECT_TRUE(s.try_acquire());
  EXPECT_FALSE(s.try_acquire());
  EXPECT_GE(s.max(), 1 << 30);
}

TEST(semaphore, refuses_counts_that_it_cannot_have) {
  constexpr std::ptrdiff_t most = weft::counting_semaphore<>::max();
  const std::string range = "; there may be 0 to " + std::to_string(most);
  EXPECT_EQ(test::refusal([] { weft::counting_semaphore<> s(-1); }),
            "the units that a weft::counting_semaphore begins with are -1" + range);
  EXPECT_NE(test::refusal([] { weft::counting_semaphore<> s(most + 1); }).find(range),
            std::string::npos);
  weft::counting_semaphore<> full(most);
  EXPECT_TRUE(full.try_acquire());
  weft::counting_semaphore<> s(1);
  EXPECT_EQ(test::refusal([&] { s.release(-1); }),
            "the units that are given to a weft::counting_semaphore are -1" + range);
  EXPECT_NE(test::refusal([&] { s.release(most + 1); }).find(range), std::string::npos);
  s.release(0);
  EXPECT_TRUE(s.try_acquire()); // the unit is there, and no other
  EXPECT_FALSE(s.try_acquire());
}

TEST(semaphore, refuses_units_beyond_the_largest_count) {
  constexpr std::ptrdiff_t most = weft::counting_semaphore<>::max();
  weft::counting_semaphore<> s(most);
  EXPECT_EQ(test::refusal([&] { s.release(); }),
            "a weft::counting_semaphore would have more than " + std::to_string(most) +
                " units if 1 were given to it");
  EXPECT_NE(test::refusal([&] { s.release(most); }), "");
  s.release(0);
  EXPECT_TRUE(s.try_acquire()) << "a refused release loses no unit";
  EXPECT_NE(test::refusal([&] { s.release(2); }), "");
  s.release(1);
  EXPECT_NE(test::refusal([&] { s.release(); }), "");
}

TEST(semaphore, counts_to_the_largest_count_beside_a_waiter) {
  constexpr std::ptrdiff_t most = weft::counting_semaphore<>::max();
  weft::counting_semaphore<> s(0);
  std::atomic<bool> waits{false};
  weft::spawn([&] {
    waits = true;
    s.acquire();
  });
  until([&] { return waits.load(); });
  s.release(most);
  weft::taskwait();
  s.release(); // in place of the waiter's
  EXPECT_NE(test::refusal([&] { s.release(); }), "");
  EXPECT_TRUE(s.try_acquire());
}

TEST(latch, refuses_to_begin_with_counts_that_it_cannot_have) {
  const std::string range = "; there may be 0 to " + std::to_string(weft::latch::max());
  EXPECT_EQ(test::refusal([] { weft::latch l(-1); }),
            "the counts that a weft::latch begins with are -1" + range);
  EXPECT_NE(test::refusal([] { weft::latch l(weft::latch::max() + 1); }).find(range),
            std::string::npos);
  weft::latch most(weft::latch::max());
  EXPECT_FALSE(most.try_wait());
}

TEST(semaphore, waits_no_longer_than_asked) {
  weft::binary_semaphore s(0);
  EXPECT_FALSE(s.try_acquire_for(1ms));
  EXPECT_FALSE(s.try_acquire_for(0s));
  EXPECT_FALSE(s.try_acquire_for(-1h));
  EXPECT_FALSE(s.try_acquire_until(std::chrono::system_clock::now() + 1ms));
  EXPECT_FALSE(s.try_acquire_until(std::chrono::steady_clock::now() - 1s));
  s.release();
  EXPECT_TRUE(s.try_acquire_for(std::chrono::hours::max()));
  EXPECT_FALSE(s.try_acquire()) << "a wait that timed out has left nothing behind";
  s.release();
  EXPECT_TRUE(s.try_acquire_until(std::chrono::steady_clock::now() + 24h));
}

TEST(semaphore, a_stop_request_ends_the_wait) {
  weft::binary_semaphore s(0);
  std::stop_source stop;
  std::atomic<int> stopped{0}, waiting{0};
  for (int t = 0; t != 3; ++t)
    weft::spawn([&] {
      ++waiting;
      stopped += !s.acquire(stop.get_token());
    });
  until([&] { return waiting == 3; });
  EXPECT_EQ(stopped, 0);
  stop.request_stop();
  weft::taskwait();
  EXPECT_EQ(stopped, 3);
  EXPECT_FALSE(s.acquire(stop.get_token())) << "a stop that was requested before";
  s.release();
  EXPECT_TRUE(s.acquire(stop.get_token())) << "a unit comes first";
  EXPECT_FALSE(s.try_acquire());
}

/// Has each unit taken once, although deadlines and stop requests race with releases.
TEST(semaphore, no_unit_is_lost_or_doubled_by_waits_that_end) {
  weft::counting_semaphore<> s(0);
  std::atomic<long> taken{0};
  const int n = test::scaled(400, 40);
  for (int t = 0; t != 6; ++t)
    weft::spawn([&, t] {
      for (int i = 0; i != n; ++i)
        if (t % 3 == 0) {
          taken += s.try_acquire_for(std::chrono::microseconds(i % 60));
        } else if (t % 3 == 1) {
          std::stop_source stop;
          weft::spawn([stop]() mutable { stop.request_stop(); });
          taken += s.acquire(stop.get_token());
          weft::taskwait();
        } else {
          s.release();
          if (i % 8 == 0)
            weft::taskyield();
        }
    });
  weft::taskwait();
  while (s.try_acquire())
    ++taken;
  EXPECT_EQ(taken, 2L * n);
}

TEST(semaphore, may_be_destroyed_by_the_task_that_it_lets_in) {
  const int n = test::scaled(2000, 100);
  for (int i = 0; i != n; ++i) {
    auto s = std::make_unique<weft::binary_semaphore>(0);
    weft::binary_semaphore &shared = *s;
    weft::spawn([&shared] { shared.release(); });
    s->acquire();
    s.reset();
  }
  weft::taskwait();
}

TEST(semaphore, is_refused_in_a_service_that_would_have_to_wait) {
  weft::binary_semaphore s(0);
  std::atomic<int> refused{0};
  auto waits = [&] {
    try {
      s.acquire();
    } catch (const weft::error &e) {
      refused += e.code() == weft::errc::no_block;
    }
  };
  weft::spawn([&] { EXPECT_EQ(refused, 1); }, weft::onready(waits));
  weft::taskwait();
  EXPECT_EQ(refused, 1);
  s.release();
  EXPECT_TRUE(s.try_acquire()) << "the refused wait is in no list";
}

// ---- latches

TEST(latch, lets_all_waiters_go_on_at_zero) {
  weft::latch l(5);
  std::atomic<int> gone{0}, waiting{0};
  for (int t = 0; t != 4; ++t)
    weft::spawn([&] {
      ++waiting;
      l.wait();
      ++gone;
    });
  std::jthread outside([&] {
    ++waiting;
    l.wait();
    ++gone;
  });
  until([&] { return waiting == 5; });
  l.count_down(2);
  EXPECT_FALSE(l.try_wait());
  l.count_down(0);
  l.count_down(2);
  EXPECT_FALSE(l.wait_for(1ms));
  EXPECT_EQ(gone, 0);
  l.arrive_and_wait();
  weft::taskwait();
  outside.join();
  EXPECT_EQ(gone, 5);
  EXPECT_TRUE(l.try_wait());
  EXPECT_TRUE(l.wait_for(0s));
  EXPECT_TRUE(l.wait_until(std::chrono::steady_clock::now()));
}

TEST(latch, a_stop_request_ends_the_wait) {
  weft::latch l(1);
  std::stop_source stop;
  weft::spawn([&] { stop.request_stop(); });
  EXPECT_FALSE(l.wait(stop.get_token()));
  l.count_down();
  EXPECT_TRUE(l.wait(stop.get_token()));
  weft::taskwait();
}

TEST(latch, refuses_more_counts_than_are_left) {
  weft::latch l(2);
  expect_refused([&] { l.count_down(3); }, "more than is left");
  expect_refused([&] { l.count_down(-1); }, "counts are 0 or more");
  l.count_down(2);
  expect_refused([&] { l.count_down(); }, "more than is left");
  EXPECT_TRUE(weft::latch(0).try_wait());
}

TEST(latch, may_be_destroyed_by_a_task_that_has_seen_it_down) {
  const int n = test::scaled(2000, 100);
  for (int i = 0; i != n; ++i) {
    auto l = std::make_unique<weft::latch>(2);
    weft::latch &shared = *l;
    for (int t = 0; t != 2; ++t)
      weft::spawn([&shared] { shared.count_down(); });
    l->wait();
    l.reset();
  }
  weft::taskwait();
}

// ---- events

TEST(event, lets_waiters_go_on_until_it_is_reset) {
  weft::event e;
  EXPECT_FALSE(e.is_set());
  EXPECT_FALSE(e.wait_for(1ms));
  std::atomic<int> gone{0}, waiting{0};
  for (int t = 0; t != 3; ++t)
    weft::spawn([&] {
      ++waiting;
      e.wait();
      ++gone;
    });
  until([&] { return waiting == 3; });
  EXPECT_EQ(gone, 0);
  e.set();
  weft::taskwait();
  EXPECT_EQ(gone, 3);
  e.set();
  e.wait();
  EXPECT_TRUE(e.is_set());
  e.reset();
  e.reset();
  EXPECT_FALSE(e.is_set());
  EXPECT_FALSE(e.wait_until(std::chrono::system_clock::now() + 1ms));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(e.wait(stop.get_token()));
  e.set();
  EXPECT_TRUE(e.wait(stop.get_token()));
}

TEST(event, lets_tasks_and_threads_go_on_however_they_wait) {
  for (int way = 0; way != 4; ++way) {
    weft::event e, never;
    std::stop_source stop;
    std::atomic<int> waiting{0}, gone{0}, ended{0};
    weft::spawn([&] {
      until([&] { return waiting == 5; });
      test::dawdle();
      EXPECT_EQ(gone, 0);
      e.set();
      until([&] { return gone == 5; });
      test::dawdle();
      EXPECT_EQ(ended, 0);
      stop.request_stop();
    });
    in_tasks_and_threads(3, [&] {
      ++waiting;
      if (way == 0)
        e.wait();
      else if (way == 1)
        EXPECT_TRUE(e.wait(stop.get_token()));
      else if (way == 2)
        EXPECT_TRUE(e.wait_for(1h));
      else
        EXPECT_TRUE(e.wait_until(std::chrono::system_clock::now() + 1h));
      ++gone;
      EXPECT_FALSE(never.wait_for(1us));
      EXPECT_FALSE(never.wait(stop.get_token()));
      ++ended;
    });
    EXPECT_EQ(ended, 5);
  }
}

// ---- barriers

TEST(barrier, holds_all_until_the_last_one_arrives_phase_after_phase) {
  constexpr int k_tasks = 5;
  const int phases = test::scaled(300, 30);
  std::atomic<int> arrived{0}, completed{0};
  auto on_completion = [&]() noexcept { EXPECT_EQ(arrived, ++completed * k_tasks); };
  weft::barrier b(k_tasks, on_completion);
  weft::barrier<> read(k_tasks); // no one goes on before all have looked
  for (int t = 0; t != k_tasks; ++t)
    weft::spawn([&] {
      for (int p = 0; p != phases; ++p) {
        ++arrived;
        b.arrive_and_wait();
        EXPECT_EQ(completed, p + 1);
        read.wait(read.arrive());
      }
    });
  weft::taskwait();
  EXPECT_EQ(completed, phases);
}

TEST(barrier, holds_tasks_and_threads_however_they_wait) {
  constexpr int k_all = 7; // five tasks, two threads
  const int phases = test::scaled(100, 20);
  std::atomic<int> arrived{0}, early{0};
  const std::stop_source never;
  weft::barrier<> b(k_all);
  in_tasks_and_threads(k_all - 2, [&] {
    for (int p = 0; p != phases; ++p) {
      ++arrived;
      switch (p % 5) {
      case 0:
        b.arrive_and_wait();
        break;
      case 1:
        b.wait(b.arrive());
        break;
      case 2:
        EXPECT_TRUE(b.wait_for(b.arrive(), 1h));
        break;
      case 3:
        EXPECT_TRUE(b.wait(b.arrive(), never.get_token()));
        break;
      default: {
        auto arrival = b.arrive();
        if (!b.wait_for(arrival, 1us))
          b.wait(std::move(arrival));
      }
      }
      early += arrived < (p + 1) * k_all;
    }
  });
  EXPECT_EQ(arrived, phases * k_all);
  EXPECT_EQ(early, 0);
}

TEST(barrier, a_wait_that_ends_early_keeps_its_arrival) {
  weft::barrier<> b(2);
  std::stop_source stop;
  const auto arrival = b.arrive();
  EXPECT_FALSE(b.wait_for(arrival, 1ms));
  EXPECT_FALSE(b.wait_until(arrival, std::chrono::steady_clock::now() - 1s));
  EXPECT_FALSE(b.wait_until(arrival, std::chrono::system_clock::now() + 1ms));
  weft::spawn([&] { stop.request_stop(); });
  EXPECT_FALSE(b.wait(arrival, stop.get_token()));
  weft::taskwait();
  (void)b.arrive(); // the second one: the first counts still
  EXPECT_TRUE(b.wait(arrival, stop.get_token()));
  EXPECT_TRUE(b.wait_for(arrival, 0ms));
  EXPECT_TRUE(b.wait_until(arrival, std::chrono::steady_clock::now() - 1s));
}
TEST(barrier, a_wait_with_a_limit_ends_with_its_phase) {
  weft::barrier<> b(2);
  const std::stop_source never;
  for (int phase = 0; phase != 4; ++phase) {
    const auto arrival = b.arrive();
    weft::spawn([&] { (void)b.arrive(); });
    switch (phase) {
    case 0:
      EXPECT_TRUE(b.wait_for(arrival, 1h));
      break;
    case 1:
      EXPECT_TRUE(b.wait_until(arrival, std::chrono::steady_clock::now() + 1h));
      break;
    case 2:
      EXPECT_TRUE(b.wait_until(arrival, std::chrono::system_clock::now() + 1h));
      break;
    default:
      EXPECT_TRUE(b.wait(arrival, never.get_token()));
    }
    weft::taskwait();
  }
}
TEST(barrier, phases_and_deadlines_race) {
  constexpr int k_tasks = 4;
  const int phases = test::scaled(2000, 200);
  weft::barrier<> b(k_tasks);
  std::atomic<int> arrived{0};
  for (int t = 0; t != k_tasks; ++t)
    weft::spawn([&] {
      for (int p = 0; p != phases; ++p) {
        ++arrived;
        auto arrival = b.arrive();
        if (!b.wait_for(arrival, std::chrono::nanoseconds(100 * (p % 50))))
          b.wait(std::move(arrival));
        ASSERT_GE(arrived, (p + 1) * k_tasks);
      }
    });
  weft::taskwait();
  EXPECT_EQ(arrived, phases * k_tasks);
}
TEST(barrier, expects_one_less_after_a_drop) {
  weft::barrier<> b(3);
  std::atomic<int> passed{0};
  weft::spawn([&] { b.arrive_and_drop(); });
  for (int t = 0; t != 2; ++t)
    weft::spawn([&] {
      for (int p = 0; p != 3; ++p) {
        b.arrive_and_wait();
        ++passed;
      }
    });
  weft::taskwait();
  EXPECT_EQ(passed, 6);
  expect_refused([&] { (void)b.arrive(3); }, "expects fewer");
  expect_refused([&] { (void)b.arrive(-1); }, "expects fewer");
  expect_refused([] { weft::barrier<> wrong(-1); }, "0 to 4294967295");
  auto token = b.arrive(2); // the phase is over
  b.wait(std::move(token));
}

// ---- mutexes

template <class Mutex>
class sync_mutex : public testing::Test {};
using mutexes = testing::Types<weft::timed_mutex, weft::recursive_mutex,
                               weft::recursive_timed_mutex, weft::shared_mutex, weft::spin_mutex>;
TYPED_TEST_SUITE(sync_mutex, mutexes);

TYPED_TEST(sync_mutex, excludes_tasks_and_threads) {
  TypeParam m;
  long counter = 0;
  const int n = test::scaled(1000, 100);
  in_tasks_and_threads(10, [&] {
    for (int i = 0; i != n; ++i) {
      std::lock_guard lock(m);
      ++counter;
    }
  });
  EXPECT_EQ(counter, 12L * n);
  EXPECT_TRUE(m.try_lock());
  bool other = true;
  weft::spawn([&] { other = m.try_lock(); });
  weft::taskwait();
  EXPECT_FALSE(other);
  m.unlock();
}

template <class Mutex>
class sync_timed_mutex : public testing::Test {};
using timed_mutexes =
    testing::Types<weft::timed_mutex, weft::recursive_timed_mutex, weft::shared_mutex>;
TYPED_TEST_SUITE(sync_timed_mutex, timed_mutexes);

TYPED_TEST(sync_timed_mutex, gives_up_waiting) {
  TypeParam m;
  m.lock();
  weft::spawn([&] {
    EXPECT_FALSE(m.try_lock_for(1ms));
    EXPECT_FALSE(m.try_lock_until(std::chrono::steady_clock::now() + 1ms));
    std::stop_source stop;
    stop.request_stop();
    EXPECT_FALSE(m.lock(stop.get_token()));
  });
  weft::taskwait();
  m.unlock();
  EXPECT_TRUE(m.try_lock_for(1h));
  m.unlock();
  EXPECT_TRUE(m.try_lock_until(std::chrono::system_clock::now() + 1h));
  m.unlock();
  EXPECT_TRUE(m.lock(std::stop_token()));
  m.unlock();
  expect_refused([&] { m.unlock(); }, "unlock once per lock");
}

TEST(recursive_mutex, is_taken_again_by_its_holder_only) {
  weft::recursive_timed_mutex m;
  m.lock();
  EXPECT_TRUE(m.try_lock());
  EXPECT_TRUE(m.try_lock_for(1s));
  EXPECT_TRUE(m.lock(std::stop_token()));
  weft::this_task::sleep_for(std::chrono::microseconds(50)); // the holder may change its worker
  m.lock();
  for (int i = 0; i != 4; ++i) {
    m.unlock();
    weft::spawn([&] {
      EXPECT_FALSE(m.try_lock());
      expect_refused([&] { m.unlock(); }, "the task does not hold");
    });
    weft::taskwait();
  }
  m.unlock();
  weft::spawn([&] {
    EXPECT_TRUE(m.try_lock());
    m.unlock();
  });
  weft::taskwait();
  expect_refused([&] { m.unlock(); }, "the task does not hold");
}

// ---- shared mutexes

TEST(shared_mutex, lets_readers_in_together_and_writers_alone) {
  weft::shared_mutex m;
  long value = 0;
  std::atomic<int> readers{0}, wrong{0};
  const int n = test::scaled(500, 50);
  in_tasks_and_threads(10, [&] {
    for (int i = 0; i != n; ++i)
      if (i % 4 == 0) {
        std::unique_lock lock(m);
        wrong += readers != 0;
        ++value;
        if (i % 64 == 0)
          weft::taskyield();
      } else {
        std::shared_lock lock(m);
        ++readers;
        if (i % 32 == 1)
          weft::taskyield();
        --readers;
      }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(value, 12L * ((n + 3) / 4));
}

TEST(shared_mutex, a_writer_that_waits_goes_before_later_readers) {
  weft::shared_mutex m;
  m.lock_shared();
  std::vector<std::string> order;
  std::atomic<int> came{0};
  weft::spawn([&] {
    ++came;
    std::unique_lock lock(m);
    order.emplace_back("writer");
  });
  until([&] { return came == 1; });
  until([&] { // the writer is in the list
    if (!m.try_lock_shared())
      return true;
    m.unlock_shared();
    return false;
  });
  weft::spawn([&] {
    ++came;
    std::shared_lock lock(m);
    order.emplace_back("reader");
  });
  until([&] { return came == 2; });
  m.unlock_shared();
  weft::taskwait();
  EXPECT_EQ(order, (std::vector<std::string>{"writer", "reader"}));
}

TEST(shared_mutex, readers_behind_a_writer_that_gives_up_join_the_others) {
  weft::shared_mutex m;
  m.lock_shared();
  std::stop_source stop;
  std::atomic<bool> writes{true}, reads{false};
  weft::spawn([&] { writes = m.lock(stop.get_token()); });
  until([&] {
    if (!m.try_lock_shared())
      return true;
    m.unlock_shared();
    return false;
  });
  weft::spawn([&] {
    m.lock_shared();
    reads = true;
    m.unlock_shared();
  });
  weft::this_task::sleep_for(1ms);
  EXPECT_FALSE(reads);
  stop.request_stop();
  until([&] { return reads.load(); }); // although the first reader still has it
  EXPECT_FALSE(m.try_lock());
  m.unlock_shared();
  weft::taskwait();
  EXPECT_FALSE(writes);
  EXPECT_TRUE(m.try_lock());
  EXPECT_FALSE(m.try_lock_shared());
  EXPECT_FALSE(m.try_lock_shared_for(1ms));
  EXPECT_FALSE(m.try_lock_shared_until(std::chrono::steady_clock::now() + 1ms));
  EXPECT_FALSE(m.lock_shared(stop.get_token()));
  m.unlock();
  expect_refused([&] { m.unlock_shared(); }, "unlock_shared()");
  EXPECT_TRUE(m.try_lock_shared_for(1s));
  expect_refused([&] { m.unlock(); }, "unlock() of a weft::shared_mutex");
  m.unlock_shared();
}

// ---- condition variables

TEST(condition_variable, passes_items_between_tasks_and_threads) {
  weft::mutex m;
  weft::condition_variable changed;
  int items = 0;
  long consumed = 0;
  const int n = test::scaled(500, 50);
  auto consume = [&] {
    for (int i = 0; i != n; ++i) {
      std::unique_lock lock(m);
      changed.wait(lock, [&] { return items > 0; });
      --items;
      ++consumed;
    }
  };
  std::jthread outside(consume);
  for (int t = 0; t != 3; ++t)
    weft::spawn(consume);
  for (int i = 0; i != 4 * n; ++i) {
    {
      std::lock_guard lock(m);
      ++items;
    }
    i % 2 ? changed.notify_one() : changed.notify_all();
  }
  weft::taskwait();
  outside.join();
  EXPECT_EQ(consumed, 4L * n);
  EXPECT_EQ(items, 0);
}

TEST(condition_variable, waits_no_longer_than_asked) {
  weft::mutex m;
  weft::condition_variable changed;
  std::unique_lock lock(m);
  const auto never = [] { return false; };
  const auto holds = [] { return true; };
  EXPECT_EQ(changed.wait_for(lock, 1ms), weft::cv_status::timeout);
  EXPECT_EQ(changed.wait_until(lock, std::chrono::system_clock::now() + 1ms),
            weft::cv_status::timeout);
  EXPECT_FALSE(changed.wait_for(lock, 1ms, never));
  EXPECT_FALSE(changed.wait_until(lock, std::chrono::steady_clock::now() + 1ms, never));
  EXPECT_TRUE(changed.wait_for(lock, 0s, holds));
  EXPECT_TRUE(changed.wait_until(lock, std::chrono::steady_clock::now(), holds));
  EXPECT_TRUE(lock.owns_lock());
  bool ready = false;
  weft::spawn([&] {
    std::lock_guard in_task(m);
    ready = true;
    changed.notify_one();
  });
  EXPECT_TRUE(changed.wait_for(lock, 24h, [&] { return ready; }));
  lock.unlock();
  weft::taskwait();
}

/// Waits with a clock that is set back again and again.
template <class Variable, class Mutex>
void waits_by_a_clock_that_is_set() {
  using clock = test::scripted_clock;
  Variable changed;
  Mutex m;
  std::unique_lock lock(m);
  const auto waits = [&](int late, int notifies = -1, int fails = -1) {
    const auto how = changed.wait_until(lock, clock::begin(changed, late, notifies, fails));
    EXPECT_TRUE(lock.owns_lock());
    return how;
  };
  EXPECT_EQ(waits(0), weft::cv_status::timeout);
  EXPECT_EQ(waits(9), weft::cv_status::timeout);
  EXPECT_GE(clock::s_asked, 10) << "it returned before its time";
  EXPECT_EQ(waits(INT_MAX, 3), weft::cv_status::no_timeout) << "notified between two questions";
  EXPECT_EQ(waits(3, 3), weft::cv_status::no_timeout) << "notified when the time had come";
  EXPECT_THROW(waits(INT_MAX, -1, 3), clock::failed);
  EXPECT_TRUE(lock.owns_lock());
  EXPECT_EQ(waits(INT_MAX, 3, 3), weft::cv_status::no_timeout) << "it has the notification";
  changed.notify_all(); // finds none of the waits that have ended
  EXPECT_FALSE(changed.wait_until(lock, clock::begin(changed, 9), [] { return false; }));
  EXPECT_TRUE(changed.wait_until(lock, clock::begin(changed, INT_MAX, 3),
                                 [] { return clock::s_asked > 3; }));
}

TEST(condition_variable, asks_a_clock_that_is_set_until_its_time_has_come) {
  waits_by_a_clock_that_is_set<weft::condition_variable, weft::mutex>();
  weft::spawn([] { waits_by_a_clock_that_is_set<weft::condition_variable, weft::mutex>(); });
  weft::taskwait();
}

TEST(condition_variable_any, asks_a_clock_that_is_set_until_its_time_has_come) {
  waits_by_a_clock_that_is_set<weft::condition_variable_any, weft::timed_mutex>();
}

TEST(condition_variable_any, a_lock_that_cannot_be_given_up_leaves_no_waiter_by_a_clock) {
  struct stuck {
    void lock() {}
    void unlock() { throw 7; }
  } lock;
  weft::condition_variable_any changed;
  EXPECT_THROW((void)changed.wait_until(lock, test::scripted_clock::begin(changed, INT_MAX)), int);
  changed.notify_all(); // finds no node of the call that has ended
}

TEST(condition_variable, notifies_one_or_all) {
  weft::mutex m;
  weft::condition_variable changed;
  std::atomic<int> waiting{0}, gone{0};
  for (int t = 0; t != 4; ++t)
    weft::spawn([&] {
      std::unique_lock lock(m);
      ++waiting;
      changed.wait(lock);
      ++gone;
    });
  until([&] { return waiting == 4; });
  {
    std::lock_guard lock(m);
  } // the last one has entered
  changed.notify_one();
  until([&] { return gone == 1; });
  weft::this_task::sleep_for(1ms);
  EXPECT_EQ(gone, 1);
  changed.notify_all();
  weft::taskwait();
  EXPECT_EQ(gone, 4);
}

TEST(condition_variable_any, takes_any_lock_and_stop_tokens) {
  weft::shared_mutex m;
  weft::condition_variable_any changed;
  std::stop_source stop;
  std::shared_lock lock(m);
  const auto never = [] { return false; };
  weft::spawn([&] { stop.request_stop(); });
  EXPECT_FALSE(changed.wait(lock, stop.get_token(), never));
  EXPECT_FALSE(changed.wait(lock, stop.get_token(), never)) << "requested before";
  EXPECT_FALSE(changed.wait_for(lock, std::stop_token(), 1ms, never));
  EXPECT_FALSE(changed.wait_for(lock, stop.get_token(), 1h, never));
  EXPECT_FALSE(
      changed.wait_until(lock, stop.get_token(), std::chrono::system_clock::now() + 1h, never));
  EXPECT_FALSE(
      changed.wait_until(lock, std::stop_token(), std::chrono::system_clock::now() + 1ms, never));
  EXPECT_TRUE(changed.wait(lock, stop.get_token(), [] { return true; }));
  EXPECT_TRUE(lock.owns_lock());
  lock.unlock();
  weft::taskwait();

  std::mutex of_threads; // given up and taken again on whatever thread the task is
  std::unique_lock guard(of_threads);
  EXPECT_EQ(changed.wait_for(guard, 1ms), weft::cv_status::timeout);
  EXPECT_TRUE(guard.owns_lock());
}

TEST(condition_variable_any, a_lock_that_cannot_be_given_up_leaves_no_waiter) {
  struct stuck {
    void lock() {}
    void unlock() { throw 7; }
  } lock;
  weft::condition_variable_any changed;
  EXPECT_THROW(changed.wait(lock), int);
  changed.notify_all(); // finds no node of the call that has ended
  weft::spawn([&] { changed.notify_all(); });
  weft::taskwait();
}

// ---- calling once

TEST(call_once, calls_once_and_lets_others_wait_for_it) {
  weft::once_flag flag;
  std::atomic<int> calls{0}, early{0}, done{0};
  in_tasks_and_threads(8, [&] {
    weft::call_once(
        flag,
        [&](int by) {
          calls += by;
          weft::this_task::sleep_for(1ms);
          done = 1;
        },
        1);
    early += done == 0;
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(early, 0);
}

TEST(call_once, the_next_one_calls_after_an_exception) {
  weft::once_flag flag;
  std::atomic<int> calls{0}, thrown{0};
  in_tasks_and_threads(6, [&] {
    try {
      weft::call_once(flag, [&] {
        if (++calls < 4)
          throw 1;
      });
    } catch (int) {
      ++thrown;
    }
  });
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(thrown, 3);
}

TEST(call_once, gives_up_the_wait_for_another_call_but_no_call_of_its_own) {
  weft::once_flag flag;
  weft::event begun, may_end;
  const auto no_call = [] { ADD_FAILURE() << "another call runs, or has returned"; };
  std::stop_source requested;
  requested.request_stop();
  weft::future<void> first = weft::async([&] {
    weft::call_once(flag, [&] {
      begun.set();
      may_end.wait();
    });
  });
  begun.wait();
  EXPECT_FALSE(weft::call_once(flag, requested.get_token(), no_call));
  EXPECT_FALSE(weft::call_once_for(flag, 1ms, no_call));
  EXPECT_FALSE(weft::call_once_until(flag, std::chrono::system_clock::now() + 1ms, no_call));
  std::stop_source stop;
  weft::future<bool> waits =
      weft::async([&] { return weft::call_once(flag, stop.get_token(), no_call); });
  EXPECT_EQ(waits.wait_for(1ms), std::future_status::timeout);
  stop.request_stop();
  EXPECT_FALSE(waits.get());
  waits = weft::async([&] { return weft::call_once_for(flag, 1h, no_call); });
  may_end.set();
  EXPECT_TRUE(waits.get());
  first.get();
  EXPECT_TRUE(weft::call_once(flag, requested.get_token(), no_call)); // it was called
  EXPECT_TRUE(weft::call_once_for(flag, 0s, no_call));

  weft::once_flag free;
  int calls = 0;
  EXPECT_THROW((void)weft::call_once_for(free, 0s, [] { throw 1; }), int);
  EXPECT_TRUE(weft::call_once(
      free, requested.get_token(), [&](int by) { calls += by; }, 5)); // nothing to wait for
  EXPECT_TRUE(weft::call_once_until(free, std::chrono::steady_clock::now(), no_call));
  EXPECT_EQ(calls, 5);
}

TEST(call_once, waits_with_limits_lose_no_turn) {
  for (int round = 0; round < test::scaled(200); ++round) {
    weft::once_flag flag;
    std::atomic<int> calls{0};
    in_tasks_and_threads(6, [&] {
      try {
        (void)weft::call_once_for(flag, std::chrono::microseconds(round % 50), [&] {
          if (++calls < 3)
            throw 1;
        });
      } catch (int) {
      }
    });
    if (calls < 3) // so many have given up that none was left to call
      weft::call_once(flag, [&] { calls = 3; });
    EXPECT_EQ(calls, 3);
    EXPECT_TRUE(weft::call_once_for(flag, 0s, [] { throw 2; }));
  }
}

} // namespace
