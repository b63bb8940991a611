// SPDX-License-Identifier: Apache-2.0
// A task's way from ready to freed.
#pragma once

#include "config/settings.hpp"
#include "task/group.hpp"
#include "task/lineage.hpp"
#include "task/task.hpp"
#include "ult/thread_context.hpp"

namespace weft::inline v0 {
namespace rt {

// What the module worker supplies.

/// Gives ready work to the scheduler. Any thread.
void enqueue_ready(runnable &r);
/// Runs the newest own tasks and their immediate successors for a frame that waits until `word` is
/// done(owned), as long as these tasks belong to the lineage that the frame waits for. Returns
/// false if there was none.
bool help(const lineage &waited_for, const completion_word<> &word, const std::int32_t &owned);
/// Runs one ready item on top of a waiting frame whose worker has no stack to go on with, or
/// yields.
void get_by();

/// Runs the body, or skips it if the task is cancelled, and does everything that follows from its
/// end.
/// `here`: the caller's thread context; the caller may be on another one afterwards.
/// Returns a task that became ready and that the caller runs or enqueues; other ready tasks are
/// already enqueued.
[[nodiscard]] runnable *execute(thread_context &here, task &t) noexcept;
/// Counts the children that have ended where they are waited for. A thread that executes one task
/// after the other on a loop of its own calls it before it does anything else.
void flush_child_count(thread_context &here);

/// Calls the onready function of a task that has one: a callback, with the task as the current one.
void call_onready(task &t) noexcept;

/// Readies a task whose accesses allow it to run: takes what the task must have for itself, calls
/// onready, wakes an undeferred task's creator. Returns true if the caller enqueues the task.
bool announce_general(task &t);
inline bool announce_ready(task &t) {
  return !t.has(detail::k_special | detail::k_undeferred) || announce_general(t);
}
/// Takes the first task of the highest priority, which the caller runs or enqueues, and enqueues
/// the others. Returns null if there is none for the caller to run.
[[nodiscard]] runnable *first_of(ready_list &ready);
/// Enqueues the whole list. No task of it is undeferred, unless it is announced to its creator.
void enqueue_all(ready_list &ready);

/// Calls execute() on the stack of a frame of the current task. A frame that is in a catch block
/// keeps its exceptions from the task.
[[nodiscard]] runnable *execute_in_place(thread_context &here, task &t) noexcept;

/// Returns whether the body and the accesses of the task are over: its callable is gone, or is
/// being destroyed by a destructor that runs as the task. No other task has both flags.
[[nodiscard]] inline bool is_over(const task &t) noexcept {
  constexpr std::uint8_t both = detail::k_implicit | detail::k_destroys;
  return (t.flags & both) == both;
}

/// Ends a task whose body has ended and whose last external event is gone.
void events_are_over(task &t);
/// Ends the task of a layer. Calls `ready`, if given, for each task that the end makes ready: see
/// <weft/layer/external_task.hpp>. Any thread.
void end_external_task(task &t, void (*ready)(void *receiver, void *context), void *receiver);
/// Ends a task that a thread outside of the workers has run. Any thread.
void end_without_body(task &t);

/// Waits as long as an observer reads all tasks. A worker calls it before it begins a body while
/// arm_safepoint() is on. Supplied by the module worker.
void stop_at_safepoint() noexcept;
/// Decides whether a worker calls stop_at_safepoint() before each body. Any thread.
void arm_safepoint(bool on) noexcept;

/// Applies the setting stack.watermark, and whether there is a trace. Called before any task
/// exists.
void hook_bodies(bool measure, bool trace) noexcept;

[[nodiscard]] inline bool is_cancelled(const task &t) noexcept {
  return t.group && t.group->internals().cancelled.load(std::memory_order_relaxed);
}

/// Labels, in the child of a fork(), the task that the thread had in the parent.
inline constexpr char k_parent_process[] = "main of the parent process";
/// Returns whether the task was spawned before the fork() that made this process: only the parent
/// process runs such a task.
[[nodiscard]] inline bool is_of_parent_process(const task &t) noexcept {
  const task *top = &t;
  while (top->parent)
    top = top->parent;
  return top->label == k_parent_process;
}

} // namespace rt
} // namespace weft::inline v0
