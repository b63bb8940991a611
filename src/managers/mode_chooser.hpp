// SPDX-License-Identifier: Apache-2.0
// Mode `auto`: runs tasks the one way, tries the other now and then, and changes when that ran more of them.
// Neither the number of idle workers nor the length of queues says which way is better on this machine; tasks
// per second do.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

// Most of the time it rests, in long windows. Then comes a series of short ones, every second one a try of
// the other way, which is compared with the windows on both sides. A series ends with the first try that did
// not run more. One window is no proof, since programs have phases: what tries have shown is summed up, and a
// sum changes the way.
class mode_chooser {
 public:
  enum class mode { direct, distributed };

  /// The last window, in the mode that next() returned before (direct at first), took `ns` and began `tasks`.
  /// Returns the mode of the next one.
  [[nodiscard]] mode next(std::uint64_t tasks, std::uint64_t ns) noexcept {
    const double rate = static_cast<double>(tasks) / static_cast<double>(std::max<std::uint64_t>(ns, 1));
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
  /// How long the next window is to be.
  [[nodiscard]] std::uint64_t window_ns() const noexcept { return m_window == window::rest ? k_rest_ns : k_short_ns; }
  [[nodiscard]] mode now() const noexcept { return m_window == window::trial ? other() : m_mode; }
  /// It is a window in the other mode.
  [[nodiscard]] bool tries() const noexcept { return m_window == window::trial; }

 private:
  enum class window { rest, beside, trial };

  // 2 ms: some hundred of the shortest tasks that are worth having, and rarely a whole phase of a program.
  static constexpr std::uint64_t k_short_ns = 2'000'000;
  // Each end of a window wakes a thread, which takes a worker's processor for it.
  static constexpr std::uint64_t k_rest_ns = 64 * k_short_ns;
  static constexpr double k_least_rate = 50 / static_cast<double>(k_short_ns); // fewer tasks say nothing: both ways are as good
  // Rests for each try of the last series: tries take one part in 129 of the time even if nothing is done in
  // them, and less where they lose.
  static constexpr unsigned k_least_between = 2;
  static constexpr unsigned k_most_between = 32;
  static constexpr double k_better = 1.03;
  static constexpr int k_proof = 8; // tries by which distributed must be ahead
  static constexpr int k_doubt = 4; // when it is not any more

  [[nodiscard]] mode other() const noexcept { return m_mode == mode::direct ? mode::distributed : mode::direct; }

  void rest() noexcept {
    m_window = window::rest;
    m_rests = 0;
  }

  void after_rest(double rate) noexcept {
    if (rate < k_least_rate)
      return;                                   // too little happens to be measured: a series is deferred
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

  /// Of the last try. False too where it was the last one that was needed.
  bool has_won(double around) noexcept {
    const bool is_direct = m_mode == mode::direct;
    const bool distributed_won = is_direct ? m_tried > k_better * around : around > k_better * m_tried;
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
  unsigned m_tries = 0; // of this series, or of the last one
  unsigned m_between = k_least_between;
  double m_rate = 0;   // of the last long window
  double m_beside = 0; // of the last short one in m_mode
  double m_tried = 0;
};

} // namespace rt
} // namespace weft::inline v0
