// SPDX-License-Identifier: Apache-2.0
// `weft-bench cliffs`: runs each construct of the C++ and the C interface and of the OpenMP door
// over sizes, and marks those whose cost per operation grows with the size
// (docs/benchmarks/cliffs.md).
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace bench::cliffs {

struct options {
  std::vector<std::string> only; // rows by their names; empty: all
  std::vector<int> workers{1, 2, 8};
  long most = 10'000'000; // no larger size
  int runs = 3;           // the least of them counts
  bool cpu = false; // time of all processors instead of elapsed time: for a machine with neighbours
  bool list = false;
};

/// Reads the options. Throws std::runtime_error with a message that names the option; --help ends
/// the program.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);

/// Is a row as its sample lists it: "NAME COUNTS SIZE...".
struct row {
  std::string name, counts;
  std::vector<long> sizes;
};
[[nodiscard]] row parse_row(const std::string &line);

struct cost {
  long size;
  double ns; // of an operation
};
struct line {
  std::string name, counts;
  int workers;
  std::vector<cost> costs;
};

inline constexpr double k_cliff = 3;
/// Returns the greatest cost of a size relative to a smaller one. A small size that costs more is
/// no cliff: few operations share its start.
[[nodiscard]] double growth(const line &l);
[[nodiscard]] bool is_cliff(const line &l);

/// Writes one table; returns how many lines are marked.
int write_table(std::ostream &to, const std::vector<line> &lines);

/// Runs the rows. Returns the exit status: 0 no row is marked, 1 some are or a program failed.
int run(const options &o);

} // namespace bench::cliffs
