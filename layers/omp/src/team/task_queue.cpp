// SPDX-License-Identifier: Apache-2.0
// The queues of ready tasks, and which thread takes a task from them.
#include "team/task_queue.hpp"

#include "helper/helpers.hpp"
#include "team/team.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace weft_omp {
namespace {

constexpr std::size_t k_most_per_member =
    64; // tasks with dependences that are not complete, in big teams

/// Holds the sleeping threads that may run a task: its creator, and the thread that waits for its
/// group. The caller calls look() before any thread can take the task, because afterwards the
/// parent and the group may be gone.
struct sleepers {
  thread *of_parent = nullptr, *of_group = nullptr;
  void look(const omp_task &x) noexcept {
    if (x.parent->waits.is_raised())
      of_parent = x.parent->on.load(std::memory_order_relaxed);
    if (x.group && x.group->waits.is_raised())
      of_group = x.group->owner;
  }
  void wake(thread *me) const noexcept {
    if (of_parent) [[unlikely]]
      of_parent->own_parker.signal(me);
    if (of_group && of_group != of_parent) [[unlikely]]
      of_group->own_parker.signal(me);
  }
};

void insert_by_priority(omp_team &c, omp_task &x) noexcept {
  omp_task *above = c.last; // the last task that goes before this one
  while (above && above->priority < x.priority)
    above = above->older;
  x.older = above;
  x.newer = above ? above->newer : c.first;
  (x.newer ? x.newer->older : c.last) = &x;
  (above ? above->newer : c.first) = &x;
}

void take_out(omp_team &c, omp_task &x) noexcept {
  (x.newer ? x.newer->older : c.last) = x.older;
  (x.older ? x.older->newer : c.first) = x.newer;
  c.listed.fetch_sub(1, std::memory_order_relaxed);
}

/// Puts a task into the team's list. `me` null: the caller is inside Weft.
void offer_to_all(thread *me, omp_task &x) {
  if (x.priority == k_for_helpers)
    return give_to_helpers(me, x);
  omp_team &c = *x.team;
  sleepers s;
  {
    std::lock_guard lock(c.lock);
    insert_by_priority(c, x);
    c.listed.fetch_add(1, std::memory_order_seq_cst); // O6 of barrier_words.hpp
    s.look(x);
  }
  s.wake(me);
  wake_idle(me, c);
}

[[gnu::always_inline]] inline void offer_at(member_slot &slot, thread &t, omp_task &x) {
  omp_team &c = *x.team;
  sleepers s;
  slot.ready.push(x, [&] { s.look(x); });
  s.wake(&t);
  wake_idle(&t, c);
}

/// Puts a task into the thread's own stack, if it belongs there.
void offer(thread &t, omp_task &x) {
  if (x.priority != 0 || t.team != x.team) [[unlikely]]
    return offer_to_all(&t, x);
  offer_at(slot_of(t), t, x);
}

/// Wakes the creator of an undeferred task, which waits for it, perhaps on another thread.
void notify_creator(omp_task &x) noexcept {
  thread *const creator = x.on.load(std::memory_order_relaxed);
  x.ready.store(
      true,
      std::memory_order_release); // O4 of task.hpp; from here on its creator may run and end it
  creator->own_parker.signal(nullptr);
}

/// Takes a task that became ready outside of release(). Weft calls it.
void became_ready(void *p) {
  auto &x = *static_cast<omp_task *>(p);
  if (x.undeferred)
    notify_creator(x);
  else
    offer_to_all(nullptr, x);
}

/// Collects what a task's end makes ready. The thread offers it when it has left Weft.
void collect(void *list, void *p) {
  auto &x = *static_cast<omp_task *>(p);
  if (x.undeferred)
    return notify_creator(x);
  auto &first = *static_cast<omp_task **>(list);
  x.newer = first;
  first = &x;
}

weft::layer::external_task *scope_of(thread &t, omp_task &x) {
  if (!x.external)
    in_core(&t, [&x] {
      weft::layer::enter_external_task(nullptr, nullptr, 0, nullptr, nullptr, &x.external);
    });
  return x.external;
}

bool is_below(const omp_task &x, const omp_task &above) noexcept {
  for (const omp_task *p = x.parent; p && p->depth >= above.depth; p = p->parent)
    if (p == &above)
      return true;
    else if (p->depth == 0)
      return false;
  return false;
}

/// Runs some ready tasks if the creator has many open ones. A thread calls it after it has created
/// a task with dependences: a task that waits for others takes as much memory as a ready one.
void run_some(thread &t) {
  omp_task &creator = *t.task;
  const auto most = std::max<std::size_t>(g_globals.most_tasks, k_most_per_member * t.team->size);
  const auto are_many = [&] {
    const std::int64_t open = open_here(creator);
    return open > 0 && static_cast<std::size_t>(open) >= most;
  };
  if (!are_many()) [[likely]]
    return;
  collect_children(creator);
  while (are_many()) {
    omp_task *const x =
        slot_of(t).ready.pop([&](const omp_task &y) { return is_below(y, creator); });
    if (!x)
      return;
    run_task(t, *x);
  }
}

} // namespace

void release(thread &me, omp_task &x, omp_task **next) {
  weft::layer::external_task *const external = std::exchange(x.external, nullptr);
  omp_task *ready = nullptr;
  in_core(&me, [external, &ready] { weft::layer::end_external_task(*external, &collect, &ready); });
  if (ready && next && ready->parent == x.parent && ready->priority == 0 &&
      x.team->listed.load(std::memory_order_relaxed) == 0) {
    *next = ready;
    ready = ready->newer;
  }
  while (ready) {
    omp_task *const after = ready->newer;
    offer(me, *ready);
    ready = after;
  }
}

namespace {

[[gnu::always_inline]] inline void hold_here(thread &t, omp_task &x, const task_clauses &clauses) {
  x.accesses = static_cast<std::uint8_t>(std::min<std::size_t>(clauses.access_count, UINT8_MAX));
  weft::layer::external_task *const scope = scope_of(t, *x.parent);
  bool is_ready = false, failed = false;
  in_core(&t, [&] {
    try {
      is_ready = weft::layer::enter_external_task(scope, clauses.accesses, clauses.access_count,
                                                  &became_ready, &x, &x.external);
    } catch (const weft::error &) {
      failed = true;
    }
  });
  if (failed) [[unlikely]]
    fatal("no memory for the dependences of a task");
  if (!is_ready)
    return; // it may have ended by now
  if (x.undeferred)
    x.ready.store(true, std::memory_order_relaxed); // O4 of task.hpp: this thread is the waiter
  else
    offer(t, x);
}

} // namespace

void hold(thread &t, omp_task &x, const task_clauses &clauses) { hold_here(t, x, clauses); }
void offer_again(thread &t, omp_task &x) { offer(t, x); }

void submit(thread &t, omp_task &x, const task_clauses &clauses) {
  if (clauses.access_count != 0) {
    count_in(t, x);
    hold_here(t, x, clauses);
    return run_some(t);
  }
  if (x.priority == 0) [[likely]]
    return submit_plain(t, x);
  count_in(t, x);
  offer_to_all(&t, x);
}

void submit_plain(thread &t, omp_task &x) {
  task_stack &mine = count_in(t, x).ready;
  if (mine.size() >= g_globals.most_tasks) [[unlikely]]
    return run_task(t, x); // there are many: run the newest
  mine.push(x, [] {});
  wake_idle(&t, *t.team);
}

// ---- taking --------------------------------------------------------------------------------------------------------------

namespace {

template <class F>
omp_task *take_listed(omp_team &c, F suits) noexcept {
  if (c.listed.load(std::memory_order_seq_cst) == 0)
      [[likely]] // O6 of barrier_words.hpp, O1 of wait_flag.hpp
    return nullptr;
  std::lock_guard lock(c.lock);
  omp_task *x = c.first;
  while (x && !suits(*x))
    x = x->newer;
  if (x)
    take_out(c, *x);
  return x;
}

} // namespace

omp_task *take_own(thread &t, omp_team &c) noexcept {
  constexpr auto any = [](const omp_task &) { return true; };
  if (omp_task *x = take_listed(c, any))
    return x;
  return slot_of(t).ready.pop(any);
}

omp_task *steal(thread &t, omp_team &c, steal_policy &policy) noexcept {
  const member_slot *const last = policy.owner();
  unsigned v = last && policy.has_abstained()
                   ? static_cast<unsigned>(last - c.slots)
                   : t.number; // begin at another victim, if there is one
  for (unsigned i = 0; i < c.size; ++i) {
    v = v + 1 == c.size ? 0 : v + 1;
    if (v == t.number)
      continue;
    if (omp_task *x = c.slots[v].ready.take_some(policy.most_at_once(), slot_of(t).ready)) {
      policy.took_from(c.slots[v]);
      return x;
    }
  }
  return nullptr;
}

void give_back(thread &t, omp_team &c, const steal_policy &policy, omp_task *next) {
  member_slot &owner = c.slots[policy.owner() - c.slots];
  const auto is_stolen = [&t](const omp_task &x) { return x.home != &t; };
  while (omp_task *const x = next ? std::exchange(next, nullptr) : slot_of(t).ready.pop(is_stolen))
    offer_at(owner, t, *x);
}

omp_task *take_below(thread &t, const omp_task &above) noexcept {
  const auto below = [&above](const omp_task &x) { return is_below(x, above); };
  omp_team &c = *t.team;
  if (omp_task *x = slot_of(t).ready.pop(below))
    return x;
  if (omp_task *x = take_listed(c, below))
    return x;
  for (unsigned i = 0, v = t.number; i < c.size;
       ++i) { // the own stack, too: what dependences made ready may be lower in it
    if (omp_task *x = c.slots[v].ready.take(below))
      return x;
    v = v + 1 == c.size ? 0 : v + 1;
  }
  return nullptr;
}

bool has_work(const omp_team &c) noexcept {
  if (!c.has_tasks.load(std::memory_order_relaxed))
    return false;
  if (c.listed.load(std::memory_order_seq_cst) != 0) // O6 of barrier_words.hpp
    return true;
  for (unsigned i = 0; i < c.size; ++i)
    if (c.slots[i].ready.any())
      return true;
  return false;
}

} // namespace weft_omp
