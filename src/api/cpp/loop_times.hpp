// SPDX-License-Identifier: Apache-2.0
// What a loop makes of the clock. Pure: the clock, the loop and the pause are arguments, so a test asks
// in a time of its own.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::inline v0 {
namespace detail {

/// Returns what a block has taken without the look at the clock that ended it, which shows in short
/// blocks; at least half of what was measured, because a look may take less than it did once.
[[nodiscard]] constexpr std::uint64_t without_look(std::uint64_t ns, std::uint64_t look_ns) noexcept {
  return ns - std::min(look_ns, ns / 2);
}

/// Bounds the looks at a loop whose end does not come, also with a clock that stands still.
inline constexpr int k_most_looks = 4096;

/// Waits for the end of a loop that its caller is about to end alone, because a helper that took a part
/// of it would hold the end up.
/// Returns false once the loop is over, and true when the helper is to take part: the loop takes
/// longer than until `until` (0: it is shared in any case), or its caller waits.
template <class IsOver, class CallerWaits, class Now, class Pause>
[[nodiscard]] bool goes_on(std::uint64_t until, IsOver is_over, CallerWaits caller_waits, Now now,
                           Pause pause) noexcept {
  for (int looks = 0; !is_over(); ++looks) {
    if (until == 0 || caller_waits() || now() >= until || looks == k_most_looks)
      return true;
    pause();
  }
  return false;
}

} // namespace detail
} // namespace weft::inline v0
