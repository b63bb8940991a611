// SPDX-License-Identifier: Apache-2.0
// `weft-bench glto`: the workloads of suite "glto" over numbers of threads, in the form of the
// figures of the paper about GLTO (docs/benchmarks/glto.md).
#pragma once

#include "../../model/chart.hpp"
#include "../catalog.hpp"
#include "../results.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace bench::glto {

struct options {
  std::vector<std::string> only, runtimes; // empty: all
  std::vector<int> threads{1, 2, 4, 8, 16, 36};
  int runs = 1; // of which the median counts
  std::string page, pictures; // to write the tables and the figures into
};

/// Reads the options. Throws std::runtime_error with a message that names the option; --help ends
/// the program.
[[nodiscard]] options parse_options(const std::vector<std::string> &arguments);

/// Is one figure: a workload, and of which figure of the paper it is the form.
struct figure {
  const char *workload, *title, *of_paper, *unit;
};
[[nodiscard]] const std::vector<figure> &all_figures();
/// Returns the experiment of a figure, with less work than in the suite.
[[nodiscard]] experiment experiment_of(const figure &f);

/// Returns the picture of a figure: a curve for each runtime, in the order of `rows`.
[[nodiscard]] manager_model::chart picture_of(const figure &f, const std::vector<row> &rows);
/// Writes a line for each runtime, and a column for each number of threads.
void write_table(std::ostream &to, const figure &f, const std::vector<int> &threads,
                 const std::vector<row> &rows);

/// Measures. Returns the exit status: 1 when a program failed.
int run(const options &o);

} // namespace bench::glto
