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

/// Ready work for the scheduler. Any thread.
void enqueue_ready(runnable &r);
/// For a frame that waits until `word` is done(owned): runs the newest own tasks and their immediate successors as long as they are of
/// the lineage that it waits for. False: there was none.
bool help(const lineage &waited_for, const completion_word<> &word, const std::int32_t &owned);
/// For a waiting frame without a stack to go on with: runs one ready item on top of it, or yields.
void get_by();

/// Runs the body, or skips it when it is cancelled, and everything that follows from its end. `here`: the caller's thread context, which
/// may be another one afterwards. Returns a task that became ready and that the caller must run or enqueue; the others have been enqueued.
[[nodiscard]] runnable *execute(thread_context &here, task &t) noexcept;
/// To be called before the thread does anything else than executing the next task on a loop of its own: children that have ended are
/// counted where they are waited for.
void flush_child_count(thread_context &here);

/// Calls the onready function of a task that has one: a callback, with the task as the current one.
void call_onready(task &t) noexcept;

/// The task's accesses allow it to run: takes what it must have for itself, calls onready, wakes an undeferred task's creator.
/// True: it wants to be enqueued.
bool announce_general(task &t);
inline bool announce_ready(task &t) { return !t.has(detail::k_special | detail::k_undeferred) || announce_general(t); }
/// Takes the first of the largest priority, for the caller to run or enqueue, and enqueues the others. Null: there is none to be run by
/// the caller.
[[nodiscard]] runnable *first_of(ready_list &ready);
/// Enqueues all of the list; none is undeferred or they are announced to their creators.
void enqueue_all(ready_list &ready);

/// execute() on the stack of a frame of the current task. A frame that is in a catch block keeps its exceptions from the task.
[[nodiscard]] runnable *execute_in_place(thread_context &here, task &t) noexcept;

/// The callable is being destroyed, or is gone: a destructor runs as its task, whose body and accesses are over. No other task has both flags.
[[nodiscard]] inline bool is_over(const task &t) noexcept {
  constexpr std::uint8_t both = detail::k_implicit | detail::k_destroys;
  return (t.flags & both) == both;
}

/// Last external event gone and body ended.
void events_are_over(task &t);
/// The end of a task of a layer. What it lets run is told to `ready`, where given: see <weft/layer/external_task.hpp>. Any thread.
void end_external_task(task &t, void (*ready)(void *receiver, void *context), void *receiver);
/// The end of a task that somebody else than a worker has run. Any thread.
void end_without_body(task &t);

/// By a worker that is about to begin a body while arm_safepoint() is on: waits as long as somebody looks at all tasks. Supplied by the module
/// worker.
void stop_at_safepoint() noexcept;
/// From now on who begins a body calls stop_at_safepoint() first; or not any more. Any thread.
void arm_safepoint(bool on) noexcept;

/// Setting stack.watermark, and whether there is a trace. Before any task.
void hook_bodies(bool measure, bool trace) noexcept;

[[nodiscard]] inline bool is_cancelled(const task &t) noexcept { return t.group && t.group->internals().cancelled.load(std::memory_order_relaxed); }

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
