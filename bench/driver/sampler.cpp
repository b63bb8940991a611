// SPDX-License-Identifier: Apache-2.0
#include "sampler.hpp"

#include "process.hpp"

#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

std::string path_of(const contender &c) { return build_folder() + "/" + c.program; }

std::string unit_of(const std::string &metric) {
  if (metric == "growth_mib" || metric == "peak_mib")
    return "MiB";
  if (metric == "cpu_ns")
    return "ns";
  if (metric == "least_share_percent")
    return "%";
  return metric;
}

row &row_for(std::vector<row> &rows, const experiment &e, const contender &c,
             const std::string &metric) {
  const std::string name = metric == "ns" ? e.workload : e.workload + " " + metric;
  for (row &r : rows)
    if (r.suite == e.suite && r.workload == name && r.runtime == c.runtime &&
        r.workers == e.workers)
      return r;
  rows.push_back({e.suite, name, c.runtime, e.workers, unit_of(metric), {}});
  return rows.back();
}

} // namespace

namespace {

metrics sample_with(const contender &c, const experiment &e,
                    const std::vector<std::string> &settings) {
  const std::string &workload = c.workload.empty() ? e.program_workload : c.workload;
  const outcome result = run({path_of(c), workload, std::to_string(e.workers),
                              std::to_string(e.count), std::to_string(e.body_ns)},
                             settings);
  if (!result.ok)
    throw std::runtime_error(result.output);
  metrics found;
  std::istringstream lines(result.output);
  std::string name;
  for (double value = 0; lines >> name >> value;)
    found.emplace_back(name, value);
  if (found.empty() || !lines.eof())
    throw std::runtime_error("it printed: " + result.output);
  return found;
}

double ns_of(const metrics &found) {
  for (const auto &[name, value] : found)
    if (name == "ns")
      return value;
  throw std::runtime_error("it printed no ns");
}

} // namespace

metrics take_sample(const contender &c, const experiment &e) {
  metrics best = sample_with(c, e, c.settings);
  for (const std::vector<std::string> &settings : c.or_settings)
    if (metrics other = sample_with(c, e, settings); ns_of(other) < ns_of(best))
      best = std::move(other);
  return best;
}

void measure(const experiment &e, int runs, std::vector<row> &rows, problems &trouble) {
  std::vector<contender> here;
  for (const contender &c : e.contenders)
    if (std::filesystem::exists(path_of(c)))
      here.push_back(c);
    else
      ++trouble.absent[c.runtime];
  std::set<std::string> failed; // once is enough
  for (int n = 0; n < runs; ++n)
    for (std::size_t i = 0; i < here.size(); ++i) {
      const contender &c = here[(i + static_cast<std::size_t>(n)) % here.size()];
      if (failed.count(c.runtime))
        continue;
      try {
        for (const auto &[metric, value] : take_sample(c, e))
          row_for(rows, e, c, metric).runs.push_back(value);
      } catch (const std::runtime_error &error) {
        failed.insert(c.runtime);
        trouble.failures.push_back(c.runtime + " failed at " + e.suite + "/" + e.workload +
                                   " with " + std::to_string(e.workers) +
                                   " workers: " + error.what());
      }
    }
}

} // namespace bench
