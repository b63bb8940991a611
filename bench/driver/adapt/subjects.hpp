// SPDX-License-Identifier: Apache-2.0
// What `weft-bench adapt` measures, and the program that runs most of it.
#pragma once

#include <string>
#include <vector>

namespace bench::adapt {

struct subject {
  enum class kind { loop, matrix, tree, recursion, half, phases, equal_ways, memory_bound } what;
  std::string row, name;
  long n, steps; // of phases: the microseconds of one, the milliseconds of all
  int neighbours = 0; // processes beside it
};
[[nodiscard]] std::vector<subject> all_subjects(bool quick);

/// @{ Names a subject for a reader: by itself, and with the workers and processes beside it.
[[nodiscard]] std::string text_of(const subject &of);
[[nodiscard]] std::string shown(const subject &of, int workers);
/// @}

/// @{ Returns what weft-adapt-sample prints. Throws std::runtime_error with its message when it fails.
[[nodiscard]] std::string printed_by_sample(std::vector<std::string> arguments, std::vector<std::string> settings,
                                            int workers);
[[nodiscard]] std::string printed_by_sample(const subject &of, int workers, int runs,
                                            std::vector<std::string> settings = {});
/// @}

} // namespace bench::adapt
