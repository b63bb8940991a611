// SPDX-License-Identifier: Apache-2.0
// `weft-bench adapt`: loops and trees that size themselves, beside the serial program and the best of
// all fixed grains; the rows T1 to T10 of docs/benchmarks/adaptation.md.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace bench::adapt {

struct options {
  std::vector<std::string> only; // rows; empty: all
  int workers = 2;
  int runs = 30;      // of which the least counts
  bool quick = false; // short loops
  bool list = false;
};

/// Reads the options. Throws std::runtime_error with a message that names the option; --help ends
/// the program.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);

/// Holds the least times of one subject, in ns.
struct times {
  double serial = 0, self = 0;
  double best = 0;  // of the fixed grains; 0: there are none
  std::string grain; // the best one
};
/// Reads what the sample prints: a line "WAY NS" for each way. Throws std::runtime_error for anything
/// else.
[[nodiscard]] times parse_times(const std::string &text);

/// Is what one row asks of one subject.
struct verdict {
  double is = 0, asked = 0; // at most
  std::string unit;
  [[nodiscard]] bool met() const { return is <= asked; }
};
/// @{ Judges a uniform loop, one of any size, an irregular one, a tree on one worker.
[[nodiscard]] verdict assess_uniform(const times &t);
[[nodiscard]] verdict assess_size(const times &t);
[[nodiscard]] verdict assess_irregular(const times &t);
[[nodiscard]] verdict assess_tree(const times &t, double nodes);
/// @}
/// Judges a tree on several workers by its time on one.
[[nodiscard]] verdict assess_more_workers(const times &with_one, const times &with_more);

struct line {
  std::string row, subject;
  times is;
  verdict judged;
};

/// Is a row that this command does not measure.
struct elsewhere {
  const char *row, *claim, *where;
};
[[nodiscard]] const std::vector<elsewhere> &rows_elsewhere();

/// Writes the table; returns how many lines are missed.
int write_table(std::ostream &to, const std::vector<line> &lines);

/// Runs the rows. Returns the exit status: 0 all are met, 1 some are missed or a program failed.
int run(const options &o);

} // namespace bench::adapt
