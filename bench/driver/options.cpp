// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "arguments.hpp"

namespace bench {

namespace {

constexpr const char *k_help =
    R"(weft-bench [OPTION...]           measures Weft beside its peers; writes build/bench/results.json
  --only PATTERN,...             suites or workloads; regular expressions, also over suite/workload
  --peers NAME,...               only these runtimes beside Weft
  --workers N                    only with this many workers
  --runs N                       interleaved runs of each sample (default 9)
  --quick                        small sizes, three runs
  --break-even                   the algorithms of 1000 to 200,000 elements, and from how many each runtime pays
  --json FILE                    the results here as well
  --markdown                     tables as Markdown
  --list                         what there is
  --instructions                 instructions per task under valgrind, against their bounds; 77 without valgrind
  --memory                       bytes per pending task, against its bound
  --beside N                     slowdown beside N busy processes, against that of plain threads
weft-bench apps [OPTION...]      measures the applications over task sizes; weft-bench apps --help
weft-bench adapt [OPTION...]     loops and trees that size themselves; weft-bench adapt --help
weft-bench managers [OPTION...]  measures the modes of managers; weft-bench managers --help
weft-bench cliffs [OPTION...]    each construct over sizes; weft-bench cliffs --help
weft-bench glto [OPTION...]      suite glto over numbers of threads; weft-bench glto --help
weft-bench inncabs [OPTION...]   the INNCABS programs beside std::async; weft-bench inncabs --help
weft-bench stencil [OPTION...]   heat on a ring over sizes of partitions; weft-bench stencil --help
weft-bench repartition [OPTION...]   searches for such a size; weft-bench repartition --help
weft-bench observe [OPTION...]   what counters and traces cost; weft-bench observe --help
weft-bench pools [OPTION...]     workers beside the threads of other pools; weft-bench pools --help
bench/peers/install fetches and compiles the peers.
)";

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  using mode = options::mode;
  options o;
  o.runs = 0;
  option_table table("weft-bench", k_help);
  table.list("--only", o.only)
      .list("--peers", o.peers)
      .number("--workers", o.workers, 1024)
      .number("--runs", o.runs, 1024)
      .flag("--quick", [&] { o.quick = true; })
      .flag("--break-even", [&] { o.break_even = true; })
      .value("--json", o.json)
      .flag("--markdown", [&] { o.output = form::markdown; })
      .flag("--list", [&] { o.what = mode::list; })
      .flag("--instructions", [&] { o.what = mode::instructions; })
      .flag("--memory", [&] { o.what = mode::memory; })
      .value("--beside",
             [&](const std::string &text) {
               o.what = mode::beside;
               o.busy = static_cast<int>(whole_number("--beside", text, 1024));
             })
      .parse(arguments);
  if (o.runs == 0)
    o.runs = o.quick ? 3 : 9;
  return o;
}

} // namespace bench
