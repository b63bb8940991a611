// SPDX-License-Identifier: Apache-2.0
#include "inncabs.hpp"

#include "../arguments.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace bench::inncabs {

namespace {

constexpr const char *k_help =
    R"(weft-bench inncabs [OPTION...]  the fourteen INNCABS programs on each runtime (docs/benchmarks/inncabs.md)
  --only PROGRAM,...             (default: all; --list names them)
  --runtimes NAME,...            (default: all; --list names them; the serial run is always one)
  --workers N,...                (default: 1, 2, 4, ... and the number of processors)
  --samples N                    of each process; the first one does not count (default 20)
  --launch POLICY                async, deferred, optional or fork, where the runtime has it (default async)
  --size PROGRAM:NAME=VALUE,...  sizes other than the usual ones; weft-inncabs-serial lists them
  --limit SECONDS                ends a process (default 120); its samples count if there are three
  --threads N                    of std::async, at a time; a program that needs more fails (default 4000)
  --record FILE                  collects what is measured, over several calls (default bench/inncabs.txt of the build)
  --report                       measures nothing, and shows the record
  --page FILE                    puts the tables between the marks of a page
  --pictures FOLDER              writes times.svg and overhead.svg
  --list                         names programs and runtimes
)";

template <class All>
std::vector<std::string> names(const std::string &list, const All &all, const char *kind) {
  std::vector<std::string> chosen = split(list);
  for (const std::string &name : chosen)
    if (std::none_of(all.begin(), all.end(), [&](const auto &one) { return name == one.name; }))
      throw std::runtime_error(std::string("no ") + kind + " is called '" + name +
                               "'; --list names them");
  return chosen;
}

std::vector<std::string> sizes_of(const std::string &list) {
  std::vector<std::string> sizes = split(list);
  for (const std::string &size : sizes) {
    const std::size_t colon = size.find(':');
    if (colon == std::string::npos || size.find('=', colon) == std::string::npos)
      throw std::runtime_error("--size wants PROGRAM:NAME=VALUE, not '" + size + "'");
    (void)names(size.substr(0, colon), all_programs(), "program");
  }
  return sizes;
}

std::vector<int> usual_workers() {
  const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<int> workers;
  for (int n = 1; n < processors; n *= 2)
    workers.push_back(n);
  workers.push_back(processors);
  return workers;
}

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  o.workers = usual_workers();
  const auto choose_launch = [&](const std::string &text) {
    o.launch = text;
    if (std::none_of(all_contenders().begin(), all_contenders().end(), [&](const contender &c) {
          const std::vector<std::string> has = split(c.launches);
          return std::find(has.begin(), has.end(), o.launch) != has.end();
        }))
      throw std::runtime_error("no runtime here has the launch policy '" + o.launch + "'");
  };
  option_table table("weft-bench inncabs", k_help);
  table.value("--only", [&](auto &text) { o.only = names(text, all_programs(), "program"); })
      .value("--runtimes",
             [&](auto &text) { o.runtimes = names(text, all_contenders(), "runtime"); })
      .numbers("--workers", o.workers, 1024)
      .number("--samples", o.samples, 10'000, 3) // two that count: an interval needs them
      .value("--launch", choose_launch)
      .value("--size", [&](auto &text) { o.sizes = sizes_of(text); })
      .number("--limit", o.limit_s, 100'000)
      .number("--threads", o.threads, 1'000'000)
      .value("--record", o.record)
      .flag("--report", [&] { o.measure = false; })
      .value("--page", o.page)
      .value("--pictures", o.pictures)
      .flag("--list", [&] { o.list = true; })
      .parse(arguments);
  return o;
}

} // namespace bench::inncabs
