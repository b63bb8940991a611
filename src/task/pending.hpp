// SPDX-License-Identifier: Apache-2.0
// The list of tasks without a frame that only an outside thread can continue. Perhaps no other
// structure refers to them:
// - tasks whose bodies have ended and that external events keep from completing;
// - tasks that run again after an event or an unblock.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Enters the task. The thread that ends the body calls it before it takes the body's hold off the
/// events, or before wakers can see the task.
void note_pending(task &t, task_extra &extra, pending_until how) noexcept;
/// Removes the task. Called by the thread that took the last event back or unblocked the task, or
/// by the one that entered it if there was nothing left to wait for.
void forget_pending(task_extra &extra) noexcept;
/// Calls `f` for each task of the list. No task of the list ends meanwhile. `f` must not call
/// note_pending() or forget_pending().
void for_each_pending(void (*f)(task &, void *), void *context);
void forget_pending_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
