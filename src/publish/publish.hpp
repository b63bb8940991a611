// SPDX-License-Identifier: Apache-2.0
// The counters of the runtime, written into the store of observe/.
#pragma once

namespace weft::inline v0 {
namespace rt {

class runtime;

/// Says whether the hardware counts are read for a publication, which takes system calls.
enum class hardware_counts { read, left };
/// Publishes the gauges for observers outside of Weft. Any thread.
void publish_counters(runtime &rt, hardware_counts which = hardware_counts::read) noexcept;
/// Forgets, in the child of a fork(), a thread of the parent that was publishing.
void forget_publisher_in_child() noexcept;
enum class workers_are { running, stopped };
/// Publishes the counters and ends the trace for the last time.
void end_counting(runtime &rt, workers_are now) noexcept;

} // namespace rt
} // namespace weft::inline v0
