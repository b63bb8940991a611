// SPDX-License-Identifier: Apache-2.0
// Waiting: for children, for a group, for one task.
#pragma once

#include "task/group.hpp"
#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Says what a wait does when no stack is left for its worker to go on with.
enum class exhausted {
  throws,  // weft::error; but a thread's own code goes on
  goes_on, // runs what is ready on top of the waiting frame: for waits that other code relies on
};

/// Waits until all children of the caller's current task outside of groups are complete.
void wait_for_children(task &t, exhausted how = exhausted::throws);
void wait_for_group(group_state &g, exhausted how = exhausted::throws);
/// Waits until body and events of a tracked task are over.
void wait_until_done(task &t, exhausted how = exhausted::throws);
/// Waits until an undeferred task may run, if it could not at once. Goes on without a stack.
void wait_until_runnable(task &t);
/// Rethrows, once, what a child has thrown.
void rethrow_children_error(task &t);

} // namespace rt
} // namespace weft::inline v0
