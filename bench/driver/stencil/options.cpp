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

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  option_table table("weft-bench stencil", k_help);
  table.number("--points", o.points, 10'000'000'000)
      .number("--steps", o.steps, 1'000'000)
      .numbers("--workers", o.workers, 1024)
      .number("--least", o.least, 10'000'000'000)
      .number("--runs", o.runs, 1000)
      .value("--model",
             [&](const std::string &name) {
               if (name != "tasks" && name != "futures")
                 throw std::runtime_error("--model is tasks or futures, not '" + name + "'");
               o.model = name;
             })
      .value("--record", o.record)
      .flag("--fresh", [&] { o.fresh = true; })
      .flag("--report", [&] { o.measure = false; })
      .parse(arguments);
  if (o.fresh && !o.measure)
    throw std::runtime_error("--report shows the record that --fresh removes: give one of the two");
  if (o.workers.empty())
    o.workers.push_back(static_cast<int>(std::thread::hardware_concurrency()));
  return o;
}

} // namespace bench::stencil
