// SPDX-License-Identifier: Apache-2.0
// weft-bench observe: measures what counters and traces cost tasks of a microsecond; runs with and
// without them alternate.
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

/// Is a way to observe tasks, and the target of its cost.
struct subject {
  std::string name;
  std::vector<std::string> settings; // in addition to those of the subject it is compared with
  std::string against;               // name of that subject; empty: this one is the reference
  double bound_percent = 0;          // of a task's processor time; 0: none
  /// How often per second `weft top` reads its counters meanwhile. The result is the cost of ten
  /// such reads, because a tenth of a percent is less than the noise.
  unsigned reads = 0;
};
[[nodiscard]] const std::vector<subject> &subjects();

/// Holds the output of one run of the sample program.
struct cost {
  double thread_ns = 0, process_ns = 0;
  double reads = 0; // of its counters by `weft top`, per second
};

/// Returns by how much, in percent, `with` is above `without`: the median over pairs of consecutive
/// runs.
[[nodiscard]] double percent_above(const std::vector<double> &with,
                                   const std::vector<double> &without);

/// Returns what ten reads per second cost, in percent, where runs that were read at these rates cost
/// `percent`. Throws std::runtime_error where nothing read most of the runs.
[[nodiscard]] double for_ten_reads(double percent, const std::vector<double> &reads);

/// Throws std::runtime_error if the command that reads counters is not in that build folder.
void require_reader(const std::string &build);

/// Reads the options. Ends the program after --help; throws std::runtime_error for unknown ones.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);
/// Measures and prints tables. Returns 1 when a bound is missed.
[[nodiscard]] int run(const options &o);

} // namespace bench::observe
