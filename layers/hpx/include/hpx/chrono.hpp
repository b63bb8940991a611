// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: clocks.
#pragma once

#include <chrono>
#include <cstdint>

namespace hpx {
namespace chrono {

class high_resolution_clock {
 public:
  /// Returns nanoseconds.
  static std::uint64_t now() noexcept {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
  }
};

class high_resolution_timer {
 public:
  high_resolution_timer() = default;
  void restart() noexcept { m_begin = high_resolution_clock::now(); }
  /// Returns seconds.
  [[nodiscard]] double elapsed() const noexcept {
    return static_cast<double>(elapsed_nanoseconds()) * 1e-9;
  }
  [[nodiscard]] std::int64_t elapsed_nanoseconds() const noexcept {
    return static_cast<std::int64_t>(high_resolution_clock::now() - m_begin);
  }
  [[nodiscard]] std::int64_t elapsed_microseconds() const noexcept {
    return elapsed_nanoseconds() / 1000;
  }
  static double now() noexcept { return static_cast<double>(high_resolution_clock::now()) * 1e-9; }

 private:
  std::uint64_t m_begin = high_resolution_clock::now();
};

} // namespace chrono
namespace util {
using chrono::high_resolution_clock;
using chrono::high_resolution_timer;
} // namespace util
} // namespace hpx
