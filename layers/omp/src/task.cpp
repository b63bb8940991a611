// SPDX-License-Identifier: Apache-2.0
#include "task.hpp"

#include "team.hpp"

#include <weft/error.hpp>

#include <cstdlib>
#include <mutex>
#include <new>

namespace weft_omp {

const icvs &my_icvs() noexcept { return *self().task->settings; }

icvs &own_icvs() noexcept {
  omp_task &x = *self().task;
  if (!x.own) {
    x.own = new (std::nothrow) icvs(*x.settings);
    if (!x.own)
      fatal("no memory for the settings of a task");
    x.settings = x.own;
  }
  return *x.own;
}

void omp_task::become_implicit(team &c, const icvs &from, unsigned) noexcept {
  parent = nullptr;
  crew = &c;
  group = nullptr;
  settings = &from;
  is_final = has_unmarked = false;
  children = 0;
  waiting = nullptr;
}

void omp_task::end_implicit(thread &me) noexcept {
  delete std::exchange(own, nullptr);
  if (auto *scope = std::exchange(held, nullptr))
    in_core(&me, [scope] { weft::layer::end_held(*scope); });
}

omp_task *make_task(thread &t, std::size_t bytes, std::size_t alignment, const task_clauses &clauses) {
  alignment = alignment < alignof(omp_task) ? alignof(omp_task) : alignment;
  const std::size_t head = (sizeof(omp_task) + alignment - 1) & ~(alignment - 1);
  void *block = alignment <= alignof(std::max_align_t) ? std::malloc(head + bytes)
                                                       : std::aligned_alloc(alignment, (head + bytes + alignment - 1) & ~(alignment - 1));
  if (!block)
    fatal("no memory for a task of %zu bytes", bytes);
  omp_task *x = ::new (block) omp_task;
  omp_task &creator = *t.task;
  x->parent = &creator;
  x->crew = t.crew;
  x->group = creator.group;
  x->settings = creator.settings;
  x->argument = static_cast<char *>(block) + head;
  x->is_explicit = true;
  x->is_final = clauses.is_final || creator.is_final;
  x->undeferred = !clauses.deferred || creator.is_final;
  x->detachable = clauses.detachable;
  x->priority = clauses.priority < g_globals.max_task_priority ? clauses.priority : g_globals.max_task_priority;
  if (creator.own)
    x->settings = x->own = new icvs(*creator.own); // the creator may change them
  if (creator.is_explicit)
    creator.references.fetch_add(1, std::memory_order_relaxed);
  return x;
}

void drop(omp_task &last) noexcept {
  for (omp_task *x = &last; x && x->is_explicit && x->references.fetch_sub(1, std::memory_order_acq_rel) == 1;) { // O1
    omp_task *const parent = x->parent;
    delete x->own;
    x->~omp_task();
    std::free(x);
    x = parent;
  }
}

// ---- queues --------------------------------------------------------------------------------------------------------------

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

/// It may run now. `me` null: inside of Weft.
void offer(thread *me, omp_task &x) {
  team &c = *x.crew;
  thread *woken = nullptr, *of_group = nullptr, *another = nullptr;
  {
    std::lock_guard lock(c.lock);
    if (x.undeferred) {
      x.ready.store(true, std::memory_order_release);
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

/// Counts it where it is waited for.
void count_in(omp_task &x) {
  team &c = *x.crew;
  std::lock_guard lock(c.lock);
  ++x.parent->children;
  if (x.group)
    ++x.group->count;
  c.tasks.fetch_add(1, std::memory_order_relaxed);
}

weft::layer::held_task *scope_of(thread &t, omp_task &x) {
  if (!x.held)
    in_core(&t, [&x] { weft::layer::hold_task(nullptr, nullptr, 0, nullptr, nullptr, &x.held); });
  return x.held;
}

/// Enters the accesses; when they allow it, the task is offered.
void hold(thread &t, omp_task &x, const task_clauses &clauses) {
  const char *failure = nullptr;
  weft::layer::held_task *const scope = scope_of(t, *x.parent);
  in_core(&t, [&] {
    try {
      weft::layer::hold_task(scope, clauses.accesses, clauses.access_count,
                             [](void *p) { offer(nullptr, *static_cast<omp_task *>(p)); }, &x, &x.held);
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
      if (x.ready.load(std::memory_order_acquire)) {
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

} // namespace

void submit(thread &t, omp_task &x, const task_clauses &clauses) {
  count_in(x);
  if (clauses.access_count != 0)
    hold(t, x, clauses);
  else
    offer(&t, x);
}

void run_undeferred(thread &t, omp_task &x, const task_clauses &clauses) {
  x.undeferred = true;
  x.references.fetch_add(1, std::memory_order_relaxed);
  count_in(x);
  if (clauses.access_count != 0) {
    hold(t, x, clauses);
    wait_until_ready(t, x);
  }
  run_task(t, x);
  while (!x.complete.load(std::memory_order_acquire)) { // a detachable one
    {
      std::lock_guard lock(x.crew->lock);
      if (x.complete.load(std::memory_order_relaxed))
        break;
      x.waiting = &t;
    }
    t.place_to_wait.wait(t, 0);
  }
  {
    std::lock_guard lock(x.crew->lock); // who ended it is done with it
  }
  drop(x);
}

void wait_for_accesses(thread &t, const task_clauses &clauses) {
  omp_task *x = make_task(t, 0, 1, clauses);
  x->body = [](void *) {};
  run_undeferred(t, *x, clauses);
}

bool is_cancelled(const thread &, const omp_task &x) noexcept {
  if (!g_globals.cancellation)
    return false;
  if (x.crew->cancelled.load(std::memory_order_relaxed))
    return true;
  const task_group *const g = x.group;
  return g && (g->cancelled.load(std::memory_order_relaxed) ||
               (g->of_share && g->outer && g->outer->cancelled.load(std::memory_order_relaxed)));
}

void run_task(thread &t, omp_task &x) {
  omp_task *const before = t.task;
  t.task = &x;
  if (x.is_copied || !is_cancelled(t, x)) {
    if (x.body_of_other)
      x.body_of_other(static_cast<int>(t.number_of_kind), x.argument);
    else
      x.body(x.argument);
  }
  t.task = before;
  if (!x.detachable || (x.detached.fetch_or(1, std::memory_order_acq_rel) & 2) != 0) // O2
    end_task(&t, x);
}

void begin_here(thread &t, omp_task &x) {
  count_in(x);
  t.task = &x;
}

void end_here(thread &t, omp_task &x) {
  t.task = x.parent;
  end_task(&t, x);
}

void fulfill(thread *me, omp_task &x) {
  if ((x.detached.fetch_or(2, std::memory_order_acq_rel) & 1) != 0) // O2
    end_task(me, x);
}

void end_task(thread *me, omp_task &x) {
  team &c = *x.crew;
  if (auto *scope = std::exchange(x.held, nullptr))
    in_core(me, [scope] { weft::layer::end_held(*scope); });
  thread *woken[3];
  unsigned n = 0;
  omp_task *const parent = x.parent;
  task_group *const group = x.group;
  {
    std::lock_guard lock(c.lock);
    if (--parent->children == 0 && parent->waiting)
      woken[n++] = parent->waiting;
    if (group && --group->count == 0 && group->waiting)
      woken[n++] = group->waiting;
    if (x.undeferred && x.waiting)
      woken[n++] = x.waiting;
    x.complete.store(true, std::memory_order_release);
  }
  for (unsigned i = 0; i < n; ++i)
    woken[i]->place_to_wait.signal(me);
  drop(x);
  if (c.tasks.fetch_sub(1, std::memory_order_acq_rel) == 1) // O3 of team.hpp
    end_barrier_if_due(me, c);
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
