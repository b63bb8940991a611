// SPDX-License-Identifier: Apache-2.0
// Numbers that look random and are the same everywhere (SplitMix64).
#pragma once

#include <cstdint>

namespace inncabs {

inline std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class random_stream {
 public:
  explicit random_stream(std::uint64_t seed = 0) noexcept : m_state(mix(seed + 1)) {}
  std::uint64_t next() noexcept { return mix(m_state += 0x9e3779b97f4a7c15); }
  /// Returns a number below `bound`, which is small.
  std::uint32_t below(std::uint32_t bound) noexcept {
    return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
  }
  /// Returns a number in [0, 1).
  double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t m_state;
};

} // namespace inncabs
