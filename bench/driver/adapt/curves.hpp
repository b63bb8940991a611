// SPDX-License-Identifier: Apache-2.0
// Curves of `weft-bench adapt --curves`: time over the size of a task, with three marks: the best size
// by hand, what a program takes that tunes nothing, and what tunes itself. All but measuring is pure.
#pragma once

#include "adapt.hpp"

#include <chart.hpp>

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench::adapt {

/// Is a time, of one size where it has one.
struct mark {
  double ns = 0; // 0: it was not measured
  std::optional<long> grain{};
};

struct grain_curve {
  enum class kind { loop, recursion, application } what;
  std::string subject, unit;                    // of a grain
  double serial = 0;                            // ns, as all times; 0: not measured
  std::vector<std::pair<long, double>> by_hand{}; // grains, ascending, and their times
  mark untuned{}, self{};
  int trials = 0;      // of the search that has found `self`; 0: there was none
  std::string trouble{}; // why it could not be measured; empty: it was

  /// Returns the size with the least time, the first of equals.
  [[nodiscard]] mark best() const;
};

/// Makes the curve of a loop. `off`: what the sample prints with tune=off, `tuned`: with the default,
/// from which all but the untuned mark is. `share`: the grain of way "static".
[[nodiscard]] grain_curve curve_of_loop(const std::string &subject, long share,
                                        const std::vector<way_time> &off,
                                        const std::vector<way_time> &tuned);
/// Makes the curve of a recursion by branches of a join ("join") or by tasks ("spawn").
[[nodiscard]] grain_curve curve_of_recursion(const std::string &subject, const std::string &unit,
                                             const std::string &fork,
                                             const std::vector<way_time> &all);

/// Is how a search for a size went.
struct found_grain {
  std::size_t index = 0;
  int trials = 0;
};
/// Searches `count` sizes from the preset one as a session does: along the line, by trials.
[[nodiscard]] found_grain search_grain(std::size_t count, std::size_t preset,
                                       const std::function<double(std::size_t)> &cost);

[[nodiscard]] manager_model::chart chart_of(const grain_curve &c);
/// Returns the name of its picture: letters and digits, joined by '-'.
[[nodiscard]] std::string picture_of(const grain_curve &c);

/// Writes the table and the pictures of each kind as Markdown. `folder`: where pictures are, relative to the page.
void write_curves(std::ostream &to, const std::vector<grain_curve> &all, const std::string &folder);
/// Writes all values as JSON, times in ns; what was not measured is null.
void write_curves_json(std::ostream &to, const std::vector<grain_curve> &all,
                       const std::string &conditions, const options &o);

/// Adds ways, and keeps the lesser time of those that are there.
void take_least(std::vector<way_time> &all, const std::vector<way_time> &more);
/// Returns the runs of each tile of an application, which take longer than those of loops.
[[nodiscard]] int application_runs(const options &o);
/// Measures an application. Throws std::runtime_error when a program fails or is missing.
[[nodiscard]] grain_curve measure_application(const std::string &name, const options &o);

/// Throws std::runtime_error, which names what there is, for a name that is no curve.
void check_curve_names(const std::vector<std::string> &names);
/// Measures the chosen curves; writes the page, and beside it a folder of its name with the pictures
/// and curves.json. Returns the exit status: 0, or 1 where a program failed.
int run_curves(const options &o);

} // namespace bench::adapt
