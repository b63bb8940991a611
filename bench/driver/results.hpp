// SPDX-License-Identifier: Apache-2.0
// Measured rows, and the forms in which the program shows them.
#pragma once

#include <algorithm>
#include <iosfwd>
#include <string>
#include <vector>

namespace bench {

struct row {
  std::string suite, workload, runtime;
  int workers;
  std::string unit;
  std::vector<double> runs;

  [[nodiscard]] double median() const;
  [[nodiscard]] double min() const;
};

[[nodiscard]] double median(std::vector<double> values);
/// Returns the processor's name as the system has it.
[[nodiscard]] std::string cpu_model();

/// Returns a text as JSON has it.
[[nodiscard]] std::string quoted(const std::string &s);

enum class form { text, markdown };

[[nodiscard]] std::string number(double v, const char *format = "%.6g");

template <class T>
void add_once(std::vector<T> &to, const T &value) {
  if (std::find(to.begin(), to.end(), value) == to.end())
    to.push_back(value);
}

using cells = std::vector<std::string>;
/// Writes a table under a heading; its first line names the columns.
void write_table(std::ostream &to, const std::string &heading, const std::vector<cells> &lines,
                 form f);

void write_json(std::ostream &to, const std::vector<row> &rows);
/// Writes one table per suite, one line per workload and number of workers: median (minimum) of
/// each runtime; in a suite with targets also Weft's ratio to its best peer beside the target.
/// Returns how many targets are missed.
int write_tables(std::ostream &to, const std::vector<row> &rows, form f);

} // namespace bench
