// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include "../apps/subjects.hpp"
#include "../arguments.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <stdexcept>

namespace bench::managers {

namespace {

// Modes hold commas.
constexpr char k_between = ';';
constexpr const char *k_head =
    "study;app;grain;mode;parameter;workers;run;tasks;seconds;body_ns;creator_ns;nested_ns;new_ns;end_ns";

sample to_sample(const std::string &line) {
  const std::vector<std::string> c = split(line, k_between);
  return {c.at(0),
          c.at(1),
          c.at(2),
          c.at(3),
          c.at(4),
          std::stoi(c.at(5)),
          std::stoi(c.at(6)),
          std::stol(c.at(7)),
          std::stod(c.at(8)),
          std::stod(c.at(9)),
          std::stod(c.at(10)),
          std::stod(c.at(11)),
          std::stod(c.at(12)),
          std::stod(c.at(13))};
}

} // namespace

record::record(const std::string &folder) : m_folder(folder) {
  std::filesystem::create_directories(folder);
  const std::string file = folder + "/samples.csv";
  std::ifstream from(file);
  std::string line;
  std::getline(from, line);
  for (int number = 2; std::getline(from, line); ++number)
    try {
      m_samples.push_back(to_sample(line));
    } catch (const std::exception &) {
      throw std::runtime_error(file + ", line " + std::to_string(number) + " cannot be read: '" +
                               line + "'; delete the line, or start anew with --fresh");
    }
}

void record::add(const sample &s) {
  const std::string file = m_folder + "/samples.csv";
  const bool is_new = !std::filesystem::exists(file);
  std::ofstream to(file, std::ios::app);
  if (is_new)
    to << k_head << '\n';
  const char b = k_between;
  to << std::setprecision(9) << s.study << b << s.app << b << s.grain << b << s.mode << b
     << s.parameter << b << s.workers << b << s.run << b << s.tasks << b << s.seconds << b
     << s.body_ns << b << s.creator_ns << b << s.nested_ns << b << s.new_ns << b << s.end_ns
     << '\n';
  if (!to.flush())
    throw std::runtime_error("cannot write " + file);
  m_samples.push_back(s);
}

bool record::has(const trial &t) const {
  return std::any_of(m_samples.begin(), m_samples.end(), [&](const sample &s) {
    return s.study == name_of(t.what) && s.app == t.app && s.grain == t.grain && s.mode == t.mode &&
           s.parameter == t.parameter && s.workers == t.workers && s.run == t.run;
  });
}

} // namespace bench::managers
