// SPDX-License-Identifier: Apache-2.0
// The experiment of the thesis, chapter 7: searches try sizes of partitions, and minimize one counter
// of a trial. All but measuring is pure, so recorded costs can be searched as well.
#pragma once

#include "record.hpp"

#include "tune/search.hpp"

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace bench::stencil {

/// Is what a search minimizes.
struct objective {
  const char *name;
  double (*cost)(const counts &);
};
/// Returns the thesis' four: idle-rate, overhead, cumulative, overall.
[[nodiscard]] const std::vector<objective> &all_objectives();

/// Holds a trial, and what it counted.
struct trial {
  long size = 0;
  counts is;
};
/// Is how a search went: its trials in order, and the size with the least cost.
struct search_result {
  std::string name;
  std::vector<trial> path;
  long size = 0;
};

/// Measures a size: the name of the search with the number of the trial, and the size.
using measure = std::function<counts(const std::string &trial, long size)>;

/// Searches the sizes, ascending, until the search is over.
[[nodiscard]] search_result search_sizes(const std::string &name, weft::rt::search &by,
                                         const std::vector<long> &sizes, const objective &what,
                                         const measure &measured);

inline constexpr std::size_t k_most_trials = 100;
using weft::rt::k_law_share;

/// Throws std::runtime_error unless the start is one of the sizes.
void check_start(const std::vector<long> &sizes, long start);
/// Searches as the thesis does: Nelder and Mead's simplex from a quarter and three quarters of the
/// sizes, until it spans a twentieth of them. With a size to start at, which must be one of the list, it
/// begins there and half of the list away.
[[nodiscard]] search_result by_simplex(const std::vector<long> &sizes, const objective &what,
                                       const measure &measured, long start = 0);
/// Searches with each objective, from each start; without starts as the thesis does.
[[nodiscard]] std::vector<search_result> by_simplexes(const std::vector<long> &sizes,
                                                      const std::vector<long> &starts,
                                                      const measure &measured);
/// Tries the smallest size, which shows the cost of a task and of a point, guesses by the law, and
/// goes along the line from there: at most eight trials, of which time decides.
[[nodiscard]] search_result by_law(const std::vector<long> &sizes, double updates, int workers,
                                   const measure &measured);
/// Tries what an earlier search has found, and its neighbours: at most three trials.
[[nodiscard]] search_result by_history(const std::vector<long> &sizes, long found,
                                       const measure &measured);

/// Holds what each size costs, tried one after the other.
struct known_size {
  long size = 0;
  double ns = 0; // median
  double task_ns = 0; // mean
};
/// Returns the sizes of a study that were measured, ascending.
[[nodiscard]] std::vector<known_size> known_sizes(const std::vector<sample> &all,
                                                  const subject &of);

/// Writes a line per search: trials, cost in trials of the best size, and distance to the best size.
/// Searches whose size is not among the known ones have no distance.
void write_searches(std::ostream &to, const std::vector<known_size> &known,
                    const std::vector<search_result> &searches);
/// Draws time against size, with the path of each search.
void write_paths(std::ostream &to, const std::vector<known_size> &known,
                 const std::vector<search_result> &searches);

} // namespace bench::stencil
