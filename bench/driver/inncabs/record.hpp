// SPDX-License-Identifier: Apache-2.0
// What was measured, as text: a block per process, with the lines that it printed.
#pragma once

#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

namespace bench::inncabs {

/// Holds the mean of some samples, with the half width of its interval of 95 % (Student's t).
struct mean_of {
  int count = 0;
  double mean = std::numeric_limits<double>::quiet_NaN(), half = 0;
};
[[nodiscard]] mean_of mean(const std::vector<double> &values);

struct sample {
  static constexpr double k_absent = std::numeric_limits<double>::quiet_NaN();
  double ns = k_absent, cpu_ns = k_absent, tasks = k_absent;
  double bandwidth = k_absent; // bytes per ns that left the cores
  double task_ns = k_absent, overhead_ns = k_absent, management_ns = k_absent; // Weft's counters
};

/// Holds what one process measured.
struct measurement {
  std::string program, runtime, launch;
  int workers = 0;
  double load = 0;               // of the machine, when the process began
  std::string sizes, offcore;    // as it printed them
  std::string failure;           // empty: none
  bool cut_short = false;        // it was killed at the limit: the samples are those that it finished
  std::vector<sample> samples;

  /// Returns whether samples are left without the first one, for an interval.
  [[nodiscard]] bool measured() const { return samples.size() >= 3; }
  /// Returns the mean without the first sample.
  [[nodiscard]] mean_of of(double sample::*value) const;
};

/// Reads the lines of a process; a sample that it did not finish does not count. Sets the failure
/// where a line says why it ended.
void read_lines(const std::string &output, measurement &m);

/// Reads a record; of blocks for the same process the last one counts.
[[nodiscard]] std::vector<measurement> read_record(std::istream &from);
/// Writes a block: `output` is what the process printed.
void write_block(std::ostream &to, const measurement &m, const std::string &output);

/// Returns the measurement, or null. A runtime that has been measured with another launch policy
/// alone has none.
[[nodiscard]] const measurement *find(const std::vector<measurement> &all,
                                      const std::string &program, const std::string &runtime,
                                      int workers);

} // namespace bench::inncabs
