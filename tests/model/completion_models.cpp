// SPDX-License-Identifier: Apache-2.0
// Models of src/task/wait/completion.hpp and countdown.hpp: when the last child is gone, exactly one
// thread acts, and that thread sees what all children have done.
#include "checker/models.hpp"

#include "task/countdown.hpp"
#include "task/wait/completion.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

/// Lets one worker end two children and publish both at once; another worker ends a third.
struct completion_of_two_at_once {
  static constexpr int threads = 3;
  completion_word<P> word;
  model_var<int> done[3] = {};
  model_var<int> waiter{0};
  int acted = 0;
  void act() {
    ++acted;
    expect(waiter.get() == 1, "who acts sees the waiter");
    for (auto &each : done)
      expect(each.get() == 1, "who acts sees every child's work");
  }
  void run(int t) {
    bool last = false;
    if (t == 0) {
      waiter.set(1);
      last = word.settle(3);
    } else if (t == 1) {
      done[0].set(1);
      done[1].set(1);
      last = word.remove(2);
    } else {
      done[2].set(1);
      last = word.remove();
    }
    if (last)
      act();
  }
  void check() { expect(acted == 1, "exactly one acts"); }
};
const passes<completion_of_two_at_once> c0{"completion_of_two_at_once"};

/// Is a number of children that have ended before a model begins: with one more, the owner's count
/// wraps.
constexpr std::uint32_t k_nearly_wrapped = 0xFFFF'FFFF;

/// Has an owner that spawned `Children`; thread t > 0 ends child t - 1. With NonOwner, child 0
/// spawns one more into the scope. `Ended` children of the owner have ended before.
template <int Children, bool NonOwner, bool Polls, std::uint32_t Ended = 0>
struct completion_acts_once {
  static constexpr int threads = 1 + Children;
  static constexpr std::uint32_t owned = Ended + Children;
  completion_word<P> word;
  model_var<int> done[Children + 1] = {};
  model_var<int> waiter{0};
  int acted[1 + Children] = {};
  completion_acts_once() { static_cast<void>(word.remove(Ended)); }
  void act(int t) {
    ++acted[t];
    expect(waiter.get() == 1 || t == 0, "who acts sees the waiter");
    for (int i = 0; i < Children + NonOwner; ++i)
      expect(done[i].get() == 1, "who acts sees every child's work");
  }
  void run(int t) {
    if (t == 0) {
      if (Polls && word.done(owned)) {
        act(0);
        return;
      }
      waiter.set(1);
      if (word.settle(owned))
        act(0);
      return;
    }
    if (NonOwner && t == 1)
      word.add_by_non_owner();
    done[t - 1].set(1);
    if (word.remove())
      act(t);
    if (NonOwner && t == 1) {
      done[Children].set(1);
      if (word.remove())
        act(t);
    }
  }
  void check() {
    int all = 0;
    for (int n : acted)
      all += n;
    expect(all == 1, "exactly one acts");
  }
};
const passes<completion_acts_once<1, false, true>> c1{"completion_one_child"};
const passes<completion_acts_once<2, false, false>> c2{"completion_two_children"};
const passes<completion_acts_once<2, true, false>> c3{"completion_non_owner"};
const passes<completion_acts_once<2, false, true>> c4{"completion_polled"};
const passes<completion_acts_once<2, true, true, k_nearly_wrapped>> c5{"completion_wrapped"};
const passes<completion_acts_once<1, false, true, k_nearly_wrapped / 2>> c6{
    "completion_wrapped_in_sign"};

enum class giving_up { right, settles_beside_a_canceller };

/// Lets the owner wait for `Children` children, and `Cancellers` threads give that wait up. The owner
/// then waits to the end. Each wait is ended once: by a remover, by settle(), or by one canceller.
template <int Children, int Cancellers, giving_up How = giving_up::right, std::uint32_t Ended = 0>
struct completion_withdrawn {
  static constexpr int threads = 1 + Children + Cancellers;
  static constexpr std::uint32_t owned = Ended + Children;
  completion_word<P> word;
  model_var<int> done[Children] = {};
  model_var<int> waiter{0}; // 0 none, else the number of the wait
  model_atomic<int> ended[2] = {}; // each wait: how often
  model_atomic<int> may_cancel{0}, cancellers{0}, withdrawn{0};
  completion_withdrawn() { static_cast<void>(word.remove(Ended)); }
  void act(int wait) {
    expect(wait == 1 || wait == 2, "who acts sees the waiter");
    waiter.set(0);
    ended[wait - 1].fetch_add(1, acq_rel);
  }
  /// Returns when the wait has ended.
  void wait(int number) {
    waiter.set(number);
    if (word.settle(owned))
      act(number);
    if (number == 1)
      may_cancel.store(1, release);
    P::await(ended[number - 1], [](int n) { return n != 0; }, acquire);
  }
  void run(int t) {
    if (t == 0) {
      wait(1);
      if (How == giving_up::right) // disarms them
        P::await(cancellers, [](int n) { return n == Cancellers; }, acquire);
      if (withdrawn.load(relaxed) == 1 && !word.done(owned)) // else a remover has ended the wait
        wait(2);
      for (auto &each : done)
        expect(each.get() == 1, "the owner sees every child's work");
      return;
    }
    if (t <= Children) {
      done[t - 1].set(1);
      if (word.remove())
        act(waiter.get());
      return;
    }
    P::await(may_cancel, [](int is) { return is == 1; }, acquire);
    if (word.withdraw(owned)) {
      withdrawn.store(1, relaxed);
      act(1);
    }
    cancellers.fetch_add(1, acq_rel);
  }
  void check() {
    expect(ended[0].load(relaxed) == 1, "the first wait ends once");
    expect(ended[1].load(relaxed) <= 1, "the second wait ends once at most");
  }
};
const passes<completion_withdrawn<1, 1>> w1{"completion_withdrawn"};
const passes<completion_withdrawn<2, 1>> w2{"completion_withdrawn_of_two"};
const passes<completion_withdrawn<1, 2>> w3{"completion_withdrawn_by_two"};
const passes<completion_withdrawn<2, 1, giving_up::right, k_nearly_wrapped>> w5{
    "completion_withdrawn_wrapped"};
const fails<completion_withdrawn<1, 2, giving_up::settles_beside_a_canceller>> w4{
    "flawed_completion_settles_beside_a_canceller", ""};

/// Lets each thread take its part of the count; the first thread holds `First` of it.
template <int Threads, std::uint32_t First>
struct countdown {
  static constexpr int threads = Threads;
  P::atomic<std::uint32_t> count{First + Threads - 1};
  model_var<int> done[Threads] = {};
  int acted = 0;
  void run(int t) {
    done[t].set(1);
    if (!take_away(count, t == 0 ? First : 1))
      return;
    ++acted;
    for (auto &each : done)
      expect(each.get() == 1, "who takes the last sees what all have done");
  }
  void check() { expect(acted == 1, "exactly one takes the last"); }
};
const passes<countdown<2, 1>> d1{"countdown_two"};
const passes<countdown<2, 3>> d2{"countdown_of_unequal_shares"};
const passes<countdown<3, 2>> d3{"countdown_three"};

} // namespace
