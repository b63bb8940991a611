// SPDX-License-Identifier: Apache-2.0
// What a loop makes of the clock. The functions are pure: the clock, the loop and the pause are
// arguments, so a test asks in a time of its own.
#pragma once

#include <weft/detail/loop_blocks.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace detail {

/// Holds what helpers have seen of wake-ups. Hints: the words order nothing.
struct wake_ups {
  std::atomic<float> ns{5000}; ///< that one takes: wake_after(), forget_wake()
  std::atomic<std::uint64_t> seen{0}; ///< helpers that have come because they were woken
};
inline constinit wake_ups g_wake_ups;

/// Returns the time of a wake-up after another one. One that took longer than its bounds allow, as that
/// of a preempted worker, tells no more than the longest.
[[nodiscard]] constexpr double wake_after(double known, double seen) noexcept {
  return blend_wake(known, std::min(seen, k_most_wake_ns));
}
/// Says whether a loop is left to its caller only because of the time that a wake-up is believed to take.
[[nodiscard]] constexpr bool is_left_for_wake(double rest_ns, double wake_ns) noexcept {
  return rest_ns >= k_least_shared_ns && stays_serial(rest_ns, wake_ns);
}
/// Returns the time of a wake-up after such a loop, a little less: only a shared loop measures it, so
/// sooner or later one is shared again.
[[nodiscard]] constexpr double forget_wake(double known) noexcept {
  return std::max(known - known / 256, k_least_wake_ns);
}

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
