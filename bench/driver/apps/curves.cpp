// SPDX-License-Identifier: Apache-2.0
#include "curves.hpp"

#include "../results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace bench::apps {

namespace {

bool belongs(const sample &sample, const subject &s, int workers) {
  return sample.app == s.name && sample.size == s.size && sample.workers == workers;
}

struct group {
  long tasks = 0;
  std::vector<double> serial_s, wall_s;
};
using groups = std::map<long, group>; // by tile

groups collect(const record &r, const subject &s, int workers, const std::string *series) {
  groups found;
  for (const sample &one : r.samples())
    if (belongs(one, s, workers) && (!series || one.series == *series)) {
      group &g = found[one.tile];
      g.tasks = one.tasks;
      g.serial_s.push_back(one.serial_s);
      g.wall_s.push_back(one.wall_s);
    }
  return found;
}

/// Maps runs to times.
std::map<int, double> times(const record &r, const subject &s, long tile, int workers,
                            const std::string &series) {
  std::map<int, double> found;
  for (const sample &one : r.samples())
    if (belongs(one, s, workers) && one.tile == tile && one.series == series)
      found[one.run] = one.wall_s;
  return found;
}

double median_of(const std::map<int, double> &times) {
  std::vector<double> values;
  for (const auto &[run, value] : times)
    values.push_back(value);
  return median(values);
}

} // namespace

std::vector<curve> curves(const record &r, const subject &s, int workers) {
  const groups everybody = collect(r, s, workers, nullptr);
  std::vector<curve> all;
  double best = std::numeric_limits<double>::infinity();
  for (const series &one : all_series()) {
    curve c{one.name, {}};
    for (const auto &[tile, g] : collect(r, s, workers, &one.name)) {
      const std::optional<double> instructions = r.instructions_per_task(s.name, s.size, tile);
      if (!instructions)
        continue;
      point p{tile, g.tasks, *instructions, median(everybody.at(tile).serial_s), median(g.wall_s),
              0,    0};
      p.efficiency = p.serial_s / (p.wall_s * workers);
      best = std::min(best, p.wall_s);
      c.points.push_back(p);
    }
    std::sort(c.points.begin(), c.points.end(),
              [](const point &a, const point &b) { return a.instructions < b.instructions; });
    if (!c.points.empty())
      all.push_back(std::move(c));
  }
  for (curve &c : all)
    for (point &p : c.points)
      p.relative = best / p.wall_s;
  return all;
}

const curve *find(const std::vector<curve> &all, const std::string &series) {
  for (const curve &c : all)
    if (c.series == series)
      return &c;
  return nullptr;
}

std::optional<half_point> half(const curve &c) {
  const auto good = std::find_if(c.points.begin(), c.points.end(),
                                 [](const point &p) { return p.efficiency >= 0.5; });
  if (good == c.points.end())
    return std::nullopt;
  if (good == c.points.begin())
    return half_point{good->instructions, true, good->tile};
  const point &below = good[-1];
  const double part = (0.5 - below.efficiency) / (good->efficiency - below.efficiency);
  return half_point{below.instructions * std::pow(good->instructions / below.instructions, part),
                    false, good->tile};
}

ratio interval(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  const int n = static_cast<int>(ratios.size());
  // The chance that fewer than k of n values lie below the median is a tail of a binomial distribution.
  int outside = 0;
  double term = std::pow(0.5, n), tail = term;
  while (2 * tail <= 0.05) {
    ++outside;
    term *= static_cast<double>(n - outside + 1) / outside;
    tail += term;
  }
  const auto k = static_cast<std::size_t>(std::max(0, outside - 1));
  return {"", n, median(ratios), ratios.at(k), ratios.at(ratios.size() - 1 - k), outside > 0};
}

const char *verdict(const ratio &found, double bound, const char *met) {
  return !found.enough          ? "too few"
         : found.low > bound   ? "missed"
         : found.high <= bound ? met
                               : "open";
}

std::optional<ratio> against_best_peer(const record &r, const subject &s, long tile, int workers) {
  std::map<int, double> best;
  std::string name;
  for (const series &one : all_series())
    if (one.what == series::kind::peer) {
      std::map<int, double> theirs = times(r, s, tile, workers, one.name);
      if (!theirs.empty() && (best.empty() || median_of(theirs) < median_of(best))) {
        best = std::move(theirs);
        name = one.name;
      }
    }
  return against(r, s, tile, workers, "weft", name);
}

std::optional<ratio> against(const record &r, const subject &s, long tile, int workers,
                             const std::string &own, const std::string &other) {
  const std::map<int, double> theirs = times(r, s, tile, workers, other);
  std::vector<double> ratios;
  for (const auto &[run, time] : times(r, s, tile, workers, own))
    if (const auto pair = theirs.find(run); pair != theirs.end())
      ratios.push_back(time / pair->second);
  if (ratios.empty())
    return std::nullopt;
  ratio found = interval(ratios);
  found.other = other;
  return found;
}

} // namespace bench::apps
