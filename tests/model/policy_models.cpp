// SPDX-License-Identifier: Apache-2.0
// Models of src/tune/policy_thread.hpp: the thread that calls policies sleeps over nothing, and a
// policy that is withdrawn is called no more.
#include "suspension.hpp"

#include "queue/spin_lock.hpp"
#include "tune/policy_thread.hpp"

#include <mutex>

namespace {

using namespace weft_model;
using namespace weft::rt;
using P = model_atomics;

/// An event wakes the caller, and the policy sees what was done before it. The caller has no other
/// reason to wake.
template <int Notifiers>
struct policy_hears_events {
  static constexpr int threads = 1 + Notifiers;
  policy_bell<P> bell;
  policy_event_word<P> event;
  model_var<int> done[Notifiers] = {};
  policy_hears_events() { event.listeners.store(1, std::memory_order_relaxed); }
  void run(int t) {
    if (t != 0) {
      done[t - 1].set(1);
      return event.fire(bell);
    }
    std::uint64_t seen = 0;
    while (seen != Notifiers) {
      const std::uint32_t heard = bell.listen();
      if (!event.has_happened(seen)) {
        bell.wait(heard, 0);
        continue;
      }
      if (seen == Notifiers)
        for (auto &what : done)
          expect(what.get() == 1, "the policy sees what was done before the event");
    }
  }
  void check() {}
};
const passes<policy_hears_events<1>> e1{"policy_hears_an_event"};
const passes<policy_hears_events<2>> e2{"policy_hears_two_events"};

/// No policy listens: the bell does not ring.
struct policy_event_unheard {
  static constexpr int threads = 1;
  policy_bell<P> bell;
  policy_event_word<P> event;
  std::uint32_t before = 0, after = 0;
  void run(int) {
    before = bell.listen();
    event.fire(bell);
    after = bell.listen();
  }
  void check() {
    std::uint64_t seen = 0;
    expect(before == after && !event.has_happened(seen), "an event without listeners does nothing");
  }
};
const passes<policy_event_unheard> u1{"policy_event_unheard"};

/// The end of the program ends the caller, which has nothing to call.
template <bool ListensFirst>
struct policy_caller_stops {
  static constexpr int threads = 2;
  policy_bell<P> bell;
  bool has_ended = false;
  policy_caller_stops() { bell.begin(); }
  void run(int t) {
    if (t == 1) {
      bell.stop();
      has_ended = bell.wait_for_end(0);
      return;
    }
    for (bool stops = false; !stops;) {
      std::uint32_t heard = 0;
      if (ListensFirst) {
        heard = bell.listen();
        stops = bell.stops();
      } else {
        stops = bell.stops();
        heard = bell.listen();
      }
      if (!stops)
        bell.wait(heard, 0);
    }
    bell.end();
  }
  void check() { expect(has_ended, "the end waits for the caller"); }
};
const passes<policy_caller_stops<true>> s1{"policy_caller_stops"};
const fails<policy_caller_stops<false>> s2{"policy_caller_looks_before_it_listens", "deadlock"};

struct model_policy {
  model_var<int> alive{1};
};

/// A policy is withdrawn, by another thread, before, in or after its call.
struct policy_is_withdrawn {
  static constexpr int threads = 2;
  spin_lock<P> lock;
  called_policy<model_policy, P> call;
  model_policy policy;
  model_var<bool> entered{true};
  void run(int t) {
    std::unique_lock hold(lock);
    if (t == 0) {
      if (!entered.get())
        return;
      call.begin(policy);
      hold.unlock();
      expect(policy.alive.get() == 1, "the policy that is called is there");
      hold.lock();
      expect(call.end(), "it has not withdrawn itself");
      return;
    }
    entered.set(false);
    expect(call.wait_until_over(policy, hold), "no call was given up");
    policy.alive.set(0); // a race with a call that goes on
  }
  void check() { expect(call.called() == nullptr, "nothing is called"); }
};
const passes<policy_is_withdrawn> w1{"policy_is_withdrawn"};

/// A policy ends itself in its call, while another one is withdrawn.
struct policy_withdraws_itself {
  static constexpr int threads = 2;
  spin_lock<P> lock;
  called_policy<model_policy, P> call;
  model_policy own, other;
  model_var<bool> entered{true};
  void run(int t) {
    std::unique_lock hold(lock);
    if (t == 1) {
      entered.set(false);
      expect(call.wait_until_over(other, hold), "no call was given up");
      other.alive.set(0);
      return;
    }
    call.begin(own);
    hold.unlock();
    hold.lock();
    call.withdraw_itself();
    hold.unlock();
    hold.lock();
    expect(!call.end(), "it has withdrawn itself");
    if (!entered.get())
      return;
    call.begin(other);
    hold.unlock();
    expect(other.alive.get() == 1, "the policy that is called is there");
    hold.lock();
    expect(call.end(), "the other one has not");
  }
  void check() { expect(call.called() == nullptr, "nothing is called"); }
};
const passes<policy_withdraws_itself> w2{"policy_withdraws_itself"};

/// The end of the program gives a call up, while its policy is withdrawn: the withdrawal ends. The
/// memory of the policy stays unless the call has returned.
template <bool Returns>
struct policy_call_is_given_up {
  static constexpr int threads = 3;
  spin_lock<P> lock;
  called_policy<model_policy, P> call;
  model_policy policy;
  policy_call_is_given_up() { call.begin(policy); }
  void run(int t) {
    std::unique_lock hold(lock);
    if (t == 0)
      return call.give_up();
    if (t == 1) {
      if (call.wait_until_over(policy, hold))
        policy.alive.set(0);
      return;
    }
    hold.unlock();
    expect(policy.alive.get() == 1, "the policy that is called is there");
    if (!Returns)
      return; // it goes on for ever
    hold.lock();
    call.end();
  }
  void check() {
    expect(Returns == (call.called() == nullptr), "only a call that returns is over");
    expect(Returns || policy.alive.get() == 1, "what a call uses that goes on stays");
  }
};
const passes<policy_call_is_given_up<false>> g1{"policy_call_is_given_up"};
const passes<policy_call_is_given_up<true>> g2{"policy_call_returns_late"};

} // namespace
