// SPDX-License-Identifier: Apache-2.0
// The decisions of a loop whose blocks choose their sizes: how many iterations the next block has,
// whether the loop stays serial, how many participants it asks for. Pure functions of times in
// nanoseconds; docs/design/loops.md says where the numbers come from.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::inline v0 {
namespace detail {

/// Is how long the caller runs alone before it decides, where it knows nothing of the loop.
inline constexpr double k_prefix_ns = 2000;
/// Is the time of a block, 200 times what it costs to take one; setting loop.block changes it.
inline constexpr double k_block_ns = 4000;
/// Bounds the time of a wake-up, which is measured.
inline constexpr double k_least_wake_ns = 1000, k_most_wake_ns = 50'000;
/// Is the time of a loop that is never shared: with a worker that is awake already, the two of them
/// take as long to part as they gain.
inline constexpr double k_least_shared_ns = 10'000;
/// Is the same for work of which a part is done twice where it is shared, as in a scan.
inline constexpr double k_least_shared_twice_ns = 15'000;
/// Is the time of a block whose loop no other worker may enter.
inline constexpr double k_lone_block_ns = 256'000;
/// Is the time of long work: workers that are busy now are idle before it ends.
inline constexpr double k_long_ns = 1e6;
/// Are the shared calls that have to take longer than one alone before the next calls stay with their
/// caller: the first ones may have to wake workers for those behind them.
inline constexpr unsigned k_losses = 8;
/// Bounds how many calls stay with their caller then.
inline constexpr unsigned k_most_calls_alone = 127;
/// Is the predicted time of a loop below which its caller does not even look at a clock, but for
/// one call of k_sample.
inline constexpr double k_blind_ns = 3000;
inline constexpr unsigned k_sample = 8;

/// Returns the time of a block of a shared loop whose iterations take `loop_ns` together: 1/32 of a
/// participant's share, from one to eight times block_ns. What a body does once in each block, an
/// addition to a shared sum for instance, then shows less in a long loop.
[[nodiscard]] constexpr double shared_block(double loop_ns, unsigned participants,
                                            double block_ns = k_block_ns) noexcept {
  return std::clamp(loop_ns / (32.0 * participants), block_ns, 8 * block_ns);
}

/// Returns the iterations of the next block: as many as block_ns takes, at most twice the last
/// block, at most a quarter of what is left, at least one.
[[nodiscard]] constexpr std::uint64_t next_block(std::uint64_t last, double ns_per_iteration,
                                                 std::uint64_t left,
                                                 double block_ns = k_block_ns) noexcept {
  const std::uint64_t doubled = last > UINT64_MAX / 2 ? UINT64_MAX : 2 * last;
  const std::uint64_t most = std::min(doubled, left / 4);
  if (most <= 1)
    return 1;
  if (ns_per_iteration * static_cast<double>(most) <= block_ns)
    return most;
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(block_ns / ns_per_iteration), 1);
}

/// Returns the least iterations of a block that is worth taking, of those that are left: as many as
/// take an eighth of a block, where that is known.
[[nodiscard]] constexpr std::uint64_t least_block(double ns_per_iteration, std::uint64_t left,
                                                  double block_ns = k_block_ns) noexcept {
  const double least_ns = block_ns / 8;
  if (ns_per_iteration <= 0 || left <= 1)
    return 1;
  if (ns_per_iteration * static_cast<double>(left) <= least_ns)
    return left;
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(least_ns / ns_per_iteration), 1);
}

/// Returns the iterations of the next block of the caller that runs alone: all that is left where
/// that is less than a block.
[[nodiscard]] constexpr std::uint64_t next_serial_block(std::uint64_t last, double ns_per_iteration,
                                                        std::uint64_t left,
                                                        double block_ns = k_block_ns) noexcept {
  return std::min(left, next_block(last, ns_per_iteration,
                                   left > UINT64_MAX / 4 ? UINT64_MAX : 4 * left, block_ns));
}

/// Returns the time of a block of a caller that is alone, where its first block took what the site
/// remembers (`as_known`) or where no worker could take a part (`no_other`): each look at the clock
/// between two blocks costs as much as a hundred additions.
[[nodiscard]] constexpr double lone_block(bool as_known, bool no_other,
                                          double block_ns = k_block_ns) noexcept {
  return as_known ? std::max(no_other ? k_lone_block_ns : k_least_shared_ns, block_ns) : block_ns;
}

/// Counts the shared calls of a site that took a tenth longer than one alone, less those that took less
/// time. A change is a step of one.
[[nodiscard]] constexpr unsigned losses_after(double shared_ns, double alone_ns,
                                              unsigned before) noexcept {
  if (shared_ns > alone_ns * 1.1)
    return before + 1;
  return shared_ns < alone_ns && before != 0 ? before - 1 : before;
}
/// Returns how many calls stay with their caller after one more loss: at each eighth one 1, 3, 7 and so
/// on.
[[nodiscard]] constexpr unsigned calls_alone_after(unsigned losses) noexcept {
  if (losses == 0 || losses % k_losses != 0)
    return 0;
  return losses / k_losses > 6 ? k_most_calls_alone : (1u << losses / k_losses) - 1;
}

/// Returns whether the caller runs the rest itself, because to wake a worker takes too long.
[[nodiscard]] constexpr bool stays_serial(double rest_ns, double wake_ns) noexcept {
  return rest_ns < std::max(2 * wake_ns, k_least_shared_ns);
}

/// Returns how many participants share the rest, the caller included: more than the square root of
/// the work over a wake-up are not there in time.
[[nodiscard]] constexpr unsigned participants_for(double rest_ns, double wake_ns,
                                                  unsigned most) noexcept {
  unsigned n = 1;
  while (n < most && static_cast<double>(n) * static_cast<double>(n) * wake_ns <= rest_ns)
    ++n;
  return n;
}

/// Returns the time of an iteration after a block: what costs more counts at once, so the next
/// block is short; what costs less counts by half.
[[nodiscard]] constexpr double blend(double known, double seen) noexcept {
  return known <= 0 || seen > known ? seen : (known + seen) / 2;
}
/// Returns what a call site remembers: what costs less counts by half, what costs more by a
/// quarter, because a preempted call is no better known.
[[nodiscard]] constexpr double blend_calls(double known, double seen) noexcept {
  return known <= 0 ? seen : seen < known ? (known + seen) / 2 : known + (seen - known) / 4;
}
/// Returns the least time of late: an older one rises by 1/16 with each call, because the same site may
/// get other work.
[[nodiscard]] constexpr double least_of_late(double least, double seen) noexcept {
  return least <= 0 ? seen : std::min(seen, least * 1.0625);
}
/// Returns about the most work in a shared call that took `ns`: workers come after a mean wake-up.
[[nodiscard]] constexpr double most_work(double ns, double wake_ns, double workers) noexcept {
  return ns + std::max(ns - wake_ns, 0.0) * (workers - 1);
}
/// Returns the time of a wake-up after another one, within its bounds.
[[nodiscard]] constexpr double blend_wake(double known, double seen) noexcept {
  return std::clamp(known + (seen - known) / 8, k_least_wake_ns, k_most_wake_ns);
}

} // namespace detail
} // namespace weft::inline v0
