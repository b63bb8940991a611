// SPDX-License-Identifier: Apache-2.0
// The parent of independent functions. It has no accesses and no body; only the end of the program waits for it.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

task &functions_root() noexcept;
/// Whether functions have been spawned that are not complete.
[[nodiscard]] bool functions_are_pending() noexcept;

/// For reports, while nothing runs: calls f(behind, stream, context) for whoever waits for the end of `t`, if it is a function: its
/// completion function (`stream` is null), or what is in its stream behind it. Supplied by the module api.
void for_each_behind(task &t, void (*f)(task &behind, const char *stream, void *context), void *context);

/// fork(): the child has none of its parent's functions. Streams that were made before tell by this number.
void forget_functions_after_fork();
[[nodiscard]] unsigned functions_generation() noexcept;

} // namespace rt
} // namespace weft::inline v0
