// SPDX-License-Identifier: Apache-2.0
// weft-bench observe: what counters and traces cost tasks of a microsecond, with and without in turns.
#pragma once

#include <string>
#include <vector>

namespace bench::observe {

struct options {
  int runs = 15;
  long tasks = 200'000;
  double body_ns = 1000;
  std::vector<std::string> workloads{"independent", "chain"};
  bool times = true, instructions = true;
};

/// A way to watch, and what of its cost is asked.
struct subject {
  std::string name;
  std::vector<std::string> settings; // over those of the subject it is compared with
  std::string against;               // empty: it is what others are compared with
  double bound_percent = 0;          // of a task's processor time; 0: none
  unsigned reads = 0; // `weft top` looks at it that often per second meanwhile; what it costs is told for ten times, since a tenth of a
      // percent is less than the noise
};
[[nodiscard]] const std::vector<subject> &subjects();

/// What one run of the sample program printed.
struct cost {
  double thread_ns = 0, process_ns = 0;
};

/// The median over pairs of runs that followed each other of by how much, in percent, `with` is above `without`.
[[nodiscard]] double percent_above(const std::vector<double> &with, const std::vector<double> &without);

/// Ends the program after --help; throws std::runtime_error for what it does not understand.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);
/// Measures, prints tables. 1 when a bound is missed.
[[nodiscard]] int run(const options &o);

} // namespace bench::observe
