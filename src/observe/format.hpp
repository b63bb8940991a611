// SPDX-License-Identifier: Apache-2.0
// Writes values as text for people, as CSV and JSON for programs, as OpenMetrics for monitoring.
#pragma once

#include "observe/formula.hpp"

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

/// Says whether a text in CSV begins with the names of its columns: the first of several in one
/// file does.
enum class csv_header { written, left_out };
/// Writes one evaluation; each line ends with a newline.
[[nodiscard]] std::string write_values(output_format format, const reading &numbers,
                                       const std::vector<evaluator::result> &values,
                                       csv_header header);
/// Writes names, units and help of all counters.
[[nodiscard]] std::string write_catalogue(output_format format,
                                          const std::vector<counter_info> &all);
/// Says what samples a counter of workers has: their sum, or one for each worker.
enum class metric_samples { total, per_worker };
/// Writes all counters in the exposition format of OpenMetrics 1.0.
[[nodiscard]] std::string write_open_metrics(const reading &numbers, metric_samples samples);

} // namespace rt
} // namespace weft::inline v0
