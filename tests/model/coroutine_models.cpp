// SPDX-License-Identifier: Apache-2.0
// Models of src/task/wait/coroutine.hpp: the body of a task is left, what ends its wait is granted, and the task runs
// again. `leave`, `grant` and `enqueue` are images of the code around the words:
// - one run follows from one wait, and sees what the granter wrote;
// - no run begins before the last one was left (else a race on plain data);
// - what may end a wait early is not taken down while it is being armed.
#include "checker/models.hpp"

#include "task/wait/lock_queue.hpp"
#include "task/wait/signal_word.hpp"
#include "task/wait/waiter_list.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

char g_token;

/// Is a task whose body is a coroutine, with the queue in which it waits to run again.
struct model_task {
  model_var<int> body{0}; // all that a run touches
  model_atomic<int> queued{0};

  void enqueue() { expect(queued.exchange(1, acq_rel) == 0, "a task is enqueued once per wait"); }
  void next_run() {
    P::await(queued, [](int is) { return is == 1; }, acquire);
    expect(body.get() == 1, "a run follows the one before");
    body.set(2);
  }
};

enum class flaw { none, known_before_left, granter_forgets };

/// Grants by the signal of a node that is entered before the body is left.
template <flaw Flaw>
struct leave_meets_grant {
  static constexpr int threads = 3;
  model_task task;
  model_atomic<void *> signal{nullptr};
  model_var<int> value{0};

  void leave() {
    if (!wait_for_signal(signal, task))
      task.enqueue();
  }
  void run(int t) {
    if (t == 0) {
      if (Flaw == flaw::known_before_left)
        leave();
      task.body.set(1);
      if (Flaw != flaw::known_before_left)
        leave();
    } else if (t == 1) {
      value.set(1);
      if (void *waiting = raise_signal(signal, static_cast<void *>(&g_token));
          waiting && Flaw != flaw::granter_forgets)
        static_cast<model_task *>(waiting)->enqueue();
    } else {
      task.next_run();
      expect(value.get() == 1, "a run sees what the granter wrote");
    }
  }
  void check() { expect(task.body.get() == 2, "the task ran again"); }
};
const passes<leave_meets_grant<flaw::none>> m1{"coroutine_leaves_and_is_granted"};
const fails<leave_meets_grant<flaw::known_before_left>> f1{"coroutine_known_before_it_is_left",
                                                           "data race"};
const fails<leave_meets_grant<flaw::granter_forgets>> f2{"coroutine_forgotten_by_its_granter",
                                                         "deadlock"};

// --- the end of a task, with a deadline

struct model_node {
  model_var<model_node *> next{nullptr};
};
struct model_link {
  static model_node *get(const model_node &n) { return n.next.get(); }
  static void set(model_node &n, model_node *next) { n.next.set(next); }
};
using waiters = waiter_list<model_node, model_link, P>;

/// Attaches the node, then sets the clock; the next run takes the clock down.
template <bool WaitsUntilArmed>
struct end_meets_deadline {
  static constexpr int threads = 4;
  model_task task;
  model_node node;
  waiters::word done{nullptr};
  model_var<int> clock{0};
  model_atomic<int> is_set{0}, armed{0};

  void run(int t) {
    switch (t) {
    case 0: // the leaver
      task.body.set(1);
      if (!waiters::attach(done, node))
        task.enqueue();
      clock.set(1);
      is_set.store(1, release);
      armed.store(1, release);
      break;
    case 1: // the end of the awaited task
      if (waiters::raise(done, reinterpret_cast<void *>(std::uintptr_t{1})))
        task.enqueue();
      break;
    case 2: // the clock, which may come at any time after it was set
      if (is_set.load(acquire) == 1 && waiters::detach(done, node))
        task.enqueue();
      break;
    default:
      task.next_run();
      if (WaitsUntilArmed)
        P::await(armed, [](int is) { return is == 1; }, acquire);
      clock.set(2);
    }
  }
  void check() { expect(task.body.get() == 2, "the task ran again"); }
};
const passes<end_meets_deadline<true>> m2{"coroutine_end_meets_deadline"};
const fails<end_meets_deadline<false>> f3{"coroutine_takes_down_a_clock_that_is_being_set",
                                          "data race"};

// --- a notification, after which the mutex is taken

/// Notifies with the mutex locked: the notified task is enqueued when it has the mutex.
template <bool EnqueuesAtOnce>
struct notified_takes_mutex {
  static constexpr int threads = 3;
  using waiter = lock_waiter<model_task, P>;
  model_task task;
  waiter again;
  weft::detail::lock_word<P> mutex;
  model_atomic<void *> signal{nullptr};
  model_var<int> condition{0};

  notified_takes_mutex() { expect(mutex.try_take(), "the coroutine has the mutex"); }
  void take_or_leave() {
    if (EnqueuesAtOnce || take_or_wait(mutex, again, task))
      task.enqueue();
  }
  void give_up() {
    if (!mutex.try_give_up())
      hand_over<model_task>(mutex)->enqueue();
  }
  void run(int t) {
    if (t == 0) { // the coroutine: its node is entered
      give_up();
      task.body.set(1);
      if (!wait_for_signal(signal, task))
        take_or_leave();
    } else if (t == 1) {
      P::await(mutex.word, [](void *seen) { return !seen; }, relaxed);
      if (!mutex.try_take())
        return expect(false, "no one else takes the mutex before the notification");
      condition.set(1);
      if (raise_signal(signal, static_cast<void *>(&g_token)))
        take_or_leave();
      condition.set(2);
      give_up();
    } else {
      task.next_run();
      expect(condition.get() == 2, "the next run has the mutex");
      give_up();
    }
  }
  void check() { expect(mutex.try_take(), "the mutex is free in the end"); }
};
const passes<notified_takes_mutex<false>> m3{"coroutine_notified_takes_its_mutex"};
const fails<notified_takes_mutex<true>> f4{"coroutine_notified_goes_on_at_once", "data race"};

} // namespace
