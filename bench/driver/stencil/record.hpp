// SPDX-License-Identifier: Apache-2.0
// What was measured, as text: a line per run, and none of a size whose process did not end well.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace bench::stencil {

/// Says what a run did.
struct subject {
  std::string study; // "size", or the name of a search
  std::string model;
  long points = 0;
  int steps = 0, workers = 0;
  long size = 0; // of a partition
  friend bool operator==(const subject &, const subject &) = default;
};

/// Holds the counts of a run, times in ns summed up over workers.
struct counts {
  double ns = 0, tasks = 0, exec = 0, overhead = 0, management = 0, idle = 0, overall = 0,
         phases = 0, accesses = 0, misses = 0;
};

struct sample {
  subject of;
  counts is;
};

/// Reads the line "run ns N tasks N ..." of a program. Throws std::runtime_error when one is missing.
[[nodiscard]] counts parse_run(const std::string &line);
/// Returns the runs that a program printed.
[[nodiscard]] std::vector<counts> parse_runs(const std::string &output);

/// Reads a record. A last line that was cut off does not count.
[[nodiscard]] std::vector<sample> read_record(std::istream &from);
void write_sample(std::ostream &to, const sample &one);

/// Returns the runs of one subject, in their order.
[[nodiscard]] std::vector<counts> runs_of(const std::vector<sample> &all, const subject &of);

} // namespace bench::stencil
