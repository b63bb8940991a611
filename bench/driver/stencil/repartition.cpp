// SPDX-License-Identifier: Apache-2.0
#include "repartition.hpp"

#include "../../model/chart.hpp"
#include "../results.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <ostream>
#include <stdexcept>
#include <utility>

namespace bench::stencil {

const std::vector<objective> &all_objectives() {
  static const std::vector<objective> all{
      {"idle-rate", [](const counts &c) { return c.overall > 0 ? c.overhead / c.overall : 0; }},
      {"overhead", [](const counts &c) { return c.overhead; }},
      {"cumulative", [](const counts &c) { return c.exec; }},
      {"overall", [](const counts &c) { return c.overall; }}};
  return all;
}

search_result search_sizes(const std::string &name, weft::rt::search &by,
                           const std::vector<long> &sizes, const objective &what,
                           const measure &measured) {
  search_result result{name, {}, 0};
  while (const auto point = by.ask()) {
    const long size = sizes.at(static_cast<std::size_t>(point->front()));
    const counts is = measured(name + ":" + std::to_string(result.path.size() + 1), size);
    result.path.push_back({size, is});
    by.tell(what.cost(is));
  }
  if (by.best().empty())
    throw std::runtime_error("search " + name + " has found no size");
  result.size = sizes.at(static_cast<std::size_t>(by.best().front()));
  return result;
}

namespace {

constexpr objective k_time{"time", [](const counts &c) { return c.ns; }};

int index_of(const std::vector<long> &sizes, long size) {
  return static_cast<int>(std::lower_bound(sizes.begin(), sizes.end(), size) - sizes.begin());
}

} // namespace

void check_start(const std::vector<long> &sizes, long start) {
  if (!std::binary_search(sizes.begin(), sizes.end(), start))
    throw std::runtime_error("a search cannot start at " + std::to_string(start) +
                             " points: no partition of the list has so many");
}

search_result by_simplex(const std::vector<long> &sizes, const objective &what,
                         const measure &measured, long start) {
  const std::string name = std::string("simplex:") + what.name;
  const weft::rt::lattice all{{static_cast<int>(sizes.size())}};
  if (start == 0) {
    weft::rt::simplex_search search(all, k_most_trials);
    return search_sizes(name, search, sizes, what, measured);
  }
  check_start(sizes, start);
  weft::rt::simplex_search search(all, k_most_trials,
                                  {static_cast<double>(index_of(sizes, start))});
  return search_sizes(name + " from " + std::to_string(start), search, sizes, what, measured);
}

std::vector<search_result> by_simplexes(const std::vector<long> &sizes,
                                        const std::vector<long> &starts, const measure &measured) {
  std::vector<search_result> all;
  for (const objective &minimized : all_objectives()) {
    if (starts.empty())
      all.push_back(by_simplex(sizes, minimized, measured));
    for (const long start : starts)
      all.push_back(by_simplex(sizes, minimized, measured, start));
  }
  return all;
}

search_result by_law(const std::vector<long> &sizes, double updates, int workers,
                     const measure &measured) {
  const long finest = sizes.front();
  const counts is = measured("law:first", finest);
  const double tasks = std::max(is.tasks, 1.0);
  // What is not execution of tasks, on all workers: the creator's time, too.
  const double overhead = std::max(is.ns * workers - is.exec, 0.0) / tasks;
  const int guess = weft::rt::first_by_law(std::vector<std::int64_t>(sizes.begin(), sizes.end()),
                                           overhead, is.exec / updates, k_law_share);
  weft::rt::line_search search(static_cast<int>(sizes.size()), guess, 7);
  search_result result = search_sizes("law", search, sizes, k_time, measured);
  if (is.ns < search.best_cost())
    result.size = finest;
  result.path.insert(result.path.begin(), {finest, is});
  return result;
}

search_result by_history(const std::vector<long> &sizes, long found, const measure &measured) {
  weft::rt::line_search search(static_cast<int>(sizes.size()), index_of(sizes, found), 3, 1);
  return search_sizes("history", search, sizes, k_time, measured);
}

std::vector<known_size> known_sizes(const std::vector<sample> &all, const subject &of) {
  std::map<long, std::vector<counts>> runs;
  for (const sample &s : all) {
    subject same = s.of;
    same.size = of.size;
    if (same == of)
      runs[s.of.size].push_back(s.is);
  }
  std::vector<known_size> known;
  for (const auto &[size, samples] : runs) {
    std::vector<double> times;
    double exec = 0, tasks = 0;
    for (const counts &c : samples) {
      times.push_back(c.ns);
      exec += c.exec;
      tasks += c.tasks;
    }
    known.push_back({size, median(times), tasks > 0 ? exec / tasks : 0});
  }
  return known;
}

void write_searches(std::ostream &to, const std::vector<known_size> &known,
                    const std::vector<search_result> &searches) {
  if (known.empty())
    throw std::runtime_error("no size has been measured");
  const auto best = std::min_element(known.begin(), known.end(),
                                     [](const auto &a, const auto &b) { return a.ns < b.ns; });
  char text[160];
  std::snprintf(text, sizeof text,
                "The best of %zu sizes is %ld points: %.1f ms, tasks of %.1f us.\n\n", known.size(),
                best->size, best->ns / 1e6, best->task_ns / 1e3);
  to << text
     << "| search | size found | task, us | trials | cost, in trials of the best | time over the "
        "best |\n| --- | ---: | ---: | ---: | ---: | ---: |\n";
  for (const search_result &s : searches) {
    double cost = 0;
    for (const trial &one : s.path)
      cost += one.is.ns / best->ns;
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const known_size &k) { return k.size == s.size; });
    if (at == known.end())
      std::snprintf(text, sizeof text, "| %ld | - | %zu | %.1f | - |\n", s.size, s.path.size(),
                    cost);
    else
      std::snprintf(text, sizeof text, "| %ld | %.1f | %zu | %.1f | %.3f |\n", s.size,
                    at->task_ns / 1e3, s.path.size(), cost, at->ns / best->ns);
    to << "| " << s.name << ' ' << text;
  }
  to << '\n';
}

void write_paths(std::ostream &to, const std::vector<known_size> &known,
                 const std::vector<search_result> &searches) {
  manager_model::chart picture{
      "trials of each search, in their order", "points of a partition",           "time, ms",
      manager_model::scale::logarithmic,       manager_model::scale::logarithmic, {}};
  manager_model::curve all{"all sizes", {}};
  for (const known_size &k : known)
    all.points.emplace_back(static_cast<double>(k.size), k.ns / 1e6);
  picture.curves.push_back(std::move(all));
  for (const search_result &s : searches) {
    manager_model::curve path{s.name, {}};
    for (const trial &one : s.path)
      path.points.emplace_back(static_cast<double>(one.size), one.is.ns / 1e6);
    picture.curves.push_back(std::move(path));
  }
  manager_model::write_svg(to, picture);
}

} // namespace bench::stencil
