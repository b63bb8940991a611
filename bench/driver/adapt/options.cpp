// SPDX-License-Identifier: Apache-2.0
#include "adapt.hpp"

#include "../arguments.hpp"

namespace bench::adapt {

namespace {

constexpr const char *k_help =
    R"(weft-bench adapt [OPTION...]  loops, trees and recursions that size themselves, beside the serial program and the best fixed grain or cut-off
  --only T1,...                  rows; --list names them
  --workers N                    (default 2)
  --runs N                       of which the least counts, in turn with the other ways (default 30)
  --quick                        subjects a hundredth as long
  --list                         name the rows, and say where the others are measured
)";

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  option_table table("weft-bench adapt", k_help);
  table.list("--only", o.only)
      .number("--workers", o.workers, 1024)
      .number("--runs", o.runs, 100'000)
      .flag("--quick", [&] { o.quick = true; })
      .flag("--list", [&] { o.list = true; })
      .parse(arguments);
  return o;
}

} // namespace bench::adapt
