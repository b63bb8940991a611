// SPDX-License-Identifier: Apache-2.0
// Waiting: for children, for a group, for one task.
#pragma once

#include "task/lifecycle.hpp"

namespace weft::inline v0 {
namespace rt {

/// The caller's current task waits until all of its children outside of groups are complete. Throws only when no stack is left.
void wait_for_children(task &t);
void wait_for_group(group_state &g);
/// Body and events of a tracked task.
void wait_until_done(task &t);
/// Waits until an undeferred task may run, when it could not at once.
void wait_until_runnable(task &t);
/// Rethrows what a child has thrown, once.
void rethrow_children_error(task &t);

} // namespace rt
} // namespace weft::inline v0
