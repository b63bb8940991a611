// SPDX-License-Identifier: Apache-2.0
#include "apps.hpp"

#include "subjects.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>

namespace bench::apps {

namespace {

constexpr const char *k_help =
    R"(weft-bench apps [OPTION...]      sweeps the applications of bench/apps over task sizes, on Weft and its peers
  --only NAME,...                applications
  --series NAME,...              curves
  --tiles N,...                  instead of the tiles of each application
  --runs N                       interleaved runs (default 3; 15 with --coarse)
  --reps N                       timed repetitions in each run, of which the median counts (default 3)
  --workers N                    default 2
  --budget SECONDS               stop then; the same command goes on where it stopped
  --out FOLDER                   default bench/granularity in the build folder
  --fresh                        forget what the folder holds
  --coarse                       instead of the sweep: Weft and its peers in pairs, at each application's coarse size
  --count                        only count instructions, which needs no quiet machine
  --report                       measure nothing; pictures and tables of what is there
  --list                         applications and series
Writes samples.csv and instructions.csv, then NAME.csv and NAME.svg for each application, and tables on the output.
Instructions are counted by callgrind. bench/peers/install fetches the peers.
)";

long whole_number(const std::string &option, const std::string &text, long most) {
  char *end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || n < 1 || n > most)
    throw std::runtime_error(option + " wants a number from 1 to " + std::to_string(most) +
                             ", not '" + text + "'");
  return n;
}

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
  const std::map<std::string, mode> modes{{"--coarse", mode::coarse},
                                          {"--count", mode::count},
                                          {"--report", mode::report},
                                          {"--list", mode::list}};
  const std::map<std::string, std::function<void(const std::string &, const std::string &)>> valued{
      {"--only", [&](auto &, auto &text) { o.only = split(text); }},
      {"--series", [&](auto &, auto &text) { o.series = split(text); }},
      {"--tiles",
       [&](auto &name, auto &text) {
         for (const std::string &tile : split(text))
           o.tiles.push_back(whole_number(name, tile, 1L << 40));
       }},
      {"--runs",
       [&](auto &name, auto &text) { o.runs = static_cast<int>(whole_number(name, text, 1000)); }},
      {"--reps",
       [&](auto &name, auto &text) { o.reps = static_cast<int>(whole_number(name, text, 1000)); }},
      {"--workers",
       [&](auto &name, auto &text) {
         o.workers = static_cast<int>(whole_number(name, text, 1024));
       }},
      {"--budget",
       [&](auto &name, auto &text) {
         o.budget_s = static_cast<double>(whole_number(name, text, 1000000));
       }},
      {"--out", [&](auto &, auto &text) { o.out = text; }},
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &name = arguments[i];
    if (name == "--help") {
      std::fputs(k_help, stdout);
      std::exit(0);
    } else if (name == "--fresh") {
      o.fresh = true;
    } else if (const auto m = modes.find(name); m != modes.end()) {
      o.what = m->second;
    } else if (const auto v = valued.find(name); v != valued.end()) {
      if (++i == arguments.size())
        throw std::runtime_error(name + " wants a value");
      v->second(name, arguments[i]);
    } else {
      throw std::runtime_error("unknown option '" + name + "'; see weft-bench apps --help");
    }
  }
  check_series(o.series);
  if (o.fresh && (o.what == mode::report || o.what == mode::list))
    throw std::runtime_error("--fresh forgets what --report and --list would show; drop one");
  if (!o.runs)
    o.runs = o.what == mode::coarse ? 15 : 3;
  return o;
}

} // namespace bench::apps
