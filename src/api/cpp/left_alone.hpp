// SPDX-License-Identifier: Apache-2.0
// What a helper does that finds a loop which its caller is about to end alone. Pure: the loop, the
// clock and the pause are arguments, so a test asks it in a time of its own.
#pragma once

#include <cstdint>

namespace weft::inline v0 {
namespace detail {

/// Bounds the looks at a loop whose end does not come, also with a clock that stands still.
inline constexpr int k_most_looks = 4096;

/// Waits for the end of the loop, because a helper that took a part of it would hold the end up.
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
