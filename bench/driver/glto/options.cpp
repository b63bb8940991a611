// SPDX-License-Identifier: Apache-2.0
#include "glto.hpp"

#include "../arguments.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench::glto {

namespace {

constexpr const char *k_help =
    R"(weft-bench glto [OPTION...]  suite glto over numbers of threads, as figures (docs/benchmarks/glto.md)
  --only WORKLOAD,...            (default: all that the suite has)
  --runtimes NAME,...            (default: all that are built)
  --threads N,...                (default 1,2,4,8,16,36)
  --runs N                       interleaved runs, of which the median counts (default 1)
  --page FILE                    puts the tables between the marks of a page
  --pictures FOLDER              writes WORKLOAD.svg
)";

std::vector<std::string> workloads(const std::string &list) {
  std::vector<std::string> chosen = split(list);
  for (const std::string &name : chosen)
    if (std::none_of(all_figures().begin(), all_figures().end(),
                     [&](const figure &f) { return name == f.workload; }))
      throw std::runtime_error("no figure has a workload '" + name + "'; docs/benchmarks/glto.md names them");
  return chosen;
}

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  option_table table("weft-bench glto", k_help);
  table.value("--only", [&](auto &text) { o.only = workloads(text); })
      .list("--runtimes", o.runtimes)
      .numbers("--threads", o.threads, 1024)
      .number("--runs", o.runs, 1024)
      .value("--page", o.page)
      .value("--pictures", o.pictures)
      .parse(arguments);
  return o;
}

} // namespace bench::glto
