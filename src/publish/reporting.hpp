// SPDX-License-Identifier: Apache-2.0
// Reporting: what the settings counters.* ask for beyond counting. That is printing, the endpoint
// of OpenMetrics, and the reference of one worker.
#pragma once

#include "config/settings.hpp"

namespace weft::inline v0 {
namespace rt {

class runtime;

/// Throws weft::error (bad_setting) if counters.print names a counter that does not exist. Before
/// the start.
void check_reporting(const settings &cfg);
/// Starts reporting, once the workers run. Warns of what cannot be had.
void start_reporting(runtime &rt) noexcept;
/// Returns how many threads reporting runs; they do nothing to tasks.
[[nodiscard]] unsigned reporting_threads() noexcept;
/// Prints the last line, writes the reference, and ends the threads.
void end_reporting(runtime &rt) noexcept;
void forget_reporting_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
