// SPDX-License-Identifier: Apache-2.0
// Counts of the processor (perf_event) and its energy (powercap), where the system allows a program
// to open them. Elsewhere the counter is absent and says why: no value is shown that was not
// measured.
#pragma once

#include "observe/layout.hpp"

namespace weft::inline v0 {
namespace rt {

/// Says what is counted beside what costs nothing.
struct hardware_wishes {
  bool events = false; // of the workers' threads
  bool energy = false;
};
/// Finds out what can be counted, for a store that has just been opened. What is not wanted is
/// absent.
void open_hardware(hardware_wishes wanted, const char *powercap = "/sys/class/powercap") noexcept;
/// Counts for the calling thread, which is in slot `id` from now on.
void count_hardware(unsigned id, counter_block &block) noexcept;
/// Reads the counts into the blocks; the caller holds the publisher's lock. `now` false: skips it
/// if the last read was a moment ago.
void publish_hardware(bool now) noexcept;
/// Returns after how long at most publish_hardware() is to be called again, because counters of energy
/// begin anew; 0: any time.
[[nodiscard]] std::uint64_t longest_pause_of_hardware_ns() noexcept;
void forget_hardware_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
