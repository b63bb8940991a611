// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"

#include "../apps/sweep.hpp"
#include "../results.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace bench::adapt {

namespace {

/// Returns the folder, without samples.
const std::string &emptied(const std::string &folder) {
  std::filesystem::remove(folder + "/samples.csv");
  return folder;
}

} // namespace

apps::subject find_application(const std::string &name) {
  for (apps::subject &one : apps::find_subjects())
    if (one.name == name)
      return std::move(one);
  throw std::runtime_error("the application is not there; build the target weft_apps");
}

application_samples::application_samples(apps::subject of, const std::string &folder, int workers,
                                         int runs)
    : m_of(std::move(of)), m_record(emptied(folder)) {
  m_options.series = {"weft"};
  m_options.workers = workers;
  m_options.runs = runs;
}

void application_samples::measure(const std::vector<long> &tiles) {
  m_options.tiles = tiles;
  apps::sweep work(m_options, m_record);
  work.measure({m_of});
  if (!work.failures().empty())
    throw std::runtime_error(work.failures().front());
}

void application_samples::count(const std::vector<long> &tiles) {
  m_options.tiles = tiles;
  apps::sweep work(m_options, m_record);
  work.count({m_of});
  if (!work.failures().empty())
    throw std::runtime_error(work.failures().front());
}

template <class Value>
double application_samples::median_of(long tile, Value value) const {
  std::vector<double> seen;
  for (const apps::sample &s : m_record.samples())
    if (s.app == m_of.name && s.size == m_of.size && s.tile == tile && s.workers == m_options.workers)
      seen.push_back(value(s));
  if (seen.empty())
    throw std::runtime_error("no sample of tile " + std::to_string(tile));
  return median(std::move(seen));
}

double application_samples::efficiency(long tile) const {
  return median_of(tile, [](const apps::sample &s) { return s.serial_s / (s.wall_s * s.workers); });
}
double application_samples::wall_s(long tile) const {
  return median_of(tile, [](const apps::sample &s) { return s.wall_s; });
}
double application_samples::serial_s() const {
  double least = 0;
  for (const apps::sample &s : m_record.samples())
    least = least > 0 ? std::min(least, s.serial_s) : s.serial_s;
  return least;
}

} // namespace bench::adapt
