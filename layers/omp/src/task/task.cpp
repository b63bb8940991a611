// SPDX-License-Identifier: Apache-2.0
#include "task/task.hpp"

#include "task/task_record.hpp"
#include "team/task_queue.hpp"
#include "team/team.hpp"

#include <weft/error.hpp>

#include <algorithm>
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

void omp_task::become_implicit(omp_team &c, const icvs &from, unsigned number) noexcept {
  parent = nullptr;
  team = &c;
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
  if (auto *scope = std::exchange(external, nullptr))
    in_core(&me, [scope] { weft::layer::end_external_task(*scope); });
}

void discard(thread &t, omp_task &x) noexcept { free_record(t, x); }

// ---- running ------------------------------------------------------------------------------------------------------------

namespace {

void wake(thread &me, thread &other) noexcept { other.own_parker.signal(&me); }

void drop_reference(thread &me, omp_task *x) noexcept {
  drop_reference(x, [&me](omp_task &y) { free_record(me, y); });
}

inline void end_child(thread &me, omp_task &parent) noexcept {
  end_child(
      me, parent, [&me](omp_task &y) { free_record(me, y); }, [&me](thread &t) { wake(me, t); });
}

void end_in_group(thread &me, task_group &g) noexcept {
  end_in_group(me, g, [&me](thread &t) { wake(me, t); });
}

/// Ends an undeferred task that was counted nowhere, because its creator has waited for its body.
void end_uncounted(thread &t, omp_task &x) {
  if (x.external)
    release(t, x);
  if (is_left(x)) [[likely]]
    free_record(t, x);
}

/// Counts an undeferred task, and keeps its record until its creator has seen its end.
void count_undeferred(thread &t, omp_task &x) noexcept {
  keep(x);
  count_in(t, x);
}

/// Completes an undeferred task, and wakes its creator, which waits in the parent. This is the
/// ender's last access to the task.
void complete(thread &me, omp_task &x, thread &creator) noexcept {
  x.complete.store(true, std::memory_order_release); // O3
  creator.own_parker.signal(&me);
}

void end_undeferred(thread &t, omp_task &x) {
  wait_until_complete(t, x);
  drop_reference(t, &x);
}

void call_kmp_entry(thread &t, omp_task &x) {
  x.kmp_entry(static_cast<int>(t.gtid), static_cast<kmp_task *>(x.argument));
}

[[gnu::always_inline]] inline void call_body(thread &t, omp_task &x) {
  x.on.store(&t, std::memory_order_relaxed);
  omp_task *const before = std::exchange(t.task, &x);
  if (x.is_copied || !is_cancelled(x)) {
    if (x.kmp_entry)
      call_kmp_entry(t, x);
    else
      x.body(x.argument);
  }
  t.task = before;
}

/// Runs all parts of an undeferred task.
void call_whole_body(thread &t, omp_task &x) {
  call_body(t, x);
  while (std::exchange(x.again, false)) {
    yield_now(t);
    omp_task *const before = std::exchange(t.task, &x);
    call_kmp_entry(t, x);
    t.task = before;
  }
}

/// Counts the end of a task of the team, on a thread that may or may not be a member.
[[gnu::always_inline]] inline void end_in_team(thread &me, omp_team &c) {
  if (me.team == &c) [[likely]] {
    member_slot &mine = slot_of(me);
    mine.ended = mine.ended + 1;
  } else if (c.end_task()) {
    end_barrier_if_due(me, c);
  }
}

/// Does end_task(), in line.
[[gnu::always_inline]] inline void end_counted(thread &me, omp_task &x, omp_task **next) {
  if (x.external)
    release(me, x, next);
  omp_team &c = *x.team;
  const bool gone = is_left(x);
  thread *const creator = x.undeferred ? x.parent->on.load(std::memory_order_relaxed) : nullptr;
  if (x.group)
    end_in_group(me, *x.group);
  end_child(me, *x.parent);
  if (gone) [[likely]]
    free_record(me, x);
  else if (creator)
    complete(me, x, *creator);
  end_in_team(me, c);
}

/// Ends the body of a counted task. `next` as of end_task().
[[gnu::always_inline]] inline void end_body(thread &t, omp_task &x, omp_task **next = nullptr) {
  if (x.detachable) [[unlikely]] {
    leave_runner(x); // another thread may end it
    if (!x.holds.end_body())
      return;
  }
  end_counted(t, x, next);
}

/// Ends the body of an undeferred task. Such a task is counted only if something outside of it may
/// end it.
[[gnu::always_inline]] inline void end_here_or_later(thread &t, omp_task &x) {
  if (!x.detachable) [[likely]]
    return end_uncounted(t, x);
  end_body(t, x);
  end_undeferred(t, x);
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
  end_here_or_later(t, x);
}

void run_undeferred(thread &t, omp_task &x, const task_clauses &clauses) {
  x.undeferred = true;
  if (clauses.access_count == 0 && !x.detachable) {
    call_whole_body(t, x);
    return end_here_or_later(t, x);
  }
  count_undeferred(t, x);
  if (clauses.access_count != 0) {
    hold(t, x, clauses);
    wait_until_ready(t, x);
  }
  call_whole_body(t, x);
  end_body(t, x);
  end_undeferred(t, x);
}

bool is_cancelled_where_allowed(const omp_task &x) noexcept {
  if (x.team->cancelled.load(std::memory_order_relaxed))
    return true;
  const task_group *const g = x.group;
  return g &&
         (g->cancelled.load(std::memory_order_relaxed) ||
          (g->of_workshare && g->outer && g->outer->cancelled.load(std::memory_order_relaxed)));
}

void run_task(thread &t, omp_task &x, omp_task **next) {
  call_body(t, x);
  if (x.again) [[unlikely]] {
    x.again = false;
    leave_runner(x); // the next part may run elsewhere
    return offer_again(t, x);
  }
  end_body(t, x, next);
}

void begin_here(thread &t, omp_task &x) {
  x.undeferred = true;
  if (x.detachable)
    count_undeferred(t, x);
  t.task = &x;
}

void end_here(thread &t, omp_task &x) {
  t.task = x.parent;
  end_here_or_later(t, x);
}

void fulfill(thread &me, omp_task &x) {
  if (x.holds.fulfil())
    end_task(me, x);
}

void add_events(thread &t, omp_task &x, std::uint64_t n) {
  if (x.is_explicit) {
    if (x.undeferred && !x.detachable && x.accesses == 0)
      count_undeferred(t, x);
    x.holds.increase(n, !std::exchange(x.detachable, true));
    return;
  }
  omp_team &c = *t.team;
  member_slot &mine = slot_of(t);
  mine.made = mine.made + 1;
  if (!c.has_tasks.load(std::memory_order_relaxed))
    begin_tasks(t, c);
  if (!x.holds.increase(n, false))
    end_in_team(t, c); // the team counts the implicit task already
}

bool remove_events(omp_task &x, std::uint64_t n) {
  using enum basic_hold_state<>::decreased;
  omp_team &c = *x.team; // the task may be over afterwards
  const bool is_explicit = x.is_explicit;
  switch (x.holds.decrease(n)) {
  case underflow:
    return false;
  case none_left:
    if (!is_explicit)
      end_in_team(self(), c);
    return true;
  case task_is_over:
    end_task(self(), x);
    return true;
  case some_left:
    return true;
  }
  return true;
}

void end_task(thread &me, omp_task &x, omp_task **next) { end_counted(me, x, next); }

} // namespace weft_omp
