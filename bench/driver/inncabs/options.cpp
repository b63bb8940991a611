// SPDX-License-Identifier: Apache-2.0
#include "inncabs.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
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

std::vector<std::string> split(const std::string &list) {
  std::vector<std::string> parts;
  std::istringstream from(list);
  for (std::string part; std::getline(from, part, ',');)
    parts.push_back(part);
  return parts;
}

long whole_number(const std::string &option, const std::string &text, long least, long most) {
  char *end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || n < least || n > most)
    throw std::runtime_error(option + " wants a number from " + std::to_string(least) + " to " +
                             std::to_string(most) + ", not '" + text + "'");
  return n;
}

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
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &name = arguments[i];
    const auto value = [&]() -> const std::string & {
      if (i + 1 == arguments.size())
        throw std::runtime_error(name + " wants a value");
      return arguments[++i];
    };
    if (name == "--help") {
      std::fputs(k_help, stdout);
      std::exit(0);
    } else if (name == "--only") {
      o.only = names(value(), all_programs(), "program");
    } else if (name == "--runtimes") {
      o.runtimes = names(value(), all_contenders(), "runtime");
    } else if (name == "--workers") {
      o.workers.clear();
      for (const std::string &n : split(value()))
        o.workers.push_back(static_cast<int>(whole_number(name, n, 1, 1024)));
      if (o.workers.empty())
        throw std::runtime_error("--workers wants a number");
    } else if (name == "--samples") { // two that count: an interval needs them
      o.samples = static_cast<int>(whole_number(name, value(), 3, 10'000));
    } else if (name == "--launch") {
      o.launch = value();
      if (std::none_of(all_contenders().begin(), all_contenders().end(), [&](const contender &c) {
            const std::vector<std::string> has = split(c.launches);
            return std::find(has.begin(), has.end(), o.launch) != has.end();
          }))
        throw std::runtime_error("no runtime here has the launch policy '" + o.launch + "'");
    } else if (name == "--size") {
      o.sizes = sizes_of(value());
    } else if (name == "--limit") {
      o.limit_s = static_cast<int>(whole_number(name, value(), 1, 100'000));
    } else if (name == "--threads") {
      o.threads = whole_number(name, value(), 1, 1'000'000);
    } else if (name == "--record") {
      o.record = value();
    } else if (name == "--report") {
      o.measure = false;
    } else if (name == "--page") {
      o.page = value();
    } else if (name == "--pictures") {
      o.pictures = value();
    } else if (name == "--list") {
      o.list = true;
    } else {
      throw std::runtime_error("unknown option '" + name + "'; see weft-bench inncabs --help");
    }
  }
  return o;
}

} // namespace bench::inncabs
