// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
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

} // namespace adapt
