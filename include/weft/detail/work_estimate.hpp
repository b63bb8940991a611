// SPDX-License-Identifier: Apache-2.0
// The decision whether a piece of work of a known cost is worth a task. It knows times that callers
// have measured, and reads no clock. docs/design/adaptation.md says where the numbers come from.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace detail {

/// Is the time of work that is not worth a task: what a task costs is a part of it that does not
/// show, and an idle worker does not wait long for the next piece.
inline constexpr std::uint64_t k_small_work_ns = 20'000;
/// Is the time after which work that runs in place was no small work.
inline constexpr std::uint64_t k_long_work_ns = 4 * k_small_work_ns;
/// Bounds the calls between two looks at a clock inside of work that runs in place.
inline constexpr std::uint32_t k_first_look = 2, k_most_calls_unseen = 512;

/// Keeps what the work of one type costs: the largest cost whose whole work was small, and the time
/// of a unit of cost. Any thread may call any function at any time; a change that gets lost is made
/// again. The words order nothing.
class work_estimate {
 public:
  /// Returns whether work of this cost is expected to be small enough to run in place. A cost of 0
  /// is unknown.
  [[nodiscard]] constexpr bool fits(std::uint64_t cost) const noexcept {
    return cost != 0 && cost <= most_for(m_largest.load(std::memory_order_relaxed));
  }
  /// Notes what the whole work of a cost took, wherever it ran. A time of 0 is that of a clock that
  /// stands still.
  void note(std::uint64_t cost, std::uint64_t ns) noexcept {
    if (cost == 0 || ns == 0 || ns > k_small_work_ns)
      return;
    const float known = m_unit_ns.load(std::memory_order_relaxed);
    const float seen = static_cast<float>(ns) / static_cast<float>(cost);
    if (known <= 0 || seen < known * 0.875f || seen > known * 1.125f) // others read this line
      m_unit_ns.store(known > 0 ? (known + seen) / 2 : seen, std::memory_order_relaxed);
    if (cost > m_largest.load(std::memory_order_relaxed))
      m_largest.store(cost, std::memory_order_relaxed);
  }
  /// Notes the same for work that has run in place.
  void note_in_place(std::uint64_t cost, std::uint64_t ns) noexcept {
    if (ns > k_long_work_ns)
      note_too_long();
    else
      note(cost, ns);
  }
  /// Notes that work in place has taken too long, or has waited.
  void note_too_long() noexcept {
    m_largest.store(m_largest.load(std::memory_order_relaxed) / 2, std::memory_order_relaxed);
  }
  /// Returns the largest cost whose whole work was small; 0: none is known.
  [[nodiscard]] std::uint64_t largest() const noexcept {
    return m_largest.load(std::memory_order_relaxed);
  }
  /// Returns the nanoseconds of a unit of cost, of small work; 0: unknown.
  [[nodiscard]] double unit_ns() const noexcept {
    return static_cast<double>(m_unit_ns.load(std::memory_order_relaxed));
  }

 private:
  /// Returns 1.8 times the cost: the next one that is tried is larger than what is known, and not
  /// much.
  [[nodiscard]] static constexpr std::uint64_t most_for(std::uint64_t largest) noexcept {
    return largest > UINT64_MAX / 2 ? UINT64_MAX : largest + largest / 5 * 4 + largest % 5 * 4 / 5;
  }

  std::atomic<std::uint64_t> m_largest{0};
  std::atomic<float> m_unit_ns{0};
};

/// Returns after how many calls inside of work in place the clock is looked at next: at first soon,
/// because each call may be long.
[[nodiscard]] constexpr std::uint32_t next_look(std::uint32_t calls) noexcept {
  return calls + std::min(calls, k_most_calls_unseen);
}

} // namespace detail
} // namespace weft::inline v0
