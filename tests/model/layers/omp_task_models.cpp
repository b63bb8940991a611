// SPDX-License-Identifier: Apache-2.0
// Models of how OpenMP tasks are kept and counted: task_stack.hpp, wait_flag.hpp, task_count.hpp,
// returned_list.hpp, thread_count.hpp and task_ends.hpp of layers/omp/src/.
#include "omp_parts.hpp"

#include "layers/omp/src/sync/wait_flag.hpp"
#include "layers/omp/src/task/task_count.hpp"
#include "layers/omp/src/task/task_stack.hpp"
#include "layers/omp/src/thread/returned_list.hpp"
#include "layers/omp/src/thread/thread_count.hpp"
#include "layers/omp/src/tool/task_ends.hpp"

#include <cstdint>

namespace {

using namespace weft_model;
using enum std::memory_order;
using P = omp_atomics;

struct stacked {
  P::plain<stacked *> newer, older;
  model_var<int> payload{0};
  int taken = 0; // by how many threads; read by check()
};
using stack = weft_omp::basic_task_stack<stacked, P>;
constexpr auto any = [](const stacked &) { return true; };

// ---- the stack

/// Lets the owner push and pop while a thief takes the oldest.
template <int Items, int Takes>
struct stack_once_each {
  static constexpr int threads = 2;
  stacked items[Items];
  stack ready;
  stacked *got[2][Items + Takes] = {};
  void note(int t, int i, stacked *x) {
    got[t][i] = x;
    if (x)
      expect(x->payload.get() == 1, "the task is whole");
  }
  void run(int t) {
    if (t == 1) {
      for (int i = 0; i < Takes; ++i)
        note(t, i, ready.take(any));
      return;
    }
    for (stacked &x : items) {
      x.payload.set(1);
      ready.push(x, [] {});
    }
    for (int i = 0; i < Items; ++i)
      note(t, i, ready.pop(any));
  }
  void check() {
    for (auto &mine : got)
      for (stacked *x : mine)
        if (x)
          ++x->taken;
    for (stacked &x : items)
      expect(x.taken == 1, "every task is taken once");
    expect(!ready.any(), "the stack is empty in the end");
  }
};
const passes<stack_once_each<1, 1>> s1{"omp_stack_last_task"};
const passes<stack_once_each<2, 2>> s2{"omp_stack_two_tasks"};

/// Lets the owner push the next part of an untied task below another task, while a thief takes the
/// oldest. As in offer_again() of task_queue.cpp.
struct stack_of_parts {
  static constexpr int threads = 2;
  stacked other, part;
  stack ready;
  stacked *got[2] = {};
  stack_of_parts() { ready.push(other, [] {}); }
  void run(int t) {
    if (t == 0) {
      part.payload.set(1);
      ready.push_oldest(part, [] {});
      got[t] = ready.pop(any);
    } else if (stacked *const x = got[t] = ready.take(any); x == &part) {
      expect(x->payload.get() == 1, "the part is whole");
    }
  }
  void check() {
    for (stacked *x : got)
      if (x)
        ++x->taken;
    expect(got[0] == &other || got[1] == &other, "the owner takes its other task first");
    while (stacked *x = ready.pop(any))
      ++x->taken;
    expect(other.taken == 1 && part.taken == 1, "every task is taken once");
  }
};
const passes<stack_of_parts> s5{"omp_stack_parts"};

/// Lets a thief take half of the tasks for itself; a third thread may take from the thief.
template <int Thieves>
struct stack_stolen {
  static constexpr int threads = 1 + Thieves;
  static constexpr int count = 4;
  stacked items[count];
  stack ready, of_thief;
  stacked *got[3][count] = {};
  stack_stolen() {
    for (stacked &x : items)
      ready.push(x, [] {});
  }
  void run(int t) {
    int n = 0;
    if (t == 0)
      got[t][n++] = ready.pop(any);
    if (t == 1) {
      if (stacked *const x = ready.take_some(3, of_thief))
        got[t][n++] = x;
      got[t][n++] = of_thief.pop(any);
    }
    if (t == 2)
      got[t][n++] = of_thief.take(any);
  }
  void check() {
    for (auto &mine : got)
      for (stacked *x : mine)
        if (x)
          ++x->taken;
    for (stack *s : {&ready, &of_thief})
      while (stacked *x = s->pop(any))
        ++x->taken;
    for (stacked &x : items)
      expect(x.taken == 1, "every task is taken once");
  }
};
const passes<stack_stolen<1>> s3{"omp_stack_stolen"};
const passes<stack_stolen<2>> s4{"omp_stack_stolen_twice"};

// ---- a waiter and a producer of ready tasks; as in sleep_in() of task_wait.cpp and offer() of
// task_queue.cpp

template <int Tasks>
struct wait_for_ready {
  static constexpr int threads = 2;
  stacked items[Tasks];
  stack ready;
  weft_omp::basic_wait_flag<P> waits;
  omp_model_thread waiter;
  stacked *take_or_sleep() {
    waits.raise();
    stacked *const x = ready.take(any);
    if (!x)
      waiter.wait();
    waits.lower();
    return x;
  }
  void run(int t) {
    for (stacked &item : items)
      if (t == 0) {
        bool sleeps = false;
        ready.push(item, [&] { sleeps = waits.is_raised(); });
        if (sleeps)
          waiter.signal();
      } else {
        stacked *x = ready.take(any);
        while (!x)
          x = take_or_sleep();
        ++x->taken;
      }
  }
  void check() {
    for (stacked &x : items)
      expect(x.taken == 1, "every task is taken once");
  }
};
const passes<wait_for_ready<1>> w1{"omp_wait_one_task"};
const passes<wait_for_ready<2>> w2{"omp_wait_two_tasks"};

// ---- the body and the event of a watched task end; as in end_body() and report_fulfillment() of
// tool/tasks.cpp

struct two_ends {
  static constexpr int threads = 2;
  weft_omp::basic_task_ends<P> ends;
  model_var<int> body{0}, event{0}; // what the runner, and the fulfiller, did with the record
  int ended[2] = {};
  void end(int t) {
    expect(body.get() != 0 && event.get() != 0, "the second sees what the first did");
    body.set(-1); // the record is gone: any access beside this one is a race
    event.set(-1);
    ++ended[t];
  }
  void run(int t) {
    model_var<int> &mine = t == 0 ? body : event;
    const bool is_second = t == 0 ? ends.is_fulfilled() : ends.is_body_over();
    mine.set(1);
    if (is_second || (t == 0 ? ends.end_body() : ends.fulfil()))
      end(t);
  }
  void check() { expect(ended[0] + ended[1] == 1, "one of the two ends the record"); }
};
const passes<two_ends> e1{"omp_ends_of_body_and_event"};

// ---- counts of children

struct counted;
struct model_group {
  omp_model_thread *owner = nullptr;
  const counted *opener = nullptr;
  P::plain<std::int64_t> here{0};
  model_atomic<std::int64_t> others{-weft_omp::k_bias};
};

struct counted {
  P::plain<counted *> parent{nullptr}; // the thread that frees the record comes after all readers
  P::plain<model_group *> group{nullptr};
  P::plain<bool> undeferred{false};
  model_atomic<omp_model_thread *> on{nullptr};
  P::plain<std::int64_t> made{0}, ended_here{0};
  model_atomic<std::int64_t> word{0};
  model_atomic<bool> complete{false};
  model_var<int> done{0};
};

struct children_base {
  omp_model_thread members[3];
  counted *make(counted *parent, int runner) {
    auto *x = new counted;
    x->parent = parent;
    x->on.store(&members[runner], relaxed);
    if (parent)
      ++parent->made;
    return x;
  }
  static void free(counted &x) { delete &x; }
  /// Does what end_task() of task.cpp does.
  void end(int t, counted &x) {
    weft_omp::end_counted(
        members[t], x, &children_base::free, [](omp_model_thread &m) { m.signal(); },
        [](counted &ended, omp_model_thread &creator) {
          ended.complete.store(true, release);
          creator.signal();
        });
  }
  /// Does what wait_for_children() of task_wait.cpp does.
  void wait(int t, counted &x) {
    while (weft_omp::children_of(x) != 0) {
      weft_omp::settle_children(x);
      if (weft_omp::children_of(x) != 0)
        members[t].wait();
    }
    weft_omp::settle_children(x);
  }
};

/// Lets a task wait for children that end on other threads, and on its own.
template <int Others, int Here>
struct children_waited_for : children_base {
  static constexpr int threads = 1 + Others;
  counted *root = make(nullptr, 0);
  counted *children[Others + Here];
  model_var<int> done[Others];
  children_waited_for() {
    for (int i = 0; i < Others + Here; ++i)
      children[i] = make(root, i < Others ? i + 1 : 0);
  }
  void run(int t) {
    if (t > 0) {
      done[t - 1].set(1);
      return end(t, *children[t - 1]);
    }
    for (int i = 0; i < Here; ++i)
      end(0, *children[Others + i]);
    wait(0, *root);
    for (auto &d : done)
      expect(d.get() == 1, "what children did is seen");
  }
  void check() {
    expect(root->word.load(relaxed) == 0, "the count is settled");
    delete root;
  }
};
/// Lets the creator meanwhile add up the children that have ended on other threads.
template <int Others>
struct children_collected : children_waited_for<Others, 0> {
  void run(int t) {
    if (t == 0) {
      const std::int64_t before = weft_omp::children_of(*this->root);
      weft_omp::collect_children(*this->root);
      expect(weft_omp::open_here(*this->root) <= before, "what ended elsewhere is counted here");
    }
    children_waited_for<Others, 0>::run(t);
  }
};
const passes<children_collected<1>> c7{"omp_children_collected"};
const passes<children_collected<2>> c8{"omp_children_two_collected"};

const passes<children_waited_for<1, 0>> c1{"omp_children_one"};
const passes<children_waited_for<1, 1>> c2{"omp_children_one_elsewhere"};
const passes<children_waited_for<2, 0>> c3{"omp_children_two"};

/// Lets each of a chain of tasks of a group end without waiting for its children. A record is freed
/// when no thread refers to it, and the thread that frees it sees all others done.
struct children_left : children_base {
  static constexpr int threads = 3;
  model_group group; // its owner does not wait
  counted *root = make(nullptr, 0);
  counted *first = make(root, 0), *second = make(first, 1), *third = make(second, 2);
  children_left() {
    for (counted *x : {first, second, third})
      x->group = &group;
    group.here = 3;
  }
  void run(int t) {
    counted *const mine[] = {first, second, third};
    mine[t]->done.set(1);
    end(t, *mine[t]);
  }
  void check() {
    expect(weft_omp::tasks_of(group) == 0, "the ends are counted in the group");
    expect(root->word.load(relaxed) + weft_omp::open_here(*root) == 0, "no task refers to the root");
    delete root;
  }
};
const passes<children_left> c4{"omp_children_left"};

struct children_left_by_two : children_base {
  static constexpr int threads = 2;
  counted *root = make(nullptr, 0);
  counted *first = make(root, 0), *second = make(first, 1);
  void run(int t) { end(t, t == 0 ? *first : *second); }
  void check() {
    expect(root->word.load(relaxed) + weft_omp::open_here(*root) == 0, "no task refers to the root");
    delete root;
  }
};
const passes<children_left_by_two> c5{"omp_children_left_by_two"};

/// Ends a detached task, whose body is over, on the thread that fulfils its event, while its child
/// ends.
struct children_of_detached : children_base {
  static constexpr int threads = 2;
  counted *root = make(nullptr, 0);
  counted *first = make(root, 0), *second = make(first, 1);
  children_of_detached() { weft_omp::leave_runner(*first); }
  void run(int t) { end(t, t == 0 ? *first : *second); }
  void check() {
    expect(root->word.load(relaxed) + weft_omp::open_here(*root) == 0, "no task refers to the root");
    delete root;
  }
};
const passes<children_of_detached> c6{"omp_children_of_detached"};

/// Ends an undeferred task on the thread that fulfils its event, while its child ends. The creator
/// waits for it, in the parent. As wait_until_complete() of task_wait.cpp.
struct undeferred_with_child : children_base {
  static constexpr int threads = 3;
  counted *root = make(nullptr, 0);
  counted *task = make(root, 0), *child = make(task, 2);
  undeferred_with_child() {
    task->undeferred = true;
    weft_omp::keep(*task);
    weft_omp::leave_runner(*task);
  }
  void run(int t) {
    if (t > 0)
      return end(t, t == 1 ? *task : *child);
    while (!task->complete.load(acquire))
      members[0].wait();
    weft_omp::drop_reference(task, &children_base::free);
  }
  void check() {
    expect(root->word.load(relaxed) + weft_omp::open_here(*root) == 0, "no task refers to the root");
    delete root;
  }
};
const passes<undeferred_with_child> c9{"omp_children_of_undeferred"};

// ---- groups

/// Does what end_group() of task_wait.cpp does, on thread `t`.
inline void end_group(omp_model_thread &t, model_group &g) {
  while (weft_omp::tasks_of(g) != 0) {
    if (weft_omp::settle_group(g))
      t.wait();
    weft_omp::unsettle_group(g);
  }
}

/// Lets the owner create tasks, some of which end on another thread that also creates one. As
/// end_group() of task_wait.cpp.
template <int Others>
struct group_waited_for {
  static constexpr int threads = 1 + Others;
  omp_model_thread members[3];
  model_group *group = new model_group;
  model_var<int> done[Others];
  group_waited_for() {
    group->owner = &members[0];
    group->here = Others;
  }
  void end(int t) {
    weft_omp::end_in_group(members[t], *group, [](omp_model_thread &m) { m.signal(); });
  }
  void run(int t) {
    if (t == 1)
      group->others.fetch_add(1, relaxed); // count_in() of task_queue.cpp
    if (t > 0) {
      done[t - 1].set(1);
      if (t == 1)
        end(t);
      return end(t);
    }
    end_group(members[0], *group);
    delete group;
    for (auto &d : done)
      expect(d.get() == 1, "what tasks of the group did is seen");
  }
  void check() {}
};
const passes<group_waited_for<1>> g1{"omp_group_one"};
const passes<group_waited_for<2>> g2{"omp_group_two"};

/// Lets an untied task end a part while its child, or a task of its group, is not over. The next
/// part waits for that, on another thread if the task may move. As run_task() of task.cpp.
template <bool Grouped>
struct task_between_parts : children_base {
  static constexpr int threads = 3;
  model_group group;
  counted *root = make(nullptr, 0);
  counted *x = make(root, 0), *child = make(Grouped ? root : x, 1);
  model_atomic<int> offered{0}; // 1: to the other thread, 2: the part has run
  task_between_parts() {
    if (!Grouped)
      return;
    group.owner = &members[0];
    group.opener = x;
    group.here = 1; // the child: a grandchild, say, whose parent is over
    x->group = &group;
  }
  void next_part(int t) {
    x->on.store(&members[t], relaxed); // call_body()
    if (Grouped)
      end_group(members[t], group);
    else
      wait(t, *x);
    expect(child->done.get() == 1, "what the child did is seen");
  }
  void end_child(int t) {
    child->done.set(1);
    if (Grouped)
      weft_omp::end_in_group(members[t], group, [](omp_model_thread &m) { m.signal(); });
    else
      weft_omp::end_child(members[t], *x, &children_base::free,
                          [](omp_model_thread &m) { m.signal(); });
  }
  void run(int t) {
    if (t == 0) {
      const bool moves = weft_omp::may_move(*x);
      if (moves)
        weft_omp::leave_runner(*x);
      else
        next_part(0);
      offered.store(moves ? 1 : 2, release);
    } else if (t == 1) {
      end_child(1);
    } else if (P::await(offered, [](int o) { return o != 0; }, acquire) == 1) {
      next_part(2);
    }
  }
  void check() {
    expect(x->word.load(relaxed) == 0, "the count is settled");
    delete child;
    delete x;
    delete root;
  }
};
const passes<task_between_parts<false>> m1{"omp_moved_with_a_child"};
const passes<task_between_parts<true>> m2{"omp_moved_in_a_group"};

// ---- records that come back, threads in teams

struct record {
  record *newer = nullptr;
  model_var<int> used{1};
  int back = 0;
};

template <int Others>
struct records_come_back {
  static constexpr int threads = 1 + Others;
  weft_omp::returned_list<record, P> returned;
  record records[Others][2];
  void take() {
    for (record *x = returned.take_all(); x; x = x->newer) {
      expect(x->used.get() == 0, "the record is no longer used");
      x->used.set(1);
      ++x->back;
    }
  }
  void run(int t) {
    if (t == 0) {
      take();
      return take();
    }
    record(&mine)[2] = records[t - 1];
    for (record &x : mine)
      x.used.set(0);
    mine[0].newer = &mine[1];
    returned.push(mine[0], mine[1]);
  }
  void check() {
    take();
    for (auto &mine : records)
      for (record &x : mine)
        expect(x.back == 1, "every record comes back once");
  }
};
const passes<records_come_back<1>> r1{"omp_returned_by_one"};
const passes<records_come_back<2>> r2{"omp_returned_by_two"};

/// Has siblings, counted already, that ask for four threads each where two more are allowed.
template <int Siblings>
struct threads_within_limit {
  static constexpr int threads = Siblings;
  static constexpr unsigned limit = Siblings + 2;
  weft_omp::basic_thread_count<P> count;
  unsigned got[Siblings] = {};
  threads_within_limit() { count.add(Siblings - 1); }
  void run(int t) { got[t] = count.take(4, limit); }
  void check() {
    unsigned all = 0;
    for (unsigned n : got) {
      expect(n >= 1, "each has itself");
      all += n;
    }
    expect(all == limit && count.now() == limit, "together they get what is left");
  }
};
const passes<threads_within_limit<2>> t1{"omp_threads_two_siblings"};
const passes<threads_within_limit<3>> t2{"omp_threads_three_siblings"};

} // namespace
