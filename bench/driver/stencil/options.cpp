// SPDX-License-Identifier: Apache-2.0
#include "stencil.hpp"

#include "../arguments.hpp"

#include <stdexcept>
#include <thread>

namespace bench::stencil {

namespace {

constexpr const char *k_help =
    R"(weft-bench stencil [OPTION...]  heat on a ring, over all sizes of partitions: metrics, and how they go along with time
  --points N --steps N           (default 100000000 and 50; 1.6 GB of memory)
  --workers N,...                (default: all processors); one worker, the reference, is measured first
  --least N                      points of the smallest partition (default 160)
  --runs N                       of each size (default 10)
  --model tasks|futures          (default tasks)
  --record FILE                  what was measured (default bench/stencil.txt in the build folder); sizes in it are not measured again
  --fresh                        begin the record anew
  --report                       measure nothing: the tables of the record
)";

constexpr const char *k_repartition_help =
    R"(weft-bench repartition [OPTION...]  searches for the size of partitions of heat on a ring, by four counters and by time
  --points N --steps N           of a trial (default 100000000 and 50; 1.6 GB of memory)
  --workers N                    (default: all processors)
  --least N                      points of the smallest partition (default 1000)
  --runs N                       of each size, to know the best (default 3)
  --start N,...                  points of the partitions at which the searches by counters begin, a row of the table for each (default:
                                 at a quarter and three quarters of the sizes)
  --record FILE                  what was measured (default bench/repartition.txt in the build folder); trials in it are not run again
  --fresh                        begin the record anew
  --picture FILE                 time against size, with the path of each search, as SVG
)";

std::string model_of(const std::string &name) {
  if (name != "tasks" && name != "futures")
    throw std::runtime_error("--model is tasks or futures, not '" + name + "'");
  return name;
}

/// Adds what both commands have.
option_table &add_common(option_table &to, options &o) {
  return to.number("--points", o.points, 10'000'000'000)
      .number("--steps", o.steps, 1'000'000)
      .numbers("--workers", o.workers, 1024)
      .number("--least", o.least, 10'000'000'000)
      .number("--runs", o.runs, 1000)
      .value("--record", o.record)
      .flag("--fresh", [&o] { o.fresh = true; });
}

void add_default_workers(options &o) {
  if (o.workers.empty())
    o.workers.push_back(static_cast<int>(std::thread::hardware_concurrency()));
}

} // namespace

options parse_repartition(const std::vector<std::string> &arguments) {
  options o;
  o.least = 1000;
  o.runs = 3;
  option_table table("weft-bench repartition", k_repartition_help);
  add_common(table, o)
      .numbers("--start", o.starts, 10'000'000'000)
      .value("--picture", o.picture)
      .parse(arguments);
  if (o.workers.size() > 1)
    throw std::runtime_error("weft-bench repartition takes one number of workers");
  add_default_workers(o);
  return o;
}

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  option_table table("weft-bench stencil", k_help);
  add_common(table, o)
      .value("--model", [&](const std::string &name) { o.model = model_of(name); })
      .flag("--report", [&] { o.measure = false; })
      .parse(arguments);
  if (o.fresh && !o.measure)
    throw std::runtime_error("--report shows the record that --fresh removes: give one of the two");
  add_default_workers(o);
  return o;
}

} // namespace bench::stencil
