// SPDX-License-Identifier: Apache-2.0
#include "../process.hpp"
#include "cliffs.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace bench::cliffs {

namespace {

struct sample {
  std::string program;
  bool openmp;
};

const sample k_samples[] = {
    {"weft-cliffs-cpp", false}, {"weft-cliffs-c", false}, {"weft-cliffs-omp", true}};

std::string start(const sample &s, const std::vector<std::string> &words, int workers) {
  std::vector<std::string> command{build_folder() + "/bin/" + s.program};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<std::string> settings{"WEFT_WORKERS=" + std::to_string(workers)};
  if (s.openmp) {
    settings.push_back("OMP_NUM_THREADS=" + std::to_string(workers));
    settings.push_back("OMP_DYNAMIC=false");
    settings.push_back("LD_LIBRARY_PATH=" + build_folder() + "/lib/weft-omp");
  }
  const outcome result = bench::run(command, settings, std::chrono::seconds(300));
  if (!result.ok)
    throw std::runtime_error(result.output);
  return result.output;
}

/// Returns the rows that a sample lists; none if it is not built.
std::vector<row> rows_of(const sample &s) {
  std::vector<row> rows;
  if (!std::filesystem::exists(build_folder() + "/bin/" + s.program) ||
      (s.openmp && !std::filesystem::exists(build_folder() + "/lib/weft-omp/libgomp.so.1"))) {
    std::cerr << s.program << " or what it runs on is not built: its rows are left out\n";
    return rows;
  }
  std::istringstream lines(start(s, {}, 1));
  for (std::string text; std::getline(lines, text);)
    rows.push_back(parse_row(text));
  return rows;
}

double measured(const sample &s, const row &r, long size, int workers, const options &o) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < o.runs; ++i) {
    std::istringstream words(start(s, {r.name, std::to_string(size)}, workers));
    std::string name;
    for (double value = 0; words >> name >> value;)
      if (name == (o.cpu ? "cpu" : "elapsed"))
        least = std::min(least, value);
  }
  return least;
}

} // namespace

int run(const options &o) {
  std::vector<line> lines;
  bool failed = false;
  for (const sample &s : k_samples)
    for (const row &r : rows_of(s)) {
      if (!o.only.empty() && std::find(o.only.begin(), o.only.end(), r.name) == o.only.end())
        continue;
      if (o.list) {
        std::cout << r.name << '\n';
        continue;
      }
      for (const int workers : o.workers) {
        line l{r.name, r.counts, workers, {}};
        try {
          for (const long size : r.sizes)
            if (size <= o.most)
              l.costs.push_back({size, measured(s, r, size, workers, o)});
        } catch (const std::exception &e) {
          std::cerr << r.name << " failed with " << workers << " workers: " << e.what() << '\n';
          failed = true;
        }
        std::cerr << r.name << ", workers " << workers << " is done" << std::endl;
        if (!l.costs.empty())
          lines.push_back(std::move(l));
      }
    }
  if (o.list)
    return 0;
  std::ostringstream table;
  const int marked = write_table(table, lines);
  std::cout << table.str() << marked << " rows are marked\n";
  return failed || marked != 0 ? 1 : 0;
}

} // namespace bench::cliffs
