// SPDX-License-Identifier: Apache-2.0
// Writes values as text for people, as CSV and JSON for programs, as OpenMetrics for monitoring.
#pragma once

#include "observe/formula.hpp"

namespace weft::inline v0 {
namespace rt {

enum class output_format { text, csv, json };

/// Returns the shortest text that reads back as the same number; "" for NaN.
[[nodiscard]] std::string number_text(double v);
[[nodiscard]] std::string json_text(std::string_view s);
/// Returns a field of CSV, in quotes if it needs them.
[[nodiscard]] std::string csv_text(std::string_view s);
/// Returns a number of JSON; null for NaN.
[[nodiscard]] std::string json_number(double v);

/// Writes one evaluation; each line ends with a newline. `header`: it is the first of several in
/// one CSV file.
[[nodiscard]] std::string write_values(output_format f, const reading &r,
                                       const std::vector<evaluator::result> &values, bool header);
/// Writes names, units and help of all counters.
[[nodiscard]] std::string write_catalogue(output_format f, const std::vector<counter_info> &all);
/// Writes all counters in the exposition format of OpenMetrics 1.0.
[[nodiscard]] std::string write_open_metrics(const reading &r, bool per_worker);

} // namespace rt
} // namespace weft::inline v0
