// SPDX-License-Identifier: Apache-2.0
// Synchronization objects, channels and threads, each once, for a program whose memory fails: see program.hpp. A wait that is refused has
// taken nothing, one that ends early leaves nothing behind, and no value is lost or doubled.
#pragma once

#include "stress/exhaustion/futures.hpp"

#include <weft/sync.hpp>
#include <weft/thread.hpp>

#include <mutex>
#include <shared_mutex>
#include <stop_token>

namespace exhaustion {

inline constexpr auto k_short = 50us; // ends although nothing was granted

/// Calls `wait` until it is not refused. It is for ever, where memory fails for ever and no stack is
/// left to go on with.
template <class Wait>
bool wait_until_possible(Wait wait) {
  for (int i = 0; i != (g_fails_for_ever ? 20 : 1000); ++i) {
    if (attempt(wait))
      return true;
    std::this_thread::sleep_for(100us);
  }
  if (!g_fails_for_ever)
    wrong("a wait fails for ever");
  return false;
}

/// Waits by `wait`, while `grant` comes from a task if one is to be had. What `wait` returns says
/// whether it was granted. Returns false if it was refused.
template <class Wait, class Grant>
bool expect_granted(Wait wait, Grant grant, const char *what) {
  const auto surely = [grant] {
    while (!attempt(grant)) {
    }
  };
  if (!try_spawn(surely))
    surely();
  bool granted = false;
  const bool waited = wait_until_possible([&] { granted = wait(); });
  if (waited && !granted)
    wrong(what);
  taskwait(); // the objects are the caller's
  return waited;
}

/// Waits of the program's own thread, that are granted before their end.
inline void grants() {
  const std::stop_source never;
  weft::counting_semaphore<> units(0);
  const int acquired =
      expect_granted([&] { return units.try_acquire_for(1h); }, [&] { units.release(); },
                     "a unit was lost") +
      expect_granted([&] { return units.acquire(never.get_token()); }, [&] { units.release(); },
                     "a unit was lost");
  int left = 0;
  while (units.try_acquire())
    ++left;
  if (acquired + left != 2)
    wrong("a unit was lost or doubled by a wait that was refused");
  weft::event e;
  expect_granted([&] { return e.wait_for(1h); }, [&] { e.set(); }, "an event was not set");
  weft::latch l(1);
  expect_granted([&] { return l.wait_for(1h); }, [&] { l.count_down(); }, "a latch was not down");
  weft::barrier<> b(2);
  const auto arrival = b.arrive();
  expect_granted([&] { return b.wait_for(arrival, 1h); }, [&] { (void)b.arrive(); },
                 "a phase was not over");
  weft::mutex m;
  weft::condition_variable changed;
  bool is_set = false;
  expect_granted(
      [&] {
        std::unique_lock lock(m);
        return changed.wait_for(lock, 1h, [&] { return is_set; });
      },
      [&] {
        const std::lock_guard lock(m);
        is_set = true;
        changed.notify_all();
      },
      "a notification was lost");
  if (!m.try_lock())
    return wrong("a wait for a notification has kept its lock");
  m.unlock();
}

struct synchronization {
  weft::counting_semaphore<> units{2};
  weft::timed_mutex timed;
  weft::recursive_timed_mutex recursive;
  weft::shared_mutex shared;
  weft::mutex lock;
  weft::event never;
  weft::condition_variable changed;
  weft::channel<std::vector<int>> values{2};
  std::stop_source stop;
  std::atomic<int> sent{0}, received{0};
};

/// Is what a task does with all objects: each wait is granted, ends, or is refused.
inline void waits_of_a_task(synchronization &s, int i) {
  const std::stop_token token = s.stop.get_token();
  attempt([&] {
    if (i % 2 ? s.units.try_acquire_for(200us) : s.units.acquire(token)) {
      attempt([] { weft::taskyield(); });
      s.units.release();
    }
  });
  attempt([&] {
    if (const std::unique_lock held(s.timed, 200us); held)
      attempt([] { weft::taskyield(); });
  });
  attempt([&] {
    if (const std::unique_lock held(s.recursive, 200us); held)
      attempt([] { weft::taskyield(); });
  });
  attempt([&] {
    if (i % 3 == 0) {
      if (const std::unique_lock held(s.shared, 200us); held)
        attempt([] { weft::taskyield(); });
    } else if (s.shared.lock_shared(token)) {
      attempt([] { weft::taskyield(); });
      s.shared.unlock_shared();
    }
  });
  attempt([&] {
    if (i % 2 ? s.never.wait_for(k_short) : s.never.wait(token))
      wrong("a wait was granted that nothing grants");
  });
  attempt([&] {
    std::unique_lock held(s.lock);
    const auto is_set = [] { return false; };
    if (i % 2 ? s.changed.wait_for(held, k_short, is_set) : s.changed.wait(held, token, is_set))
      wrong("a condition was said to hold");
  });
  attempt([&] {
    if (i % 2 == 0 && weft::this_task::sleep_for(1h, token))
      wrong("an hour is over");
  });
}

/// Values that were sent arrive once, or stay in the channel.
inline void passes_values(synchronization &s, int i) {
  for (int n = 0; n != 4; ++n)
    attempt([&] {
      std::vector<int> value(9, 1);
      const weft::channel_status how = n % 2 ? s.values.push_for(std::move(value), 200us)
                                             : s.values.push(std::move(value), s.stop.get_token());
      if (how == weft::channel_status::success)
        ++s.sent;
      else if (value.size() != 9)
        wrong("a value that was not sent is gone");
    });
  for (int n = 0; n != 4; ++n)
    attempt([&] {
      std::vector<int> value;
      if ((i + n) % 2 ? s.values.pop_for(value, 200us) == weft::channel_status::success
                      : s.values.pop(value, s.stop.get_token()) == weft::channel_status::success)
        s.received += value.size() == 9;
    });
}

inline void waits_in_tasks() {
  attempt([] {
    synchronization s;
    for (int i = 0; i != 8; ++i) {
      try_spawn([&s, i] { waits_of_a_task(s, i); });
      try_spawn([&s, i] { passes_values(s, i); });
    }
    attempt([] { weft::taskyield(); });
    s.stop.request_stop();
    taskwait();
    int left = 0;
    for (std::vector<int> value; s.values.try_pop(value) == weft::channel_status::success;)
      ++left;
    if (s.sent != s.received + left)
      wrong("a channel has lost or doubled a value");
    if (!s.units.try_acquire() || !s.units.try_acquire() || s.units.try_acquire())
      wrong("a semaphore has lost or doubled a unit");
    if (!s.timed.try_lock() || !s.recursive.try_lock() || !s.shared.try_lock() ||
        !s.lock.try_lock())
      wrong("a lock was kept by a wait that ended");
    else
      s.timed.unlock(), s.recursive.unlock(), s.shared.unlock(), s.lock.unlock();
  });
}

inline void flags() {
  static std::atomic<int> calls;
  calls = 0;
  static weft::once_flag once;
  for (int i = 0; i != 6; ++i)
    try_spawn([] { attempt([] { weft::call_once(once, [] { ++calls; }); }); });
  taskwait();
  attempt([] { weft::call_once(once, [] { ++calls; }); });
  if (calls != 1 && (calls != 0 || !g_fails_for_ever))
    wrong("call_once has called as often as it likes");
}

inline void threads_of_weft() {
  static std::atomic<int> ran;
  ran = 0;
  int made = 0;
  for (int i = 0; i != 6; ++i) {
    weft::thread t;
    if (!attempt([&] { t = weft::thread([v = std::vector<int>(5)] { ran += v.size() == 5; }); }))
      continue;
    ++made;
    if (!wait_until_possible([&] { t.join(); }))
      t.detach();
  }
  if (ran > made || (!g_fails_for_ever && ran != made))
    wrong("a thread was lost, or ran twice");
}

/// The destructor of a jthread stops and joins it. It waits, however long there is no stack to wait
/// with: with one worker for ever, if memory fails for ever.
inline void threads_that_join() {
  if (g_fails_for_ever)
    return;
  static std::atomic<int> ran;
  ran = 0;
  int made = 0;
  const auto waits = [](const std::stop_token &stop) {
    attempt([&] {
      const weft::event never;
      if (never.wait(stop))
        wrong("a thread was let go by nothing");
    });
    ++ran;
  };
  for (int i = 0; i != 4; ++i)
    made += attempt([&] { const weft::jthread joined(waits); });
  if (ran != made)
    wrong("a thread was not joined");
  for (int i = 0; i != 4; ++i)
    try_spawn([waits] { attempt([&] { const weft::jthread joined(waits); }); });
  taskwait();
}

inline void all_of_sync() {
  attempt(&grants);
  waits_in_tasks();
  flags();
  threads_of_weft();
  threads_that_join();
}

} // namespace exhaustion
