// SPDX-License-Identifier: Apache-2.0
// Waiting: for children, for a group, for one task.
#pragma once

#include "task/group.hpp"
#include "task/hooks.hpp"
#include "task/parent_process.hpp"
#include "task/task.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/signal_word.hpp"

namespace weft::inline v0 {
namespace rt {

/// Says what a wait does when no stack is left for its worker to go on with.
enum class exhausted {
  throws,  // weft::error; but a thread's own code goes on
  goes_on, // runs what is ready on top of the waiting frame: for waits that other code relies on
};

/// Waits until all children of the caller's current task outside of groups are complete.
void wait_for_children(task &t, exhausted how = exhausted::throws);
void wait_for_group(group_state &group, exhausted how = exhausted::throws);
/// Does what follows these waits.
void end_wait_for_children(task &t);
void end_wait_for_group(group_state &group);
/// Enqueues `waiter`, a task, when all of them are complete. The thread that has left the task calls
/// it.
void enqueue_after_children(task &waiter) noexcept;
void enqueue_after_group(group_state &group, task &waiter) noexcept;
/// Throws weft::error, invalid_argument, if the task is of the parent process.
WEFT_COLD void refuse_task_of_parent(const task &t);
void suspend_until_done(task &t, exhausted how);
/// Waits until body and events of a tracked task are over.
WEFT_INLINE void wait_until_done(task &t, exhausted how = exhausted::throws) {
  if (is_raised(t.done_word, k_done))
    return;
  if (g_was_forked) [[unlikely]]
    refuse_task_of_parent(t);
  if (is_open(t.unsatisfied))
    run_awaited(t);
  if (!is_raised(t.done_word, k_done))
    suspend_until_done(t, how);
}
/// Waits until an undeferred task may run, if it could not at once. Goes on without a stack.
void wait_until_runnable(task &t);
/// Rethrows, once, what a child has thrown.
void rethrow_children_error(task &t);

} // namespace rt
} // namespace weft::inline v0
