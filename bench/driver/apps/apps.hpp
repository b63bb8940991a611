// SPDX-License-Identifier: Apache-2.0
// `weft-bench apps`: runs the applications over task sizes, on Weft, on Weft without one of its
// parts, and on its peers.
#pragma once

#include <string>
#include <vector>

namespace bench::apps {

struct options {
  enum class mode { sweep, coarse, pragmas, count, report, list } what = mode::sweep;
  std::vector<std::string> only;   // applications; empty: all
  std::vector<std::string> series; // empty: all that are there
  std::vector<long> tiles;         // empty: those of the application
  int runs = 0;                    // 0: 3 of a sweep, 15 of pairs
  int reps = 3;                    // of one process
  int workers = 2;
  double budget_s = 0; // 0: until all is done
  std::string out;     // empty: bench/granularity in the build folder
  bool fresh = false;
};

/// Reads the options. Throws std::runtime_error with a message that names the option; --help ends
/// the program.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);

/// Runs the sweep. Returns the exit status: 0 done, also when the budget was spent; 1 a program
/// failed.
int run(const options &o);

} // namespace bench::apps
