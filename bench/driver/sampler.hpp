// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "catalog.hpp"
#include "results.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// Maps the metrics of one process to values: "ns" and perhaps more.
using metrics = std::vector<std::pair<std::string, double>>;

/// Runs a sample program once, and once with each of `or_settings`; returns what the fastest said. Throws std::runtime_error with the program's output when it fails.
[[nodiscard]] metrics take_sample(const contender &c, const experiment &e);

struct problems {
  std::map<std::string, int> absent; // runtime -> experiments without it
  std::vector<std::string> failures;
};

/// Measures the experiment `runs` times on each existing contender, in turn, each time starting
/// with
/// another one. Appends one row for each metric of each contender.
void measure(const experiment &e, int runs, std::vector<row> &rows, problems &trouble);

} // namespace bench
