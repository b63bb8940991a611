// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../apps/curves.hpp"
#include "adapt.hpp"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace bench::adapt {

/// Is how small the tasks of an application were at an efficiency of one half.
struct known_half {
  const char *app;
  double instructions; // per task
};
[[nodiscard]] std::span<const known_half> halves_before();

/// Holds the neighbouring tiles between which the efficiency falls below one half: the finest one at
/// or above it and the one below. One is missing where all tiles are on one side.
struct half_bracket {
  std::optional<long> fine, coarse;
};
/// Finds them by asking for few tiles. The efficiency does not fall from a tile to a coarser one.
[[nodiscard]] half_bracket bracket_half(std::vector<long> tiles,
                                        const std::function<double(long)> &efficiency);

/// Judges a half point: tasks are to be 1.5 times smaller than before.
[[nodiscard]] line assess_half(const known_half &before, const apps::half_point &now);
/// Measures the half point of an application. Its samples, and counts of instructions, which are taken
/// once per build, are in bench/adapt-half of the build folder. Throws std::runtime_error when a program fails or is missing.
[[nodiscard]] line measure_half(const known_half &before, int workers, int runs);

} // namespace bench::adapt
