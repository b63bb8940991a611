// SPDX-License-Identifier: Apache-2.0
#include "cliffs.hpp"

#include "../arguments.hpp"

namespace bench::cliffs {

namespace {

constexpr const char *k_help =
    R"(weft-bench cliffs [OPTION...]  each construct over sizes; marks what costs more than three times as much at a larger one
  --only NAME,...                rows; --list names them
  --workers N,...                (default 1,2,8)
  --most N                       no size above
  --runs N                       of which the least counts (default 3)
  --cpu                          time of all processors, not elapsed: for a machine that has other work
  --list                         name the rows
Rows of OpenMP need the target weft-omp.
)";

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  option_table table("weft-bench cliffs", k_help);
  table.list("--only", o.only)
      .numbers("--workers", o.workers, 1024)
      .number("--most", o.most, 1'000'000'000)
      .number("--runs", o.runs, 1000)
      .flag("--cpu", [&] { o.cpu = true; })
      .flag("--list", [&] { o.list = true; })
      .parse(arguments);
  return o;
}

} // namespace bench::cliffs
