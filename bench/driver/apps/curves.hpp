// SPDX-License-Identifier: Apache-2.0
// Computes curves from samples, and the numbers for the targets from curves.
#pragma once

#include "record.hpp"
#include "subjects.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench::apps {

struct point {
  long tile = 0, tasks = 0;
  double instructions = 0;         // per task
  double serial_s = 0, wall_s = 0; // medians; serial_s over all series at this tile
  double efficiency = 0;           // serial_s / (wall_s x workers)
  double relative = 0;             // the least wall_s of all series and tiles, over this one
};

struct curve {
  std::string series;
  std::vector<point> points; // from fine to coarse
};

/// Returns the curves of an application that have samples, in the order of all_series().
[[nodiscard]] std::vector<curve> curves(const record &r, const subject &s, int workers);
[[nodiscard]] const curve *find(const std::vector<curve> &all, const std::string &series);

/// Is the point where a curve falls through an efficiency of one half.
struct half_point {
  double instructions = 0; // per task, interpolated on a logarithm
  bool beyond = false; // the finest tile is still better: the half point lies below `instructions`
  long tile = 0; // the finest one at or above one half
};
/// Returns the half point; nothing when no point reaches one half.
[[nodiscard]] std::optional<half_point> half(const curve &c);

/// Holds times over those of another series, from samples that were taken in the same run.
struct ratio {
  std::string other;
  int pairs = 0;
  double median = 0, low = 0, high = 0; // the interval; the whole range where it holds less than 95 %
  bool enough = false; // the interval holds the true median with at least 95 %
};
/// Compares Weft with the fastest peer at one tile; returns nothing without pairs.
[[nodiscard]] std::optional<ratio> against_best_peer(const record &r, const subject &s, long tile,
                                                     int workers);
/// Compares two series at one tile; returns nothing without pairs.
[[nodiscard]] std::optional<ratio> against(const record &r, const subject &s, long tile,
                                           int workers, const std::string &own,
                                           const std::string &other);
/// Returns the interval of the median from order statistics. Below six values it is the whole range,
/// and not enough.
[[nodiscard]] ratio interval(std::vector<double> ratios);
/// Says how an interval lies to a bound: `met`, "missed" or "open"; "too few" without an interval.
[[nodiscard]] const char *verdict(const ratio &found, double bound, const char *met);

} // namespace bench::apps
