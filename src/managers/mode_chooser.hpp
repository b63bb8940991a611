// SPDX-License-Identifier: Apache-2.0
// Mode `auto`: runs tasks in one mode, tries the other one now and then, and changes when the other
// one ran more tasks. Neither the number of idle workers nor the length of queues says which mode
// is better on this machine; tasks per second do.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

// Measures in windows of time:
//   rest    long windows in the current mode, most of the time
//   series  short windows after some rests: every second one is a trial of the other mode, and is
//           compared with the windows on both sides of it
// A series ends with the first trial that did not run more tasks. One window proves nothing,
// because programs have phases. So the results of trials are summed up, and the sum changes the
// mode.
class mode_chooser {
 public:
  enum class mode { direct, distributed };

  /// Takes the result of the last window, in which `tasks` began within `ns`, and returns the mode
  /// of the next one. The mode of the last one is what next() returned before; at first it is
  /// direct.
  [[nodiscard]] mode next(std::uint64_t tasks, std::uint64_t ns) noexcept {
    const double rate =
        static_cast<double>(tasks) / static_cast<double>(std::max<std::uint64_t>(ns, 1));
    switch (m_window) {
    case window::rest:
      after_rest(rate);
      break;
    case window::beside:
      after_beside(rate);
      break;
    case window::trial:
      m_tried = rate;
      m_window = window::beside;
      break;
    }
    return now();
  }
  /// Returns the length of the next window.
  [[nodiscard]] std::uint64_t window_ns() const noexcept {
    return m_window == window::rest ? k_rest_ns : k_short_ns;
  }
  [[nodiscard]] mode now() const noexcept { return m_window == window::trial ? other() : m_mode; }
  /// Returns the mode that trials have shown to be the better one; at first it is direct.
  [[nodiscard]] mode kept() const noexcept { return m_mode; }
  /// Says whether the window is a trial of the other mode.
  [[nodiscard]] bool tries() const noexcept { return m_window == window::trial; }

 private:
  enum class window { rest, beside, trial };

  // 2 ms: long enough for some hundred of the shortest useful tasks, rarely a whole phase of a
  // program.
  static constexpr std::uint64_t k_short_ns = 2'000'000;
  // Each end of a window wakes a thread, which takes a worker's processor for it.
  static constexpr std::uint64_t k_rest_ns = 64 * k_short_ns;
  static constexpr double k_least_rate =
      50 / static_cast<double>(k_short_ns); // fewer tasks say nothing: both modes are as good
  // Rests for each trial of the last series. So trials take one part in 129 of the time even if no
  // task runs in them, and less where they lose.
  static constexpr unsigned k_least_between = 2;
  static constexpr unsigned k_most_between = 32;
  static constexpr double k_better = 1.03;
  static constexpr int k_proof = 8; // trials by which distributed must be ahead
  static constexpr int k_doubt = 4; // a lead at which it is not any more

  [[nodiscard]] mode other() const noexcept {
    return m_mode == mode::direct ? mode::distributed : mode::direct;
  }

  void rest() noexcept {
    m_window = window::rest;
    m_rests = 0;
  }

  void after_rest(double rate) noexcept {
    if (rate < k_least_rate)
      return; // too little happens to be measured: a series is deferred
    if (rate > 2 * m_rate || rate < m_rate / 2) // another phase of the program
      m_between = k_least_between;
    m_rate = rate;
    if (++m_rests < m_between * std::max(m_tries, 1U))
      return;
    m_tries = 0;
    m_window = window::beside;
  }

  void after_beside(double rate) noexcept {
    const double around = (m_beside + rate) / 2;
    m_beside = rate;
    if (rate < k_least_rate || (m_tries != 0 && !has_won(around)))
      return rest();
    ++m_tries;
    m_window = window::trial;
  }

  /// Says whether the last trial has won and the series goes on. False also if the mode changes by
  /// it.
  bool has_won(double around) noexcept {
    const bool is_direct = m_mode == mode::direct;
    const bool distributed_won =
        is_direct ? m_tried > k_better * around : around > k_better * m_tried;
    m_ahead = std::clamp(m_ahead + (distributed_won ? 1 : -1), 0, k_proof);
    const bool won = distributed_won == is_direct;
    m_between = won ? k_least_between : std::min(2 * m_between, k_most_between);
    if (is_direct ? m_ahead < k_proof : m_ahead > k_doubt)
      return won;
    m_mode = other();
    return false;
  }

  mode m_mode = mode::direct;
  window m_window = window::rest;
  int m_ahead = 0;
  unsigned m_rests = 0; // since the last series
  unsigned m_tries = 0; // trials of this series, or of the last one
  unsigned m_between = k_least_between;
  double m_rate = 0; // of the last long window
  double m_beside = 0; // of the last short window in m_mode
  double m_tried = 0;
};

} // namespace rt
} // namespace weft::inline v0
