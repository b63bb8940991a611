// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"
#include "start.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace bench::net {

namespace {

constexpr double k_idle_bound = 1; // percent of a core
constexpr double k_above_ucx = 100; // nanoseconds of a put, and of a notification

int run_apps(const options &o) {
  const std::vector<version> versions = chosen_versions(o);
  int failed = 0;
  for (const std::string &app : o.apps)
    for (const int workers : o.workers) {
      std::vector<std::pair<std::string, std::vector<run_values>>> runs;
      for (const version &v : versions)
        runs.emplace_back(v.name, std::vector<run_values>());
      for (int sample = 0; sample != o.samples; ++sample)
        for (std::size_t i = 0; i != versions.size(); ++i) {
          std::cerr << app << ", " << workers << " worker(s), " << versions[i].name << std::endl;
          const outcome r = start(versions[i], o.ranks, workers, words_of(app, o));
          if (!r.ok) {
            ++failed;
            std::cout << versions[i].name << " of " << app << " has failed: " << r.output << '\n';
            continue;
          }
          const std::vector<run_values> said = read_runs(r.output);
          runs[i].second.insert(runs[i].second.end(), said.begin(), said.end());
        }
      std::ostringstream table;
      write_table(table,
                  app + ", " + std::to_string(o.ranks) + " ranks, " + std::to_string(workers) +
                      " worker(s)",
                  runs, o.ranks * workers);
      std::cout << table.str() << std::flush;
    }
  std::cout << '\n' << failed << " jobs failed\n";
  return failed ? 1 : 0;
}

/// Runs a program of this folder, whose output is the result, by each MPI that it was built for.
int run_micro(const options &o) {
  int missed = 0, found = 0;
  for (const auto &[mpi, launcher] : k_mpis) {
    version v{mpi, std::string("weft-net-micro-") + mpi, {}, launcher, {}, true};
    if (!std::filesystem::exists(program_of(v.program))) {
      std::cout << v.program << " was not built\n";
      continue;
    }
    ++found;
    const outcome r = start(v, 2, 1, o.rest);
    std::cout << r.output << std::flush;
    if (!r.ok)
      ++missed;
    missed += missed_above_ucx(std::cout, r.output);
  }
  return missed != 0 || found == 0 ? 1 : 0;
}

int run_idle() {
  constexpr int k_ranks = 2;
  const version v{"idle", "weft-net-idle", {}, "", {}, true};
  const outcome r = start(v, k_ranks, 2, {});
  if (!r.ok)
    throw std::runtime_error("weft-net-idle: " + r.output);
  return missed_when_idle(std::cout, r.output, k_ranks) ? 1 : 0;
}

int run_scale(const options &o) {
  const std::string program = program_of("weft-net-scale");
  if (!std::filesystem::exists(program))
    throw std::runtime_error(
        "there is no " + program +
        ": SimGrid was not found when Weft was built (apt-get install libsimgrid-dev)");
  std::vector<std::string> command{program};
  command.insert(command.end(), o.rest.begin(), o.rest.end());
  const outcome r = bench::run(command, {}, std::chrono::hours(12));
  std::cout << r.output;
  return r.ok ? 0 : 1;
}

} // namespace

const std::vector<version> &all_versions() {
  static const std::vector<version> all = [] {
    std::vector<version> made;
    for (const char *name : {"default", "cached", "cached_barrier", "get"})
      made.push_back({name, "weft-net-lpf", {name}, "", {}, true});
    made.insert(
        made.begin() + 3,
        {"cached_ack", "weft-net-lpf", {"cached_ack"}, "", {"WEFT_LPF_ACKNOWLEDGE=all"}, true});
    made.push_back({"notify", "weft-net-notify", {}, "", {}, true});
    for (const char *kind : {"task", "tampi", "plain", "openmp"})
      for (const auto &[mpi, launcher] : k_mpis)
        made.push_back({std::string(kind) + "_" + mpi,
                        std::string("weft-net-") + kind + "-" + mpi,
                        {},
                        launcher,
                        {},
                        std::string(kind) != "plain"});
    return made;
  }();
  return all;
}

int missed_above_ucx(std::ostream &to, const std::string &output) {
  int missed = 0, compared = 0;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key, row;
    double above = 0;
    if (!(words >> key >> row >> above) || key != "above_ucx_ns")
      continue;
    ++compared;
    if (above > k_above_ucx) {
      ++missed;
      to << "  " << row << " is " << above << " ns above UCX (bound " << k_above_ucx
         << ")  MISSED\n";
    }
  }
  if (compared == 0)
    to << "  no line compares an operation with UCX  MISSED\n";
  return missed + (compared == 0 ? 1 : 0);
}

int missed_when_idle(std::ostream &to, const std::string &output, int ranks) {
  std::set<int> seen;
  int missed = 0;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    int rank = 0;
    double percent = 0;
    if (!(words >> key >> rank >> percent) || key != "idle")
      continue;
    seen.insert(rank);
    const bool is_missed = percent > k_idle_bound;
    missed += is_missed ? 1 : 0;
    to << "rank " << rank << " takes " << percent << " % of a core (bound " << k_idle_bound << " %)"
       << (is_missed ? "  MISSED" : "") << '\n';
  }
  for (int rank = 0; rank < ranks; ++rank)
    if (!seen.contains(rank)) {
      ++missed;
      to << "rank " << rank << " has said nothing  MISSED\n";
    }
  return missed;
}

int run(const options &o) {
  switch (o.what) {
  case options::mode::apps:
    return run_apps(o);
  case options::mode::micro:
    return run_micro(o);
  case options::mode::idle:
    return run_idle();
  case options::mode::loggp:
    return run_loggp(o);
  case options::mode::model:
    return run_model(o);
  case options::mode::scale:
    break;
  }
  return run_scale(o);
}

} // namespace bench::net
