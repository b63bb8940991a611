// SPDX-License-Identifier: Apache-2.0
// Numbers that look random and are the same everywhere, and the distance of results.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace app {

/// Returns a number in [-1, 1) that depends on the two indices alone; the mixer is SplitMix64's.
inline double random_number(long i, long j) {
  std::uint64_t z =
      (static_cast<std::uint64_t>(i) << 32 ^ static_cast<std::uint64_t>(j)) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>(static_cast<std::int64_t>(z ^ (z >> 31))) * 0x1p-63;
}

inline std::vector<double> random_vector(long size) {
  std::vector<double> v;
  for (long i = 0; i < size; ++i)
    v.push_back(random_number(-1, i));
  return v;
}

/// Returns |a - b| / |a|.
inline double distance(const std::vector<double> &a, const std::vector<double> &b) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error += (a[i] - b[i]) * (a[i] - b[i]);
    norm += a[i] * a[i];
  }
  return std::sqrt(error / norm);
}

} // namespace app
