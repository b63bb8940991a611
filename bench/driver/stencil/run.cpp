// SPDX-License-Identifier: Apache-2.0
#include "metrics.hpp"
#include "repartition.hpp"
#include "stencil.hpp"
#include "trials.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace bench::stencil {

std::vector<long> sizes(long points, long least, long most) {
  std::vector<long> all;
  for (long low = 1; low <= points / low; ++low)
    if (points % low == 0)
      for (const long size : {low, points / low})
        if (size >= least && size <= most)
          all.push_back(size);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

int run(const options &o) {
  const std::vector<long> all = sizes(o.points, o.least, o.points);
  if (all.empty())
    throw std::runtime_error("no partition of " + std::to_string(o.least) +
                             " points or more makes up " + std::to_string(o.points));
  std::vector<int> workers = o.workers;
  std::erase(workers, 1);
  workers.insert(workers.begin(), 1);
  trials measured(record_path(o.record, "stencil.txt"), o.fresh);
  if (o.measure)
    for (const int count : workers)
      for (const long size : all) {
        const auto runs = measured.of({"size", o.model, o.points, o.steps, count, size}, o.runs);
        double least = runs.front().ns;
        for (const counts &c : runs)
          least = std::min(least, c.ns);
        std::cerr << count << (count == 1 ? " worker, " : " workers, ") << size
                  << " points: " << least / 1e6 << " ms" << std::endl;
      }
  std::ostringstream tables;
  tables << measured.measured() << " sizes measured, " << measured.known()
         << " were in the record\n\n";
  int below = 0;
  for (const int count : workers)
    below += write_study(tables, measured.all(), {"size", o.model, o.points, o.steps, count, 0});
  std::cout << tables.str() << below << " ranges have WT+TM below 0.9\n";
  return 0;
}

int run_repartition(const options &o) {
  const int workers = o.workers.front();
  const std::vector<long> all = sizes(o.points, o.least, o.points / workers);
  if (all.empty())
    throw std::runtime_error("no partition of " + std::to_string(o.least) +
                             " points or more makes " + std::to_string(o.points) +
                             " up and leaves one to each of " + std::to_string(workers) +
                             " workers");
  for (const long start : o.starts)
    check_start(all, start);
  trials measured(record_path(o.record, "repartition.txt"), o.fresh);
  subject what{"repartition", o.model, o.points, o.steps, workers, 0};
  for (const long size : all) {
    what.size = size;
    (void)measured.of(what, o.runs);
    std::cerr << size << " points are measured" << std::endl;
  }
  const measure one = [&](const std::string &trial, long size) {
    std::cerr << "trial " << trial << ": " << size << " points" << std::endl;
    return measured.of({trial, o.model, o.points, o.steps, workers, size}, 1).front();
  };
  std::vector<search_result> searches = by_simplexes(all, o.starts, one);
  searches.push_back(by_law(all, static_cast<double>(o.points) * o.steps, workers, one));
  searches.push_back(by_history(all, searches.back().size, one));
  what.size = 0;
  const std::vector<known_size> known = known_sizes(measured.all(), what);
  std::ostringstream tables;
  tables << measured.measured() << " sizes and trials measured, " << measured.known()
         << " were in the record\n\n";
  write_searches(tables, known, searches);
  std::cout << tables.str();
  if (!o.picture.empty()) {
    std::ofstream picture(o.picture);
    searches.pop_back(); // three trials at one place
    write_paths(picture, known, searches);
    if (!picture.flush())
      throw std::runtime_error("cannot write " + o.picture);
  }
  return 0;
}

} // namespace bench::stencil
