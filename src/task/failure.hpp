// SPDX-License-Identifier: Apache-2.0
// Where the exception of a task goes.
#pragma once

#include "config/settings.hpp"
#include "task/task.hpp"
#include "weft/group.hpp"

#include <exception>

namespace weft::inline v0 {
namespace rt {

/// The task ended with an exception: gives it to the handle, the group or the parent.
void fail(task &t, std::exception_ptr error) noexcept;
/// Something done for the children of `parent` ended with an exception: a failure as that of a child called `label`.
void fail_for(task &parent, const char *label, std::exception_ptr error) noexcept;
/// fail() for a task that may still be ending, on another thread.
void hand_over_failure(task &t, std::exception_ptr error) noexcept;
/// For the handle of the task.
void keep_own_error(task &t, std::exception_ptr error) noexcept;
/// Nobody has waited for the children of `t` since one of them failed: now it is a failure of `t`, for who waits for it.
WEFT_COLD void pass_on_children_error(task &t, task_extra &x) noexcept;
/// Says on standard error that an exception was thrown that nobody asked for.
void report_lost(const char *label, const std::exception_ptr &error) noexcept;
/// The same of what no call can ask for: a function, or what a service has spawned.
void report_unasked(const char *label, const std::exception_ptr &error) noexcept;
/// Parent of functions. Supplied by the module worker.
[[nodiscard]] bool is_root_of_functions(const task &t) noexcept;

/// Setting group.exceptions.
void set_default_exception_policy(exceptions_kind kind) noexcept;
inline exception_policy g_default_policy = exception_policy::first_cancels;

} // namespace rt
} // namespace weft::inline v0
