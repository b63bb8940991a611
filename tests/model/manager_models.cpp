// SPDX-License-Identifier: Apache-2.0
// Models of messages to managers (src/managers/message_queue.hpp,
// src/deps/state/pending_registrations.hpp) and of how managers.cpp applies them: the hand-over
// between managers, the wait for queued messages, the zombie step, the end of a central manager.
#include "checker/models.hpp"

#include "deps/state/pending_registrations.hpp"
#include "managers/message_queue.hpp"
#include "park/eventcount.hpp"
#include "task/countdown.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

/// Applies messages in order to plain memory: two managers at once are a race.
template <int Managers, int Messages>
struct messages_in_order {
  static constexpr int threads = 1 + Managers;
  message_queue<int, P> queue{Messages};
  model_var<int> applied{0};
  void drain() {
    if (!queue.acquire())
      return;
    for (int m = 0; queue.pop(m);) {
      expect(m == applied.get(), "in the order of their creation");
      applied.set(m + 1);
    }
    queue.release();
  }
  void run(int t) {
    if (t > 0)
      return drain();
    for (int m = 0; m < Messages; ++m)
      expect(queue.push(m), "there is room");
  }
  void check() {
    drain();
    expect(applied.get() == Messages, "nothing is lost");
  }
};
const passes<messages_in_order<1, 2>> m1{"messages_one_manager"};
const passes<messages_in_order<2, 2>> m2{"messages_hand_over"};

/// Sends messages without an order to any manager: each is taken once, several at a time.
template <int AtATime>
struct messages_taken {
  static constexpr int threads = 3;
  message_queue<model_var<int> *, P> queue{2};
  model_var<int> ends[2];
  void run(int t) {
    if (t == 0) {
      for (auto &e : ends) {
        e.set(1);
        expect(queue.push(&e), "there is room");
      }
      return;
    }
    if (!queue.empty())
      take();
  }
  bool take() {
    model_var<int> *some[AtATime] = {};
    const std::size_t n = queue.take(some, AtATime);
    for (std::size_t i = 0; i < n; ++i)
      some[i]->set(some[i]->get() + 1);
    return n != 0;
  }
  void check() {
    while (take()) {
    }
    expect(ends[0].get() == 2 && ends[1].get() == 2, "each is taken once");
  }
};
const passes<messages_taken<1>> m3{"messages_taken_by_two"};
const passes<messages_taken<2>> m4{"messages_taken_two_at_a_time"};

/// Lets the parent use its domain, and end it, when nothing is queued. The parent helps to apply.
template <int Managers>
struct registrations_applied {
  static constexpr int threads = 1 + Managers;
  message_queue<int, P> queue{2};
  pending_registrations<P> queued;
  model_var<int> domain{0};
  void drain(bool all) {
    int m = 0;
    while ((all || !queued.none()) && queue.pop(m)) {
      domain.set(domain.get() + m);
      queued.applied();
    }
  }
  void run(int t) {
    if (t > 0) {
      if (!queue.acquire())
        return;
      drain(true);
      return queue.release();
    }
    domain.set(1); // the parent acts itself
    for (int m : {10, 100}) {
      queued.add();
      expect(queue.push(m), "there is room");
    }
    while (!queued.none()) {
      if (!queue.acquire()) {
        P::pause();
        continue;
      }
      drain(false);
      queue.release();
    }
    expect(domain.get() == 111, "all is applied");
    domain.set(-1);
  }
  void check() { expect(domain.get() == -1, "nobody comes after the end of the domain"); }
};
const passes<registrations_applied<1>> n1{"registrations_one_manager"};
const passes<registrations_applied<2>> n2{"registrations_two_managers"};

/// Lets a parent that is about to act itself first apply what it has posted, unless a manager is at
/// it; while anything is queued, the parent posts.
template <bool Blindly>
struct registrations_of_one_who_acts {
  static constexpr int threads = 2;
  message_queue<int, P> queue{2};
  pending_registrations<P> queued;
  model_var<int> domain{0};
  void enter(int m) { domain.set(domain.get() * 10 + m); }
  void drain() {
    if (!queue.acquire())
      return;
    for (int m = 0; queue.pop(m); queued.applied())
      enter(m);
    queue.release();
  }
  void post(int m) {
    queued.add();
    expect(queue.push(m), "there is room");
  }
  void run(int t) {
    if (t > 0)
      return drain();
    post(1);
    drain();
    if (Blindly || queued.none())
      enter(2);
    else
      post(2);
  }
  void check() {
    drain();
    expect(domain.get() == 12, "in the order of their creation");
  }
};
const passes<registrations_of_one_who_acts<false>> n3{"registrations_of_one_who_acts"};
const fails<registrations_of_one_who_acts<true>> n4{"registrations_of_one_who_acts_blindly",
                                                    "data race"};

/// Lets a worker and a manager release a task: the last one drops it, with what both did to it.
struct zombie_step {
  static constexpr int threads = 2;
  message_queue<int, P> queue{1};
  model_atomic<std::uint32_t> left{0};
  model_var<int> closure{1}, accesses{1};
  int dropped[2] = {};
  void drop(int t) {
    ++dropped[t];
    expect(closure.get() == 0 && accesses.get() == 0, "both are done with it");
    closure.set(-1);
    accesses.set(-1);
  }
  void manage() {
    if (int m = 0; queue.take(&m, 1)) {
      accesses.set(0);
      if (take_away(left, 1))
        drop(1);
    }
  }
  void run(int t) {
    if (t == 1)
      return manage();
    left.store(2, relaxed);
    expect(queue.push(1), "there is room");
    closure.set(0);
    if (take_away(left, 1))
      drop(0);
  }
  void check() {
    manage();
    expect(dropped[0] + dropped[1] == 1, "dropped once");
  }
};
const passes<zombie_step> z1{"zombie_step"};

/// Loops as managers::run does: the manager sleeps without messages, and applies what is queued
/// before it stops.
template <bool Forgets>
struct manager_stops {
  static constexpr int threads = 2;
  message_queue<int, P> queue{2};
  eventcount<P> bell{1};
  model_atomic<int> stopping{0};
  int applied = 0;
  bool round() {
    int m = 0;
    const bool any = !queue.empty() && queue.take(&m, 1) != 0;
    applied += m;
    return any;
  }
  void manage() {
    for (;;) {
      const bool last = stopping.load(acquire) != 0;
      if (round())
        continue;
      if (last || (Forgets && stopping.load(acquire) != 0))
        return;
      bell.prepare(0);
      if (!queue.empty() || stopping.load(acquire) != 0)
        bell.cancel(0);
      else
        bell.commit(0);
    }
  }
  void run(int t) {
    if (t == 1)
      return manage();
    expect(queue.push(1), "there is room");
    bell.notify_one();
    expect(queue.push(2), "there is room");
    bell.notify_one();
    stopping.store(1, release);
    bell.notify_all();
  }
  void check() { expect(applied == 3, "applied before the end"); }
};
const passes<manager_stops<false>> s1{"manager_stops"};
const fails<manager_stops<true>> s2{"manager_stops_forgetful", "applied before the end"};

} // namespace
