// SPDX-License-Identifier: Apache-2.0
// Decides how many workers are worth having. Pure: windows of work, and of energy, come in, the
// number of workers for the next window comes out.
//
// After a rest of 250 ms at k workers, three short windows are compared: k, k - d or k + d, k. The
// neighbours on both sides cancel a drift. Two wins in a row change k; after two losses in a row the
// rest doubles. What wins depends on the goal:
//
// - work: a worker stays while it adds to the work that is done per second. Fewer workers win if what
//   the d workers added was less than a quarter of their fair share, and all steps together have cost
//   at most 2 % of the rate. More workers win in the contrary case.
// - energy: the other number wins if a unit of work takes 1 % less energy with it. Fewer workers lose
//   where all steps together would cost more than 5 % of the rate; then more win.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

enum class cap_goal { work, energy };

class worker_cap {
 public:
  explicit worker_cap(unsigned workers, cap_goal goal = cap_goal::work) noexcept
      : m_goal(goal), m_most(std::max(workers, 1U)), m_kept(m_most), m_tried(m_most) {}

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

  /// Takes the work that was done in the last window, and the energy that it took if that is the
  /// goal. Returns whether kept() has changed.
  bool take(double work, std::uint64_t ns, double energy = 0) noexcept {
    if (ns == 0 || !std::isfinite(work) || work < 0 || ns > k_absurd * window_ns()) {
      m_window = window::rest; // the clock stood still or jumped
      return false;
    }
    const measured seen{work / static_cast<double>(ns), energy / work};
    switch (m_window) {
    case window::rest:
      return after_rest(seen.rate);
    case window::before:
      m_before = seen;
      m_window = window::trial;
      return false;
    case window::trial:
      m_of_trial = seen;
      m_window = window::after;
      return false;
    case window::after:
      break;
    }
    return after_trial(seen);
  }

 private:
  enum class window { rest, before, trial, after };

  static constexpr std::uint64_t k_rest_ns = 250'000'000, k_longest_rest_ns = 8'000'000'000;
  static constexpr std::uint64_t k_short_ns = 2'000'000, k_longest_ns = 50'000'000;
  static constexpr std::uint64_t k_meter_ns = 20'000'000; // meters change every millisecond
  static constexpr std::uint64_t k_absurd = 100;
  static constexpr double k_dwell = 50; // units of work for each worker in a window
  static constexpr double k_fraction = 0.25, k_loss = 0.02;
  static constexpr double k_saving = 0.01, k_loss_for_energy = 0.05;
  static constexpr int k_proof = 2;

  struct measured {
    double rate = 0, cost = 0; // work per nanosecond; energy per unit of work
  };

  bool after_rest(double rate) noexcept {
    if (m_most == 1)
      return false;
    const double asked_ns = rate > 0 ? k_dwell * m_kept / rate : 1e18;
    if (asked_ns > static_cast<double>(k_longest_ns))
      return false; // too little happens to be measured
    m_short_ns = std::max(m_goal == cap_goal::energy ? k_meter_ns : k_short_ns,
                          static_cast<std::uint64_t>(asked_ns));
    const unsigned step = std::max(m_kept / 8, 1U);
    if (m_kept == m_most)
      m_goes_down = true;
    else if (m_kept == 1)
      m_goes_down = false;
    m_tried = m_goes_down ? m_kept - std::min(step, m_kept - 1) : std::min(m_kept + step, m_most);
    m_window = window::before;
    return false;
  }

  /// Says whether the number that was tried has won, `ratio` of whose rate is left.
  [[nodiscard]] bool wins(double ratio, const measured &after) const noexcept {
    const double most = m_goal == cap_goal::energy ? k_loss_for_energy : k_loss;
    const bool too_slow = (m_goes_down ? m_scale * ratio : m_scale) < 1 - most;
    if (too_slow)
      return !m_goes_down;
    if (m_goal == cap_goal::energy)
      return m_of_trial.cost < (1 - k_saving) * (m_before.cost + after.cost) / 2; // false for NaN
    const double few = std::min(m_tried, m_kept), steps = std::max(m_tried, m_kept) - few;
    const double gain = m_goes_down ? 1 / std::max(ratio, 1e-9) : ratio; // of the larger number
    const bool worth = (gain - 1) > k_fraction * steps / few;
    return worth != m_goes_down;
  }

  bool after_trial(const measured &after) noexcept {
    m_window = window::rest;
    const double around = (m_before.rate + after.rate) / 2;
    if (!(around > 0))
      return false;
    const double ratio = m_of_trial.rate / around;
    if (!wins(ratio, after)) {
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

  const cap_goal m_goal;
  const unsigned m_most;
  unsigned m_kept, m_tried;
  window m_window = window::rest;
  bool m_goes_down = true;
  int m_wins = 0, m_losses = 0;
  std::uint64_t m_rest_ns = k_rest_ns, m_short_ns = k_short_ns;
  measured m_before, m_of_trial;
  double m_scale = 1, m_first_ratio = 1;
};

} // namespace rt
} // namespace weft::inline v0
