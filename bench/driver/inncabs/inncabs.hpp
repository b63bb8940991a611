// SPDX-License-Identifier: Apache-2.0
// `weft-bench inncabs`: measures the fourteen programs of bench/inncabs on each runtime, as the
// thesis of P. Grubel did (docs/benchmarks/inncabs.md).
#pragma once

#include <string>
#include <vector>

namespace bench::inncabs {

struct options {
  std::vector<std::string> only, runtimes; // empty: all
  std::vector<int> workers;
  int samples = 20;           // the first one does not count
  int limit_s = 120;          // of a process
  long threads = 4000;        // of std::async
  std::string launch = "async";
  std::vector<std::string> sizes; // PROGRAM:NAME=VALUE
  std::string record;         // what was measured; empty: bench/inncabs.txt in the build folder
  bool measure = true;        // else the tables of the record alone
  std::string page, pictures; // to write the tables and the pictures into
  bool list = false;
};

/// Reads the options. Throws std::runtime_error with a message that names the option; --help ends
/// the program.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);

/// Is a program as the thesis describes it (table 7).
struct program {
  const char *name, *structure, *synchronization;
  double task_us;
  const char *granularity;       // VF, F, M, C
  const char *std_scaling, *std_speedup; // as printed
  int hpx_scaling;               // cores
  double hpx_speedup;
};
[[nodiscard]] const std::vector<program> &all_programs();

/// Is one column of the tables.
struct contender {
  const char *name, *binary;
  const char *library = "";      // folder of the build's lib that comes first in the search path
  const char *launches = "async";
};
[[nodiscard]] const std::vector<contender> &all_contenders();

/// Runs the programs. Returns the exit status: 0 done, also where std::async found no thread or the
/// time was over; 1 a result was wrong or a program failed otherwise.
int run(const options &o);

} // namespace bench::inncabs
