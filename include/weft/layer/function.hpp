// SPDX-License-Identifier: Apache-2.0
// Unstable: independent functions that a layer waits for, names and moves. Changes with any version.
#pragma once

#include <weft/function.hpp>

namespace weft::inline v0 {
namespace layer {

/// Makes the task of an independent function, as spawn_function() does, and leaves it to the caller
/// to submit it: submit_function(). The caller refers to the task: it waits with
/// detail::task_wait_done(), asks with detail::task_is_done(), and gives the task back with
/// detail::task_drop_handle(). An exception of `f` is reported then.
///
/// Threads. Any, as spawn_function().
/// Errors. As spawn_function().
[[nodiscard]] WEFT_API detail::task &make_function(void (*f)(void *arg), void *arg,
                                                   const function_options &options);
/// Lets a function that make_function() has made run, once.
///
/// Threads. Any.
WEFT_API void submit_function(detail::task &function);

/// Returns the argument of the independent function that runs here if that function is `f`; else
/// null. A branch of join() is part of the function that called join(). Never starts the runtime.
[[nodiscard]] WEFT_API void *argument_of_running(void (*f)(void *arg)) noexcept;

/// Lets only the workers of the set run the running task from now on, and continues the caller on
/// one of them. Tasks that the caller spawns later are confined as well.
///
/// Blocks. Until a worker of the set is free.
/// Errors. not_a_task on a thread of the program; invalid_argument for a set that was made before
/// fork(); out_of_resources, when there is no stack to go on with: nothing has changed.
WEFT_API void move_to(const worker_set &on);

/// Parks as park() does. Reports name the caller as blocked.
WEFT_API void park_blocked(void (*left)(detail::runnable &self, void *context), void *context);

} // namespace layer
} // namespace weft::inline v0
