// SPDX-License-Identifier: Apache-2.0
// A task's way from ready to freed.
#pragma once

#include "config/settings.hpp"
#include "task/group.hpp"
#include "task/task.hpp"
#include "ult/executor.hpp"

namespace weft::inline v0 {
namespace rt {

/// What the worker room supplies.
struct task_hooks {
  void (*enqueue)(runnable &r);                     // ready work for the scheduler; any thread
  bool (*help)(const task *root, const group_state *group); // ran the newest own task, if it descends from what is waited for
  void (*deallocate)(void *block) noexcept;         // any thread
  void (*get_by)();                                 // without a stack to go on with: runs one ready item on top of the caller, or yields
};
void set_task_hooks(const task_hooks &hooks) noexcept;
const task_hooks &the_task_hooks() noexcept;

/// Runs the body, or skips it when it is cancelled, and everything that follows from its end. `in_place`: on the stack of a frame
/// of the executor's current task. Returns a task that became ready and that the caller must run or enqueue; the others have been enqueued.
[[nodiscard]] runnable *execute(task &t, bool in_place) noexcept;

/// Calls the onready function of a task that has one: a callback, with the task as the current one.
void call_onready(task &t) noexcept;

/// The task's accesses allow it to run: calls onready, wakes an undeferred task's creator. True: it wants to be enqueued.
bool announce_ready(task &t);
/// Enqueues all of the list; none is undeferred or they are announced to their creators.
void enqueue_all(ready_list &ready);

/// The task ended with an exception: gives it to the handle, the group or the parent.
void fail(task &t, std::exception_ptr error) noexcept;

/// Says on standard error that an exception was thrown that nobody asked for.
void report_lost(const char *label, const std::exception_ptr &error) noexcept;

/// execute() on the stack of a frame of the current task. A frame that stands in a catch block keeps its exceptions from the task.
[[nodiscard]] runnable *execute_in_place(task &t) noexcept;

/// Last external event gone and body ended.
void events_are_over(task &t);

/// Setting stack.watermark. Before any task.
void measure_stacks(bool on) noexcept;
/// Setting group.exceptions.
void set_default_exception_policy(exceptions_kind kind) noexcept;
[[nodiscard]] exception_policy default_exception_policy() noexcept;

[[nodiscard]] bool is_cancelled(const task &t) noexcept;

/// After fork() the label, in the child, of the thread's task as it was in the parent.
inline constexpr char k_parent_process[] = "main of the parent process";
/// The task was spawned before the fork() that made this process: only the parent process runs it.
[[nodiscard]] inline bool is_of_parent_process(const task &t) noexcept {
  const task *top = &t;
  while (top->parent)
    top = top->parent;
  return top->label == k_parent_process;
}

} // namespace rt
} // namespace weft::inline v0
