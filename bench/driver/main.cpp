// SPDX-License-Identifier: Apache-2.0
#include "adapt/adapt.hpp"
#include "apps/apps.hpp"
#include "break_even.hpp"
#include "catalog.hpp"
#include "checks.hpp"
#include "cliffs/cliffs.hpp"
#include "glto/glto.hpp"
#include "inncabs/inncabs.hpp"
#include "managers/managers.hpp"
#include "net/net.hpp"
#include "observe/observe.hpp"
#include "omp/omp.hpp"
#include "options.hpp"
#include "pools/pools.hpp"
#include "process.hpp"
#include "results.hpp"
#include "sampler.hpp"
#include "stencil/stencil.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <stdexcept>

namespace bench {

namespace {

bool chosen(const experiment &e, const options &o) {
  if (o.workers && e.workers != o.workers)
    return false;
  if (o.only.empty())
    return true;
  return std::any_of(o.only.begin(), o.only.end(), [&](const std::string &pattern) {
    const std::regex expression(pattern);
    for (const std::string &name : {e.suite, e.workload, e.suite + "/" + e.workload})
      if (std::regex_match(name, expression))
        return true;
    return false;
  });
}

std::vector<experiment> chosen_experiments(const options &o) {
  std::vector<experiment> all =
      o.break_even ? break_even_experiments() : catalog(o.quick ? size::quick : size::full);
  std::erase_if(all, [&](const experiment &e) { return !chosen(e, o); });
  if (all.empty())
    throw std::runtime_error("no experiment matches; --list shows what there is");
  if (!o.peers.empty())
    for (experiment &e : all)
      std::erase_if(e.contenders, [&](const contender &c) {
        return is_peer(e, c) && !(o.break_even && c.runtime == "serial") &&
               std::find(o.peers.begin(), o.peers.end(), c.runtime) == o.peers.end();
      });
  return all;
}

void list(const std::vector<experiment> &experiments) {
  for (const experiment &e : experiments) {
    std::cout << e.suite << "/" << e.workload << ", workers " << e.workers << ":";
    for (const contender &c : e.contenders)
      std::cout << " " << c.runtime;
    std::cout << '\n';
  }
}

void save(const std::string &path, const std::vector<row> &rows) {
  std::ofstream file(path);
  write_json(file, rows);
  if (!file.flush())
    throw std::runtime_error("cannot write " + path);
}

int run_suites(const options &o) {
  const std::vector<experiment> experiments = chosen_experiments(o);
  const std::string folder = build_folder() + "/bench";
  std::filesystem::create_directories(folder);
  std::vector<row> rows;
  problems trouble;
  for (std::size_t i = 0; i < experiments.size(); ++i) {
    const experiment &e = experiments[i];
    std::cerr << "[" << i + 1 << "/" << experiments.size() << "] " << e.suite << "/" << e.workload
              << ", workers " << e.workers << std::endl;
    measure(e, o.runs, rows, trouble);
    save(folder + "/results.json", rows); // an interrupted run loses nothing
  }
  if (!o.json.empty())
    save(o.json, rows);
  int missed = write_tables(std::cout, rows, o.output);
  if (o.break_even)
    missed += write_break_even(std::cout, rows, o.output);
  for (const auto &[runtime, times] : trouble.absent)
    std::cout << runtime << " is absent from " << times
              << " experiments (bench/peers/install fetches peers)\n";
  for (const std::string &failure : trouble.failures)
    std::cout << failure << '\n';
  std::cout << missed << " targets missed; rows in " << folder << "/results.json\n";
  return trouble.failures.empty() ? 0 : 1;
}

int dispatch(const options &o) {
  switch (o.what) {
  case options::mode::instructions:
    return check_instructions();
  case options::mode::memory:
    return check_memory();
  case options::mode::beside:
    return check_beside(o.busy, o.runs);
  case options::mode::list:
    list(chosen_experiments(o));
    return 0;
  case options::mode::suites:
    break;
  }
  return run_suites(o);
}

} // namespace
} // namespace bench

int main(int argc, char **argv) {
  try {
    if (argc > 1 && std::string(argv[1]) == "adapt")
      return bench::adapt::run(bench::adapt::parse_options({argv + 2, argv + argc}));
    if (argc > 1 && std::string(argv[1]) == "apps")
      return bench::apps::run(bench::apps::parse_options({argv + 2, argv + argc}));
    if (argc > 1 && std::string(argv[1]) == "managers")
      return bench::managers::run(bench::managers::parse_options({argv + 2, argv + argc}));
    if (argc > 1 && std::string(argv[1]) == "omp")
      return bench::omp::run(bench::omp::parse_options({argv + 2, argv + argc}));
    if (argc > 1 && std::string(argv[1]) == "cliffs")
      return bench::cliffs::run(bench::cliffs::parse_options({argv + 2, argv + argc}));
    if (argc > 1 && std::string(argv[1]) == "glto")
      return bench::glto::run(bench::glto::parse_options({argv + 2, argv + argc}));
    if (argc > 1 && std::string(argv[1]) == "inncabs")
      return bench::inncabs::run(bench::inncabs::parse_options({argv + 2, argv + argc}));
    if (argc > 1 && std::string(argv[1]) == "net")
      return bench::net::run(bench::net::parse_options({argv + 2, argv + argc}));
    if (argc > 1 && std::string(argv[1]) == "observe")
      return bench::observe::run(bench::observe::parse_options({argv + 2, argv + argc}));
    if (argc > 1 && std::string(argv[1]) == "pools")
      return bench::pools::run(bench::pools::parse_options({argv + 2, argv + argc}));
    if (argc > 1 && std::string(argv[1]) == "stencil")
      return bench::stencil::run(bench::stencil::parse_options({argv + 2, argv + argc}));
    if (argc > 1 && std::string(argv[1]) == "repartition")
      return bench::stencil::run_repartition(
          bench::stencil::parse_repartition({argv + 2, argv + argc}));
    return bench::dispatch(bench::parse_options({argv + 1, argv + argc}));
  } catch (const std::exception &e) {
    std::cerr << "weft-bench: " << e.what() << '\n';
    return 1;
  }
}
