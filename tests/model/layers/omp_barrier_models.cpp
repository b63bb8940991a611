// SPDX-License-Identifier: Apache-2.0
// Models of layers/omp/src/team/barrier_words.hpp with the stacks of ready tasks and with parked
// threads, and of leaf_watch.hpp. They are images of barrier.cpp, oversubscribed.cpp and
// task_queue.cpp.
#include "omp_parts.hpp"

#include "layers/omp/src/task/task_stack.hpp"
#include "layers/omp/src/team/barrier_words.hpp"
#include "layers/omp/src/team/leaf_watch.hpp"

#include <utility>

namespace {

using namespace weft_model;
using enum std::memory_order;
using P = omp_atomics;
using words = weft_omp::barrier_words<P>;

struct barrier_task {
  P::plain<barrier_task *> newer, older;
  int round = 0; // barriers before it
  barrier_task *makes = nullptr, *makes_too = nullptr;
  bool is_detached = false; // its end comes from outside
  bool waits = false;       // until the model's `may_go_on`
  model_var<int> done{0};
  model_atomic<int> is_over{0};
};

template <unsigned Members>
struct barrier_base {
  static constexpr auto any = [](const barrier_task &) { return true; };

  words w;
  barrier_base() { w.size = Members; }
  struct member {
    omp_model_thread place;
    weft_omp::basic_task_stack<barrier_task, P> ready;
    std::int64_t balance = 0;
    int passed = 0;
    int gives_back = 0; // tasks, before it runs any
    words::idle_mark idle{nullptr};
  } members[Members];

  model_atomic<int> may_go_on{0};
  unsigned at_once = 2; // tasks that a member steals
  void wait_elsewhere(unsigned me) {
    while (may_go_on.load(acquire) == 0)
      members[me].place.wait();
  }
  void let_go_on(unsigned me) {
    may_go_on.store(1, release);
    for (unsigned i = 0; i < Members; ++i)
      if (i != me)
        members[i].place.signal();
  }
  void wake_all(unsigned me) {
    for (unsigned i = 0; i < Members; ++i)
      if (i != me)
        members[i].place.wake();
  }
  void wake_one(unsigned me) {
    for (unsigned i = 0; i < Members; ++i)
      if (i != me &&
          w.wake_if_idle(members[i].idle, [&] { return members[i].place.take(); },
                              [](model_frame &f) { make_ready(f); }))
        return;
  }
  /// Wakes the other members if the barrier is over. (In barrier.cpp, after the barrier that ends a
  /// region, the next region wakes all but the first.)
  bool wake_after(unsigned me, weft_omp::barrier_end e) {
    if (e != weft_omp::barrier_end::not_yet)
      wake_all(me);
    return e != weft_omp::barrier_end::not_yet;
  }
  void push(unsigned me, barrier_task &x) {
    ++members[me].balance;
    if (!w.has_tasks.load(relaxed)) {
      w.set_has_tasks();
      wake_all(me);
    }
    members[me].ready.push(x, [] {});
    if (w.may_have_sleepers())
      wake_one(me);
  }
  barrier_task *take_any(unsigned me) {
    if (barrier_task *x = members[me].ready.pop(any))
      return x;
    for (unsigned i = 0; i < Members; ++i)
      if (i != me)
        if (barrier_task *x = members[i].ready.take_some(at_once, members[me].ready)) {
          if (members[me].gives_back == 0)
            return x;
          --members[me].gives_back;
          give_back(me, i, *x);
        }
    return nullptr;
  }
  void give_back(unsigned me, unsigned owner, barrier_task &x) {
    members[owner].ready.push(x, [] {});
    if (w.may_have_sleepers())
      wake_one(me);
  }
  bool has_work() {
    if (!w.has_tasks.load(relaxed))
      return false;
    for (member &m : members)
      if (m.ready.any())
        return true;
    return false;
  }
  void run_tasks(unsigned me) {
    member &mine = members[me];
    while (barrier_task *x = take_any(me)) {
      expect(x->round == mine.passed,
             "no task begins before its runner has seen the end of the barrier before it");
      if (x->waits)
        wait_elsewhere(me);
      x->done.set(1);
      x->is_over.store(1, release);
      for (barrier_task *made : {x->makes, x->makes_too})
        if (made)
          push(me, *made);
      if (!x->is_detached)
        --mine.balance;
    }
    if (const std::int64_t n = std::exchange(mine.balance, 0))
      w.publish(n);
  }
  void sleep(unsigned me, std::uint64_t number, bool cancellable) {
    const auto holds = [&] { return w.goes_on(number, cancellable) && !has_work(); };
    if (!w.has_tasks.load(relaxed))
      return members[me].place.wait_for([&] { return w.is_without_tasks() && holds(); });
    w.begin_to_park(members[me].idle);
    members[me].place.wait_for(holds);
    w.end_to_park(members[me].idle);
  }
  enum class outcome { over, cancelled, work };
  outcome idle(unsigned me, std::uint64_t number, std::uint64_t unit, bool cancellable) {
    for (;;) {
      if (w.is_over(number))
        return outcome::over;
      const bool leaves = cancellable && w.is_cancelled();
      if (leaves || has_work()) {
        if (!w.take_back(number, unit))
          return outcome::over;
        return leaves ? outcome::cancelled : outcome::work;
      }
      sleep(me, number, cancellable);
    }
  }
  bool barrier(unsigned me, std::uint64_t unit = words::k_arrived, bool cancellable = false) {
    const std::uint64_t number = w.passed();
    for (outcome o = outcome::work; o == outcome::work;) {
      if (w.has_tasks.load(relaxed))
        run_tasks(me);
      if (!wake_after(me, w.try_to_end(w.arrive(unit))))
        o = idle(me, number, unit, cancellable);
      else
        o = outcome::over;
      if (o == outcome::cancelled)
        return false;
    }
    ++members[me].passed;
    return true;
  }
};

/// Checks twice that each member sees after the barrier what all did before it.
template <unsigned Members, int Rounds>
struct barrier_alone : barrier_base<Members> {
  static constexpr int threads = Members;
  model_var<int> data[Members];
  void run(int t) {
    for (int n = 1; n <= Rounds; ++n) {
      data[t].set(n);
      this->barrier(static_cast<unsigned>(t));
      for (auto &d : data)
        expect(d.get() == n, "what others did before the barrier is seen");
      this->barrier(static_cast<unsigned>(t), n == Rounds ? words::k_ended : words::k_arrived);
    }
  }
  void check() {}
};
const passes<barrier_alone<2, 1>> b1{"omp_barrier_two_members"};
const passes<barrier_alone<2, 2>> b2{"omp_barrier_two_members_again"};
const passes<barrier_alone<3, 1>> b3{"omp_barrier_three_members"};

/// Lets the first member create tasks; the member that runs one creates another.
template <unsigned Members, int Tasks, bool Nested>
struct barrier_with_tasks : barrier_base<Members> {
  static constexpr int threads = Members;
  barrier_task tasks[Tasks], nested;
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (t == 0) {
      if (Nested)
        tasks[0].makes = &nested;
      for (barrier_task &x : tasks)
        this->push(me, x);
    }
    this->barrier(me);
    for (barrier_task &x : tasks)
      expect(x.done.get() == 1, "a barrier ends all tasks");
    expect(!Nested || nested.done.get() == 1, "and those that tasks made");
  }
  void check() { expect(this->w.tasks_left() == 0, "the count is settled"); }
};
const passes<barrier_with_tasks<2, 1, false>> t1{"omp_barrier_one_task"};
const passes<barrier_with_tasks<2, 2, false>> t2{"omp_barrier_two_tasks"};
const passes<barrier_with_tasks<2, 1, true>> t3{"omp_barrier_task_makes_task"};
const passes<barrier_with_tasks<3, 2, false>> t4{"omp_barrier_tasks_of_three"};

/// Lets the first member wait for its task before it comes to the barrier: so the other member must
/// find the task, asleep or not.
template <int Tasks>
struct barrier_wakes_for_tasks : barrier_base<2> {
  static constexpr int threads = 2;
  barrier_task tasks[Tasks];
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (t == 0)
      for (barrier_task &x : tasks) {
        push(me, x);
        P::await(x.is_over, [](int over) { return over == 1; }, acquire);
      }
    barrier(me);
  }
  void check() {}
};
const passes<barrier_wakes_for_tasks<1>> t8{"omp_barrier_wakes_for_a_task"};
const passes<barrier_wakes_for_tasks<2>> t9{"omp_barrier_wakes_for_tasks"};

/// Has a member that sleeps for something else, until the first member's task is over. The wake-up
/// for that task must reach the third member, which is idle.
struct barrier_wakes_past_a_waiter : barrier_base<3> {
  static constexpr int threads = 3;
  barrier_task task;
  barrier_wakes_past_a_waiter() { w.set_has_tasks(); }
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (t == 0) {
      push(me, task);
      P::await(task.is_over, [](int over) { return over == 1; }, acquire);
      let_go_on(me);
    } else if (t == 1) {
      wait_elsewhere(me);
    }
    barrier(me);
  }
  void check() {}
};
const passes<barrier_wakes_past_a_waiter> t23{"omp_barrier_wakes_past_a_waiter"};

/// The same, but the member begins to sleep for something else while the wake-up is under way: it
/// was idle, and has taken a task that waits.
struct barrier_wakes_past_a_task : barrier_base<3> {
  static constexpr int threads = 3;
  barrier_task waiting, task;
  barrier_wakes_past_a_task() {
    w.set_has_tasks();
    at_once = 1;
    waiting.waits = true;
  }
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (t == 0) {
      push(me, waiting);
      push(me, task);
      P::await(task.is_over, [](int over) { return over == 1; }, acquire);
      let_go_on(me);
    }
    barrier(me);
  }
  void check() {}
};
const passes<barrier_wakes_past_a_task> t24{"omp_barrier_wakes_past_a_task"};

/// Lets the other member give back a task that it should not have taken. The creator may be idle,
/// or asleep, by then.
template <int Tasks>
struct barrier_gives_back : barrier_with_tasks<2, Tasks, false> {
  barrier_gives_back() { this->members[1].gives_back = 1; }
};
const passes<barrier_gives_back<1>> t21{"omp_barrier_gives_a_task_back"};
const passes<barrier_gives_back<2>> t22{"omp_barrier_gives_one_of_two_back"};

/// Creates one task before and one after a barrier.
struct barrier_between_tasks : barrier_base<2> {
  static constexpr int threads = 2;
  barrier_task before, after;
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (t == 0)
      push(me, before);
    barrier(me);
    if (t == 0) {
      after.round = 1;
      push(me, after);
    }
    barrier(me);
    expect(before.done.get() == 1 && after.done.get() == 1, "barriers end all tasks");
  }
  void check() {}
};
const passes<barrier_between_tasks> t5{"omp_barrier_between_tasks"};

/// Ends a task of the team on a thread that is no member, as a detached task may end.
struct barrier_ended_from_outside : barrier_base<2> {
  static constexpr int threads = 3;
  model_var<int> done{0};
  barrier_ended_from_outside() {
    w.set_has_tasks();
    w.publish(1);
  }
  void run(int t) {
    if (t == 2) {
      done.set(1);
      if (w.end_task())
        wake_after(2, w.try_to_end());
      return;
    }
    barrier(static_cast<unsigned>(t));
    expect(done.get() == 1, "the task is over");
  }
  void check() {}
};
const passes<barrier_ended_from_outside> t6{"omp_barrier_ended_from_outside"};

/// Does the same, and a member cancels a worksharing region after the barrier. The late thread must
/// not clear that.
struct barrier_then_cancelled_workshare : barrier_base<2> {
  static constexpr int threads = 3;
  barrier_then_cancelled_workshare() {
    w.set_has_tasks();
    w.publish(1);
    w.cancel_workshare();
  }
  void run(int t) {
    if (t == 2) {
      if (w.end_task())
        wake_after(2, w.try_to_end());
      return;
    }
    barrier(static_cast<unsigned>(t));
    if (t == 0)
      w.cancel_workshare();
  }
  void check() { expect(w.is_workshare_cancelled(), "the cancellation is not lost"); }
};
const passes<barrier_then_cancelled_workshare> t19{"omp_barrier_then_cancelled_workshare"};
/// Lets both members cancel the same worksharing region: the barrier after it clears that.
struct barrier_after_cancelled_workshare : barrier_base<2> {
  static constexpr int threads = 2;
  void run(int t) {
    w.cancel_workshare();
    barrier(static_cast<unsigned>(t));
    expect(!w.is_workshare_cancelled(), "the next worksharing region is not cancelled");
  }
  void check() {}
};
const passes<barrier_after_cancelled_workshare> t20{"omp_barrier_after_cancelled_workshare"};

/// Ends a task of the team from outside, and the next region has more members. The late thread must not end the barrier of
/// that region, which has as many idle members as the former region needed.
struct barrier_of_a_bigger_team : barrier_base<2> {
  static constexpr int threads = 3;
  model_var<int> data{0};
  model_atomic<int> begun{0};
  barrier_of_a_bigger_team() {
    w.size = 1;
    w.set_has_tasks();
    w.publish(1);
  }
  void run(int t) {
    if (t == 2) {
      if (w.end_task())
        wake_after(2, w.try_to_end());
      return;
    }
    if (t == 0) {
      barrier(0, words::k_ended);
      w.size = 2;
      begun.store(1, release);
    } else {
      P::await(begun, [](int b) { return b == 1; }, acquire);
      data.set(1);
    }
    barrier(static_cast<unsigned>(t), words::k_ended);
    expect(data.get() == 1, "all members have come");
  }
  void check() {}
};
const passes<barrier_of_a_bigger_team> t10{"omp_barrier_of_a_bigger_team"};

/// Lets a late thread look for members while the team grows; as reserve_members(), begin_team() and
/// wake_one_idle().
struct team_grows {
  static constexpr int threads = 2;
  template <class T>
  using published_value = weft_omp::published_value<T, P::atomic<T>>;
  struct list {
    model_var<unsigned> room{0};
    published_value<int *> members[2];
  };
  int first = 0, second = 0;
  list small, large;
  words w;
  published_value<list *> members{&small};
  team_grows() {
    small.room.set(1);
    small.members[0] = &first;
  }
  void run(int t) {
    if (t == 0) {
      large.room.set(2);
      large.members[0] = static_cast<int *>(small.members[0]);
      members = &large;
      large.members[1] = &second;
      w.size = 2;
      return;
    }
    for (unsigned i = 0; i < w.size; ++i) {
      list &l = *members;
      expect(i < l.room.get() && l.members[i], "there are as many as the size says");
    }
  }
  void check() {}
};
const passes<team_grows> t11{"omp_barrier_late_look_at_a_team"};

/// Lets one member wait at a barrier while the other cancels the region; both come to its end.
struct barrier_cancelled : barrier_base<2> {
  static constexpr int threads = 2;
  model_var<int> data{0};
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (t == 0) {
      data.set(1);
      w.cancel();
      wake_all(me);
    } else if (!w.is_cancelled()) {
      expect(!barrier(me, words::k_arrived, true), "a barrier of a cancelled region is left");
      expect(data.get() == 1, "what who cancels did is seen");
    } else {
      expect(data.get() == 1, "what who cancels did is seen");
    }
    barrier(me, words::k_ended);
  }
  void check() {}
};
const passes<barrier_cancelled> t7{"omp_barrier_cancelled"};

/// Has two idle members and a ready task that creates two more. One idle member runs the ready
/// task, the other one runs the first of the new tasks; the second new task never ends. Meanwhile
/// the third member arrives as the last one. It may see a count of tasks that passes zero, and the
/// two members may be idle again when it tries to end the barrier.
struct barrier_zero_in_passing {
  static constexpr int threads = 3;
  words w;
  model_atomic<int> first_made{0};
  bool was_over[3] = {};
  barrier_zero_in_passing() {
    w.size = 3;
    w.set_has_tasks();
    w.publish(1);
    (void)w.arrive(words::k_arrived);
    (void)w.arrive(words::k_arrived);
  }
  void arrive(int t) {
    was_over[t] = w.try_to_end(w.arrive(words::k_arrived)) != weft_omp::barrier_end::not_yet;
  }
  void run(int t) {
    if (t == 1) {
      if (!w.take_back(0, words::k_arrived))
        return;
      first_made.store(1, release);
      w.publish(2 - 1); // made, and ended
    } else if (t == 2) {
      P::await(first_made, [](int made) { return made == 1; }, acquire);
      if (!w.take_back(0, words::k_arrived))
        return;
      w.publish(-1);
    }
    arrive(t);
  }
  void check() {
    expect(w.tasks_left() == 1, "one task is left");
    for (const bool over : was_over)
      expect(!over, "no barrier is over while a task is left");
  }
};
const passes<barrier_zero_in_passing> t12{"omp_barrier_zero_in_passing"};

/// Lets a task create two: the thief of one of them may publish its end before the creator has
/// published anything.
template <unsigned Members>
struct barrier_task_makes_two : barrier_base<Members> {
  static constexpr int threads = Members;
  barrier_task task, made[2];
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (t == 0) {
      task.makes = &made[0];
      task.makes_too = &made[1];
      this->push(me, task);
    }
    this->barrier(me);
    expect(task.done.get() == 1 && made[0].done.get() == 1 && made[1].done.get() == 1,
           "a barrier ends all tasks");
  }
  void check() { expect(this->w.tasks_left() == 0, "the count is settled"); }
};
const passes<barrier_task_makes_two<2>> t13{"omp_barrier_task_makes_two"};

/// Lets two external threads end two pending tasks at the same time, while all members are idle.
template <unsigned Members>
struct barrier_pending_tasks : barrier_base<Members> {
  static constexpr int threads = Members + 2;
  model_var<int> done[2];
  barrier_pending_tasks() {
    this->w.set_has_tasks();
    this->w.publish(2);
  }
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (me >= Members) {
      done[me - Members].set(1);
      if (this->w.end_task())
        this->wake_after(Members, this->w.try_to_end());
      return;
    }
    this->barrier(me);
    expect(done[0].get() == 1 && done[1].get() == 1, "both tasks are over");
  }
  void check() { expect(this->w.tasks_left() == 0, "the count is settled"); }
};
const passes<barrier_pending_tasks<1>> t14{"omp_barrier_pending_tasks_of_one"};
const passes<barrier_pending_tasks<2>> t15{"omp_barrier_pending_tasks"};

/// Lets a member run one of two tasks without ending it. An external thread ends it, while a member
/// runs the other task and both members become idle.
struct barrier_detached_beside_another : barrier_base<2> {
  static constexpr int threads = 3;
  barrier_task detached, plain;
  model_var<int> fulfilled{0};
  barrier_detached_beside_another() { detached.is_detached = true; }
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (t == 2) {
      P::await(detached.is_over, [](int over) { return over == 1; }, acquire);
      fulfilled.set(1);
      if (w.end_task())
        wake_after(2, w.try_to_end());
      return;
    }
    if (t == 0) {
      push(me, detached);
      push(me, plain);
    }
    barrier(me);
    expect(detached.done.get() == 1 && plain.done.get() == 1 && fulfilled.get() == 1,
           "a barrier ends all tasks");
  }
  void check() { expect(w.tasks_left() == 0, "the count is settled"); }
};
const passes<barrier_detached_beside_another> t16{"omp_barrier_detached_beside_another"};

/// Lets a member leave the barrier half-way, because the region is cancelled, while a task that
/// creates another one runs or waits. The end of the region ends them all.
template <int Made>
struct barrier_left_with_tasks : barrier_base<2> {
  static constexpr int threads = 2;
  barrier_task task, made[2];
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (t == 0) {
      task.makes = Made > 0 ? &made[0] : nullptr;
      task.makes_too = Made > 1 ? &made[1] : nullptr;
      push(me, task);
      w.cancel();
      wake_all(me);
    } else if (!w.is_cancelled()) {
      barrier(me, words::k_arrived, true); // may return while the other member runs a task
    }
    barrier(me, words::k_ended);
    expect(task.done.get() == 1, "the end of a region ends all tasks");
    for (int i = 0; i < Made; ++i)
      expect(made[i].done.get() == 1, "and those that they make");
  }
  void check() { expect(w.tasks_left() == 0, "the count is settled"); }
};
const passes<barrier_left_with_tasks<0>> t17{"omp_barrier_left_with_a_task"};
const passes<barrier_left_with_tasks<2>> t18{"omp_barrier_left_with_tasks"};

// ---- oversubscribed teams ------------------------------------------------------------------------------------------------

/// Holds the members of an oversubscribed team. Those with a bit in Watchers watch, for one look,
/// before they are parked.
template <unsigned Members, unsigned Leaves, unsigned Watchers>
struct oversubscribed_base : barrier_base<Members> {
  using base = barrier_base<Members>;
  using base::members;
  using base::w;
  using outcome = typename base::outcome;
  weft_omp::basic_leaf_watch<P> watches[Leaves];
  words::leaf_word arrivals[Leaves]{};
  oversubscribed_base() {
    w.oversubscribed = true;
    w.begin_releasing();
  }

  static constexpr unsigned first_on(unsigned leaf) {
    return (leaf * Members + Leaves - 1) / Leaves;
  }
  static constexpr unsigned leaf_of(unsigned member) {
    unsigned leaf = 0;
    while (first_on(leaf + 1) <= member)
      ++leaf;
    return leaf;
  }
  void wake_leaf(unsigned me, unsigned leaf) {
    for (unsigned i = first_on(leaf); i < first_on(leaf + 1); ++i)
      if (i != me)
        members[i].place.wake();
  }
  void wake_leaves(unsigned me, std::uint64_t what) {
    for (unsigned leaf = 0; leaf < Leaves; ++leaf)
      if (!watches[leaf].is_for(what))
        wake_leaf(me, leaf);
  }
  template <class There, class Missing>
  void rest(unsigned me, std::uint64_t what, There is_there, Missing missing, bool wakes) {
    const unsigned leaf = leaf_of(me);
    if ((Watchers >> me & 1) == 0 || !watches[leaf].watch(what, is_there, [] { return false; }))
      members[me].place.wait_for(missing);
    else if (wakes)
      wake_leaf(me, leaf);
  }
  outcome idle_oversubscribed(unsigned me, std::uint64_t number, std::uint64_t unit,
                              bool cancellable) {
    const auto is_released = [&] { return w.is_released(number); };
    const auto stays = [&] {
      return !is_released() && !(cancellable && w.cancelled.load(seq_cst));
    };
    for (;;) {
      if (!w.has_tasks.load(relaxed)) {
        rest(
            me, 2 * number + 1, is_released, [&] { return w.is_without_tasks() && stays(); },
            unit == words::k_arrived);
      } else {
        w.begin_to_park(members[me].idle);
        members[me].place.wait_for([&] { return stays() && !this->has_work(); });
        w.end_to_park(members[me].idle);
      }
      if (is_released())
        return outcome::over;
      const bool leaves = cancellable && w.is_cancelled();
      if (leaves || this->has_work()) {
        if (!w.take_back(number, unit))
          return outcome::over;
        return leaves ? outcome::cancelled : outcome::work;
      }
    }
  }
  bool barrier(unsigned me, std::uint64_t unit = words::k_arrived, bool cancellable = false) {
    const std::uint64_t number = w.passed_as_released();
    const unsigned leaf = leaf_of(me);
    for (outcome o = outcome::work; o == outcome::work;) {
      if (w.has_tasks.load(relaxed))
        this->run_tasks(me);
      const std::uint64_t seen =
          w.arrive_on(arrivals[leaf], first_on(leaf + 1) - first_on(leaf), number, unit);
      const weft_omp::barrier_end e =
          seen != 0 ? w.try_to_end(seen) : weft_omp::barrier_end::not_yet;
      if (e == weft_omp::barrier_end::inside)
        wake_leaves(me, 2 * number + 1);
      else if (e == weft_omp::barrier_end::of_region)
        this->wake_all(me); // in barrier.cpp the next region wakes all but the first
      o = e == weft_omp::barrier_end::not_yet ? idle_oversubscribed(me, number, unit, cancellable)
                                              : outcome::over;
      if (o == outcome::cancelled)
        return false;
    }
    ++members[me].passed;
    return true;
  }
};

/// Checks that each member sees after the barrier what all did before it, and that no member is
/// left asleep. Some leaves have a member that watches for the others, and some have none.
template <unsigned Members, unsigned Leaves, unsigned Watchers, int Rounds>
struct oversubscribed_barrier : oversubscribed_base<Members, Leaves, Watchers> {
  static constexpr int threads = Members;
  model_var<int> data[Members];
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    for (int n = 1; n <= Rounds; ++n) {
      data[t].set(n);
      this->barrier(me);
      for (auto &d : data)
        expect(d.get() == n, "what others did before the barrier is seen");
      if (n != Rounds)
        this->barrier(me);
    }
  }
  void check() {}
};
const passes<oversubscribed_barrier<2, 1, 0b10, 1>> c1{"omp_oversubscribed_two"};
const passes<oversubscribed_barrier<2, 1, 0b10, 2>> c2{"omp_oversubscribed_two_again"};
const passes<oversubscribed_barrier<2, 2, 0b11, 2>> c3{"omp_oversubscribed_watchers"};
const passes<oversubscribed_barrier<3, 1, 0b100, 1>> c4{"omp_oversubscribed_three"};
const passes<oversubscribed_barrier<3, 2, 0b010, 1>> c5{"omp_oversubscribed_beside_another"};
const passes<oversubscribed_barrier<3, 1, 0b110, 1>> c6{"omp_oversubscribed_two_watchers"};

/// Ends a task of the team on a thread that is no member, and that may be late to wake the members
/// when the barrier is over.
struct oversubscribed_ended_from_outside : oversubscribed_base<2, 1, 0b10> {
  static constexpr int threads = 3;
  model_var<int> done{0};
  oversubscribed_ended_from_outside() { w.publish(1); }
  void run(int t) {
    if (t == 2) {
      done.set(1);
      if (w.end_task() && w.try_to_end() != weft_omp::barrier_end::not_yet)
        wake_all(2);
      return;
    }
    barrier(static_cast<unsigned>(t));
    expect(done.get() == 1, "the task is over");
    barrier(static_cast<unsigned>(t));
  }
  void check() {}
};
const passes<oversubscribed_ended_from_outside> c7{"omp_oversubscribed_ended_from_outside"};

/// Lets one member watch while another one creates tasks: the watching member leaves its watch to
/// run them, and the releaser no longer relies on it.
template <unsigned Watchers>
struct oversubscribed_with_tasks : oversubscribed_base<3, 1, Watchers> {
  static constexpr int threads = 3;
  barrier_task task;
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (t == 0)
      this->push(me, task);
    this->barrier(me);
    expect(task.done.get() == 1, "a barrier ends all tasks");
    this->barrier(me, words::k_ended);
  }
  void check() {}
};
const passes<oversubscribed_with_tasks<0b010>> c8{"omp_oversubscribed_with_tasks"};
const passes<oversubscribed_with_tasks<0b110>> c9{"omp_oversubscribed_with_tasks_and_watchers"};

/// Lets one member cancel the region while others wait, one of which watches.
struct oversubscribed_cancelled : oversubscribed_base<3, 1, 0b010> {
  static constexpr int threads = 3;
  void run(int t) {
    const auto me = static_cast<unsigned>(t);
    if (t == 0) {
      w.cancel();
      wake_all(me);
    } else if (!w.is_cancelled()) {
      expect(!barrier(me, words::k_arrived, true), "a barrier of a cancelled region is left");
    }
    barrier(me, words::k_ended);
  }
  void check() {}
};
const passes<oversubscribed_cancelled> c10{"omp_oversubscribed_cancelled"};

} // namespace
