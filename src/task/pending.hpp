// SPDX-License-Identifier: Apache-2.0
// Tasks without a frame that only somebody else can continue, so that nobody else may know them: those whose bodies have ended and that
// external events keep from ending, and those that run again after an event or an unblock.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// By who ends the body, before it takes the body's hold off the events, or makes the task known to who unblocks it.
void note_pending(task &t, task_extra &x, pending_until how) noexcept;
/// By who took the last event back or unblocked it, or by who noted it when there was nothing left to wait for.
void forget_pending(task_extra &x) noexcept;
/// No task of the list ends meanwhile. `f` must not call either of the others.
void for_each_pending(void (*f)(task &, void *), void *context);
void forget_pending_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
