// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include "deps/domain.hpp"
#include "task/task.hpp"
#include "ult/thread_context.hpp"

#include <weft/service.hpp>

namespace weft::inline v0 {
namespace rt {

// Supplied by managers/.

/// Returns whether no manager would come for what this worker posts before the worker itself does.
/// Called before each action that may be posted.
[[nodiscard]] bool chooses_to_act_locally(thread_context &e) noexcept;
/// Posts `t`, so that a manager enters its named accesses, none of which shares, into `home`, the
/// domain of its parent, the running task. Returns whether `t` is posted; after false nothing has
/// changed.
[[nodiscard]] bool post_new(task &t, domain &home);
/// Says whose end is posted: that of a task without children, whose callable is gone; or that of a
/// task with children.
enum class posted_end { of_childless, of_parent };
/// Posts `t`, so that a manager releases its accesses and drops it. Returns whether `t` is posted.
[[nodiscard]] bool post_end(task &t, posted_end which);
/// Waits until all that was posted for the domain is applied.
void apply_registrations_of(domain &home) noexcept;
/// Applies messages as the manager mode asks the caller to, by way of the dispatcher. Returns
/// whether it has applied some. Nothing that it calls may wait.
bool apply_messages(thread_context &e, poll_point where);

} // namespace rt
} // namespace weft::inline v0
