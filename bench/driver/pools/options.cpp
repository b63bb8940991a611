// SPDX-License-Identifier: Apache-2.0
#include "pools.hpp"

#include "../arguments.hpp"

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

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  option_table table("weft-bench pools", k_help);
  table.number("--runs", o.runs, 1000)
      .number("--tasks", o.tasks, 100'000'000)
      .number("--reactions", o.reactions, 10'000)
      .flag("--costs", [&] { o.times = false; })
      .flag("--times", [&] { o.costs = false; })
      .parse(arguments);
  if (!o.times && !o.costs)
    throw std::runtime_error("--times and --costs leave nothing to measure; drop one");
  return o;
}

} // namespace bench::pools
