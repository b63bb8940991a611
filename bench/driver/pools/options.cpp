// SPDX-License-Identifier: Apache-2.0
#include "pools.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace bench::pools {

namespace {

constexpr const char *k_help =
    R"(weft-bench pools [OPTION...]   workers beside a pool of threads that is not Weft's
  --runs N       pairs of runs with and without an idle pool (default 15)
  --tasks N      of each run (default 300000)
  --reactions N  of each way to wait (default 50)
  --costs        what an idle pool and watching cost only;   --times   how soon workers step back and return only
Processor time, medians over pairs of neighbouring runs; times as quantiles. Exit status 1 when a bound is missed.
)";

long number(const std::string &option, const std::string &text, long most) {
  char *end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || n < 1 || n > most)
    throw std::runtime_error(option + " wants a number from 1 to " + std::to_string(most) +
                             ", not '" + text + "'");
  return n;
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
    } else if (name == "--reactions") {
      o.reactions = static_cast<int>(number(name, value(), 10'000));
    } else if (name == "--costs") {
      o.times = false;
    } else if (name == "--times") {
      o.costs = false;
    } else {
      throw std::runtime_error("unknown option '" + name + "'; see weft-bench pools --help");
    }
  }
  if (!o.times && !o.costs)
    throw std::runtime_error("--times and --costs leave nothing to measure; drop one");
  return o;
}

} // namespace bench::pools
