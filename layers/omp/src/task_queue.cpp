// SPDX-License-Identifier: Apache-2.0
// Where ready tasks stand, who takes them, and waiting for their ends.
#include "task_queue.hpp"

#include "team.hpp"

#include <weft/error.hpp>

#include <mutex>
#include <new>

namespace weft_omp {

namespace {

template <class List, link<omp_task> omp_task::*L>
void insert_by_priority(List &l, omp_task &x) noexcept {
  omp_task *at = l.first();
  if (x.priority == 0 && g_globals.max_task_priority == 0)
    return l.push_back(x);
  while (at && at->priority >= x.priority)
    at = (at->*L).next;
  l.insert_before(at, x);
}

/// With the lock.
void take_out(team &c, omp_task &x) noexcept {
  c.queue.remove(x);
  x.parent->ready_children.remove(x);
  if (x.group)
    x.group->ready.remove(x);
  c.queued.fetch_sub(1, std::memory_order_relaxed);
}

/// With the lock.
void count(team &c, omp_task &x) noexcept {
  ++x.parent->children;
  if (x.group)
    ++x.group->count;
  c.tasks.fetch_add(1, std::memory_order_relaxed);
}

enum class counted : bool { before, now };

/// It may run now. `me` null: inside of Weft.
void offer(thread *me, omp_task &x, counted when) {
  team &c = *x.crew;
  thread *woken = nullptr, *of_group = nullptr, *another = nullptr;
  {
    std::lock_guard lock(c.lock);
    if (when == counted::now)
      count(c, x);
    if (x.undeferred) {
      x.ready.store(true, std::memory_order_release); // O4
      woken = x.waiting;
    } else {
      insert_by_priority<decltype(c.queue), &omp_task::in_team>(c.queue, x);
      insert_by_priority<decltype(x.parent->ready_children), &omp_task::in_parent>(x.parent->ready_children, x);
      if (x.group)
        insert_by_priority<decltype(x.group->ready), &omp_task::in_group>(x.group->ready, x);
      c.queued.fetch_add(1, std::memory_order_relaxed);
      woken = x.parent->waiting;
      of_group = x.group && x.group->waiting != woken ? x.group->waiting : nullptr;
      another = take_waiting(c); // the former may be sent to several tasks, and one of them may wait for what another does
    }
  }
  for (thread *t : {woken, of_group, another})
    if (t)
      t->place_to_wait.signal(me);
}

weft::layer::held_task *scope_of(thread &t, omp_task &x) {
  if (!x.held)
    in_core(&t, [&x] { weft::layer::hold_task(nullptr, nullptr, 0, nullptr, nullptr, &x.held); });
  return x.held;
}

} // namespace

void offer_again(thread &t, omp_task &x) { offer(&t, x, counted::before); }

void count_in(omp_task &x) {
  team &c = *x.crew;
  std::lock_guard lock(c.lock);
  count(c, x);
}

void hold(thread &t, omp_task &x, const task_clauses &clauses) {
  const char *failure = nullptr;
  weft::layer::held_task *const scope = scope_of(t, *x.parent);
  in_core(&t, [&] {
    try {
      weft::layer::hold_task(scope, clauses.accesses, clauses.access_count,
                             [](void *p) { offer(nullptr, *static_cast<omp_task *>(p), counted::before); }, &x, &x.held);
    } catch (const weft::error &) {
      failure = "no memory for the dependences of a task";
    }
  });
  if (failure)
    fatal("%s", failure);
}

void wait_until_ready(thread &t, omp_task &x) {
  team &c = *x.crew;
  for (;;) {
    {
      std::lock_guard lock(c.lock);
      if (x.ready.load(std::memory_order_acquire)) { // O4
        x.waiting = nullptr;
        return;
      }
      x.waiting = &t;
    }
    omp_task *other = nullptr;
    {
      std::lock_guard lock(c.lock);
      other = t.task->ready_children.first();
      if (other)
        take_out(c, *other);
      else
        t.task->waiting = &t; // what it waits for may be a child that becomes ready
    }
    if (other)
      run_task(t, *other);
    else
      t.place_to_wait.wait(t, spins_for(c));
    std::lock_guard lock(c.lock);
    t.task->waiting = nullptr;
  }
}

void submit(thread &t, omp_task &x, const task_clauses &clauses) {
  if (clauses.access_count == 0)
    return offer(&t, x, counted::now);
  count_in(x);
  hold(t, x, clauses);
}

omp_task *take_any(team &c, std::uint32_t number) noexcept {
  std::lock_guard lock(c.lock);
  if (c.passed.load(std::memory_order_relaxed) != number)
    return nullptr;
  omp_task *x = c.queue.first();
  if (x)
    take_out(c, *x);
  return x;
}

// ---- waiting -----------------------------------------------------------------------------------------------------------

void wait_for_children(thread &t) {
  omp_task &x = *t.task;
  team &c = *t.crew;
  for (int spins = spins_for(c);;) {
    omp_task *next = nullptr;
    {
      std::lock_guard lock(c.lock);
      x.waiting = nullptr;
      if (x.children == 0)
        return;
      next = x.ready_children.first();
      if (next)
        take_out(c, *next);
      else
        x.waiting = &t;
    }
    if (next)
      run_task(t, *next);
    else
      t.place_to_wait.wait(t, spins);
  }
}

void begin_group(thread &t) {
  auto *g = new (std::nothrow) task_group;
  if (!g)
    fatal("no memory for a taskgroup");
  g->outer = t.task->group;
  g->reductions = g->outer ? g->outer->reductions : nullptr;
  t.task->group = g;
}

void end_group(thread &t) {
  task_group *const g = t.task->group;
  if (!g)
    return;
  omp_task &x = *t.task;
  team &c = *t.crew;
  for (int spins = spins_for(c);;) {
    omp_task *next = nullptr;
    {
      std::lock_guard lock(c.lock);
      g->waiting = x.waiting = nullptr;
      if (g->count == 0)
        break;
      next = g->ready.first();
      if (!next)
        next = x.ready_children.first(); // of an outer group: the group's may depend on it
      if (next)
        take_out(c, *next);
      else
        g->waiting = x.waiting = &t;
    }
    if (next)
      run_task(t, *next);
    else
      t.place_to_wait.wait(t, spins);
  }
  if (g->of_llvm)
    finish_reductions(t, *g);
  x.group = g->outer;
  delete g;
}

} // namespace weft_omp
