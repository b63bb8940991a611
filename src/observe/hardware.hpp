// SPDX-License-Identifier: Apache-2.0
// Counts of the processor (perf_event) and its energy (powercap), where the system lets them be opened. Where it does not, the counter is
// absent and says why: nothing is shown that was not measured.
#pragma once

#include "observe/layout.hpp"

namespace weft::inline v0 {
namespace rt {

/// For a store that has just been opened: finds out what can be had. `wanted` false: all is absent.
void open_hardware(bool wanted) noexcept;
/// The calling thread is in slot `id` from now on.
void count_hardware(unsigned id, counter_block &block) noexcept;
/// Reads them into the blocks. With the lock of the publisher. `now` false: unless that was a moment ago.
void publish_hardware(bool now) noexcept;
void forget_hardware_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
