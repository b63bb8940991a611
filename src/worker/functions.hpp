// SPDX-License-Identifier: Apache-2.0
// The parent of independent functions. It has no accesses and no body; only the end of the program
// waits for it.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

task &functions_root() noexcept;
/// Returns whether functions have been spawned that are not complete.
[[nodiscard]] bool functions_are_pending() noexcept;

/// Calls f(behind, stream, context) for each task that waits for the end of `t`, if `t` is a
/// function: for its completion function (`stream` is null), or for what follows it in its stream.
/// For reports, while nothing runs. Supplied by the module api.
void for_each_behind(task &t, void (*f)(task &behind, const char *stream, void *context),
                     void *context);

/// Forgets the functions of the parent process in the child of a fork(). Streams that were made
/// before the fork are recognized by the generation.
void forget_functions_after_fork();
[[nodiscard]] unsigned functions_generation() noexcept;

} // namespace rt
} // namespace weft::inline v0
