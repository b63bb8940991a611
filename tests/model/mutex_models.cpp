// SPDX-License-Identifier: Apache-2.0
// Models of weft::mutex (include/weft/detail/lock_word.hpp, src/task/wait/lock_queue.hpp):
// - mutual exclusion (else a race on plain data);
// - no lost wake-up (else a deadlock);
// - first come, first served;
// - no access to a waiter that has been resumed.
#include "suspension.hpp"

#include "task/wait/lock_queue.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;
using waiter = lock_waiter<model_frame, P>;

/// Is weft::mutex with the model's suspension, and records the order in which takers came and in
/// which they got the lock. Between two atomic operations no other model thread runs, so the record
/// is exact.
struct model_mutex {
  int looks = 0; // that a taker spends before it suspends
  weft::detail::lock_word<P> lock;
  model_frame *arrived[16] = {};
  int arrivals = 0, handed = 0;

  void take() {
    if (lock.try_take())
      return;
    for (int i = 0; i < looks; ++i)
      if (!lock.word.load(relaxed) && lock.try_take())
        return;
    waiter node;
    suspend([&](model_frame &f) {
      if (take_or_wait(lock, node, f))
        return false;
      arrived[arrivals++] = &f;
      return true;
    });
  }
  void give_up() {
    if (lock.try_give_up())
      return;
    model_frame *next = hand_over<model_frame>(lock);
    expect(next && next == arrived[handed++], "who came first is let in first");
    make_ready(*next);
  }
  void expect_free() {
    expect(arrivals == handed, "nobody waits");
    expect(lock.try_take(), "the lock is free in the end");
    expect(lock.try_give_up(), "nobody has come");
    expect(!lock.try_give_up() && !hand_over<model_frame>(lock), "one unlock too many is noticed");
    expect(lock.try_take(), "and changes nothing");
  }
};

template <int Threads, int Rounds>
struct mutex_counts {
  static constexpr int threads = Threads;
  model_mutex mutex;
  model_var<int> count{0};
  void run(int) {
    for (int i = 0; i < Rounds; ++i) {
      mutex.take();
      count.set(count.get() + 1);
      mutex.give_up();
    }
  }
  void check() {
    expect(count.get() == Threads * Rounds, "every round is counted");
    mutex.expect_free();
  }
};
const passes<mutex_counts<2, 1>> m1{"mutex_two_threads"};
const passes<mutex_counts<2, 2>> m2{"mutex_two_threads_twice"};
const passes<mutex_counts<3, 1>> m3{"mutex_three_threads"};
const passes<mutex_counts<3, 2>> m4{"mutex_three_threads_twice"};

/// Lets takers look once more before they suspend.
template <int Threads, int Rounds>
struct mutex_looks : mutex_counts<Threads, Rounds> {
  mutex_looks() { this->mutex.looks = 1; }
};
const passes<mutex_looks<2, 2>> m8{"mutex_looks_again"};
const passes<mutex_looks<3, 1>> m9{"mutex_looks_again_three_threads"};

/// Has one taker that does not wait, among takers that do.
template <int Threads>
struct mutex_tries {
  static constexpr int threads = Threads;
  model_mutex mutex;
  model_var<int> count{0};
  int taken[Threads] = {};
  void run(int t) {
    for (int i = 0; i < 2; ++i) {
      if (t > 0)
        mutex.take();
      else if (!mutex.lock.try_take())
        continue;
      count.set(count.get() + 1);
      ++taken[t];
      mutex.give_up();
    }
  }
  void check() {
    int all = 0;
    for (int n : taken)
      all += n;
    expect(count.get() == all, "every success is counted");
    mutex.expect_free();
  }
};
const passes<mutex_tries<2>> m5{"mutex_try_lock"};
const passes<mutex_tries<3>> m6{"mutex_try_lock_three_threads"};

/// Lets a task take the lock on one worker and give it up on another: threads 0 and 1 are the two
/// workers.
struct mutex_moves {
  static constexpr int threads = 3;
  model_mutex mutex;
  model_var<int> count{0};
  model_atomic<int> moved{0};
  void run(int t) {
    if (t == 0) {
      mutex.take();
      moved.store(1, release);
      return;
    }
    if (t == 1)
      P::await(moved, [](int m) { return m == 1; }, acquire);
    else
      mutex.take();
    count.set(count.get() + 1);
    mutex.give_up();
  }
  void check() {
    expect(count.get() == 2, "both are counted");
    mutex.expect_free();
  }
};
const passes<mutex_moves> m7{"mutex_given_up_by_another_worker"};

// --- seeded bugs: what each line of hand_over is good for

enum class flaw { forgets_waiters, frees_before_waking, reads_the_node_late, newest_first };

template <flaw Flaw>
struct flawed_mutex : model_mutex {
  void give_up() {
    if (Flaw == flaw::forgets_waiters) {
      lock.word.store(nullptr, release);
      return;
    }
    if (lock.try_give_up())
      return;
    if (Flaw == flaw::frees_before_waking) {
      model_frame *next = hand_over<model_frame>(lock);
      if (!lock.queue.get())
        lock.word.store(nullptr, release); // a taker that arrives now overtakes the woken one
      return next ? make_ready(*next) : void();
    }
    auto *w = static_cast<waiter *>(lock.queue.get());
    if (!w)
      w = static_cast<waiter *>(lock.word.exchange(lock.held(nullptr), acquire));
    if (Flaw == flaw::newest_first) {
      lock.queue.set(w->next.get());
      expect(w->suspended.get() == arrived[handed++], "who came first is let in first");
      return make_ready(*w->suspended.get());
    }
    ++handed;
    make_ready(*w->suspended.get());
    lock.queue.set(w->next.get());
  }
};

template <flaw Flaw, int Threads>
struct flawed_mutex_counts {
  static constexpr int threads = Threads;
  flawed_mutex<Flaw> mutex;
  model_var<int> count{0};
  void run(int) {
    mutex.take();
    count.set(count.get() + 1);
    mutex.give_up();
  }
  void check() {}
};
const fails<flawed_mutex_counts<flaw::forgets_waiters, 2>> f1{"flawed_mutex_forgets_waiters",
                                                              "deadlock"};
const fails<flawed_mutex_counts<flaw::frees_before_waking, 3>> f2{
    "flawed_mutex_frees_before_waking", "data race"};
const fails<flawed_mutex_counts<flaw::reads_the_node_late, 2>> f3{
    "flawed_mutex_reads_the_node_late", "data race"};
const fails<flawed_mutex_counts<flaw::newest_first, 3>> f4{"flawed_mutex_newest_first",
                                                           "came first"};

} // namespace
