// SPDX-License-Identifier: Apache-2.0
#include "adapt.hpp"

#include "../arguments.hpp"
#include "curves.hpp"

#include <stdexcept>

namespace bench::adapt {

namespace {

constexpr const char *k_help =
    R"(weft-bench adapt [OPTION...]  loops, trees and recursions that size themselves, beside the serial program and the best fixed grain or cut-off
  --only T1,...                  rows; --list names them; of --curves: loops, recursions, applications, or names as uniform, fib, dot
  --workers N                    (default 2)
  --runs N                       of which the least counts, in turn with the other ways (default 30)
  --curves PAGE.md               instead of the rows: time over grain, cut-off and tile, with the best by hand, the untuned and the
                                 self-tuned program; put into this page, between its marks (a new page gets them), with pictures and
                                 curves.json in a folder beside it. Applications need the target weft_apps
  --quick                        subjects a hundredth as long; of --curves, the four coarsest tiles
  --list                         name the rows, and say where the others are measured
)";

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  option_table table("weft-bench adapt", k_help);
  table.list("--only", o.only)
      .number("--workers", o.workers, 1024)
      .number("--runs", o.runs, 100'000)
      .value("--curves", o.curves)
      .flag("--quick", [&] { o.quick = true; })
      .flag("--list", [&] { o.list = true; })
      .parse(arguments);
  if (o.curves.empty())
    return o;
  if (o.list)
    throw std::runtime_error("--list names rows and measures nothing; drop it, or --curves");
  if (!o.curves.ends_with(".md"))
    throw std::runtime_error("--curves writes Markdown; name a page that ends in .md, not '" + o.curves + "'");
  check_curve_names(o.only);
  return o;
}

} // namespace bench::adapt
