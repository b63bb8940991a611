// SPDX-License-Identifier: Apache-2.0
// What running a task, and waiting, need from the queues of ready tasks.
#pragma once

#include "team/barrier.hpp"
#include "team/team.hpp"

namespace weft_omp {

/// Counts a task with its parent, its group and its team, which may wait for it. The creator's
/// thread calls it, and gets its slot in the team.
inline member_slot &count_in(thread &self, omp_task &task) noexcept {
  ++task.parent->made;
  if (task_group *const group = task.group) {
    if (group->owner == &self)
      ++group->here;
    else
      group->others.fetch_add(1, std::memory_order_relaxed);
  }
  omp_team &team = *self.team;
  member_slot &mine = team.slots[self.number];
  mine.made = mine.made + 1;
  if (!team.has_tasks.load(std::memory_order_relaxed)) [[unlikely]]
    begin_tasks(self, team);
  return mine;
}
/// Submits a task of make_task() (task_record.hpp), which runs when its accesses allow it. This is
/// the caller's last access to it.
void submit(thread &self, omp_task &task, const task_clauses &clauses);
/// Submits a task without accesses or priority.
void submit_plain(thread &self, omp_task &task);
/// Enters the accesses. When they allow it, offers the task: to the team or, if it is undeferred,
/// to its creator.
void hold(thread &self, omp_task &task, const task_clauses &clauses);
/// Ends a task's part in the dependency system, and offers the tasks that this makes ready. If
/// `next` is not null, one sibling may be left there instead: the caller runs it.
void release(thread &self, omp_task &task, omp_task **next = nullptr);
/// Offers the next part of an untied task, behind the thread's other tasks: thieves take it first.
void offer_again(thread &self, omp_task &task);

/// Returns a task of the team's list, or of the member's own, for a member at a barrier. Null:
/// there is none.
omp_task *take_own(thread &self, omp_team &team) noexcept;
/// Steals some tasks of another member, and returns one of them. Null: there is none.
omp_task *steal(thread &self, omp_team &team, steal_policy &policy) noexcept;
/// Gives the stolen tasks that the thread still has, and `next`, which may be null, back to its
/// last victim.
void give_back(thread &self, omp_team &team, const steal_policy &policy, omp_task *next);
/// Returns a descendant of `task`, for a thread that waits in `task`: above a tied task only its
/// descendants may begin.
omp_task *take_below(thread &self, const omp_task &task) noexcept;
/// Returns whether there is a task that a member could take. A member calls it when it is about to
/// sleep.
[[nodiscard]] bool has_work(const omp_team &team) noexcept;

} // namespace weft_omp
