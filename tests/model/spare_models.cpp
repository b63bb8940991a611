// SPDX-License-Identifier: Apache-2.0
// Models of a spare's seat with the slot of its thread's own stack. The watcher retires, recalls
// and wakes the spare; the spare leaves by itself, or the watcher takes it out of work. The spare's
// own stack is continued once for each time that the spare has left it, and a spare that is wanted
// works.
#include "checker/models.hpp"

#include "ult/frame_slot.hpp"
#include "worker/spare_seat.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;
using seat = spare_seat<P>;

struct own_stack {
  model_var<int> left{0}; // written by the leaving spare, read by the thread that makes it ready
};

/// Holds what the watcher and the spare do, and records of it.
struct one_spare {
  seat s;
  frame_slot<own_stack, P> slot;
  own_stack stack;
  model_var<int> done[4] = {}; // at each return
  int returns = 0; // times that the spare has returned to its own stack

  /// Runs the spare, from the moment at which it begins to work until it is parked. It leaves by
  /// itself after some looks.
  void stand_in(int looks) {
    stack.left.set(stack.left.get() + 1);
    s.work();
    for (int i = 0;; ++i) {
      if (slot.full())
        if (own_stack *mine = slot.take()) {
          expect(mine == &stack, "it is its own stack");
          break;
        }
      if (i >= looks && s.leave())
        break;
      P::pause();
    }
    done[returns++].set(1);
    s.park();
  }
  /// Returns false if the spare does not work.
  bool retire() {
    if (!s.retire())
      return false;
    expect(stack.left.get() > 0, "a stack that is made ready has been left");
    slot.put(stack);
    return true;
  }
  bool recall() {
    if (s.is() != seat::leaving || !slot.take())
      return false;
    s.recall();
    return true;
  }
};

/// Lets the watcher retire the spare, recall it, and retire it for good; or the spare has left by
/// itself.
template <int Looks>
struct spare_is_recalled {
  static constexpr int threads = 2;
  one_spare c;
  spare_is_recalled() { c.s.begin(); }
  void run(int t) {
    if (t == 0)
      return c.stand_in(Looks);
    while (Looks != 0 && !c.retire())
      P::pause();
    while (Looks == 0 && c.s.is() == seat::starting)
      P::pause();
    if ((Looks != 0 || c.retire()) && c.recall()) {
      expect(c.s.is() != seat::parked || Looks == 0,
             "who is recalled works, or has left by itself");
      c.retire();
    } else if (c.s.is() == seat::running) {
      c.retire();
    }
  }
  void check() {
    expect(c.returns == 1, "its own stack is continued once");
    expect(!c.slot.full(), "nothing is left in the slot");
    expect(c.s.is() == seat::parked, "it is parked");
  }
};
constexpr int k_never = 1 << 20; // the spare never leaves by itself
const passes<spare_is_recalled<k_never>> s1{"spare_is_recalled"};
const passes<spare_is_recalled<0>> s2{"spare_leaves_while_it_is_recalled"};

/// Wakes a parked spare as often as it is wanted; it leaves by itself. The waker and the spare see
/// what the other one has done.
template <bool Looks>
struct spare_comes_again {
  static constexpr int threads = 2;
  static constexpr int rounds = 2;
  one_spare c;
  model_var<int> prepared[rounds] = {};
  spare_comes_again() { c.s.park(); }
  void work(int i) {
    if (c.s.is() != seat::starting)
      static_cast<void>(c.s.wait(0));
    expect(prepared[i].get() == 1, "what came before the wake-up is seen");
    c.stand_in(0);
  }
  void wake(int i) {
    prepared[i].set(1);
    if (Looks) {
      while (c.s.is() != seat::parked)
        P::pause();
      expect(i == 0 || c.done[i - 1].get() == 1,
             "what it did is seen by who sees that it is parked");
    }
    while (!c.s.wake())
      P::pause();
    expect(i == 0 || c.done[i - 1].get() == 1, "and by who wakes it");
  }
  void run(int t) {
    for (int i = 0; i != rounds; ++i)
      t == 0 ? work(i) : wake(i);
  }
  void check() {
    expect(c.returns == rounds && c.s.is() == seat::parked, "it has worked each time");
  }
};
const passes<spare_comes_again<true>> s3{"spare_comes_again"};
const passes<spare_comes_again<false>> s4{"spare_is_woken_by_who_does_not_look"};

/// Ends all while the spare parks, and while the watcher wants it: the spare does not sleep on, each
/// thread that wakes it counts it once, and a thread that sees it gone sees what it has done.
struct spare_is_stopped {
  static constexpr int threads = 2;
  seat s;
  P::atomic<bool> stopping{false};
  P::atomic<int> woken{0};
  model_var<int> done{0};
  spare_is_stopped() { s.begin(); }
  void park() {
    done.set(1);
    s.park();
    const bool stops = stopping.load(seq_cst);
    if (!s.wait(stops ? 1 : 0))
      return;
    woken.fetch_sub(1, relaxed);
    done.set(2);
    s.end();
  }
  void wake() {
    if (s.wake())
      woken.fetch_add(1, relaxed);
  }
  void run(int t) {
    if (t == 0)
      return park();
    wake();
    stopping.store(true, seq_cst);
    wake();
    if (s.is() == seat::gone)
      expect(done.get() != 0, "it has begun to park");
  }
  void check() {
    expect(s.is() == seat::gone, "it is gone");
    expect(woken.load(relaxed) == 0, "it is counted as often as it was woken");
  }
};
const passes<spare_is_stopped> s5{"spare_is_stopped"};

} // namespace
