// SPDX-License-Identifier: Apache-2.0
// For which runtimes the workers of a program compute, as counters tell.
#pragma once

#include "observe/reading.hpp"

#include <string>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct time_share {
  std::string name; // "OpenMP", "tasks", "idle"
  std::uint64_t ns;
};

/// Returns the time of all workers in `spent` by the runtime that it was used for, the most first,
/// then what was idle. Empty if the program had used Weft's own tasks only by `now`, the end of the
/// interval.
[[nodiscard]] std::vector<time_share> shares_of(const reading &now, const reading &spent);

/// Returns "OpenMP 61 %, tasks 29 %, idle 10 %"; shares that are 0 % are left out.
[[nodiscard]] std::string text_of(const std::vector<time_share> &shares);

} // namespace rt
} // namespace weft::inline v0
