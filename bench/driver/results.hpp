// SPDX-License-Identifier: Apache-2.0
// Measured rows, and the forms in which the program shows them.
#pragma once

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

void write_json(std::ostream &to, const std::vector<row> &rows);
/// Writes one table per suite, one line per workload and number of workers: median (minimum) of
/// each runtime; in suite "core" also Weft's ratio to its best peer beside the target. Returns how
/// many targets are missed.
int write_tables(std::ostream &to, const std::vector<row> &rows, form f);

} // namespace bench
