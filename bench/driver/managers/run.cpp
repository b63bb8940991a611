// SPDX-License-Identifier: Apache-2.0
#include "managers.hpp"

#include "../apps/subjects.hpp"
#include "../arguments.hpp"
#include "../process.hpp"
#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace bench::managers {

namespace {

bool is_observed(const trial &t) { return t.what == study::bodies || t.what == study::shapes; }

std::vector<std::string> command_of(const trial &t, const options &o, const std::string &folder) {
  std::vector<std::string> c{apps::program(t.app, is_observed(t) ? "observed" : "weft"),
                             "--workers",
                             std::to_string(t.workers),
                             "--tile",
                             std::to_string(t.tile),
                             "--reps",
                             std::to_string(o.reps)};
  if (t.what == study::shapes) {
    c.push_back("--samples");
    c.push_back(counts_file(folder, t.app, t.grain, t.mode, t.workers));
  }
  return c;
}

double least(const std::string &list) {
  double best = 1e300;
  for (const std::string &one : split(list))
    best = std::min(best, std::stod(one));
  return best;
}

/// Returns the fastest repetition.
void read_observed(const std::string &output, sample &to) {
  to.seconds = 1e300;
  for (const std::string &line : split(output, '\n')) {
    const std::string seconds = apps::field(line, "seconds");
    if (seconds.empty() || std::stod(seconds) >= to.seconds)
      continue;
    to.seconds = std::stod(seconds);
    to.tasks = std::stol(apps::field(line, "tasks")) + std::stol(apps::field(line, "creators"));
    to.body_ns = std::stod(apps::field(line, "body_ns"));
    to.creator_ns = std::stod(apps::field(line, "creator_ns"));
    to.nested_ns = std::stod(apps::field(line, "nested_creator_ns"));
    to.new_ns = std::stod(apps::field(line, "new_ns"));
    to.end_ns = std::stod(apps::field(line, "end_ns"));
  }
  if (to.seconds > 1e299)
    throw std::runtime_error("it printed: " + output);
}

void read_timed(const std::string &output, sample &to) {
  const std::size_t at = output.find("app=");
  if (at == std::string::npos)
    throw std::runtime_error("it printed: " + output);
  const std::string line = output.substr(at, output.find('\n', at) - at);
  to.tasks = std::stol(apps::field(line, "tasks"));
  to.seconds = least(apps::field(line, "seconds"));
}

sample take(const trial &t, const options &o, const std::string &folder) {
  std::vector<std::string> settings = t.settings;
  settings.push_back("OPENBLAS_NUM_THREADS=1");
  const outcome result = bench::run(command_of(t, o, folder), settings);
  if (!result.ok)
    throw std::runtime_error(result.output);
  sample s{name_of(t.what), t.app, t.grain, t.mode, t.parameter, t.workers, t.run, 0, 0, 0, 0, 0};
  is_observed(t) ? read_observed(result.output, s) : read_timed(result.output, s);
  return s;
}

class evaluation {
 public:
  evaluation(const options &o, record &r) : m_options(o), m_record(r) {}

  void measure(study s) {
    for (const trial &t : trials_of(s, m_options)) {
      const std::string place =
          t.app + ", " + t.grain + ", " + t.mode + ", workers " + std::to_string(t.workers);
      if (over() || m_record.has(t) || m_failed.count(place))
        continue;
      try {
        m_record.add(take(t, m_options, m_record.folder()));
      } catch (const std::exception &e) {
        m_failed.insert(place);
        std::cerr << place << " failed: " << e.what() << std::endl;
      }
    }
  }
  [[nodiscard]] bool over() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_begin;
    return m_options.budget_s > 0 && spent.count() > m_options.budget_s;
  }
  [[nodiscard]] bool failed() const { return !m_failed.empty(); }

 private:
  const options &m_options;
  record &m_record;
  std::set<std::string> m_failed;
  std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
};

} // namespace

int run(const options &o) {
  const std::string folder = o.out.empty() ? build_folder() + "/bench/managers" : o.out;
  if (o.fresh)
    std::filesystem::remove(folder + "/samples.csv");
  record all(folder);
  evaluation work(o, all);
  if (!o.report)
    for (const study s : o.studies) {
      std::cerr << "study " << name_of(s) << std::endl;
      work.measure(s);
    }
  std::ostringstream report;
  write_report(report, all, o);
  if (o.page.empty())
    std::cout << report.str();
  else
    put_into_page(o.page, report.str(), folder);
  std::cerr << (work.over() ? "the budget is spent; the same command goes on. " : "")
            << "Files are in " << folder << '\n';
  return work.failed() ? 1 : 0;
}

} // namespace bench::managers
