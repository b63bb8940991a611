// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include "observe/reading.hpp"

namespace weft::inline v0 {
namespace rt {

// Supplied by publish/.

/// Reads all counters of this program now, levels too. The runtime runs.
[[nodiscard]] reading read_counters_now();

// Supplied by api/cpp/.

/// Takes the locks of all sessions, before those of the policies.
void sessions_before_fork();
void sessions_after_fork_in_parent();
/// Ends the calls that threads of the parent measure: knobs have their values between trials.
void sessions_after_fork_in_child();

} // namespace rt
} // namespace weft::inline v0
