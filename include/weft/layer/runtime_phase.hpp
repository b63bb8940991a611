// SPDX-License-Identifier: Apache-2.0
// Unstable: how far Weft is in this process. Changes with any version.
#pragma once

#include <weft/c/config.h>

#include <cstdint>

namespace weft::inline v0 {
namespace layer {

/// Says how far Weft is in this process.
enum class runtime_phase : std::uint8_t {
  not_started, ///< no call has started it; also in a child of fork()
  running, ///< its settings are in use
  exits, ///< the process has called exit(), and Weft waits for the last tasks
  over, ///< tasks cannot be made any more
};

/// Returns how far Weft is in this process, and starts nothing. Another thread may change it at any time.
///
/// Threads. Any.
[[nodiscard]] WEFT_API runtime_phase phase_of_runtime() noexcept;

} // namespace layer
} // namespace weft::inline v0
