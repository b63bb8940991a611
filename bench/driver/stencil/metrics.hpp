// SPDX-License-Identifier: Apache-2.0
// The metrics of the thesis, chapter 5.1.2, from counts, and how they go along with time.
#pragma once

#include "record.hpp"

#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

namespace bench::stencil {

/// Holds the mean of samples, their standard deviation, and the half width of the interval of 90 %
/// (Student's t).
struct summary {
  int count = 0;
  double mean = 0, deviation = 0, half = 0;
};
[[nodiscard]] summary summarize(const std::vector<double> &values);
/// Returns the harmonic mean; 0 where a value is 0 or there is none.
[[nodiscard]] double harmonic_mean(const std::vector<double> &values);

/// Returns Pearson's coefficient of correlation; NaN for less than three pairs, and where one of the
/// two does not vary.
[[nodiscard]] double correlation(const std::vector<double> &first,
                                 const std::vector<double> &second);

/// Holds the metrics of one run, times in ns.
struct metrics {
  double time = 0;
  double idle_rate = 0; // Eq. 1, from 0 to 1
  double duration = 0; // t_d, Eq. 2
  double overhead = 0; // t_o, Eq. 3
  double management = 0; // TM, Eq. 4, per worker
  double wait = 0; // t_w, Eq. 5; NaN without a reference
  double wait_per_core = 0; // WT, Eq. 6
  double creation = 0; // of the time, what the first thread spent outside of Weft: it creates
      // the tasks; per worker
  double accesses = 0, misses = 0;
};
/// `reference` is t_d1, the duration of the tasks on one worker; NaN: none.
[[nodiscard]] metrics metrics_of(const counts &c, int workers, double reference);

/// Is one of the six ranges of partition sizes of the thesis' table 2.
struct range {
  const char *name;
  long most_points; // the range's last size in points
  double most_us; // and as a duration of tasks: between its last one and the next range's first
};
[[nodiscard]] const std::vector<range> &all_ranges();
/// Returns the number of the range, by points or by duration.
[[nodiscard]] std::size_t range_of_points(long points);
[[nodiscard]] std::size_t range_of_duration(double us);

/// Writes the tables of one number of workers: sizes with their metrics, and correlations over both
/// kinds of ranges beside the thesis'. Returns how many ranges by points have WT+TM below 0.9.
int write_study(std::ostream &to, const std::vector<sample> &all, const subject &of);

} // namespace bench::stencil
