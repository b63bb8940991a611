// SPDX-License-Identifier: Apache-2.0
// Models of the dispatcher's registry (src/services/registry.hpp): registration while callbacks
// run. Plain data models the end of a registration: a call reads the data, and the owner of the
// registration writes it afterwards, so a call too late is a race. A sleeper that is never woken is
// a deadlock.
#include "checker/models.hpp"

#include "services/registry.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using P = model_atomics;

struct callback : registration<P> {
  using registration::registration;
  model_var<int> data{0}; // of the owner, and of the calls while it is registered
};

struct poll_point_model {
  registry<P> list;
  spin_lock<P> turn; // in place of the mutex that keeps callers apart

  /// Makes one round of a worker; f(callback) is the call, and returns whether it has ended its own
  /// registration.
  template <class F>
  void poll(F &&f) {
    const bool alone = turn.try_lock();
    auto round = list.begin_round();
    while (auto *e = list.begin_next(round, alone ? caller_gets::all : caller_gets::concurrent))
      if (!f(static_cast<callback &>(*e)))
        list.end(*e);
    if (alone)
      turn.unlock();
  }
};

bool reads(callback &c) {
  expect(c.data.get() != 2, "not called after its end");
  return false;
}

/// Lets callers run against the owner of one registration.
template <int Callers, callable_by Who>
struct registry_ends {
  static constexpr int threads = Callers + 1;
  poll_point_model point;
  callback c{0, Who};
  void run(int t) {
    if (t > 0)
      return point.poll(reads);
    c.data.set(1);
    point.list.add(c);
    point.list.remove(c, 0);
    c.data.set(2);
  }
  void check() {
    point.poll([](callback &) {
      expect(false, "the list is empty in the end");
      return false;
    });
  }
};
const passes<registry_ends<1, callable_by::one>> e1{"registry_end_waits_for_the_call"};
const passes<registry_ends<2, callable_by::several>> e2{"registry_end_waits_for_concurrent_calls"};
const passes<registry_ends<2, callable_by::one>> e3{
    "registry_end_waits_for_the_call_of_two_callers"};

/// Lets threads call one callback, one at a time; each call reads what the call before it wrote.
struct registry_calls_alone {
  static constexpr int threads = 2;
  poll_point_model point;
  callback c{0};
  int calls[2] = {};
  registry_calls_alone() { point.list.add(c); }
  void run(int t) {
    for (int i = 0; i < 2; ++i)
      point.poll([&](callback &me) {
        me.data.set(me.data.get() + 1);
        ++calls[t];
        return false;
      });
  }
  void check() {
    expect(c.data.get() == calls[0] + calls[1], "every call is counted");
    expect(calls[0] + calls[1] >= 2,
           "whoever finds the turn taken goes on, and the other one calls");
  }
};
const passes<registry_calls_alone> a1{"registry_calls_one_at_a_time"};

/// Lets a callback end its own registration while another thread calls as well.
template <callable_by Who>
struct registry_ends_itself {
  static constexpr int threads = 2;
  poll_point_model point;
  callback c{0, Who};
  model_atomic<int> ended{0};
  registry_ends_itself() { point.list.add(c); }
  void run(int) {
    point.poll([&](callback &me) {
      if (ended.fetch_add(1, std::memory_order_relaxed) != 0)
        return reads(me);
      point.list.remove(me, 1);
      me.data.set(2);
      return true;
    });
  }
  void check() { expect(ended.load(std::memory_order_relaxed) >= 1, "it was called"); }
};
const passes<registry_ends_itself<callable_by::one>> s1{"registry_call_ends_itself"};
const passes<registry_ends_itself<callable_by::several>> s2{"registry_concurrent_call_ends_itself"};

/// Continues a round, in order, while neighbours of the callback are registered and end. The round
/// ends although each call adds another callback.
struct registry_changes_under_a_round {
  static constexpr int threads = 2;
  poll_point_model point;
  callback first{9}, last{-9}, between{0}, late{-10};
  int seen = 0; // of thread 1
  registry_changes_under_a_round() {
    point.list.add(last);
    point.list.add(first);
  }
  void run(int t) {
    if (t == 0) {
      point.list.add(between);
      point.list.remove(between, 0);
      return;
    }
    point.poll([&](callback &c) {
      if (&c == &first) {
        seen = seen * 10 + 1;
        point.list.add(late);
      } else if (&c == &last) {
        seen = seen * 10 + 3;
      } else {
        expect(&c == &between, "what is added by a call waits for the next round");
        seen = seen * 10 + 2;
      }
      return false;
    });
  }
  void check() {
    expect(seen == 13 || seen == 123, "everybody who stays is called once, in order of priority");
  }
};
const passes<registry_changes_under_a_round> r1{"registry_changes_under_a_round"};

// --- seeded bugs: what each half of an end is good for

enum class flaw { remover_does_not_wait, end_wakes_nobody };

template <flaw Flaw>
struct flawed_end {
  static constexpr int threads = 2;
  poll_point_model point;
  callback c{0};
  flawed_end() { point.list.add(c); }
  void run(int t) {
    if (t == 0) {
      if (Flaw == flaw::end_wakes_nobody)
        point.list.remove(c, 0);
      else
        c.calls.fetch_or(1u << 31, std::memory_order_acq_rel); // no new call begins
      c.data.set(2);
      return;
    }
    auto round = point.list.begin_round();
    auto *e = point.list.begin_next(round, caller_gets::all);
    if (!e)
      return;
    reads(c);
    if (Flaw == flaw::end_wakes_nobody)
      e->calls.fetch_sub(1, std::memory_order_release);
    else
      point.list.end(*e);
  }
  void check() {}
};
const fails<flawed_end<flaw::remover_does_not_wait>> f1{"flawed_registry_end_does_not_wait",
                                                        "data race"};
const fails<flawed_end<flaw::end_wakes_nobody>> f2{"flawed_registry_end_wakes_nobody", "deadlock"};

} // namespace
