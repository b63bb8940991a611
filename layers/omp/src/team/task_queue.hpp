// SPDX-License-Identifier: Apache-2.0
// What running a task, and waiting, ask of the places where ready tasks stand.
#pragma once

#include "team/team.hpp"

namespace weft_omp {

/// Counts a task where it is waited for: with its parent, its group and its team. By the thread that makes it, whose place in the team is returned.
inline member_slot &count_in(thread &t, omp_task &x) noexcept {
  ++x.parent->made;
  if (task_group *const g = x.group) {
    if (g->owner == &t)
      ++g->here;
    else
      g->others.fetch_add(1, std::memory_order_relaxed);
  }
  omp_team &c = *t.team;
  member_slot &mine = c.slots[t.number];
  mine.made = mine.made + 1;
  if (!c.has_tasks.load(std::memory_order_relaxed)) [[unlikely]]
    begin_tasks(t, c);
  return mine;
}
/// Enters the accesses; when they allow it, the task is offered: to the team or, where it is undeferred, to its creator.
void hold(thread &t, omp_task &x, const task_clauses &clauses);
/// A task with a place in the dependency system is over: what this makes ready is offered, but for a sibling that the caller is to run, where it has a
/// place for it.
void release(thread &me, omp_task &x, omp_task **next = nullptr);
/// The next part of an untied task.
void offer_again(thread &t, omp_task &x);

void wait_until_ready(thread &t, omp_task &x);
void wait_until_complete(thread &t, omp_task &x);

/// For a member at a barrier: of the team's, or its own; null: none.
omp_task *take_own(thread &t, omp_team &c) noexcept;
/// Some that are with another member.
omp_task *steal(thread &t, omp_team &c, steal_policy &policy) noexcept;
/// Tasks of others that still are with the thread, and `next`, which may be null, go to where it took the last ones.
void give_back(thread &t, omp_team &c, const steal_policy &policy, omp_task *next);
/// For a thread that waits in `x`: a descendant of it, for no other may begin above a tied task.
omp_task *take_below(thread &t, const omp_task &x) noexcept;
/// Whether somebody could take a task. Of a member that is about to sleep.
[[nodiscard]] bool has_work(const omp_team &c) noexcept;

} // namespace weft_omp
