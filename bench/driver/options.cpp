// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace bench {

namespace {

constexpr const char *k_help =
    R"(weft-bench [OPTION...]           measures Weft beside its peers; writes build/bench/results.json
  --only PATTERN,...             suites or workloads; regular expressions, also over suite/workload
  --peers NAME,...               only these runtimes beside Weft
  --workers N                    only with this many workers
  --runs N                       interleaved runs of each sample (default 9)
  --quick                        small sizes, three runs
  --json FILE                    the results here as well
  --markdown                     tables as Markdown
  --list                         what there is
  --instructions                 instructions per task under valgrind, against their bounds; 77 without valgrind
  --memory                       bytes per pending task, against its bound
  --beside N                     slowdown beside N busy processes, against that of plain threads
weft-bench apps [OPTION...]      measures the applications over task sizes; weft-bench apps --help
weft-bench managers [OPTION...]  measures the modes of managers; weft-bench managers --help
weft-bench cliffs [OPTION...]    each construct over sizes; weft-bench cliffs --help
weft-bench inncabs [OPTION...]   the INNCABS programs beside std::async; weft-bench inncabs --help
weft-bench observe [OPTION...]   what counters and traces cost; weft-bench observe --help
weft-bench pools [OPTION...]     workers beside the threads of other pools; weft-bench pools --help
bench/peers/install fetches and compiles the peers.
)";

[[noreturn]] void refuse(const std::string &what) {
  std::fprintf(stderr, "weft-bench: %s; see --help\n", what.c_str());
  std::exit(2);
}

std::vector<std::string> split(const std::string &list) {
  std::vector<std::string> parts;
  std::istringstream from(list);
  for (std::string part; std::getline(from, part, ',');)
    parts.push_back(part);
  return parts;
}

int positive(const std::string &option, const std::string &text) {
  char *end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || n < 1 || n > 1024)
    refuse(option + " wants a number from 1 to 1024, not '" + text + "'");
  return static_cast<int>(n);
}

} // namespace

options parse_options(int argc, char **argv) {
  options o;
  bool runs_given = false;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc)
        refuse(name + " wants a value");
      return argv[++i];
    };
    if (name == "--help") {
      std::fputs(k_help, stdout);
      std::exit(0);
    } else if (name == "--only") {
      o.only = split(value());
    } else if (name == "--peers") {
      o.peers = split(value());
    } else if (name == "--workers") {
      o.workers = positive(name, value());
    } else if (name == "--runs") {
      o.runs = positive(name, value());
      runs_given = true;
    } else if (name == "--quick") {
      o.quick = true;
    } else if (name == "--json") {
      o.json = value();
    } else if (name == "--markdown") {
      o.output = form::markdown;
    } else if (name == "--list") {
      o.what = options::mode::list;
    } else if (name == "--instructions") {
      o.what = options::mode::instructions;
    } else if (name == "--memory") {
      o.what = options::mode::memory;
    } else if (name == "--beside") {
      o.what = options::mode::beside;
      o.busy = positive(name, value());
    } else {
      refuse("unknown option '" + name + "'");
    }
  }
  if (o.quick && !runs_given)
    o.runs = 3;
  return o;
}

} // namespace bench
