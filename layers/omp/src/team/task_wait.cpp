// SPDX-License-Identifier: Apache-2.0
#include "team/task_wait.hpp"

#include "team/hooks.hpp"
#include "team/task_queue.hpp"
#include "team/team.hpp"

#include <new>

namespace weft_omp {
namespace {

/// Sleeps, unless there is a descendant to run. `settle` adds up what the thread has counted, and
/// returns whether there is something to wait for.
template <class Settle>
void sleep_in(thread &self, omp_task &task, wait_flag *also, Settle settle) {
  task.waits.raise();
  if (also)
    also->raise();
  omp_task *const next = take_below(self, task);
  if (!next && settle())
    self.own_parker.wait(self, spins_for(*self.team));
  task.waits.lower();
  if (also)
    also->lower();
  if (next)
    run_task(self, *next);
}

/// Waits in the thread's task, which has made an undeferred one, until `holds()`. Meanwhile it runs
/// other descendants of its task: what it waits for may depend on them.
template <class Holds>
void wait_until(thread &self, Holds holds) {
  omp_task &creator = *self.task;
  while (!holds()) {
    if (omp_task *next = take_below(self, creator))
      run_task(self, *next);
    else
      sleep_in(self, creator, nullptr, [&holds] { return !holds(); });
  }
}

} // namespace

void wait_for_children(thread &self) {
  omp_task &task = *self.task;
  while (children_of(task) != 0) {
    if (omp_task *next = take_below(self, task)) {
      run_task(self, *next);
      continue;
    }
    sleep_in(self, task, nullptr, [&task] {
      settle_children(task);
      return children_of(task) != 0;
    });
  }
  settle_children(task); // to 0: see I1 of task_count.hpp
}

void begin_group(thread &self) {
  auto *group = new (std::nothrow) task_group;
  if (!group)
    fatal("no memory for a taskgroup");
  group->owner = &self;
  group->opener = self.task;
  group->outer = self.task->group;
  group->reductions = group->outer ? group->outer->reductions : nullptr;
  self.task->group = group;
}

void end_group(thread &self) {
  task_group *const group = self.task->group;
  if (!group)
    return;
  omp_task &task = *self.task;
  while (tasks_of(*group) != 0) {
    if (omp_task *next = take_below(self, task)) {
      run_task(self, *next);
      continue;
    }
    bool biased = true;
    sleep_in(self, task, &group->waits, [group, &biased] {
      biased = false;
      return settle_group(*group);
    });
    if (!biased)
      unsettle_group(*group);
  }
  if (group->of_llvm)
    finish_reductions(self, *group);
  task.group = group->outer;
  delete group;
}

void wait_until_ready(thread &self, omp_task &task) {
  wait_until(self, [&task] { return task.ready.load(std::memory_order_acquire); }); // O4 of task.hpp
}

void wait_until_complete(thread &self, omp_task &task) {
  wait_until(self, [&task] { return task.complete.load(std::memory_order_acquire); }); // O3 of task.hpp
}

} // namespace weft_omp
