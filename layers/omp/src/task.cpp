// SPDX-License-Identifier: Apache-2.0
#include "task.hpp"

#include "task_queue.hpp"
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

void omp_task::begin_in_place(omp_task &creator) {
  parent = &creator;
  crew = creator.crew;
  group = creator.group;
  settings = creator.settings;
  is_final = creator.is_final;
  has_unmarked = false;
  if (creator.own)
    settings = own = new icvs(*creator.own);
  if (creator.is_explicit)
    creator.references.fetch_add(1, std::memory_order_relaxed);
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

// ---- running ------------------------------------------------------------------------------------------------------------

namespace {

/// Its body is over, which its creator has waited for: nobody else counts on it, so it is not counted anywhere.
void end_uncounted(thread &t, omp_task &x) {
  if (auto *scope = std::exchange(x.held, nullptr))
    in_core(&t, [scope] { weft::layer::end_held(*scope); });
  drop(x);
}

/// Counted, and kept until its creator has seen its end.
void count_detachable(omp_task &x) {
  x.references.fetch_add(1, std::memory_order_relaxed);
  count_in(x);
}

void wait_until_complete(thread &t, omp_task &x) {
  while (!x.complete.load(std::memory_order_acquire)) { // O3
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

void call_body(thread &t, omp_task &x) {
  omp_task *const before = std::exchange(t.task, &x);
  if (x.is_copied || !is_cancelled(t, x)) {
    if (x.body_of_other)
      x.body_of_other(static_cast<int>(t.number_of_kind), x.argument);
    else
      x.body(x.argument);
    while (x.undeferred && std::exchange(x.again, false)) {
      t.task = before;
      give_way(t);
      t.task = &x;
      x.body_of_other(static_cast<int>(t.number_of_kind), x.argument);
    }
  }
  t.task = before;
}

} // namespace

void run_in_place(thread &t, void (*body)(void *), void *argument, bool is_final) {
  omp_task *x = std::exchange(t.kept_task, nullptr);
  if (!x) {
    task_clauses none;
    x = make_task(t, 0, 1, none);
  } else {
    x->begin_in_place(*t.task);
  }
  x->undeferred = true;
  x->is_final |= is_final;
  x->body = body;
  x->argument = argument;
  call_body(t, *x);
  // Nobody has made a reference to it, so nobody can make one now.
  if (!x->held && !x->own && !t.kept_task && x->references.load(std::memory_order_acquire) == 1) { // O1
    if (x->parent->is_explicit)
      x->parent->references.fetch_sub(1, std::memory_order_relaxed); // not the last: the parent runs
    t.kept_task = x;
    return;
  }
  end_uncounted(t, *x);
}

void run_undeferred(thread &t, omp_task &x, const task_clauses &clauses) {
  x.undeferred = true;
  if (clauses.access_count == 0 && !x.detachable) {
    call_body(t, x);
    return end_uncounted(t, x);
  }
  count_detachable(x);
  if (clauses.access_count != 0) {
    hold(t, x, clauses);
    wait_until_ready(t, x);
  }
  run_task(t, x);
  wait_until_complete(t, x);
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
  call_body(t, x);
  if (std::exchange(x.again, false)) [[unlikely]]
    return offer_again(t, x);
  if (!x.detachable || (x.detached.fetch_or(1, std::memory_order_acq_rel) & 2) != 0) // O2
    end_task(&t, x);
}

void begin_here(thread &t, omp_task &x) {
  x.undeferred = true;
  if (x.detachable)
    count_detachable(x);
  t.task = &x;
}

void end_here(thread &t, omp_task &x) {
  t.task = x.parent;
  if (!x.detachable)
    return end_uncounted(t, x);
  if ((x.detached.fetch_or(1, std::memory_order_acq_rel) & 2) != 0) // O2
    end_task(&t, x);
  wait_until_complete(t, x);
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
    x.complete.store(true, std::memory_order_release); // O3
  }
  for (unsigned i = 0; i < n; ++i)
    woken[i]->place_to_wait.signal(me);
  drop(x);
  if (c.tasks.fetch_sub(1, std::memory_order_acq_rel) == 1) // O3 of team.hpp
    end_barrier_if_due(me, c);
}

} // namespace weft_omp
