// SPDX-License-Identifier: Apache-2.0
// Models of what suspended frames wait for: block_word, event_word, signal_word, frame_slot.
// No waiter waits for ever, a resumed waiter sees what its waker did before, and no thread touches
// anything after its end.
#include "suspension.hpp"

#include "park/eventcount.hpp"
#include "queue/spin_lock.hpp"
#include "task/wait/block_word.hpp"
#include "task/wait/event_word.hpp"
#include "task/wait/signal_word.hpp"
#include "ult/frame_slot.hpp"

#include <optional>

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

using model_block = block_word<model_frame, P>;

/// Lets the task block as often as the others unblock it; they repeat a refused unblock.
template <int Unblockers, int Each>
struct block_resumes {
  static constexpr int threads = 1 + Unblockers;
  static constexpr int rounds = Unblockers * Each;
  model_block word;
  model_var<int> sent[rounds] = {};
  model_atomic<int> accepted{0};
  int refused = 0;
  void run(int t) {
    for (int i = 0; t == 0 && i < rounds; ++i) {
      if (!word.take())
        suspend([this](model_frame &f) { return word.publish(f); });
      if (Unblockers == 1)
        expect(sent[i].get() == 1, "what was done before the unblock is seen");
    }
    for (int i = 0; t > 0 && i < Each; ++i) {
      sent[(t - 1) * Each + i].set(1);
      unblocked<model_frame> done;
      while (!(done = word.unblock()).accepted) {
        ++refused;
        P::pause();
      }
      if (done.resumed)
        make_ready(*done.resumed);
    }
  }
  void check() {
    for (auto &s : sent)
      expect(s.get() == 1, "every unblock is made");
    expect(!word.take(), "no unblock is left over");
  }
};
const passes<block_resumes<1, 1>> b1{"block_unblock"};
const passes<block_resumes<1, 2>> b2{"block_unblock_twice"};
const passes<block_resumes<2, 1>> b3{"block_two_unblockers"};

/// Is the timer of src/services, as far as a block sees it: calls are made and cancelled under one
/// lock.
struct model_clock {
  spin_lock<P> lock;
  model_var<bool> pending{false};
  model_atomic<int> state{0}; // 1 a call is set, 2 there will be none
  void set() {
    lock.lock();
    pending.set(true);
    lock.unlock();
    state.store(1, relaxed);
  }
  void cancel() {
    lock.lock();
    pending.set(false);
    lock.unlock();
  }
  template <class F>
  void strike(F f) {
    P::await(state, [](int s) { return s != 0; }, relaxed);
    lock.lock();
    const bool due = pending.get();
    pending.set(false);
    if (due)
      f();
    lock.unlock();
  }
};

enum class timing { right, clock_before_frame, does_not_wait_for_the_publisher };

/// Lets thread 0 block until unblocked or timed out; thread 1 is the clock, thread 2 unblocks.
template <bool Unblocks, timing Timing = timing::right>
struct block_times_out {
  static constexpr int threads = Unblocks ? 3 : 2;
  using timed = timed_block<model_frame, P>;
  model_block word;
  model_clock clock;
  model_var<int> sent{0};
  timed *current = nullptr; // the context of the clock's call
  bool waited = false, timed_out = false;
  void publish(timed &b, model_frame &f) {
    if (Timing == timing::clock_before_frame)
      clock.set();
    current = &b;
    if (!b.publish(f))
      make_ready(f);
    if (Timing != timing::clock_before_frame)
      clock.set();
    b.armed();
  }
  void block() {
    if (word.take())
      return;
    waited = true;
    timed b(word);
    suspend([&](model_frame &f) {
      publish(b, f);
      return true;
    });
    if (Timing != timing::does_not_wait_for_the_publisher)
      b.wait_until_armed();
    clock.cancel();
    timed_out = b.timed_out();
  }
  void run(int t) {
    if (t == 0) {
      block();
      clock.state.store(2, relaxed);
      if (!timed_out)
        expect(sent.get() == 1, "what was done before the unblock is seen");
    } else if (t == 1) {
      clock.strike([this] {
        if (model_frame *f = current ? current->expire() : nullptr)
          make_ready(*f);
      });
    } else {
      sent.set(1);
      const auto done = word.unblock();
      expect(done.accepted, "there is one");
      if (done.resumed)
        make_ready(*done.resumed);
    }
  }
  void check() {
    const bool kept = word.take();
    expect(kept == (Unblocks && timed_out), "an unblock ends one block, or waits for the next");
    expect(waited || !timed_out, "only who waits times out");
  }
};
const passes<block_times_out<false>> b4{"block_times_out"};
const passes<block_times_out<true>> b5{"block_times_out_or_is_unblocked"};
const fails<block_times_out<false, timing::clock_before_frame>> b6{
    "flawed_block_sets_the_clock_first", "data race"};

/// Has no lock that orders the end of the block: only m_armed does.
template <bool Waits>
struct block_outlives_its_publisher {
  static constexpr int threads = 2;
  model_block word;
  std::optional<timed_block<model_frame, P>>
      block; // not on a stack, where what comes later would be in its place
  model_atomic<timed_block<model_frame, P> *> published{nullptr};
  void run(int t) {
    if (t == 0) {
      block.emplace(word);
      published.store(&*block, release);
      if (Waits)
        block->wait_until_armed();
      block.reset();
    } else {
      P::await(published, [](auto *b) { return b != nullptr; }, acquire)->armed();
    }
  }
  void check() {}
};
const passes<block_outlives_its_publisher<true>> b7{"block_outlives_its_publisher"};
const fails<block_outlives_its_publisher<false>> b8{"flawed_block_ends_before_its_publisher", ""};

/// Lets the task announce one event for each other thread, or two at once, and end its body. The
/// last of all ends the task.
template <int Others, int Each>
struct events_end_once {
  static constexpr int threads = 1 + Others;
  event_word<P> word;
  model_var<int> done[threads] = {};
  model_atomic<int> announced{0};
  int ended[threads] = {};
  void end(int t) {
    ++ended[t];
    for (auto &d : done)
      expect(d.get() == 1, "the end sees the body and what every event stood for");
  }
  void run(int t) {
    if (t == 0) {
      for (int i = 0; i < Others; ++i) {
        word.increase(Each);
        announced.store(i + 1, release);
      }
      done[0].set(1);
      if (word.end_body())
        end(0);
      return;
    }
    P::await(announced, [t](int n) { return n >= t; }, acquire);
    done[t].set(1);
    for (int i = 0; i < Each; ++i) {
      const decreased d = word.decrease(1);
      expect(d != decreased::underflow, "what was announced can be taken back");
      if (d == decreased::last)
        end(t);
    }
  }
  void check() {
    int all = 0;
    for (int n : ended)
      all += n;
    expect(all == 1, "the task ends once");
    expect(word.decrease(1) == decreased::underflow, "no event is left");
  }
};
const passes<events_end_once<1, 1>> v1{"events_one"};
const passes<events_end_once<1, 2>> v2{"events_two_of_one_thread"};
const passes<events_end_once<2, 1>> v3{"events_two_threads"};

/// Lets the body run again when its event is taken back: the thread that brings the word to zero
/// begins the second run, once, and the word counts anew.
struct events_run_again {
  static constexpr int threads = 2;
  event_word<P> word;
  model_var<int> done[2] = {};
  model_atomic<int> announced{0};
  int ended[2] = {};
  void second_run(int t) {
    for (auto &d : done)
      expect(d.get() == 1, "the second run sees the first and what the event stood for");
    word.begin_again();
    expect(!word.any(), "no event is left from the first run");
    word.increase(1);
    expect(word.decrease(1) == decreased::some_left, "the second run has not ended");
    ended[t] = word.end_body();
  }
  void run(int t) {
    done[t].set(1);
    if (t == 0) {
      word.increase(1);
      announced.store(1, release);
      if (word.end_body())
        second_run(0);
      return;
    }
    P::await(announced, [](int n) { return n == 1; }, acquire);
    if (word.decrease(1) == decreased::last)
      second_run(1);
  }
  void check() { expect(ended[0] + ended[1] == 1, "the task ends once, after the second run"); }
};
const passes<events_run_again> v5{"events_run_again"};

/// Lets the running task ask whether its event is over. If the answer is yes, it sees what came
/// before.
struct events_asked {
  static constexpr int threads = 2;
  event_word<P> word;
  model_var<int> data{0};
  events_asked() { word.increase(1); }
  void run(int thread) {
    if (thread == 1) {
      data.set(1);
      (void)word.decrease(1);
    } else if (!word.any()) {
      expect(data.get() == 1, "who is told that no event is left sees what the event stood for");
    }
  }
  void check() { expect(!word.any(), "the event is over"); }
};
const passes<events_asked> v6{"events_asked"};

/// Has one event and two threads that take it back: one call is refused, and the task ends once.
struct events_underflow {
  static constexpr int threads = 3;
  event_word<P> word;
  model_atomic<int> announced{0};
  int ended[3] = {}, refused[3] = {};
  void run(int t) {
    if (t == 0) {
      word.increase(1);
      announced.store(1, release);
      ended[0] = word.end_body();
      return;
    }
    P::await(announced, [](int n) { return n == 1; }, acquire);
    const decreased d = word.decrease(1);
    ended[t] = d == decreased::last;
    refused[t] = d == decreased::underflow;
  }
  void check() {
    expect(ended[0] + ended[1] + ended[2] == 1, "the task ends once");
    expect(refused[1] + refused[2] == 1, "one has taken too much");
  }
};
const passes<events_underflow> v4{"events_underflow"};

/// Has a waiter that looks first, or suspends at once; and the signal.
template <bool Looks>
struct signal_resumes {
  static constexpr int threads = 2;
  model_atomic<void *> word{nullptr};
  model_var<int> result{0};
  void *token() { return this; }
  void run(int t) {
    if (t == 0) {
      if (!Looks || !is_raised(word, token()))
        suspend([this](model_frame &f) { return wait_for_signal(word, f); });
      expect(result.get() == 1, "what was done before the signal is seen");
      return;
    }
    result.set(1);
    if (void *waiter = raise_signal(word, token()))
      make_ready(*static_cast<model_frame *>(waiter));
  }
  void check() { expect(is_raised(word, token()), "the signal stays"); }
};
const passes<signal_resumes<true>> s1{"signal_looked_for"};
const passes<signal_resumes<false>> s2{"signal_waited_for"};

// --- a thread's own stack, continued by that thread only

/// Loops as a worker does, as far as its own frame is concerned: look, announce, look again, sleep.
template <int Rounds>
struct own_frame_comes_home {
  static constexpr int threads = 2;
  frame_slot<model_frame, P> slot;
  eventcount<P> idle{1};
  model_frame frame[Rounds];
  model_var<int> sent[Rounds] = {};
  void run(int t) {
    for (int i = 0; i < Rounds; ++i)
      if (t == 0) {
        frame[i].left.set(1);
        go_home(i);
      } else {
        P::await(
            frame[i].ready, [](int r) { return r == 1; },
            acquire); // published by whatever it waits in
        sent[i].set(1);
        slot.put(frame[i]);
        idle.notify_worker(0);
      }
  }
  void go_home(int i) {
    frame[i].ready.store(1, release);
    while (!slot.full()) {
      idle.prepare(0);
      if (slot.full())
        idle.cancel(0);
      else
        idle.commit(0);
    }
    expect(slot.take() == &frame[i], "the frame is the one that was put");
    expect(sent[i].get() == 1, "what came before the wake-up is seen");
  }
  void check() { expect(!slot.full() && idle.idle() == 0, "nothing is left"); }
};
const passes<own_frame_comes_home<1>> o1{"own_frame_comes_home"};
const passes<own_frame_comes_home<2>> o2{"own_frame_comes_home_twice"};

/// Has two workers and one item. The notifier may choose worker 0, which at the same time finds its
/// own frame and leaves to resume it: then worker 0 must pass the notification on.
template <bool PassesOn>
struct own_frame_and_work {
  static constexpr int threads = 3;
  frame_slot<model_frame, P> slot;
  eventcount<P> idle{2};
  model_frame frame;
  model_atomic<int> item{0}; // 1 there, 2 taken
  int taken = 0;
  bool take() {
    int n = 1;
    if (item.load(relaxed) != 1 || !item.compare_exchange_strong(n, 2, relaxed, relaxed))
      return false;
    ++taken;
    return true;
  }
  /// Returns whether the worker leaves.
  bool look(int t) {
    if (t == 1)
      return take() || item.load(relaxed) == 2;
    if (slot.full()) {
      expect(slot.take() == &frame, "the frame is the one that was put");
      return true;
    }
    if (take())
      idle.notify_worker(1); // worker 1 may leave
    return false;
  }
  void work(int t) {
    const auto id = static_cast<std::size_t>(t);
    while (!look(t)) {
      idle.prepare(id);
      if (look(t)) {
        if (!idle.cancel(id) && PassesOn)
          idle.notify_one();
        break;
      }
      idle.commit(id);
    }
    if (PassesOn)
      idle.found(id);
  }
  void run(int t) {
    if (t < 2)
      return work(t);
    item.store(1, relaxed);
    idle.notify_one();
    slot.put(frame);
    idle.notify_worker(0);
  }
  void check() { expect(taken == 1 && !slot.full() && idle.idle() == 0, "nothing is left"); }
};
const passes<own_frame_and_work<true>> o3{"own_frame_and_work"};
const fails<own_frame_and_work<false>> o4{"flawed_own_frame_swallows_a_wake_up", "deadlock"};

} // namespace
