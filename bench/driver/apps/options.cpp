// SPDX-License-Identifier: Apache-2.0
#include "apps.hpp"

#include "../arguments.hpp"
#include "subjects.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench::apps {

namespace {

constexpr const char *k_help =
    R"(weft-bench apps [OPTION...]      sweeps the applications of bench/apps over task sizes, on Weft and its peers
  --only NAME,...                applications
  --series NAME,...              curves
  --tiles N,...                  instead of the tiles of each application
  --runs N                       interleaved runs (default 3; 15 with --coarse and --pragmas)
  --reps N                       timed repetitions in each run, of which the median counts (default 3)
  --workers N                    default 2
  --budget SECONDS               stop then; the same command goes on where it stopped
  --out FOLDER                   default bench/granularity in the build folder
  --fresh                        forget what the folder holds
  --coarse                       instead of the sweep: Weft and its peers in pairs, at each application's coarse size
  --pragmas                      instead of the sweep: #pragma oss and the C++ API by the same Clang in pairs, at the finest and the coarse size
  --count                        only count instructions, which needs no quiet machine
  --report                       measure nothing; pictures and tables of what is there
  --list                         applications and series
Writes samples.csv and instructions.csv, then NAME.csv and NAME.svg for each application, and tables on the output.
Instructions are counted by callgrind. bench/peers/install fetches the peers.
The target weft_apps_clang builds what --pragmas compares.
)";

void check_series(const std::vector<std::string> &names) {
  std::string known;
  for (const series &s : all_series())
    known += " " + s.name;
  for (const std::string &name : names)
    if (std::none_of(all_series().begin(), all_series().end(),
                     [&](const series &s) { return s.name == name; }))
      throw std::runtime_error("no series is called '" + name + "'; there are" + known);
}

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  using mode = options::mode;
  options o;
  option_table table("weft-bench apps", k_help);
  table.list("--only", o.only)
      .list("--series", o.series)
      .numbers("--tiles", o.tiles, 1L << 40)
      .number("--runs", o.runs, 1000)
      .number("--reps", o.reps, 1000)
      .number("--workers", o.workers, 1024)
      .number("--budget", o.budget_s, 1'000'000)
      .value("--out", o.out)
      .flag("--fresh", [&] { o.fresh = true; })
      .flag("--coarse", [&] { o.what = mode::coarse; })
      .flag("--pragmas", [&] { o.what = mode::pragmas; })
      .flag("--count", [&] { o.what = mode::count; })
      .flag("--report", [&] { o.what = mode::report; })
      .flag("--list", [&] { o.what = mode::list; })
      .parse(arguments);
  check_series(o.series);
  if (o.fresh && (o.what == mode::report || o.what == mode::list))
    throw std::runtime_error("--fresh forgets what --report and --list would show; drop one");
  if (!o.runs)
    o.runs = o.what == mode::coarse || o.what == mode::pragmas ? 15 : 3;
  return o;
}

} // namespace bench::apps
