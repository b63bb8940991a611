// SPDX-License-Identifier: Apache-2.0
// Values by name: counters, and the views that follow from them. Among them are the metrics of P.
// Grubel's thesis "Dynamic Adaptation in HPX" (2016), by its equations.
#pragma once

#include "observe/name.hpp"
#include "observe/reading.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace weft::inline v0 {
namespace rt {

/// Describes a value that can be asked for.
struct counter_info {
  std::string name, unit, help;
  counter_kind kind = counter_kind::count;
  bool per_worker = false;
  bool absent = false;
};
/// Returns all values, counted and derived, in the order of the tables.
[[nodiscard]] std::vector<counter_info> all_counters(const reading &numbers);

/// Holds a counter's values.
struct row {
  struct part {
    unsigned worker;
    double number;
  };
  counter_info about;
  double total = 0; // NaN: no value, such as a mean over no tasks
  std::vector<part> workers;
};
/// Computes the values of a reading, which must outlive it. Adds up the counts of a worker once,
/// however many values are asked for.
class calculator {
 public:
  explicit calculator(const reading &numbers);
  ~calculator();
  calculator(const calculator &) = delete;
  calculator &operator=(const calculator &) = delete;
  /// Returns the rows of all counters that a pattern names; patterns over workers fill `workers`.
  /// Throws weft::error if a name without wildcards is unknown.
  [[nodiscard]] std::vector<row> rows(const counter_name &pattern);
  /// Returns one number; NaN if there is no value. Throws weft::error for an unknown name (and names
  /// the nearest), a pattern, a worker that does not exist, or a counter that is absent (and says
  /// why).
  [[nodiscard]] double value(const counter_name &name);
  /// Returns the same number; nothing for a counter that is absent.
  [[nodiscard]] std::optional<double> value_if_present(const counter_name &name);

 private:
  [[nodiscard]] row only_row(const counter_name &name);

  struct sums_of_slots;
  const std::unique_ptr<sums_of_slots> m_sums;
};
/// Return what a calculator returns, where a single name is asked for.
[[nodiscard]] std::vector<row> rows_of(const reading &numbers, const counter_name &pattern);
[[nodiscard]] double value_of(const reading &numbers, const counter_name &name);
/// Returns least value and count of each bucket that is not empty. Throws weft::error for an
/// unknown name, or if the counter is no histogram.
[[nodiscard]] std::vector<std::pair<double, std::uint64_t>> histogram_of(const reading &numbers,
                                                                         const counter_name &name);
/// Returns the duration that a share of the tasks did not exceed.
[[nodiscard]] double quantile(const reading::buckets &counts, double share) noexcept;

} // namespace rt
} // namespace weft::inline v0
