// SPDX-License-Identifier: Apache-2.0
#include "observe.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
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

long number(const std::string &option, const std::string &text, long most) {
  char *end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || n < 1 || n > most)
    throw std::runtime_error(option + " wants a number from 1 to " + std::to_string(most) +
                             ", not '" + text + "'");
  return n;
}

std::vector<std::string> names(const std::string &list) {
  std::vector<std::string> found;
  std::istringstream from(list);
  for (std::string name; std::getline(from, name, ',');) {
    if (name != "independent" && name != "chain")
      throw std::runtime_error("no workload is called '" + name +
                               "'; there are independent and chain");
    found.push_back(name);
  }
  return found;
}

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &name = arguments[i];
    const auto value = [&] {
      if (++i == arguments.size())
        throw std::runtime_error(name + " wants a value");
      return arguments[i];
    };
    if (name == "--help") {
      std::fputs(k_help, stdout);
      std::exit(0);
    } else if (name == "--runs") {
      o.runs = static_cast<int>(number(name, value(), 1000));
    } else if (name == "--tasks") {
      o.tasks = number(name, value(), 100'000'000);
    } else if (name == "--body") {
      o.body_ns = static_cast<double>(number(name, value(), 1'000'000));
    } else if (name == "--only") {
      o.workloads = names(value());
    } else if (name == "--times") {
      o.instructions = false;
    } else if (name == "--instructions") {
      o.times = false;
    } else {
      throw std::runtime_error("unknown option '" + name + "'; see weft-bench observe --help");
    }
  }
  if (!o.times && !o.instructions)
    throw std::runtime_error("--times and --instructions leave nothing to measure; drop one");
  return o;
}

} // namespace bench::observe
