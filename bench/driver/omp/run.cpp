// SPDX-License-Identifier: Apache-2.0
#include "../process.hpp"
#include "omp.hpp"
#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>

namespace bench::omp {

namespace {

double printed(const std::string &output, const std::string &metric) {
  std::istringstream lines(output);
  std::string name;
  for (double value = 0; lines >> name >> value;)
    if (name == metric)
      return value;
  throw std::runtime_error("it printed no '" + metric + "': " + output);
}

std::string start(const contender &c, const std::vector<std::string> &arguments) {
  std::vector<std::string> command{build_folder() + "/peers/bin/" + c.program};
  if (!std::filesystem::exists(command[0]))
    throw std::runtime_error(command[0] + " is not there: run bench/peers/install " +
                             build_folder() + "/peers");
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<std::string> settings{"OMP_MAX_ACTIVE_LEVELS=2", "OMP_DYNAMIC=false",
                                    "OMP_NUM_THREADS=2"};
  settings.push_back("LD_LIBRARY_PATH=" +
                     (c.ours ? build_folder() + "/lib/weft-omp" : std::string()));
  const outcome result = bench::run(command, settings);
  if (!result.ok)
    throw std::runtime_error(result.output);
  return result.output;
}

class measurement {
 public:
  explicit measurement(const options &o) : m_options(o) {}

  void round() {
    for (const row &r : all_rows())
      if (m_options.only.empty() ||
          std::find(m_options.only.begin(), m_options.only.end(), r.name) != m_options.only.end())
        for (const contender &c : contenders())
          take(r, c);
  }
  [[nodiscard]] bool over() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - m_begin;
    return m_options.budget_s > 0 && spent.count() > m_options.budget_s;
  }
  [[nodiscard]] const values &all() const { return m_all; }
  [[nodiscard]] bool failed() const { return !m_failed.empty(); }

 private:
  void take(const row &r, const contender &c) {
    const std::string place = r.name + ", " + c.title;
    if (m_failed.count(place))
      return;
    try {
      const auto busy = r.busy ? std::make_unique<busy_processes>(r.busy) : nullptr;
      const std::string output = start(c, r.arguments);
      for (const figure &f : r.figures) {
        const double value = f.metric == "serial" ? printed(output, "ns") / serial_ns(r, c)
                                                  : printed(output, f.metric);
        m_all[f.title][c.title].push_back(value * f.scale);
      }
    } catch (const std::exception &e) {
      m_failed.insert(place);
      std::cerr << place << " failed: " << e.what() << std::endl;
    }
  }
  static double serial_ns(const row &r, const contender &c) {
    std::vector<std::string> arguments = r.arguments;
    arguments[1] = "1";
    return printed(start(c, arguments), "ns");
  }

  const options &m_options;
  values m_all;
  std::set<std::string> m_failed;
  std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
};

} // namespace

int run(const options &o) {
  measurement work(o);
  int rounds = 0;
  while (rounds < o.rounds && !work.over()) {
    work.round();
    std::cerr << "round " << ++rounds << " of " << o.rounds << " is done" << std::endl;
  }
  std::ostringstream table;
  const int missed = write_table(table, work.all(), rounds);
  std::cout << table.str() << missed << " targets missed\n";
  if (!o.page.empty())
    write_page(o.page, table.str());
  return work.failed() ? 1 : 0;
}

} // namespace bench::omp
