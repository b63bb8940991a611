// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace adapt {

struct phase_plan {
  std::chrono::nanoseconds period; // after which the other phase begins
  std::chrono::nanoseconds length; // of the whole run
};

[[nodiscard]] const std::vector<std::string> &phase_names();

/// Runs one of them, and prints what it has seen: a line "WAY NS" for each way, the sum of the medians
/// of both phases; of equal ways the changes, the seconds and the trials.
void run_phases(const std::string &name, const phase_plan &plan);

inline constexpr std::size_t k_most_triad = 65536;
/// Runs tasks of a triad over so many numbers each, k_most_triad at most, for that long. Prints what a
/// task of the second half has taken in nanoseconds, and in microjoules by /power/estimate, how many
/// tasks ran, how many workers work in the end, and what was decided.
void run_triad(std::size_t numbers, std::chrono::nanoseconds length);

} // namespace adapt
