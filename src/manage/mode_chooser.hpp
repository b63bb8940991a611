// SPDX-License-Identifier: Apache-2.0
// Mode `auto`: runs tasks the one way, tries the other for a window now and then, and changes when that ran more of them. Neither the
// number of idle workers nor the length of queues says which way is better on this machine; tasks per second do.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

class mode_chooser {
 public:
  enum class mode { direct, distributed };

  /// The last window, in the mode that next() returned before (direct at first), took `ns` and began `tasks`. Returns the mode of the
  /// next one.
  [[nodiscard]] mode next(std::uint64_t tasks, std::uint64_t ns) noexcept {
    if (tasks < k_least_tasks)
      return rest();
    m_idle = 0;
    const double rate = static_cast<double>(tasks) / static_cast<double>(std::max<std::uint64_t>(ns, 1));
    return m_tries ? after_try(rate) : after_window(rate);
  }
  /// How long the next window is to be.
  [[nodiscard]] std::uint64_t window_ns() const noexcept { return k_window_ns << std::min(m_idle, k_most_idle); }
  [[nodiscard]] mode now() const noexcept { return m_tries ? other() : m_mode; }

 private:
  // 2 ms: some hundred of the shortest tasks that are worth having, and rarely a whole phase of a program.
  static constexpr std::uint64_t k_window_ns = 2'000'000;
  static constexpr std::uint64_t k_least_tasks = 50; // fewer say nothing: both ways are as good
  static constexpr unsigned k_most_idle = 6;         // then a window of 128 ms
  // One window in 32 in the worse mode costs 3 % even if nothing were done in it; where it was clearly worse it is tried less and less.
  static constexpr unsigned k_between_tries = 32;
  static constexpr unsigned k_most_between = 1024;
  static constexpr double k_better = 1.03;
  static constexpr double k_worse = 0.9;

  [[nodiscard]] mode other() const noexcept { return m_mode == mode::direct ? mode::distributed : mode::direct; }

  /// Too little happens to be measured: a try is put off.
  mode rest() noexcept {
    m_idle = std::min(m_idle + 1, k_most_idle);
    m_tries = false;
    m_wins = 0;
    return m_mode;
  }

  mode after_window(double rate) noexcept {
    const bool changed = m_rate > 0 && (rate > 2 * m_rate || rate < m_rate / 2); // another phase of the program
    if (changed)
      m_between = k_between_tries;
    m_rate = rate;
    if (++m_windows < m_between && m_wins == 0)
      return m_mode;
    m_windows = 0;
    m_tries = true;
    return other();
  }

  mode after_try(double rate) noexcept {
    m_tries = false;
    if (rate <= m_rate * k_better) {
      m_between = rate < m_rate * k_worse ? std::min(2 * m_between, k_most_between) : k_between_tries;
      m_wins = 0;
      return m_mode;
    }
    if (++m_wins < 2) // once may be chance: again after one window of the old way
      return m_mode;
    m_wins = 0;
    m_between = k_between_tries;
    m_rate = rate;
    return m_mode = other();
  }

  mode m_mode = mode::direct;
  bool m_tries = false; // the window that runs is one in the other mode
  unsigned m_wins = 0;  // tries in a row that ran more
  unsigned m_windows = 0;
  unsigned m_between = k_between_tries;
  unsigned m_idle = 0;
  double m_rate = 0; // of the last window in m_mode
};

} // namespace rt
} // namespace weft::inline v0
