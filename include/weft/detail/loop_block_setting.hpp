// SPDX-License-Identifier: Apache-2.0
// The setting loop.block, for loops of other layers.
#pragma once

#include <weft/c/config.h>

namespace weft::inline v0 {
namespace detail {

/// Returns how many nanoseconds a block of a loop takes that has no grain of its own: setting
/// loop.block, 4 us until Weft has started. One load, from any thread.
[[nodiscard]] WEFT_API double loop_block_ns() noexcept;

} // namespace detail
} // namespace weft::inline v0
