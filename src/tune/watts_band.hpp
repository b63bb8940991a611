// SPDX-License-Identifier: Apache-2.0
// Decides how many workers keep the power within a band. Pure: windows of energy come in, the number
// of workers comes out.
//
// Above the band half of the workers go, because a limit of power is there to be kept; below it one
// comes back. A change is followed by a window that is not looked at, because half of it may be of
// before. Where one worker more or less leaps over the band, the lower number stays: the worker that
// brought the power above the band goes again, and the next one is tried later and later.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace weft::inline v0 {
namespace rt {

struct watts {
  double low = 0, high = 0;
};

/// Parses a band, as 40:60. Throws a bad setting, which names tune.watts.
[[nodiscard]] watts parse_watts(std::string_view text);

class watts_band {
 public:
  static constexpr std::uint64_t k_window_ns = 250'000'000;

  watts_band(unsigned workers, watts band) noexcept
      : m_band(band), m_most(std::max(workers, 1U)), m_kept(m_most) {}

  [[nodiscard]] unsigned now() const noexcept { return m_kept; }
  [[nodiscard]] double last_watts() const noexcept { return m_last; }

  /// Takes the energy of the last window, in microjoules. Returns whether now() has changed.
  bool take(double energy, std::uint64_t ns) noexcept {
    if (ns == 0 || ns > k_absurd * k_window_ns || !std::isfinite(energy) || energy < 0)
      return false; // the clock stood still or jumped, or there is no meter
    if (m_skips != 0) {
      --m_skips;
      return false;
    }
    m_last = energy / static_cast<double>(ns) * 1000;
    const bool has_come = std::exchange(m_has_come, false);
    if (m_last > m_band.high && m_kept > 1) {
      if (!has_come)
        return change(m_kept / 2, 1);
      m_rest = std::min(2 * m_rest, k_longest_rest);
      return change(m_kept - 1, m_rest);
    }
    if (has_come)
      m_rest = 1;
    if (m_last < m_band.low && m_kept < m_most) {
      m_has_come = true;
      return change(m_kept + 1, 1);
    }
    return false;
  }

 private:
  static constexpr std::uint64_t k_absurd = 100;
  static constexpr unsigned k_longest_rest = 64; // windows: 16 s

  bool change(unsigned to, unsigned skips) noexcept {
    m_kept = to;
    m_skips = skips;
    return true;
  }

  const watts m_band;
  const unsigned m_most;
  unsigned m_kept;
  unsigned m_skips = 0, m_rest = 1;
  bool m_has_come = false; // the last change was one worker more
  double m_last = 0;
};

} // namespace rt
} // namespace weft::inline v0
