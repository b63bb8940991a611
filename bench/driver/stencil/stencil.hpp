// SPDX-License-Identifier: Apache-2.0
// `weft-bench stencil` and `weft-bench repartition`: the studies of partition sizes of P. Grubel's
// thesis, chapters 5 and 7, with bench/stencil_1d (docs/benchmarks/stencil.md).
#pragma once

#include <string>
#include <vector>

namespace bench::stencil {

struct options {
  long points = 100'000'000;
  int steps = 50;
  std::vector<int> workers;      // of the study; one worker, the reference, comes first
  int runs = 10;                 // of a size
  std::string model = "tasks";   // or futures
  long least = 160;              // points of a partition
  std::string record; // what was measured; empty: bench/stencil.txt in the build folder
  bool fresh = false; // begins the record anew
  std::vector<long> starts; // points of the partitions at which searches begin; empty: one place
  std::string picture;         // file of the searches' paths
  bool measure = true; // else the tables of the record alone
};

/// Reads the options. Throws std::runtime_error with a message that names the option; --help ends
/// the program.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);
/// Reads those of `weft-bench repartition`: one number of workers, three runs of each size, and
/// partitions from 1000 points up to one per worker.
[[nodiscard]] options parse_repartition(const std::vector<std::string> &arguments);

/// Returns the sizes of partitions that make up the ring, from `least` to `most`, ascending.
[[nodiscard]] std::vector<long> sizes(long points, long least, long most);

/// Measures what the record does not have yet, and writes the tables. Returns the exit status: 1
/// when a result was wrong or a program failed.
int run(const options &o);
int run_repartition(const options &o);

} // namespace bench::stencil
