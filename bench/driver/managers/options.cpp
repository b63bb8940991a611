// SPDX-License-Identifier: Apache-2.0
#include "managers.hpp"

#include "../arguments.hpp"
#include "trials.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace bench::managers {

namespace {

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
  option_table table("weft-bench managers", k_help);
  table.value("--study", [&](const std::string &text) { o.studies = studies_named(text); })
      .list("--only", o.only)
      .list("--modes", o.modes)
      .numbers("--workers", o.workers, 1024)
      .number("--runs", o.runs, 1000)
      .number("--reps", o.reps, 1000)
      .number("--budget", o.budget_s, 1'000'000)
      .value("--page", o.page)
      .value("--costs", o.costs)
      .value("--out", o.out)
      .flag("--fresh", [&] { o.fresh = true; })
      .flag("--report", [&] { o.report = true; })
      .parse(arguments);
  if (o.fresh && o.report)
    throw std::runtime_error("--fresh forgets what --report would show; drop one");
  check_names(o.only, all_programs(), "application");
  check_names(o.modes, all_modes(), "mode");
  return o;
}

} // namespace bench::managers
