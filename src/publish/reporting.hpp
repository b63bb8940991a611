// SPDX-License-Identifier: Apache-2.0
// What the settings counters.* ask for beyond counting: printing, the endpoint of OpenMetrics, the reference of one worker.
#pragma once

#include "config/settings.hpp"

namespace weft::inline v0 {
namespace rt {

class runtime;

/// Throws weft::error (bad_setting) where counters.print names what there is not. Before the start.
void check_reporting(const settings &cfg);
/// Once the workers run; what cannot be had is warned of.
void start_reporting(runtime &rt) noexcept;
/// That it runs: they do nothing to tasks.
[[nodiscard]] unsigned reporting_threads() noexcept;
/// The last line, the reference; the threads are gone afterwards.
void end_reporting(runtime &rt) noexcept;
void forget_reporting_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
