// SPDX-License-Identifier: Apache-2.0
// An external thread waits for its own stack, apart from the workers: the waker finds it in either
// place, and the watcher moves it from one to the other. A lightweight thread parks instead.
#include "suspension.hpp"

#include "park/eventcount.hpp"
#include "ult/frame_slot.hpp"
#include "worker/carried_bed.hpp"
#include "worker/sleep_apart.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

/// Sleeps as search.cpp does: in the place that it chose before it announced itself.
struct external {
  frame_slot<model_frame, P> slot;
  eventcount<P> idle{2};
  basic_sleep_apart<P> apart{false};
  external() { apart.open(1); }

  /// Returns the frame, or null when `works` says that there is other work, of which the thread may
  /// take some.
  template <class Works>
  model_frame *wait(Works works) {
    for (;;) {
      const bool keeps = !apart.all_help();
      if (slot.full())
        return slot.take();
      if (!keeps && works())
        return nullptr;
      eventcount<P> &bed = keeps ? apart.bed() : idle;
      bed.prepare(0);
      if (slot.full() || keeps == apart.all_help() || (!keeps && works()))
        bed.cancel_and_relay(0);
      else
        bed.commit(0);
    }
  }
  void wake(model_frame &f) {
    slot.put(f);
    if (!idle.notify_worker(0))
      apart.wake(0);
  }
};

/// The frame comes while the watcher lets the thread help: the thread is in either place.
template <bool Helps>
struct apart_frame_comes {
  static constexpr int threads = Helps ? 3 : 2;
  external e;
  model_frame frame;
  model_var<int> sent{0};
  void run(int t) {
    if (t == 0) {
      expect(e.wait([] { return false; }) == &frame, "the frame is the one that was put");
      expect(sent.get() == 1, "what came before the wake-up is seen");
    } else if (t == 1) {
      sent.set(1);
      e.wake(frame);
    } else {
      e.apart.let_help();
    }
  }
  void check() {
    expect(!e.slot.full() && e.idle.idle() == 0 && e.apart.bed().idle() == 0, "nothing is left");
  }
};
const passes<apart_frame_comes<false>> a1{"apart_frame_comes"};
const passes<apart_frame_comes<true>> a2{"apart_frame_comes_while_all_are_let_help"};

/// No worker is left: once the thread may help, it takes the item that was there before.
struct apart_thread_helps {
  static constexpr int threads = 2;
  external e;
  model_atomic<int> item{0};
  void run(int t) {
    if (t == 0) {
      expect(e.wait([&] { return item.load(relaxed) == 1; }) == nullptr, "the thread helps");
    } else {
      item.store(1, relaxed);
      e.idle.notify_one();
      e.apart.let_help();
    }
  }
  void check() { expect(e.apart.bed().idle() == 0, "nothing is left"); }
};
const passes<apart_thread_helps> a3{"apart_thread_helps"};

/// An item for the workers never chooses the thread that sleeps apart: worker 1 takes it.
struct apart_thread_is_not_chosen {
  static constexpr int threads = 3;
  external e;
  model_frame frame;
  model_atomic<int> item{0};
  void run(int t) {
    if (t == 0) {
      expect(e.wait([] { return true; }) == &frame, "the thread waits for its frame");
    } else if (t == 1) {
      while (item.load(relaxed) == 0) {
        e.idle.prepare(1);
        if (item.load(relaxed) != 0)
          e.idle.cancel(1);
        else
          e.idle.commit(1);
      }
      e.wake(frame);
    } else {
      item.store(1, relaxed);
      e.idle.notify_one();
    }
  }
  void check() { expect(!e.slot.full() && e.idle.idle() == 0, "nothing is left"); }
};
const passes<apart_thread_is_not_chosen> a4{"apart_thread_is_not_chosen"};

/// The thread that keeps to its own takes an item of the workers out of its queue, and puts it back,
/// while worker 1 looks for the last time before it sleeps.
template <bool Tells>
struct apart_item_is_put_back {
  static constexpr int threads = 2;
  eventcount<P> idle{2};
  model_atomic<int> queue{0};
  void run(int t) {
    if (t == 0) {
      queue.store(1, relaxed);
      idle.notify_one();
      if (queue.exchange(0, relaxed) == 0) // the worker was first
        return;
      queue.store(1, relaxed);
      if (Tells)
        idle.notify_one();
      return;
    }
    while (queue.exchange(0, relaxed) == 0) {
      idle.prepare(1);
      if (queue.load(relaxed) != 0)
        idle.cancel(1);
      else
        idle.commit(1);
    }
  }
  void check() { expect(queue.load(relaxed) == 0 && idle.idle() == 0, "nothing is left"); }
};
const passes<apart_item_is_put_back<true>> a5{"apart_item_is_put_back"};
const fails<apart_item_is_put_back<false>> a6{"flawed_apart_item_is_put_back_silently", "deadlock"};

/// Waits as loop.cpp does: the frame in the slot is what the thread waits for, and the stack that it
/// parks is another one each time.
struct carried {
  frame_slot<model_frame, P> slot;
  carried_bed<model_frame, P> bed;

  model_frame *wait() {
    model_frame *got = nullptr;
    do {
      if (!slot.full())
        suspend(
            [&](model_frame &parked) { return bed.publish(parked, [&] { return slot.full(); }); });
      got = slot.take();
    } while (!got);
    return got;
  }
  void wake(model_frame &f) {
    slot.put(f);
    if (model_frame *const parked = bed.claim())
      unless(bug::carried_wakes_nobody, [&] { make_ready(*parked); });
  }
};

/// Rounds of waits, each with a waker of its own: a waker may be late for its round.
template <int Rounds>
struct carried_frame_comes {
  static constexpr int threads = 1 + Rounds;
  carried e;
  model_frame frames[Rounds];
  model_var<int> sent[Rounds];
  model_atomic<int> round{0};
  void run(int t) {
    if (t == 0) {
      for (int r = 0; r != Rounds; ++r) {
        round.store(r + 1, release);
        expect(e.wait() == &frames[r], "the frame is the one that was put");
        expect(sent[r].get() == 1, "what came before the wake-up is seen");
      }
      return;
    }
    P::await(round, [t](int r) { return r >= t; }, acquire);
    sent[t - 1].set(1);
    e.wake(frames[t - 1]);
  }
  void check() { expect(!e.slot.full() && !e.bed.is_parked(), "nothing is left"); }
};
const passes<carried_frame_comes<1>> c1{"carried_frame_comes"};
const passes<carried_frame_comes<2>> c2{"carried_frame_comes_again"};

} // namespace
