// SPDX-License-Identifier: Apache-2.0
// The numbers of task-aware supersteps. A process counts them in 64 bits, from 1; messages carry 32 bits of that, and
// name one of the supersteps next to that of the reader.
#pragma once

#include <cstdint>

namespace weft_lpf {

/// Is the number that the first superstep has in messages. The numbers wrap soon after, so that all programs of some
/// supersteps come to it, and not only those that run for hours. It is odd, as 1 is: halves.hpp takes either number.
inline constexpr std::uint32_t k_first_sent = 0xfffffff9U;

/// Returns what messages carry of a number.
[[nodiscard]] constexpr std::uint32_t sent_number(std::uint64_t step) noexcept {
  return static_cast<std::uint32_t>(step) + (k_first_sent - 1);
}
/// Returns the number that people read, in 32 bits, of one that a message carries.
[[nodiscard]] constexpr std::uint32_t shown_number(std::uint32_t sent) noexcept {
  return sent - (k_first_sent - 1);
}
/// Returns the superstep of a number that a message carries: the one that is the nearest to `now`.
[[nodiscard]] constexpr std::uint64_t step_near(std::uint64_t now, std::uint32_t sent) noexcept {
  return now + static_cast<std::uint64_t>(
                   std::int64_t{static_cast<std::int32_t>(sent - sent_number(now))});
}

} // namespace weft_lpf
