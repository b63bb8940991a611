// SPDX-License-Identifier: Apache-2.0
// Values by name: what is counted, and what follows from it. The metrics of P. Grubel's thesis "Dynamic Adaptation in HPX" (2016), by its
// equations, are among them.
#pragma once

#include "observe/name.hpp"
#include "observe/reading.hpp"

#include <optional>
#include <utility>

namespace weft::inline v0 {
namespace rt {

/// What can be asked for.
struct counter_info {
  std::string name, unit, help;
  counter_kind kind = counter_kind::count;
  bool per_worker = false;
  bool absent = false;
};
/// All of them, counted and derived, in the order of the tables.
[[nodiscard]] std::vector<counter_info> all_counters(const reading &r);

/// A counter's values.
struct row {
  struct part {
    unsigned worker;
    double number;
  };
  counter_info about;
  double total = 0; // NaN: nothing to tell, such as a mean over no tasks
  std::vector<part> workers;
};
/// Of all that a pattern names; patterns over workers fill `workers`. Throws weft::error where a name without wildcards is unknown.
[[nodiscard]] std::vector<row> rows_of(const reading &r, const counter_name &pattern);
/// One number; NaN where there is nothing to tell. Throws weft::error: an unknown name (with the nearest), a pattern, a worker that is not
/// there, or a counter that is absent (and why).
[[nodiscard]] double value_of(const reading &r, const counter_name &name);
/// Least value and count of each bucket that is not empty. Throws weft::error: an unknown name, or one of no histogram.
[[nodiscard]] std::vector<std::pair<double, std::uint64_t>> histogram_of(const reading &r, const counter_name &name);
/// The duration that a share of the tasks did not exceed.
[[nodiscard]] double quantile(const reading::buckets &d, double share) noexcept;

} // namespace rt
} // namespace weft::inline v0
