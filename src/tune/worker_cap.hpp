// SPDX-License-Identifier: Apache-2.0
// Decides how many workers are worth having: a worker stays while it adds to the work that is done
// per second. Pure: windows of work come in, the number of workers for the next window comes out.
//
// After a rest of 250 ms at k workers, three short windows are compared: k, k - d or k + d, k. The
// neighbours on both sides cancel a drift. Two wins in a row change k; after two losses in a row the
// rest doubles. Fewer workers win if what the d workers added per second was less than a quarter of
// their fair share, and all steps together have cost at most 2 %. More workers win in the contrary
// case.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

class worker_cap {
 public:
  explicit worker_cap(unsigned workers) noexcept
      : m_most(std::max(workers, 1U)), m_kept(m_most), m_tried(m_most) {}

  /// Returns how many workers work in the next window.
  [[nodiscard]] unsigned now() const noexcept {
    return m_window == window::trial ? m_tried : m_kept;
  }
  /// Returns how many work between trials.
  [[nodiscard]] unsigned kept() const noexcept { return m_kept; }
  [[nodiscard]] std::uint64_t window_ns() const noexcept {
    return m_window == window::rest ? m_rest_ns : m_short_ns;
  }
  /// Returns the part of the rate with all workers that steps down may have left.
  [[nodiscard]] double rate_left() const noexcept { return m_scale; }

  /// Takes the work that was done in the last window. Returns whether kept() has changed.
  bool take(double work, std::uint64_t ns) noexcept {
    if (ns == 0 || !std::isfinite(work) || work < 0 || ns > k_absurd * window_ns()) {
      m_window = window::rest; // the clock stood still or jumped
      return false;
    }
    const double rate = work / static_cast<double>(ns);
    switch (m_window) {
    case window::rest:
      return after_rest(rate);
    case window::before:
      m_before = rate;
      m_window = window::trial;
      return false;
    case window::trial:
      m_of_trial = rate;
      m_window = window::after;
      return false;
    case window::after:
      break;
    }
    return after_trial(rate);
  }

 private:
  enum class window { rest, before, trial, after };

  static constexpr std::uint64_t k_rest_ns = 250'000'000, k_longest_rest_ns = 8'000'000'000;
  static constexpr std::uint64_t k_short_ns = 2'000'000, k_longest_ns = 50'000'000;
  static constexpr std::uint64_t k_absurd = 100;
  static constexpr double k_dwell = 50; // units of work for each worker in a window
  static constexpr double k_fraction = 0.25, k_loss = 0.02;
  static constexpr int k_proof = 2;

  bool after_rest(double rate) noexcept {
    if (m_most == 1)
      return false;
    const double asked_ns = rate > 0 ? k_dwell * m_kept / rate : 1e18;
    if (asked_ns > static_cast<double>(k_longest_ns))
      return false; // too little happens to be measured
    m_short_ns = std::max(k_short_ns, static_cast<std::uint64_t>(asked_ns));
    const unsigned step = std::max(m_kept / 8, 1U);
    if (m_kept == m_most)
      m_goes_down = true;
    else if (m_kept == 1)
      m_goes_down = false;
    m_tried = m_goes_down ? m_kept - std::min(step, m_kept - 1) : std::min(m_kept + step, m_most);
    m_window = window::before;
    return false;
  }

  bool after_trial(double rate) noexcept {
    m_window = window::rest;
    const double around = (m_before + rate) / 2;
    if (!(around > 0))
      return false;
    const double ratio = m_of_trial / around;
    const double few = std::min(m_tried, m_kept), steps = std::max(m_tried, m_kept) - few;
    const double gain = m_goes_down ? 1 / std::max(ratio, 1e-9) : ratio; // of the larger number
    const bool worth = (gain - 1) > k_fraction * steps / few;
    const double left = m_scale * ratio;
    const bool won = m_goes_down ? !worth && left >= 1 - k_loss : worth || m_scale < 1 - k_loss;
    if (!won) {
      m_wins = 0;
      m_goes_down = !m_goes_down;
      if (++m_losses >= k_proof)
        m_rest_ns = std::min(2 * m_rest_ns, k_longest_rest_ns);
      return false;
    }
    m_losses = 0;
    m_rest_ns = k_rest_ns;
    if (++m_wins < k_proof) {
      m_first_ratio = ratio;
      return false;
    }
    m_wins = 0;
    m_scale = std::min(m_scale * std::min(ratio, m_first_ratio), 1.0);
    m_kept = m_tried;
    if (m_kept == m_most)
      m_scale = 1;
    return true;
  }

  const unsigned m_most;
  unsigned m_kept, m_tried;
  window m_window = window::rest;
  bool m_goes_down = true;
  int m_wins = 0, m_losses = 0;
  std::uint64_t m_rest_ns = k_rest_ns, m_short_ns = k_short_ns;
  double m_before = 0, m_of_trial = 0, m_scale = 1, m_first_ratio = 1;
};

} // namespace rt
} // namespace weft::inline v0
