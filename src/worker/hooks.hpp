// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

// Supplied by api/cpp/.

/// Calls f(behind, stream, context) for each task that waits for the end of `t`, if `t` is a
/// function: for its completion function (`stream` is null), or for what follows it in its stream.
/// For reports, while nothing runs.
void for_each_behind(task &t, void (*f)(task &behind, const char *stream, void *context),
                     void *context);

} // namespace rt
} // namespace weft::inline v0
