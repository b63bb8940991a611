// SPDX-License-Identifier: Apache-2.0
// Runs a task: its body, and everything that follows from its end.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Says what a body runs on top of: the loop of a worker, which executes one task after the other,
/// or a frame that waits on the same stack.
enum class body_on { loop, frame };
/// Says whether the waiter of a task that it runs has the task's entry, or has left it in a queue: then
/// the entry has the reference of completion. Without one the waiter does not run the task.
enum class awaited_entry { none, taken, left_behind };

/// Runs the body, or skips it if the task is cancelled, and does everything that follows from its
/// end.
/// `here`: the caller's thread context; the caller may be on another one afterwards.
/// Returns a task that became ready and that the caller runs or enqueues; other ready tasks are
/// already enqueued.
[[nodiscard]] WEFT_INLINE runnable *execute(thread_context &here, task &self) noexcept;
/// Calls execute() on the stack of a frame of the current task. A frame that is in a catch block
/// keeps its exceptions from the task.
[[nodiscard]] runnable *execute_in_place(thread_context &here, task &self) noexcept;

/// Does the same for a task of which the caller, a frame that waits for it, has begun the run (see
/// claim_word.hpp). The body has as much stack below the caller's frame as it asks for.
[[nodiscard]] runnable *execute_awaited(thread_context &here, task &self) noexcept;
/// Does the same for one whose entry was left behind.
[[nodiscard]] runnable *execute_claimed(thread_context &here, task &self) noexcept;
/// Does what follows the body of a task that ran on a frame of `outer`, which has the entry.
[[nodiscard]] runnable *end_awaited(task &self, task &outer) noexcept;

/// Does the same as execute() for a task without a handle.
[[nodiscard]] runnable *execute_untracked(thread_context &here, task &self) noexcept;
/// Does the same for a task with a handle, or for the entry of one that a waiter has begun.
[[nodiscard]] runnable *execute_tracked(thread_context &here, task &self) noexcept;
WEFT_INLINE runnable *execute(thread_context &here, task &self) noexcept {
  // A left-behind entry comes while another thread runs the task, and sets flags.
  if (self.has_meanwhile(detail::k_tracked)) [[unlikely]]
    return execute_tracked(here, self);
  return execute_untracked(here, self);
}

/// Counts the children that have ended where they are waited for. A thread that executes one task
/// after the other on a loop of its own calls it before it does anything else.
void flush_child_count(thread_context &here);

} // namespace rt
} // namespace weft::inline v0
