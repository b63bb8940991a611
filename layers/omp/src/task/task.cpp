// SPDX-License-Identifier: Apache-2.0
#include "task/task.hpp"

#include "task/task_record.hpp"
#include "team/hooks.hpp"
#include "team/task_queue.hpp"
#include "team/task_wait.hpp"
#include "team/team.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

namespace weft_omp {

const icvs &my_icvs() noexcept { return *self().task->settings; }

icvs &own_icvs() noexcept {
  omp_task &task = *self().task;
  if (!task.own) {
    task.own = new (std::nothrow) icvs(*task.settings);
    if (!task.own)
      fatal("no memory for the settings of a task");
    task.settings = task.own;
  }
  return *task.own;
}

void omp_task::become_implicit(omp_team &its_team, const icvs &from, unsigned number) noexcept {
  parent = nullptr;
  team = &its_team;
  group = nullptr;
  settings = &from;
  is_final = has_unmarked = false;
  made = ended_here = 0;
  on.store(its_team.members[number], std::memory_order_relaxed);
  word.store(0, std::memory_order_relaxed);
}

void omp_task::end_implicit(thread &self) noexcept {
  if (own) [[unlikely]]
    delete std::exchange(own, nullptr);
  if (auto *scope = std::exchange(external, nullptr))
    in_core(&self, [scope] { weft::layer::end_external_task(*scope); });
}

void discard(thread &self, omp_task &task) noexcept { free_record(self, task); }

// ---- running ------------------------------------------------------------------------------------------------------------

namespace {

void wake(thread &self, thread &other) noexcept { other.own_parker.signal(&self); }

/// Frees records of tasks that are over.
struct freeing {
  thread &self;
  void operator()(omp_task &record) const noexcept { free_record(self, record); }
};

/// Does the same, but leaves the record of a discarded task to the thread that fulfils its event
/// later.
struct freeing_unless_discarded {
  thread &self;
  void operator()(omp_task &record) const noexcept {
    if (!record.detachable || !record.holds.is_discarded() || record.holds.leave())
      free_record(self, record);
  }
};

/// Ends an undeferred task that was counted nowhere, because its creator has waited for its body.
void end_uncounted(thread &self, omp_task &task) {
  if (task.external)
    release(self, task);
  if (is_left(task)) [[likely]]
    free_record(self, task);
}

/// Counts an undeferred task, and keeps its record until its creator has seen its end.
void count_undeferred(thread &self, omp_task &task) noexcept {
  keep(task);
  count_in(self, task);
}

/// Completes an undeferred task, and wakes its creator, which waits in the parent. This is the
/// ender's last access to the task.
void complete(thread &self, omp_task &task, thread &creator) noexcept {
  task.complete.store(true, std::memory_order_release); // O3
  creator.own_parker.signal(&self);
}

void end_undeferred(thread &self, omp_task &task) {
  wait_until_complete(self, task);
  drop_reference(&task, freeing_unless_discarded{self});
}

void call_kmp_entry(thread &self, omp_task &task) {
  task.kmp_entry(static_cast<int>(self.gtid), static_cast<kmp_task *>(task.argument));
}

/// Returns whether the program's code has begun: the task is untied, and a part of it is over.
[[nodiscard]] bool has_parts_behind(const omp_task &task) noexcept {
  return task.kmp_entry && has_begun(static_cast<const kmp_task *>(task.argument));
}

/// Does what is done in place of the body of a task that never begins.
[[gnu::cold, gnu::noinline]] void discard_body(thread &self, omp_task &task) {
  if (task.destroys)
    destroy_unused(self, static_cast<kmp_task *>(task.argument));
  note_discard(task);
}

[[gnu::always_inline]] inline void call_body(thread &self, omp_task &task) {
  task.on.store(&self, std::memory_order_relaxed);
  omp_task *const before = std::exchange(self.task, &task);
  if (task.is_copied || !is_cancelled(task) || has_parts_behind(task)) {
    if (task.kmp_entry)
      call_kmp_entry(self, task);
    else
      task.body(task.argument);
  } else {
    discard_body(self, task);
  }
  self.task = before;
}

/// Runs all parts of an undeferred task.
void call_whole_body(thread &self, omp_task &task) {
  call_body(self, task);
  while (std::exchange(task.again, false)) {
    yield_now(self);
    omp_task *const before = std::exchange(self.task, &task);
    call_kmp_entry(self, task);
    self.task = before;
  }
}

/// Counts the end of a task of the team, on a thread that may or may not be a member.
[[gnu::always_inline]] inline void end_in_team(thread &self, omp_team &team) {
  if (self.team == &team) [[likely]] {
    member_slot &mine = slot_of(self);
    mine.ended = mine.ended + 1;
  } else if (team.end_task()) {
    end_barrier_if_due(self, team);
  }
}

/// Does end_task(), in line.
template <class Free = freeing>
[[gnu::always_inline]] inline void end_counted(thread &self, omp_task &task, omp_task **next) {
  if (task.external)
    release(self, task, next);
  omp_team &team = *task.team;
  end_counted(
      self, task, Free{self}, [&self](thread &waiter) { wake(self, waiter); },
      [&self](omp_task &record, thread &creator) { complete(self, record, creator); });
  end_in_team(self, team);
}

/// Ends the body of a counted task. `next` as of end_task().
[[gnu::always_inline]] inline void end_body(thread &self, omp_task &task,
                                            omp_task **next = nullptr) {
  if (task.detachable) [[unlikely]] {
    if (task.holds.is_discarded())
      return end_counted<freeing_unless_discarded>(self, task, next);
    leave_runner(task); // another thread may end it
    if (!task.holds.end_body())
      return;
  }
  end_counted(self, task, next);
}

/// Ends the body of an undeferred task. Such a task is counted only if something outside of it may
/// end it.
[[gnu::always_inline]] inline void end_here_or_later(thread &self, omp_task &task) {
  if (!task.detachable) [[likely]]
    return end_uncounted(self, task);
  end_body(self, task);
  end_undeferred(self, task);
}

} // namespace

void run_in_place(thread &self, void (*body)(void *), void *argument, bool is_final) {
  task_clauses clauses;
  clauses.is_final = is_final;
  omp_task &task = *make_task(self, 0, 1, clauses);
  task.undeferred = true;
  task.body = body;
  task.argument = argument;
  call_body(self, task);
  end_here_or_later(self, task);
}

void run_undeferred(thread &self, omp_task &task, const task_clauses &clauses) {
  task.undeferred = true;
  if (clauses.access_count == 0 && !task.detachable) {
    call_whole_body(self, task);
    return end_here_or_later(self, task);
  }
  count_undeferred(self, task);
  if (clauses.access_count != 0) {
    hold(self, task, clauses);
    wait_until_ready(self, task);
  }
  call_whole_body(self, task);
  end_body(self, task);
  end_undeferred(self, task);
}

bool is_cancelled_where_allowed(const omp_task &task) noexcept {
  if (task.team->cancelled.load(std::memory_order_relaxed))
    return true;
  const task_group *const group = task.group;
  return group && (group->cancelled.load(std::memory_order_relaxed) ||
                   (group->of_workshare && group->outer &&
                    group->outer->cancelled.load(std::memory_order_relaxed)));
}

void run_task(thread &self, omp_task &task, omp_task **next) {
  call_body(self, task);
  while (task.again) [[unlikely]] {
    task.again = false;
    if (has_parts_behind(task) && may_move(task)) {
      leave_runner(task);
      return offer_again(self, task);
    }
    call_body(self, task);
  }
  end_body(self, task, next);
}

void begin_here(thread &self, omp_task &task) {
  task.undeferred = true;
  if (task.detachable)
    count_undeferred(self, task);
  self.task = &task;
}

void end_here(thread &self, omp_task &task) {
  self.task = task.parent;
  end_here_or_later(self, task);
}

omp_task &event_of_no_task() noexcept {
  static omp_task task; // discarded for ever: its record is never left
  task.holds.discard();
  return task;
}

void fulfill(thread &self, omp_task &task) {
  using enum basic_hold_state<>::fulfilled;
  switch (task.holds.fulfil()) {
  case task_is_over:
    return end_task(self, task);
  case record_is_left:
    return free_record(self, task);
  case nothing_else:
    return;
  }
}

void add_events(thread &self, omp_task &task, std::uint64_t n) {
  if (task.is_explicit) {
    if (task.undeferred && !task.detachable && task.accesses == 0)
      count_undeferred(self, task);
    task.holds.increase(n, std::exchange(task.detachable, true) ? events_before::some
                                                                : events_before::none);
    return;
  }
  omp_team &team = *self.team;
  member_slot &mine = slot_of(self);
  mine.made = mine.made + 1;
  if (!team.has_tasks.load(std::memory_order_relaxed))
    begin_tasks(self, team);
  if (!task.holds.increase(n, events_before::some))
    end_in_team(self, team); // the team counts the implicit task already
}

bool remove_events(omp_task &task, std::uint64_t n) {
  using enum basic_hold_state<>::decreased;
  omp_team &team = *task.team; // the task may be over afterwards
  const bool is_explicit = task.is_explicit;
  switch (task.holds.decrease(n)) {
  case underflow:
    return false;
  case none_left:
    if (!is_explicit)
      end_in_team(self(), team);
    return true;
  case task_is_over:
    end_task(self(), task);
    return true;
  case some_left:
    return true;
  }
  return true;
}

void end_task(thread &self, omp_task &task, omp_task **next) { end_counted(self, task, next); }

} // namespace weft_omp
