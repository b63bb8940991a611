// SPDX-License-Identifier: Apache-2.0
#include "managers.hpp"

#include "../apps/subjects.hpp"
#include "trials.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>

namespace bench::managers {

namespace {

using apps::split;

constexpr const char *k_help =
    R"(weft-bench managers [OPTION...]  the modes of manage.mode on five applications, coarse and fine
  --study NAME,...               times, bodies, pairs, parameters, shapes; default all
  --only NAME,...                applications
  --modes NAME,...               modes
  --workers N,...                default 1,2
  --runs N                       interleaved runs (default 5; 15 pairs; 3 of bodies and parameters)
  --reps N                       timed repetitions in each run, of which the least counts (default 3)
  --budget SECONDS               stop then; the same command goes on where it stopped
  --out FOLDER                   default bench/managers in the build folder
  --fresh                        forget what the folder holds
  --report                       measure nothing; tables and pictures of what is there
  --page FILE                    put the report into this page, between its marks, and the pictures beside it
  --costs FILE                   what weft-manager-calibrate wrote: the report predicts 4 to 256 workers
Writes samples.csv, pictures APP-GRAIN-MODE.svg of the counts over time, and tables on the output. Needs the target weft_apps.
)";

int whole_number(const std::string &option, const std::string &text, long most) {
  char *end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || n < 1 || n > most)
    throw std::runtime_error(option + " wants a number from 1 to " + std::to_string(most) +
                             ", not '" + text + "'");
  return static_cast<int>(n);
}

std::vector<study> studies_named(const std::string &list) {
  const std::map<std::string, study> known{{"times", study::times},
                                           {"bodies", study::bodies},
                                           {"pairs", study::pairs},
                                           {"parameters", study::parameters},
                                           {"shapes", study::shapes}};
  std::vector<study> found;
  for (const std::string &name : split(list)) {
    const auto it = known.find(name);
    if (it == known.end())
      throw std::runtime_error("no study is called '" + name +
                               "'; there are times, bodies, pairs, parameters and shapes");
    found.push_back(it->second);
  }
  return found;
}

template <class T>
void check_names(const std::vector<std::string> &asked, const std::vector<T> &known,
                 const char *what) {
  for (const std::string &name : asked)
    if (std::none_of(known.begin(), known.end(), [&](const T &k) { return k.name == name; })) {
      std::string all;
      for (const T &k : known)
        all += " " + k.name;
      throw std::runtime_error(std::string("no ") + what + " is called '" + name + "'; there are" +
                               all);
    }
}

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  const std::map<std::string, std::function<void(const std::string &, const std::string &)>> valued{
      {"--study", [&](auto &, auto &text) { o.studies = studies_named(text); }},
      {"--only", [&](auto &, auto &text) { o.only = split(text); }},
      {"--modes", [&](auto &, auto &text) { o.modes = split(text); }},
      {"--workers",
       [&](auto &name, auto &text) {
         o.workers.clear();
         for (const std::string &n : split(text))
           o.workers.push_back(whole_number(name, n, 1024));
       }},
      {"--runs", [&](auto &name, auto &text) { o.runs = whole_number(name, text, 1000); }},
      {"--reps", [&](auto &name, auto &text) { o.reps = whole_number(name, text, 1000); }},
      {"--budget", [&](auto &name, auto &text) { o.budget_s = whole_number(name, text, 1000000); }},
      {"--page", [&](auto &, auto &text) { o.page = text; }},
      {"--costs", [&](auto &, auto &text) { o.costs = text; }},
      {"--out", [&](auto &, auto &text) { o.out = text; }},
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &name = arguments[i];
    if (name == "--help") {
      std::fputs(k_help, stdout);
      std::exit(0);
    } else if (name == "--fresh") {
      o.fresh = true;
    } else if (name == "--report") {
      o.report = true;
    } else if (const auto v = valued.find(name); v != valued.end()) {
      if (++i == arguments.size())
        throw std::runtime_error(name + " wants a value");
      v->second(name, arguments[i]);
    } else {
      throw std::runtime_error("unknown option '" + name + "'; see weft-bench managers --help");
    }
  }
  if (o.fresh && o.report)
    throw std::runtime_error("--fresh forgets what --report would show; drop one");
  check_names(o.only, all_programs(), "application");
  check_names(o.modes, all_modes(), "mode");
  return o;
}

} // namespace bench::managers
