// SPDX-License-Identifier: Apache-2.0
// `weft-bench managers`: the evaluation of the managers' modes (docs/benchmarks/managers.md), after Bosch Pons 2017, chapters 5 and 7.
#pragma once

#include <string>
#include <vector>

namespace bench::managers {

enum class study {
  times, // time of each mode against workers
  bodies, // time of a body, and of the creator
  pairs, // direct, distributed and auto side by side: the loss of each
  parameters, // each of the four parameters doubled from 1 to 128
  shapes, // tasks in the graph, queued and ready over time
};

struct options {
  std::vector<study> studies{study::times, study::bodies, study::pairs, study::parameters,
                             study::shapes};
  std::vector<std::string> only; // applications; empty: all
  std::vector<std::string> modes; // empty: all
  std::vector<int> workers{1, 2};
  int runs = 0; // 0: as many as the study wants
  int reps = 3; // of one process
  double budget_s = 0; // 0: until all is done
  std::string out; // empty: bench/managers in the build folder
  bool fresh = false;
  bool report = false; // measure nothing
  std::string page; // gets the report between two marks
  std::string costs; // of weft-manager-calibrate, for a prediction
};

/// Reads the options. Throws std::runtime_error with a message that names the option; --help ends
/// the program.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);

/// Runs the studies. Returns the exit status: 0 done, also when the budget was spent; 1 a program
/// failed.
int run(const options &o);

} // namespace bench::managers
