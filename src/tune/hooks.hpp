// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

#include "observe/reading.hpp"

namespace weft::inline v0 {
namespace rt {

// Supplied by publish/.

/// Reads all counters of this program now, levels too. The runtime runs.
[[nodiscard]] reading read_counters_now();

} // namespace rt
} // namespace weft::inline v0
