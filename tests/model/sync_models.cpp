// SPDX-License-Identifier: Apache-2.0
// Models of the synchronization objects (include/weft/detail/sync_words.hpp, src/sync):
// - what a waiter sees (else a race on plain data);
// - no lost wake-up (else a deadlock);
// - a wait ends once, by a grant or by a canceller;
// - no access to a node after its waiter went on, nor to an object that the waiter destroys.
#include "suspension.hpp"

#include "queue/spin_lock.hpp"
#include "sync/barrier.hpp"
#include "sync/event.hpp"
#include "sync/latch.hpp"
#include "sync/semaphore.hpp"
#include "sync/shared_lock.hpp"
#include "task/wait/signal_word.hpp"

#include <optional>

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;
using node = wait_node<P>;
using chain = wait_chain<P>;

char g_token;

/// Is the lock of one object, and how its waiters wait and go on.
struct object_lock {
  spin_lock<P> lock;

  template <class F>
  auto under(F f) {
    lock.lock();
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      lock.unlock();
    } else {
      auto result = f();
      lock.unlock();
      return result;
    }
  }
  static void await(node &self) {
    suspend([&](model_frame &f) { return wait_for_signal(self.signal, f); });
  }
  static void grant(node &n) {
    if (void *f = raise_signal(n.signal, &g_token))
      make_ready(*static_cast<model_frame *>(f));
  }
  static void grant(chain &granted) {
    while (node *n = granted.take())
      grant(*n);
  }
  template <class Change>
  void change_and_grant(Change change) {
    chain granted;
    under([&] { change(granted); });
    grant(granted);
  }
  template <class State>
  void cancel_wait(State &s, node &n) {
    chain granted;
    const bool ended = under([&] {
      const bool was_listed = cancel(s.waiters, n, wait_end::timed_out);
      if constexpr (requires { settle(s, granted); })
        if (was_listed)
          settle(s, granted);
      return was_listed;
    });
    grant(granted);
    if (ended)
      grant(n);
  }
};

/// Is a waiter with a deadline: it returns only when the clock is off.
struct timed_node : node {
  model_atomic<int> clock_is_off{0};
  void wait() {
    object_lock::await(*this);
    P::await(clock_is_off, [](int off) { return off == 1; }, acquire);
  }
};

// ---- the list

/// Lets a granter and a canceller end one wait.
struct wait_list_grant_or_cancel {
  static constexpr int threads = 3;
  object_lock lock;
  struct {
    wait_list<P> waiters;
  } object;
  std::optional<timed_node> waiter{std::in_place};
  wait_end ended{};
  bool granted = false;
  wait_list_grant_or_cancel() { enter(object.waiters, *waiter); }
  void run(int t) {
    if (t == 0) {
      waiter->wait();
      ended = waiter->end.get();
      waiter.reset();
    } else if (t == 1) {
      node *n = lock.under([&] { return take(object.waiters); });
      granted = n;
      if (n)
        lock.grant(*n);
    } else {
      timed_node &n = *waiter;
      lock.cancel_wait(object, n);
      n.clock_is_off.store(1, release);
    }
  }
  void check() {
    expect(granted == (ended == wait_end::granted), "one of them ends the wait");
    expect(is_empty(object.waiters), "the list is empty");
  }
};
const passes<wait_list_grant_or_cancel> l1{"wait_list_grant_or_cancel"};

/// Lets a granter put the node back while a canceller may have missed it.
struct wait_list_put_back {
  static constexpr int threads = 3;
  object_lock lock;
  struct {
    wait_list<P> waiters;
  } object;
  timed_node waiter;
  wait_list_put_back() { enter(object.waiters, waiter); }
  void run(int t) {
    if (t == 0) {
      waiter.wait();
      expect(waiter.end.get() == wait_end::timed_out, "the deadline ends the wait");
    } else if (t == 1) {
      if (node *n = lock.under([&] { return take(object.waiters); }))
        if (!lock.under([&] { return put_back(object.waiters, *n); }))
          lock.grant(*n);
    } else {
      lock.cancel_wait(object, waiter);
      waiter.clock_is_off.store(1, release);
    }
  }
  void check() { expect(is_empty(object.waiters), "the list is empty"); }
};
const passes<wait_list_put_back> l2{"wait_list_put_back"};

/// Keeps the order of arrival through entries, cancellations and a node that is put back.
struct wait_list_order {
  static constexpr int threads = 1;
  wait_list<P> list;
  node n[4];
  void run(int) {
    for (node &each : n)
      enter(list, each);
    expect(cancel(list, n[1], wait_end::timed_out), "the second leaves");
    expect(!cancel(list, n[1], wait_end::timed_out), "once");
    node *first = take(list);
    expect(first == &n[0] && put_back(list, *first), "the first is put back");
    expect(take(list) == &n[0] && take(list) == &n[2] && take(list) == &n[3], "first come first");
    expect(!take(list), "none is left");
  }
  void check() {}
};
const passes<wait_list_order> l3{"wait_list_order"};

// ---- semaphores

struct model_semaphore {
  object_lock lock;
  semaphore_state<P> state;
  explicit model_semaphore(std::int64_t count) : state(count) {}
  void take() {
    if (state.try_take())
      return;
    node self;
    if (!lock.under([&] { return take_or_enter(state, self); }))
      lock.await(self);
  }
  bool give(int count) {
    bool fits = state.try_give(count);
    if (!fits)
      lock.change_and_grant([&](chain &granted) { fits = weft::rt::give(state, count, granted); });
    return fits;
  }
};

template <int Threads, int Rounds>
struct semaphore_excludes {
  static constexpr int threads = Threads;
  model_semaphore semaphore{1};
  model_var<int> count{0};
  void run(int) {
    for (int i = 0; i < Rounds; ++i) {
      semaphore.take();
      count.set(count.get() + 1);
      expect(semaphore.give(1), "there is one unit");
    }
  }
  void check() {
    expect(count.get() == Threads * Rounds, "every round is counted");
    expect(semaphore.state.try_take() && !semaphore.state.try_take(), "one unit is left");
  }
};
const passes<semaphore_excludes<2, 1>> s1{"semaphore_two_threads"};
const passes<semaphore_excludes<2, 2>> s2{"semaphore_two_threads_twice"};
const passes<semaphore_excludes<3, 1>> s3{"semaphore_three_threads"};

/// Gives more units at once than there are takers.
struct semaphore_gives_many {
  static constexpr int threads = 3;
  model_semaphore semaphore{0};
  model_var<int> data{0};
  int seen[3] = {};
  void run(int t) {
    if (t == 0) {
      data.set(1);
      semaphore.give(3);
    } else {
      semaphore.take();
      seen[t] = data.get();
    }
  }
  void check() {
    expect(seen[1] == 1 && seen[2] == 1, "both see the giver's data");
    expect(semaphore.state.try_take() && !semaphore.state.try_take(), "the rest is in the count");
  }
};
const passes<semaphore_gives_many> s4{"semaphore_gives_many"};

/// Gives units to one that is nearly full, while a taker makes room.
struct semaphore_gets_full {
  static constexpr int threads = 3;
  static constexpr std::int64_t most = weft::detail::k_most_count;
  model_semaphore semaphore{most - 1};
  bool given[3] = {};
  void run(int t) {
    if (t == 0)
      semaphore.take();
    else
      given[t] = semaphore.give(1);
  }
  void check() {
    expect(given[1] || given[2], "there is room for one");
    expect(semaphore.state.word.load(std::memory_order_relaxed) ==
               2 * (most - 2 + given[1] + given[2]),
           "a refused unit is none");
  }
};
const passes<semaphore_gets_full> s7{"semaphore_gets_full"};

/// Ends a wait by its deadline, beside a giver.
struct semaphore_times_out {
  static constexpr int threads = 3;
  model_semaphore semaphore{0};
  timed_node waiter;
  bool has = false;
  semaphore_times_out() { expect(!take_or_enter(semaphore.state, waiter), "there is no unit"); }
  void run(int t) {
    if (t == 0) {
      waiter.wait();
      has = waiter.end.get() == wait_end::granted;
    } else if (t == 1) {
      expect(semaphore.give(1), "there is one unit");
    } else {
      semaphore.lock.cancel_wait(semaphore.state, waiter);
      waiter.clock_is_off.store(1, release);
    }
  }
  void check() {
    expect(semaphore.state.try_take() == !has, "the unit is taken once");
    expect(!semaphore.state.try_take(), "there is one");
    expect(semaphore.state.try_give(1), "no waiter is noted");
  }
};
const passes<semaphore_times_out> s5{"semaphore_times_out"};

/// Destroys the semaphore once its taker is let in.
struct semaphore_destroyed {
  static constexpr int threads = 2;
  object_lock lock; // in the table of the process
  std::optional<semaphore_state<P>> state{0};
  void run(int t) {
    if (t == 0) {
      if (!state->try_take()) {
        node self;
        if (!lock.under([&] { return take_or_enter(*state, self); }))
          lock.await(self);
      }
      state.reset();
    } else if (semaphore_state<P> &s = *state; !s.try_give(1)) {
      lock.change_and_grant([&](chain &granted) { static_cast<void>(give(s, 1, granted)); });
    }
  }
  void check() {}
};
const passes<semaphore_destroyed> s6{"semaphore_destroyed_by_its_taker"};

// ---- latches

template <int Counters>
struct latch_counts {
  static constexpr int threads = Counters + 1;
  object_lock lock;
  std::optional<latch_state<P>> state{Counters};
  model_var<int> data[Counters];
  int seen = 0;
  void run(int t) {
    if (t < Counters) {
      latch_state<P> &l = *state;
      data[t].set(1);
      if (count_down(l, 1) == counted::last)
        lock.change_and_grant([&](chain &granted) { open(l, granted); });
      return;
    }
    if (!state->is_down()) {
      node self;
      if (!lock.under([&] { return find_down_or_enter(*state, self); }))
        lock.await(self);
    }
    state.reset();
    for (auto &d : data)
      seen += d.get();
  }
  void check() { expect(seen == Counters, "the waiter sees what all counters did"); }
};
const passes<latch_counts<1>> t1{"latch_one_counter"};
const passes<latch_counts<2>> t2{"latch_two_counters"};

/// Looks at the latch without waiting; beside another waiter, or alone.
template <bool Awaited>
struct latch_is_polled {
  static constexpr int threads = 3;
  object_lock lock;
  latch_state<P> state{2};
  node other;
  latch_is_polled() { expect(!Awaited || !find_down_or_enter(state, other), "it is not down"); }
  model_var<int> data[2];
  int seen = 2;
  void run(int t) {
    if (t < 2) {
      data[t].set(1);
      if (count_down(state, 1) == counted::last)
        lock.change_and_grant([&](chain &granted) { open(state, granted); });
    } else if (state.is_down()) {
      seen = data[0].get() + data[1].get();
    }
  }
  void check() { expect(seen == 2, "a latch that is down shows what all counters did"); }
};
const passes<latch_is_polled<false>> t3{"latch_is_polled"};
const passes<latch_is_polled<true>> t4{"latch_is_polled_beside_a_waiter"};

// ---- events

struct model_event {
  object_lock lock;
  event_state<P> state;
  void set() {
    if (!state.try_set())
      lock.change_and_grant([&](chain &granted) { weft::rt::set(state, granted); });
  }
  void wait() {
    if (state.is_set())
      return;
    node self;
    if (!lock.under([&] { return find_set_or_enter(state, self); }))
      lock.await(self);
  }
};

template <int Waiters>
struct event_is_set {
  static constexpr int threads = Waiters + 1;
  model_event event;
  model_var<int> data{0};
  int seen[Waiters + 1] = {};
  void run(int t) {
    if (t == 0) {
      data.set(1);
      event.set();
    } else {
      event.wait();
      seen[t] = data.get();
    }
  }
  void check() {
    for (int t = 1; t <= Waiters; ++t)
      expect(seen[t] == 1, "each waiter sees what the setter did");
    expect(event.state.is_set(), "it stays set");
  }
};
const passes<event_is_set<1>> e1{"event_one_waiter"};
const passes<event_is_set<2>> e2{"event_two_waiters"};

/// Clears the event, then looks, then waits: the way to consume without losing a wake-up.
struct event_is_cleared {
  static constexpr int threads = 3;
  model_event event;
  model_atomic<int> items{0};
  void run(int t) {
    if (t < 2) {
      items.fetch_add(1, relaxed);
      event.set();
      return;
    }
    for (;;) {
      event.state.clear();
      if (items.load(relaxed) == 2)
        return;
      event.wait();
    }
  }
  void check() {}
};
const passes<event_is_cleared> e3{"event_cleared_before_a_look"};

/// Ends a wait by its deadline, beside a setter.
struct event_times_out {
  static constexpr int threads = 3;
  model_event event;
  timed_node waiter;
  event_times_out() { expect(!find_set_or_enter(event.state, waiter), "it is not set"); }
  void run(int t) {
    if (t == 0) {
      waiter.wait();
    } else if (t == 1) {
      event.set();
    } else {
      event.lock.cancel_wait(event.state, waiter);
      waiter.clock_is_off.store(1, release);
    }
  }
  void check() { expect(event.state.is_set(), "it is set"); }
};
const passes<event_times_out> e4{"event_times_out"};

// ---- shared locks

struct model_shared_lock {
  object_lock lock;
  shared_lock_state<P> state;
  void take(bool shared) {
    if (shared ? state.try_take_shared() : state.try_take())
      return;
    node self;
    self.shared = shared;
    if (!lock.under([&] { return take_or_enter(state, self); }))
      lock.await(self);
  }
  void give(bool shared) {
    if (shared ? state.try_give_up_shared() : state.try_give_up())
      return;
    lock.change_and_grant(
        [&](chain &granted) { expect(give_up(state, shared, granted), "it is held"); });
  }
  void enter_waiting(node &n, bool shared) {
    n.shared = shared;
    expect(!take_or_enter(state, n), "it is held");
  }
};

template <int Readers, int Writers>
struct shared_excludes {
  static constexpr int threads = Readers + Writers;
  model_shared_lock lock;
  model_var<int> data{0};
  void run(int t) {
    const bool reads = t < Readers;
    lock.take(reads);
    if (reads)
      expect(data.get() <= Writers, "a reader reads");
    else
      data.set(data.get() + 1);
    lock.give(reads);
  }
  void check() {
    expect(data.get() == Writers, "each writer counts");
    expect(lock.state.try_take() && lock.state.try_give_up(), "it is free in the end");
  }
};
const passes<shared_excludes<1, 1>> h1{"shared_reader_and_writer"};
const passes<shared_excludes<2, 1>> h2{"shared_two_readers_and_writer"};
const passes<shared_excludes<1, 2>> h3{"shared_reader_and_two_writers"};
const passes<shared_excludes<0, 2>> h4{"shared_two_writers"};

/// Lets a reader in that comes after a hand-over to another one.
struct shared_joins_readers {
  static constexpr int threads = 2;
  model_shared_lock lock;
  node first;
  model_var<int> data{0};
  int seen = 1;
  shared_joins_readers() {
    expect(lock.state.try_take(), "it is free");
    lock.enter_waiting(first, true);
  }
  void run(int t) {
    if (t == 0) {
      data.set(1);
      lock.give(false);
    } else if (lock.state.try_take_shared()) {
      seen = data.get();
    }
  }
  void check() { expect(seen == 1, "the reader sees what the writer did"); }
};
const passes<shared_joins_readers> h5{"shared_reader_after_hand_over"};

/// Cancels the writer between two readers of which the first one has the lock from a writer.
struct shared_writer_leaves {
  static constexpr int threads = 3;
  model_shared_lock lock;
  node first, last;
  node writer;
  model_var<int> data{0};
  shared_writer_leaves() {
    expect(lock.state.try_take(), "it is free");
    lock.enter_waiting(first, true);
    lock.enter_waiting(writer, false);
    lock.enter_waiting(last, true);
  }
  void run(int t) {
    if (t == 0) {
      data.set(1);
      lock.give(false); // to `first`, which never gives it up
    } else if (t == 1) {
      lock.lock.cancel_wait(lock.state, writer);
    } else {
      lock.lock.await(last);
      expect(data.get() == 1, "the reader sees what the first writer did");
    }
  }
  void check() {
    expect(lock.state.word.load(relaxed) == 2 * lock.state.k_one_shared, "two readers hold it");
  }
};
const passes<shared_writer_leaves> h6{"shared_readers_join_when_a_writer_leaves"};

/// Cancels the only waiter while the holder gives up.
template <bool Shared>
struct shared_waiter_leaves {
  static constexpr int threads = 3;
  model_shared_lock lock;
  node waiter;
  model_var<int> data{0};
  shared_waiter_leaves() {
    expect(Shared ? lock.state.try_take_shared() : lock.state.try_take(), "it is free");
    lock.enter_waiting(waiter, false);
  }
  void run(int t) {
    if (t == 0) {
      Shared ? void(data.get()) : data.set(1);
      lock.give(Shared);
    } else if (t == 1) {
      lock.lock.cancel_wait(lock.state, waiter);
    } else if (lock.state.try_take()) {
      data.set(2);
    }
  }
  void check() {
    const auto word = lock.state.word.load(relaxed);
    expect(word == 0 || (word & 3) == lock.state.k_exclusive, "no waiter is noted");
  }
};
const passes<shared_waiter_leaves<false>> h7{"shared_waiter_leaves_a_writer"};
const passes<shared_waiter_leaves<true>> h8{"shared_waiter_leaves_a_reader"};

/// Lets a writer in after two readers.
struct shared_writer_after_readers {
  static constexpr int threads = 3;
  model_shared_lock lock;
  node writer;
  model_var<int> data{0};
  shared_writer_after_readers() {
    expect(lock.state.try_take_shared() && lock.state.try_take_shared(), "two readers have it");
    lock.enter_waiting(writer, false);
  }
  void run(int t) {
    if (t < 2) {
      expect(data.get() == 0, "the writer comes later");
      lock.give(true);
    } else {
      lock.lock.await(writer);
      data.set(1);
    }
  }
  void check() { expect(data.get() == 1, "the writer was let in"); }
};
const passes<shared_writer_after_readers> h9{"shared_writer_after_readers"};

// ---- barriers

template <int Threads, int Phases>
struct barrier_phases {
  static constexpr int threads = Threads;
  object_lock lock;
  barrier_state<P> state{Threads};
  model_var<int> data[Threads];
  model_var<int> completed{0};
  void run(int t) {
    for (int phase = 0; phase < Phases; ++phase) {
      data[t].set(phase + 1);
      std::uint32_t in = 0;
      const counted how = arrive(state, 1, in);
      if (how == counted::last) {
        for (auto &d : data)
          expect(d.get() == phase + 1, "the last arriver sees what the others did");
        completed.set(completed.get() + 1);
        lock.change_and_grant([&](chain &granted) { turn(state, in, granted); });
      } else if (!state.is_over(in)) {
        node self;
        if (!lock.under([&] { return find_over_or_enter(state, in, self); }))
          lock.await(self);
      }
      expect(completed.get() == phase + 1, "the completion function has run");
    }
  }
  void check() { expect(completed.get() == Phases, "each phase ends once"); }
};
const passes<barrier_phases<2, 1>> b1{"barrier_two_threads"};
const passes<barrier_phases<3, 1>> b2{"barrier_three_threads"};

/// Lets one thread drop out in the first phase.
struct barrier_drops {
  static constexpr int threads = 2;
  object_lock lock;
  barrier_state<P> state{2};
  void pass() {
    std::uint32_t in = 0;
    if (arrive(state, 1, in) == counted::last)
      return lock.change_and_grant([&](chain &granted) { turn(state, in, granted); });
    if (state.is_over(in))
      return;
    node self;
    if (!lock.under([&] { return find_over_or_enter(state, in, self); }))
      lock.await(self);
  }
  void run(int t) {
    if (t == 0) {
      state.expected.fetch_sub(1, relaxed);
      std::uint32_t in = 0;
      if (arrive(state, 1, in) == counted::last)
        lock.change_and_grant([&](chain &granted) { turn(state, in, granted); });
    } else {
      pass();
      pass();
    }
  }
  void check() { expect(state.phase_of(state.word.load(relaxed)) == 2, "two phases are over"); }
};
const passes<barrier_drops> b3{"barrier_drops"};

// ---- condition variables

/// Waits for a flag under a lock; the notifier gives the lock up before it notifies.
template <int Waiters>
struct condition_notified {
  static constexpr int threads = Waiters + 1;
  object_lock lock;
  spin_lock<P> guard; // of the flag
  model_var<int> flag{0};
  wait_list<P> waiters;
  void run(int t) {
    if (t == 0) {
      guard.lock();
      flag.set(1);
      guard.unlock();
      if (!is_empty(waiters))
        lock.change_and_grant([&](chain &granted) { take_all(waiters, granted); });
      return;
    }
    guard.lock();
    while (flag.get() == 0) {
      node self;
      lock.under([&] { enter(waiters, self); });
      guard.unlock();
      lock.await(self);
      guard.lock();
    }
    guard.unlock();
  }
  void check() { expect(is_empty(waiters), "all were notified"); }
};
const passes<condition_notified<1>> c1{"condition_one_waiter"};
const passes<condition_notified<2>> c2{"condition_two_waiters"};

} // namespace
