// SPDX-License-Identifier: Apache-2.0
// Writes values as text for people, as CSV and JSON for programs, as OpenMetrics for monitoring.
#pragma once

#include "observe/formula.hpp"

#include <map>

namespace weft::inline v0 {
namespace rt {

enum class output_format { text, csv, json };

/// Returns the shortest text that reads back as the same number; "" for NaN.
[[nodiscard]] std::string number_text(double value);
/// Returns a string of JSON, in quotes; no character of it changes a terminal.
[[nodiscard]] std::string json_text(std::string_view text);
/// Returns a field of CSV, in quotes if it needs them; control characters are escaped (visible()).
[[nodiscard]] std::string csv_text(std::string_view text);
/// Returns a number of JSON; null for NaN.
[[nodiscard]] std::string json_number(double value);

/// Writes evaluations of the same names, one after the other; each line ends with a newline. In CSV
/// the first one decides on the columns: a value that has gone leaves its field empty, and those that
/// come later are left out.
class values_writer {
 public:
  explicit values_writer(output_format format) : m_format(format) {}
  [[nodiscard]] std::string write(const reading &numbers,
                                  const std::vector<evaluator::result> &values);
  /// Returns a sentence about values that have been left out; only once, and "" while there are none.
  [[nodiscard]] std::string take_complaint();

 private:
  using result_at = std::vector<evaluator::result>::const_iterator;
  void leave_out(result_at from, result_at to);
  std::string row_of_csv(const reading &numbers, const std::vector<evaluator::result> &values);

  const output_format m_format;
  bool m_has_columns = false, m_complained = false;
  std::vector<std::string> m_columns, m_left_out;
};
/// Writes names, units and help of all counters.
[[nodiscard]] std::string write_catalogue(output_format format,
                                          const std::vector<counter_info> &all);
/// Says what samples a counter of workers has: their sum, or one for each worker.
enum class metric_samples { total, per_worker };
/// Writes all counters of one program in the exposition format of OpenMetrics 1.0, again and again. A count never
/// falls from one time to the next: a reader would take that for a program that has begun anew, but the
/// estimate of a time may have been too high, and the parts of a difference are read one after the
/// other.
class open_metrics_writer {
 public:
  [[nodiscard]] std::string write(const reading &numbers, metric_samples samples);

 private:
  double grown(const std::string &sample, double number);
  void write_metric(std::string &out, const row &metric, const std::string &name,
                    metric_samples samples);

  std::map<std::string, double> m_most; // by sample
};

} // namespace rt
} // namespace weft::inline v0
