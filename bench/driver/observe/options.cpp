// SPDX-License-Identifier: Apache-2.0
#include "observe.hpp"

#include "../arguments.hpp"

#include <stdexcept>

namespace bench::observe {

namespace {

constexpr const char *k_help =
    R"(weft-bench observe [OPTION...]   what counters and traces cost tasks of a microsecond
  --runs N          runs of each way to watch, in turns (default 15)
  --tasks N         of each run (default 200000)
  --body NS         of a task (default 1000)
  --only NAME,...   independent, chain
  --times           processor time only;   --instructions   instructions only (valgrind)
Processor time of the worker's thread and of the process, one worker; medians over pairs of neighbouring runs. Exit status 1 when a bound is missed.
)";

std::vector<std::string> names(const std::string &list) {
  std::vector<std::string> found = split(list);
  for (const std::string &name : found)
    if (name != "independent" && name != "chain")
      throw std::runtime_error("no workload is called '" + name +
                               "'; there are independent and chain");
  return found;
}

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  option_table table("weft-bench observe", k_help);
  table.number("--runs", o.runs, 1000)
      .number("--tasks", o.tasks, 100'000'000)
      .number("--body", o.body_ns, 1'000'000)
      .value("--only", [&](const std::string &text) { o.workloads = names(text); })
      .flag("--times", [&] { o.instructions = false; })
      .flag("--instructions", [&] { o.times = false; })
      .parse(arguments);
  if (!o.times && !o.instructions)
    throw std::runtime_error("--times and --instructions leave nothing to measure; drop one");
  return o;
}

} // namespace bench::observe
