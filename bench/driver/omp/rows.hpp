// SPDX-License-Identifier: Apache-2.0
// The rows of `weft-bench omp`: their programs, the figures that they show, and the targets.
#pragma once

#include <string>
#include <vector>

namespace bench::omp {

enum class asked {
  of_best,  // Weft's value is at most `bound` times the best of the other runtimes
  absolute, // at most `bound`
};

/// Is a number that a program prints, and its line in the table.
struct figure {
  std::string title, unit;
  std::string metric; // "ns", "created", or "serial": ns over that of the same work with one thread
  double scale; // of the metric, to the unit
  asked how;
  double bound;
};

struct row {
  std::string name; // for --only
  std::vector<std::string> arguments;
  std::vector<figure> figures;
  int busy = 0; // processes beside it
};

/// Is the same program on its own runtime or on Weft.
struct contender {
  std::string title, program;
  bool ours;
};

[[nodiscard]] const std::vector<row> &all_rows();
[[nodiscard]] const std::vector<contender> &contenders();

} // namespace bench::omp
