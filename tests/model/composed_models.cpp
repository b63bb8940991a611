// SPDX-License-Identifier: Apache-2.0
// Models of components together, as the modules above compose them: scheduling queues with the
// eventcount, a taskwait with the mutex, a suspended task that another worker resumes.
// `sleep_until` is an image of the worker loop.
#include "suspension.hpp"

#include "park/eventcount.hpp"
#include "queue/deque.hpp"
#include "sched/delegated_queue.hpp"
#include "sched/shared_queue.hpp"
#include "task/wait/block_word.hpp"
#include "task/wait/completion.hpp"
#include "task/wait/lock_queue.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

/// Holds plain data, so that the checker sees an access without the lock.
struct model_ready {
  struct wish {
    bool newest = false;
  };
  model_var<int *> items[4] = {};
  model_var<std::size_t> oldest{0}, end{0};
  void add(int *item, unsigned = 0) {
    items[end.get()].set(item);
    end.set(end.get() + 1);
  }
  int *get() {
    const std::size_t i = oldest.get();
    if (i == end.get())
      return nullptr;
    oldest.set(i + 1);
    return items[i].get();
  }
  int *serve(unsigned, const wish &w) {
    return w.newest ? nullptr : get();
  } // the newest is never of the right lineage
  std::size_t size() const { return end.get() - oldest.get(); }
};
using model_delegated = delegated_queue<int *, model_ready, model_ready::wish, P>;
using model_shared = basic_shared_queue<model_ready, P>;

/// Loops as a worker without work does: look, announce, look again, sleep.
template <class Look>
void sleep_until(eventcount<P> &idle, std::size_t id, Look look) {
  while (!look()) {
    idle.prepare(id);
    if (look()) {
      idle.cancel_and_relay(id);
      break;
    }
    idle.commit(id);
  }
  idle.found(id); // there may be more: another searcher looks for it
}

/// Counts how often each added item is taken: it must be once.
template <int Items>
struct once_each {
  int tokens[Items] = {};
  void took(int *item) { expect(++*item == 1, "an item is taken once"); }
  void all_taken() {
    for (int n : tokens)
      expect(n == 1, "every item is taken");
  }
};

// --- scheduler: SPSC queues, delegation lock, ready queue, eventcount

/// Lets two workers ask for two items that both know of: each must get one.
template <bool Delegates, int Inboxes>
struct delegated_knows {
  static constexpr int threads = 2;
  once_each<2> items;
  model_delegated queue{Inboxes, 2, 2, Delegates};
  delegated_knows() {
    queue.add(&items.tokens[0], 0, 0);
    queue.add(&items.tokens[1], Inboxes - 1, 1);
  }
  void run(int t) {
    int *item = queue.ask(static_cast<unsigned>(t), {});
    expect(item, "who knows of an item that is left gets one");
    items.took(item);
  }
  void check() { items.all_taken(); }
};
const passes<delegated_knows<true, 1>> d1{"delegated_queue_knows"};
const passes<delegated_knows<true, 2>> d2{"delegated_queue_knows_two_inboxes"};
const passes<delegated_knows<false, 1>> d3{"delegated_queue_knows_ticket"};

/// Lets three workers ask. All know of the first item; the third one adds another, also after the
/// owner has drained the inbox and seen the other waiter. So it gets one, unless the others have both.
struct delegated_serves_a_run {
  static constexpr int threads = 3;
  once_each<2> items;
  model_delegated queue{1, 2, 3, true};
  int *got[threads] = {};
  delegated_serves_a_run() { queue.add(&items.tokens[0], 0, 0); }
  void run(int t) {
    if (t == 2)
      queue.add(&items.tokens[1], 0, 2);
    got[t] = queue.ask(static_cast<unsigned>(t), {});
    if (got[t])
      items.took(got[t]);
  }
  void check() {
    expect(got[2] || (got[0] && got[1]), "who knows of an item that is left gets one");
    while (int *item = queue.ask(0, {}))
      items.took(item);
    items.all_taken();
  }
};
const passes<delegated_serves_a_run> d12{"delegated_queue_run"};

/// Lets a worker add an item to an inbox that holds one already, and ask. Another worker takes one
/// of the two, and a producer adds a third: the ring may turn while the first worker looks into it.
struct delegated_knows_while_the_ring_turns {
  static constexpr int threads = 3;
  once_each<3> items;
  model_delegated queue{1, 2, 2, false};
  delegated_knows_while_the_ring_turns() { queue.add(&items.tokens[0], 0, 0); }
  void run(int t) {
    if (t > 0)
      queue.add(&items.tokens[t], 0, 0);
    if (t == 2)
      return;
    int *item = queue.ask(static_cast<unsigned>(t), {});
    expect(item, "who knows of an item that is left gets one");
    items.took(item);
  }
  void check() {
    while (int *item = queue.ask(0, {}))
      items.took(item);
    items.all_taken();
  }
};
const passes<delegated_knows_while_the_ring_turns> d11{"delegated_queue_ring_turns"};

/// Has a producer with an inbox for one item. The producer drains the inbox itself, or waits for
/// the worker that drains it.
struct delegated_overflows {
  static constexpr int threads = 2;
  once_each<2> items;
  model_delegated queue{1, 1, 1, true};
  void run(int t) {
    for (int i = 0; i < 2; ++i)
      if (t == 0)
        queue.add(&items.tokens[i], 0, 0);
      else if (int *item = queue.ask(0, {}))
        items.took(item);
  }
  void check() {
    while (int *item = queue.ask(0, {}))
      items.took(item);
    items.all_taken();
  }
};
const passes<delegated_overflows> d4{"delegated_queue_overflows"};

/// Lets one thread ask for any item, the other one for an item that it will not get: it must return
/// all the same.
struct delegated_refuses_a_wish {
  static constexpr int threads = 2;
  once_each<1> items;
  model_delegated queue{1, 1, 2, true};
  delegated_refuses_a_wish() { queue.add(&items.tokens[0], 0, 0); }
  void run(int t) {
    int *item = queue.ask(static_cast<unsigned>(t), {t == 1});
    expect(!item == (t == 1), "a wish is refused, work is served");
    if (item)
      items.took(item);
  }
  void check() { items.all_taken(); }
};
const passes<delegated_refuses_a_wish> d5{"delegated_queue_refuses_a_wish"};

/// Has a producer that is no worker, and workers that sleep without work. Each worker runs one
/// item, which never ends.
template <class Queue, int Workers>
struct queue_wakes {
  static constexpr int threads = 1 + Workers;
  once_each<Workers> items;
  Queue queue = make(static_cast<Queue *>(nullptr));
  eventcount<P> idle{Workers};
  static model_delegated make(model_delegated *) { return model_delegated(1, 2, Workers, true); }
  static model_shared make(model_shared *) { return model_shared(); }
  static int *ask(model_delegated &q, int worker) {
    return q.ask(static_cast<unsigned>(worker), {});
  }
  static int *ask(model_shared &q, int) { return q.get(); }
  static void add(model_delegated &q, int *item) { q.add(item, 0, 0); }
  static void add(model_shared &q, int *item) { q.add(item); }
  void run(int t) {
    if (t < Workers) {
      int *item = nullptr;
      sleep_until(idle, static_cast<std::size_t>(t),
                  [&] { return (item = ask(queue, t)) != nullptr; });
      return items.took(item);
    }
    for (int &token : items.tokens) {
      add(queue, &token);
      idle.notify_one();
    }
  }
  void check() {
    items.all_taken();
    expect(idle.idle() == 0, "nobody is announced");
  }
};
const passes<queue_wakes<model_delegated, 1>> d6{"delegated_queue_wakes"};
const passes<queue_wakes<model_delegated, 2>> d7{"delegated_queue_wakes_two"};
const passes<queue_wakes<model_shared, 1>> d8{"shared_queue_wakes"};
const passes<queue_wakes<model_shared, 2>> d9{"shared_queue_wakes_two"};

/// Has two queues, as of two NUMA nodes. Each worker looks into its own, then into the other one; a
/// producer that is no worker adds to the first one, or to both. Each worker runs one item, which
/// never ends.
template <bool Both>
struct delegated_queues_wake {
  static constexpr int workers = 2, threads = 1 + workers;
  once_each<workers> items;
  model_delegated queues[workers] = {{1, 2, workers, true}, {1, 2, workers, true}};
  eventcount<P> idle{workers};
  void run(int t) {
    if (t < workers) {
      int *item = nullptr;
      sleep_until(idle, static_cast<std::size_t>(t), [&] {
        for (int i = 0; i < workers && !item; ++i)
          item = queues[(t + i) % workers].ask(static_cast<unsigned>(t), {});
        return item != nullptr;
      });
      return items.took(item);
    }
    for (int i = 0; i < workers; ++i) {
      queues[Both ? i : 0].add(&items.tokens[i], 0, 0);
      idle.notify_one();
    }
  }
  void check() {
    items.all_taken();
    expect(idle.idle() == 0, "no worker is announced");
  }
};
const passes<delegated_queues_wake<false>> d13{"delegated_queues_of_nodes_wake"};
const passes<delegated_queues_wake<true>> d14{"delegated_queues_of_nodes_wake_both"};

/// Lets a worker move staged items to the pending queue, as the policy local-fifo does, while
/// another one looks into both.
struct shared_queue_moves {
  static constexpr int threads = 2;
  once_each<2> items;
  model_shared staged, pending;
  shared_queue_moves() {
    for (int &token : items.tokens)
      staged.add(&token);
  }
  void run(int t) {
    int *item = t == 0 ? staged.move_to(pending, 7) : staged.get();
    if (!item)
      item = pending.get();
    expect(item, "who knows of an item that is left gets one");
    items.took(item);
  }
  void check() { items.all_taken(); }
};
const passes<shared_queue_moves> d10{"shared_queue_moves"};

// --- the eventcount with the deque

/// Lets the owner push, notify, and try to get the item back. Thieves sleep until they have taken
/// an item or all is over.
template <int Thieves>
struct deque_feeds_sleepers {
  static constexpr int threads = 1 + Thieves;
  once_each<Thieves> items;
  work_deque<int *, P> deque{2};
  eventcount<P> idle{Thieves};
  model_atomic<int> over{0};
  void run(int t) {
    if (t > 0) {
      int *item = nullptr;
      sleep_until(idle, static_cast<std::size_t>(t - 1), [&] {
        item = deque.steal().item;
        return item || over.load(relaxed);
      });
      return item ? items.took(item) : void();
    }
    for (int &token : items.tokens) {
      deque.push(&token);
      idle.notify_one();
    }
    if (int *item = deque.pop()) { // else the notifications alone have to wake the thieves
      items.took(item);
      over.store(1, relaxed);
      idle.notify_all();
    }
  }
  void check() {
    while (int *item = deque.pop())
      items.took(item);
    items.all_taken();
    expect(idle.idle() == 0, "nobody is announced");
  }
};
const passes<deque_feeds_sleepers<2>> e1{
    "deque_feeds_two_sleepers"}; // of one: eventcount_with_deque

// --- completion with taskwait and mutex

struct model_mutex {
  weft::detail::lock_word<P> lock;
  void take() {
    if (lock.try_take())
      return;
    lock_waiter<model_frame, P> node;
    suspend([&](model_frame &f) { return !take_or_wait(lock, node, f); });
  }
  void give_up() {
    if (!lock.try_give_up())
      make_ready(*hand_over<model_frame>(lock));
  }
};

enum class parent_does { only_waits, locks_too };

/// Lets the parent spawn children that count under a mutex, and wait for them. The last child to
/// complete wakes the parent.
template <int Children, parent_does Parent, bool SettlesFirst = false>
struct taskwait_with_mutex {
  static constexpr int threads = 1 + Children;
  completion_word<P> word;
  model_mutex mutex;
  model_var<int> count{0};
  model_var<model_frame *> waiter{nullptr};
  void work() {
    mutex.take();
    count.set(count.get() + 1);
    mutex.give_up();
  }
  void run(int t) {
    if (t > 0) {
      work();
      if (word.remove())
        make_ready(*waiter.get());
      return;
    }
    if (Parent == parent_does::locks_too)
      work();
    if (!word.done(Children))
      suspend([this](model_frame &f) {
        if (!SettlesFirst)
          waiter.set(&f);
        const bool done = word.settle(Children);
        if (SettlesFirst)
          waiter.set(&f);
        return !done;
      });
    word.reset();
    expect(count.get() == Children + (Parent == parent_does::locks_too),
           "the parent sees what its children did, without the mutex");
  }
  void check() { expect(mutex.lock.try_take(), "the mutex is free"); }
};
const passes<taskwait_with_mutex<1, parent_does::locks_too>> t1{"taskwait_with_mutex_one_child"};
const passes<taskwait_with_mutex<2, parent_does::only_waits>> t2{
    "taskwait_with_mutex_two_children"};
const passes<taskwait_with_mutex<2, parent_does::locks_too>> t3{
    "taskwait_with_mutex_and_the_parent"};
const fails<taskwait_with_mutex<1, parent_does::only_waits, true>> t4{
    "flawed_taskwait_settles_first", ""};

// --- a task that is suspended on one worker and unblocked from outside; any worker may resume it

enum class handshake { publishes_when_left, publishes_first, enqueues_silently };

template <int Workers, handshake How = handshake::publishes_when_left>
struct suspended_task_moves {
  static constexpr int threads = 1 + Workers;
  block_word<int, P> word; // the frame is `frame`
  model_shared ready;
  eventcount<P> idle{Workers};
  int frame = 0;
  model_var<int> stack{0}; // written by the thread that runs on the task's stack
  model_var<int> sent{0};
  model_atomic<int> ended{0};

  void enqueue(int *f) {
    ready.add(f);
    if (How != handshake::enqueues_silently)
      idle.notify_one();
  }
  void begin() { // on worker 0
    stack.set(1);
    if (word.take())
      return go_on();
    bool waits = How == handshake::publishes_first && word.publish(frame);
    stack.set(2); // the switch saves the last of it
    if (How != handshake::publishes_first)
      waits = word.publish(frame);
    if (!waits)
      enqueue(&frame);
  }
  void go_on() { // on any
    stack.set(stack.get() + 1);
    expect(sent.get() == 1, "what was done before the unblock is seen");
    ended.store(1, relaxed);
    idle.notify_all();
  }
  void run(int t) {
    if (t == Workers) {
      sent.set(1);
      if (int *f = word.unblock().resumed)
        How == handshake::publishes_first ? go_on()
                                          : enqueue(f); // as a worker that finds it at once
      return;
    }
    if (t == 0)
      begin();
    sleep_until(idle, static_cast<std::size_t>(t), [this] {
      if (ready.get())
        go_on();
      return ended.load(relaxed) == 1;
    });
  }
  void check() {
    expect(ended.load(relaxed) == 1 && ready.empty() && idle.idle() == 0, "nothing is left");
  }
};
const passes<suspended_task_moves<1>> u1{"suspended_task_comes_back"};
const passes<suspended_task_moves<2>> u2{"suspended_task_moves"};
const fails<suspended_task_moves<1, handshake::publishes_first>> u3{
    "flawed_suspension_publishes_first", "data race"};
const fails<suspended_task_moves<1, handshake::enqueues_silently>> u4{
    "flawed_suspension_enqueues_silently", "deadlock"};

} // namespace
