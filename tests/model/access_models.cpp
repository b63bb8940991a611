// SPDX-License-Identifier: Apache-2.0
// Models of src/deps/state/access_state.hpp: bodies run once, in an order that the accesses allow (else a race on
// their data), and an access is dead exactly once, after its last delivery.
#include "checker/models.hpp"

#include "deps/state/access_state.hpp"

namespace {

using namespace weft_model;
using namespace weft::rt;
using enum std::memory_order;
using P = model_atomics;

/// Has tasks with one access each to one datum. Messages are delivered as in
/// src/deps/registration.cpp. The thread that satisfies a task runs its body at once.
template <int Tasks>
struct graph {
  struct task;
  using access = basic_data_access<P, task>;
  struct task {
    access a;
    int index = 0;
    int bodies = 0, times_ended = 0;
  };
  task tasks[Tasks];
  model_var<int> datum{0};

  graph() {
    for (int i = 0; i < Tasks; ++i) {
      tasks[i].a.task = &tasks[i];
      tasks[i].index = i;
    }
  }

  virtual void body(task &t) = 0;
  virtual ~graph() = default;

  void die(access &a) {
    expect(++a.task->times_ended == 1, "an access ends once");
    a.successor.set(nullptr); // its memory is used again: no thread may still read it
    a.child.set(nullptr);
  }

  void send(access &a, std::uint32_t bits, std::uint32_t known = 0) {
    task &t = *a.task;
    // The common cases of src/deps/access.hpp: a link mostly causes nothing, a grant that a task
    // may run.
    if (bits & k_next_known && known == 0 && try_deliver(a, bits, 0))
      return;
    if (bits & k_both_ok && try_deliver(a, bits, k_satisfied))
      return run_body(t);
    const auto d = deliver(a, bits);
    expect(a.task->times_ended == 0, "nothing is delivered to a dead access");
    if (d.caused & k_died)
      die(a);
    if (d.child)
      send(*d.child, (d.caused & k_to_child) >> k_child_shift);
    if (d.next && d.caused & k_to_next & ~known)
      send(*d.next, d.caused & k_to_next & ~known);
    if (d.caused & k_satisfied)
      run_body(*a.task);
  }

  void run_body(task &t) {
    expect(++t.bodies == 1, "a body runs once");
    body(t);
  }

  static std::uint32_t kind_of(task &t) { return t.a.flags.load(relaxed) & k_kind; }
  static void set_kind(task &t, std::uint32_t kind) { t.a.flags.store(kind, relaxed); }

  void finish(task &t) { send(t.a, k_ended); }

  /// Registers t after `before`, the last access so far.
  /// Returns true if nothing holds t; the caller then runs it.
  bool enter(task &t, access *before) {
    const std::uint32_t state = before ? before->flags.load(acquire) : std::uint32_t{k_released};
    const std::uint32_t kind = kind_of(t);
    if (is_released(state)) {
      t.a.flags.store(kind | k_both_ok, relaxed);
      if (before)
        die(*before);
      return true;
    }
    const std::uint32_t known = known_to_reader(state, kind);
    t.a.flags.store(kind | known, relaxed);
    before->successor.set(&t.a);
    send(*before, k_next_known | (kind & k_reads ? k_next_reads : 0u), known);
    return known != 0;
  }

  void use(task &t) {
    if (kind_of(t) & k_reads)
      (void)datum.get();
    else
      datum.set(t.index);
  }

  static constexpr int k_all_dead = -1;
  void expect_all_ran(int last) {
    for (task &t : tasks) {
      expect(t.bodies == 1, "every body has run");
      expect(t.times_ended == (t.index == last ? 0 : 1),
             "every access but the last of its chain is dead");
    }
  }
};

/// Runs two readers on two threads, linked beforehand, then a writer. Either reader may satisfy it.
struct readers_then_writer : graph<3> {
  static constexpr int threads = 2;
  readers_then_writer() {
    set_kind(tasks[1], k_reads);
    for (int i : {0, 1})
      ++tasks[i].bodies; // run below
    tasks[0].a.flags.store(k_reads | k_both_ok, relaxed);
    tasks[0].a.successor.set(&tasks[1].a);
    deliver(tasks[0].a, k_next_known | k_next_reads);
    deliver(tasks[1].a, k_read_ok);
    tasks[1].a.successor.set(&tasks[2].a);
    deliver(tasks[1].a, k_next_known);
  }
  void body(task &t) override {
    use(t);
    finish(t);
  }
  void run(int t) { body(tasks[t]); }
  void check() { expect_all_ran(2); }
};
const passes<readers_then_writer> a1{"access_readers_then_writer"};

/// Lets one thread run the first task while the other one registers the tasks behind it.
template <int Tasks, unsigned Readers>
struct registered_meanwhile : graph<Tasks> {
  using base = graph<Tasks>;
  static constexpr int threads = 2;
  registered_meanwhile() {
    for (int i = 0; i < Tasks; ++i)
      if (Readers & (1u << i))
        base::set_kind(base::tasks[i], k_reads);
    base::enter(base::tasks[0], nullptr);
    ++base::tasks[0].bodies;
  }
  void body(typename base::task &t) override {
    base::use(t);
    base::finish(t);
  }
  void run(int t) {
    if (t == 1) {
      body(base::tasks[0]);
      return;
    }
    for (int i = 1; i < Tasks; ++i)
      if (base::enter(base::tasks[i], &base::tasks[i - 1].a))
        base::run_body(base::tasks[i]);
    base::send(base::tasks[Tasks - 1].a, k_next_known); // the parent's body ends: nothing follows
  }
  void check() { base::expect_all_ran(base::k_all_dead); }
};
const passes<registered_meanwhile<2, 0>> a2{"access_writer_then_writer"};
const passes<registered_meanwhile<3, 0b010>> a3{"access_writer_reader_writer"};
const passes<registered_meanwhile<3, 0b011>> a4{"access_reader_reader_writer"};
const passes<registered_meanwhile<4, 0b0110>> a5{"access_writer_readers_writer"};

/// Starts a weak task between two writers at once. Its child takes what the weak access will get,
/// and the last writer waits for the child. Task 0 writes, 1 is weak, 2 is its child, 3 writes.
struct weak_parent : graph<4> {
  static constexpr int threads = 2;
  weak_parent() {
    set_kind(tasks[1], k_weak);
    enter(tasks[0], nullptr);
    ++tasks[0].bodies;
    enter(tasks[1], &tasks[0].a);
    ++tasks[1].bodies;
    enter(tasks[3], &tasks[1].a);
  }
  void body(task &t) override {
    use(t);
    finish(t);
  }
  void run(int t) {
    if (t == 1) {
      body(tasks[0]);
      return;
    }
    task &parent = tasks[1], &child = tasks[2];
    if ((parent.a.flags.load(acquire) & k_both_ok) == k_both_ok) {
      child.a.flags.store(k_both_ok, relaxed);
      run_body(child);
    } else {
      parent.a.child.set(&child.a);
      send(parent.a, k_child_link);
    }
    child.a.successor.set(&parent.a);
    send(child.a, k_next_known | k_next_parent);
    send(parent.a, k_finished);
  }
  void check() { expect_all_ran(3); }
};
const passes<weak_parent> a6{"access_weak_parent"};

/// Leaves a reading child below a task that writes. The reader behind that task goes on beside the
/// child, and the writer behind both waits for both. Task 0 writes and ends, 1 is its child that
/// reads, 2 reads, 3, if there are four, writes. With `Entered` a third thread enters 2 and 3
/// meanwhile.
template <int Tasks, bool Entered>
struct reader_below : graph<Tasks> {
  using base = graph<Tasks>;
  using base::tasks, base::send;
  static constexpr int threads = Entered ? 3 : 2;
  reader_below() {
    for (int i : {1, 2})
      base::set_kind(tasks[i], k_reads);
    base::enter(tasks[0], nullptr);
    for (int i : {0, 1})
      ++tasks[i].bodies; // the one runs here, the other below
    base::use(tasks[0]);
    tasks[1].a.flags.store(k_reads | k_both_ok, relaxed);
    if (!Entered)
      enter_rest();
  }
  void enter_rest() {
    for (int i = 2; i != Tasks; ++i)
      if (base::enter(tasks[i], &tasks[i == 2 ? 0 : i - 1].a))
        base::run_body(tasks[i]);
  }
  void body(typename base::task &t) override {
    base::use(t);
    base::finish(t);
  }
  void run(int t) {
    if (t == 2)
      return enter_rest();
    if (t == 1)
      return body(tasks[1]);
    tasks[1].a.successor.set(&tasks[0].a);
    send(tasks[1].a, k_next_known | k_next_parent);
    send(tasks[0].a, k_finished);
  }
  void check() { base::expect_all_ran(Tasks - 1); }
};
const passes<reader_below<4, false>> a7{"access_reader_below"};
const passes<reader_below<3, true>> a8{"access_reader_below_while_entered"};

/// Leaves a writing child and a reading one below a weak task, which waits for a writer itself, and
/// all of them below another one. Task 0 writes, 1 is its weak child behind 5, which writes, 2 and 3
/// are children of 1 that write and read, 4 reads behind 0.
struct reader_below_two : graph<6> {
  static constexpr int threads = 2;
  reader_below_two() {
    set_kind(tasks[1], k_weak);
    for (int i : {3, 4})
      set_kind(tasks[i], k_reads);
    enter(tasks[0], nullptr);
    tasks[5].a.flags.store(k_both_ok, relaxed);
    for (int i : {0, 1, 5})
      ++tasks[i].bodies; // 1 does nothing but enter its children, 5 runs below
    use(tasks[0]);
    enter(tasks[1], &tasks[5].a);
    tasks[1].a.child.set(&tasks[2].a);
    send(tasks[1].a, k_child_link);
    enter(tasks[3], &tasks[2].a);
    enter(tasks[4], &tasks[0].a);
    leave(tasks[1], tasks[0]);
  }
  void body(task &t) override {
    use(t);
    finish(t);
  }
  void leave(task &last, task &parent) {
    last.a.successor.set(&parent.a);
    send(last.a, k_next_known | k_next_parent);
    send(parent.a, k_finished);
  }
  void run(int t) {
    if (t == 0)
      leave(tasks[3], tasks[1]);
    else
      body(tasks[5]);
  }
  void check() { expect_all_ran(4); }
};
const passes<reader_below_two> a9{"access_reader_below_two"};

} // namespace
