// SPDX-License-Identifier: Apache-2.0
// `weft-bench omp`: measures what OpenMP's constructs cost on GCC's and Intel's runtimes and, in
// the same programs, on Weft (docs/benchmarks/openmp.md).
#pragma once

#include <string>
#include <vector>

namespace bench::omp {

struct options {
  std::vector<std::string> only; // rows by their names; empty: all
  int rounds = 5;
  double budget_s = 0; // 0: until all rounds are done
  std::string page;    // to write the table into, between its marks
};

/// Reads the options. Throws std::runtime_error with a message that names the option; --help ends
/// the program.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);

/// Runs the rows. Returns the exit status: 0 done, also when the budget was spent; 1 a program
/// failed.
int run(const options &o);

} // namespace bench::omp
