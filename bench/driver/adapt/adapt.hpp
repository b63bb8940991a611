// SPDX-License-Identifier: Apache-2.0
// `weft-bench adapt`: loops, trees and recursions that size themselves, beside the serial program and
// the best of all fixed grains and cut-offs; the rows T1 to T10 of docs/benchmarks/adaptation.md.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace bench::adapt {

struct options {
  std::vector<std::string> only; // rows, or kinds and names of curves; empty: all
  int workers = 2;
  int runs = 30;      // of which the least counts
  std::string curves; // a page for curves of time over grain, instead of the rows; empty: none
  bool quick = false; // short loops
  bool list = false;
};

/// Reads the options. Throws std::runtime_error with a message that names the option; --help ends
/// the program.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);

/// Holds the least times of one subject, in ns.
struct times {
  double serial = 0, self = 0;
  double best = 0;  // of the fixed grains or cut-offs; 0: there are none
  std::string grain; // the best one
};
/// Are the ways of a recursion without a cut-off; all other ways are fixed ones.
inline const std::vector<std::string> k_without_cut_off{"join", "spawn", "cost", "cost-calls", "inline"};
/// Is the least time of one way.
struct way_time {
  std::string way;
  double ns = 0;
};
/// Reads what the sample prints: a line "WAY NS" for each way. Throws std::runtime_error for anything else.
[[nodiscard]] std::vector<way_time> parse_ways(const std::string &text);
/// Reads the same for one row. `self`: the way that is judged; ways
/// without a cut-off beside it do not count as fixed ones. Throws std::runtime_error also when it lacks one.
[[nodiscard]] times parse_times(const std::string &text, const std::string &self = "self");

/// Reads what the sample prints of equal ways: lines "changes N" and "seconds S", and others. Returns
/// the changes a minute. Throws std::runtime_error for anything else.
[[nodiscard]] double parse_changes(const std::string &text);

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
/// Judges a recursion without a cut-off: by branches or tasks, or by tasks that say their cost.
[[nodiscard]] verdict assess_recursion(const times &t, const std::string &way);
/// @{ Judges what follows phases, by the best fixed way of each; changes a minute between equal ways.
[[nodiscard]] verdict assess_phases(const times &t);
[[nodiscard]] verdict assess_equal_ways(double changes_per_minute);
/// @}
/// @{ Judges fewer workers by the time and the energy of all workers, of one program.
[[nodiscard]] verdict assess_time_of_fewer(double part_of_all);
[[nodiscard]] verdict assess_energy_of_fewer(double part_of_all);
/// @}
/// Judges a tree on several workers by its time on one.
[[nodiscard]] verdict assess_more_workers(const times &with_one, const times &with_more);

struct line {
  std::string row, subject;
  times is; // 0: the line is about no times
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
