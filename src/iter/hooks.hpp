// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include "ult/thread_context.hpp"
#include "weft/detail/core.hpp"

namespace weft::inline v0 {
namespace rt {

// Supplied by worker/.

/// Returns whether an immediate successor goes first always (sched.immediate_successor), unless more
/// urgent work waits.
[[nodiscard]] bool successors_go_first() noexcept;
/// Returns whether the worker may run its immediate successor before it looks at other work.
[[nodiscard]] bool goes_at_once(const thread_context &here, const runnable &successor) noexcept;
/// Makes the worker look at other work before it goes on with the next immediate successor.
void look_at_other_work(thread_context &here) noexcept;

} // namespace rt
} // namespace weft::inline v0
