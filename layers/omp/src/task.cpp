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

void omp_task::become_implicit(team &c, const icvs &from, unsigned number) noexcept {
  parent = nullptr;
  crew = &c;
  group = nullptr;
  settings = &from;
  is_final = has_unmarked = false;
  made = ended_here = 0;
  on.store(c.members[number], std::memory_order_relaxed);
  word.store(0, std::memory_order_relaxed);
}

void omp_task::end_implicit(thread &me) noexcept {
  if (own) [[unlikely]]
    delete std::exchange(own, nullptr);
  if (auto *scope = std::exchange(held, nullptr))
    in_core(&me, [scope] { weft::layer::end_held(*scope); });
}

omp_task *make_task(thread &t, std::size_t bytes, std::size_t alignment, const task_clauses &clauses) {
  void *data = nullptr;
  omp_task *const x = make_record(t, bytes, alignment, data);
  omp_task &creator = *t.task;
  x->parent = &creator;
  x->crew = t.crew;
  x->group = creator.group;
  x->settings = creator.settings;
  x->argument = data;
  x->depth = creator.depth + 1;
  x->on.store(&t, std::memory_order_relaxed);
  x->is_explicit = true;
  x->is_final = clauses.is_final || creator.is_final;
  x->undeferred = !clauses.deferred || creator.is_final;
  x->detachable = clauses.detachable;
  x->priority = clauses.priority < g_globals.max_task_priority ? clauses.priority : g_globals.max_task_priority;
  if (creator.own) [[unlikely]]
    x->settings = x->own = new icvs(*creator.own); // the creator may change them
  return x;
}

void discard(thread &t, omp_task &x) noexcept { free_record(t, x); }

// ---- running ------------------------------------------------------------------------------------------------------------

namespace {

/// One who had to find the record is gone; so may be records above.
void drop_reference(thread &me, omp_task *x) noexcept {
  while (x->word.fetch_sub(omp_task::k_reference, std::memory_order_acq_rel) - omp_task::k_reference == omp_task::k_over) { // O1
    omp_task *const parent = x->parent;
    free_record(me, *x);
    x = parent;
  }
}

/// What its thread has counted, added to the rest; nobody counts on that thread any more.
void settle(omp_task &x) noexcept {
  x.on.store(nullptr, std::memory_order_relaxed);
  const std::int64_t mine = x.open_here();
  x.made = x.ended_here = 0;
  x.word.fetch_add(mine, std::memory_order_acq_rel); // O5
}

/// The body is over. True: nobody refers to the record any more; else the last who does gives it back, and until then it keeps its parent's.
bool is_left(omp_task &x) noexcept {
  const std::int64_t mine = x.open_here();
  x.on.store(nullptr, std::memory_order_relaxed);
  if (mine == 0 && x.word.load(std::memory_order_acquire) == 0) [[likely]] // O5
    return true;
  x.parent->word.fetch_add(omp_task::k_reference, std::memory_order_relaxed);
  if (x.word.fetch_add(mine + omp_task::k_over, std::memory_order_acq_rel) + mine != 0) // O5
    return false;
  x.parent->word.fetch_sub(omp_task::k_reference, std::memory_order_relaxed); // not the last one: x counts as its child
  return true;
}

void end_child(thread &me, omp_task &parent) noexcept {
  thread *const on = parent.on.load(std::memory_order_relaxed);
  if (on == &me) {
    ++parent.ended_here;
    return;
  }
  const std::int64_t left = parent.word.fetch_sub(1, std::memory_order_acq_rel) - 1; // O1
  if (left == omp_task::k_over) {
    omp_task *const above = parent.parent;
    free_record(me, parent);
    drop_reference(me, above);
  } else if (on && (left & omp_task::k_number) == 0) {
    on->place_to_wait.signal(&me);
  }
}

void end_in_group(thread &me, task_group &g) noexcept {
  thread *const owner = g.owner;
  if (owner == &me) {
    --g.here;
    return;
  }
  if (g.others.fetch_sub(1, std::memory_order_acq_rel) == 1 && owner) // O1 of task_group
    owner->place_to_wait.signal(&me);
}

/// Its creator has waited for its body, and it was counted nowhere.
void end_uncounted(thread &t, omp_task &x) {
  if (auto *scope = std::exchange(x.held, nullptr))
    release(t, *scope);
  if (is_left(x)) [[likely]]
    free_record(t, x);
}

/// Kept until its creator has seen its end.
void count_undeferred(thread &t, omp_task &x) noexcept {
  x.word.fetch_add(omp_task::k_reference, std::memory_order_relaxed);
  count_in(t, x);
}

/// The last touch by who ended it, of an undeferred task: its creator waits in the parent.
void complete(thread &me, omp_task &x, thread &creator) noexcept {
  x.complete.store(true, std::memory_order_release); // O3
  creator.place_to_wait.signal(&me);
}

void end_undeferred(thread &t, omp_task &x) {
  wait_until_complete(t, x);
  drop_reference(t, &x);
}

void call_body(thread &t, omp_task &x) {
  x.on.store(&t, std::memory_order_relaxed);
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

/// Of a counted task.
void end_body(thread &t, omp_task &x) {
  if (x.detachable) [[unlikely]] {
    settle(x); // another thread may end it
    if ((x.detached.fetch_or(1, std::memory_order_acq_rel) & 2) == 0) // O2
      return;
  }
  end_task(t, x);
}

} // namespace

void run_in_place(thread &t, void (*body)(void *), void *argument, bool is_final) {
  task_clauses clauses;
  clauses.is_final = is_final;
  omp_task &x = *make_task(t, 0, 1, clauses);
  x.undeferred = true;
  x.body = body;
  x.argument = argument;
  call_body(t, x);
  end_uncounted(t, x);
}

void run_undeferred(thread &t, omp_task &x, const task_clauses &clauses) {
  x.undeferred = true;
  if (clauses.access_count == 0 && !x.detachable) {
    call_body(t, x);
    return end_uncounted(t, x);
  }
  count_undeferred(t, x);
  if (clauses.access_count != 0) {
    hold(t, x, clauses);
    wait_until_ready(t, x);
  }
  call_body(t, x);
  end_body(t, x);
  end_undeferred(t, x);
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
  return g && (g->cancelled.load(std::memory_order_relaxed) || (g->of_share && g->outer && g->outer->cancelled.load(std::memory_order_relaxed)));
}

void run_task(thread &t, omp_task &x) {
  call_body(t, x);
  if (std::exchange(x.again, false)) [[unlikely]] {
    settle(x); // the next part may run elsewhere
    return offer_again(t, x);
  }
  end_body(t, x);
}

void begin_here(thread &t, omp_task &x) {
  x.undeferred = true;
  if (x.detachable)
    count_undeferred(t, x);
  t.task = &x;
}

void end_here(thread &t, omp_task &x) {
  t.task = x.parent;
  if (!x.detachable)
    return end_uncounted(t, x);
  end_body(t, x);
  end_undeferred(t, x);
}

void fulfill(thread &me, omp_task &x) {
  if ((x.detached.fetch_or(2, std::memory_order_acq_rel) & 1) != 0) // O2
    end_task(me, x);
}

void end_task(thread &me, omp_task &x) {
  if (auto *scope = std::exchange(x.held, nullptr))
    release(me, *scope);
  team &c = *x.crew;
  const bool gone = is_left(x);
  thread *const creator = x.undeferred ? x.parent->on.load(std::memory_order_relaxed) : nullptr;
  if (x.group)
    end_in_group(me, *x.group);
  end_child(me, *x.parent);
  if (gone)
    free_record(me, x);
  else if (creator)
    complete(me, x, *creator);
  if (me.crew == &c) [[likely]]
    --slot_of(me).balance;
  else if (c.tasks.fetch_sub(1, std::memory_order_seq_cst) == 1) // O3 of team.hpp
    end_barrier_if_due(me, c);
}

} // namespace weft_omp
