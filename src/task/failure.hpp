// SPDX-License-Identifier: Apache-2.0
// Where the exception of a task goes.
#pragma once

#include "config/settings.hpp"
#include "task/task.hpp"
#include "weft/group.hpp"

#include <exception>

namespace weft::inline v0 {
namespace rt {

/// Gives the exception with which the task ended to its handle, its group or its parent.
void fail(task &t, std::exception_ptr error) noexcept;
/// Makes `error`, thrown by something done for the children of `parent`, the failure of a child
/// called `label`.
void fail_for(task &parent, const char *label, std::exception_ptr error) noexcept;
/// Calls fail() for a task that may still be ending on another thread.
void hand_over_failure(task &t, std::exception_ptr error) noexcept;
/// Keeps the exception for the task's handle.
void keep_own_error(task &t, std::exception_ptr error) noexcept;
/// Makes the failure of a child of `t` a failure of `t` itself, for the waiter of `t`: no wait for
/// the children came since.
WEFT_COLD void pass_on_children_error(task &t, task_extra &extra) noexcept;
/// Prints on standard error that an exception was thrown for which no caller asked.
void report_lost(const char *label, const std::exception_ptr &error) noexcept;
/// Prints the same for a task whose exception no call can ask for: a function, or a task that a
/// service has spawned.
void report_unasked(const char *label, const std::exception_ptr &error) noexcept;

/// Applies the setting group.exceptions.
void set_default_exception_policy(exceptions_kind kind) noexcept;
/// Does what setting future.unobserved says about an exception that no holder of a handle or future
/// asked for.
void lose_unasked(const char *label, const std::exception_ptr &error) noexcept;
/// Sets that, before any task exists.
void set_unobserved(unobserved_kind kind) noexcept;
inline exception_policy g_default_policy = exception_policy::first_cancels;

} // namespace rt
} // namespace weft::inline v0
