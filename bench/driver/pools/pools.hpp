// SPDX-License-Identifier: Apache-2.0
// weft-bench pools: measures workers beside a pool of threads that is not Weft's: what an idle pool
// costs tasks, what watching costs, and how soon workers step back and return.
#pragma once

#include <string>
#include <vector>

namespace bench::pools {

struct options {
  int runs = 15; // pairs of runs
  long tasks = 300'000; // of each run
  int reactions = 50; // of each way to wait
  bool costs = true, times = true;
};

/// Holds the shape of a set of times.
struct distribution {
  double half = 0, nine_tenths = 0, most = 0; // quantiles
  double within = 0; // share that is within the bound
};
/// Throws std::runtime_error where there are no values.
[[nodiscard]] distribution distribution_of(std::vector<double> values, double bound);

/// Is a way in which a pool thread waits, and in what time a worker is to return.
struct way {
  std::string name;
  double return_ns;
};
[[nodiscard]] const std::vector<way> &ways();

/// Reads the options. Ends the program after --help; throws std::runtime_error for unknown ones.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);
/// Measures and prints tables. Returns 1 when a bound is missed.
[[nodiscard]] int run(const options &o);

} // namespace bench::pools
