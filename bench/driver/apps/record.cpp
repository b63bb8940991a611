// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include "../arguments.hpp"
#include "subjects.hpp"

#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace bench::apps {

namespace {

const char k_samples[] = "/samples.csv", k_counts[] = "/instructions.csv";
const char k_samples_head[] = "app,series,workers,size,tile,run,tasks,serial_s,wall_s";
const char k_counts_head[] = "app,size,tile,instructions,tasks";

sample to_sample(const std::vector<std::string> &c) {
  return {c.at(0),
          c.at(1),
          std::stoi(c.at(2)),
          std::stol(c.at(3)),
          std::stol(c.at(4)),
          std::stoi(c.at(5)),
          std::stol(c.at(6)),
          std::stod(c.at(7)),
          std::stod(c.at(8))};
}

count to_count(const std::vector<std::string> &c) {
  return {c.at(0), std::stol(c.at(1)), std::stol(c.at(2)), std::stod(c.at(3)), std::stol(c.at(4))};
}

/// Calls `take` with each line but the first.
template <class Take>
void read(const std::string &file, Take take) {
  std::ifstream from(file);
  std::string line;
  std::getline(from, line);
  for (int number = 2; std::getline(from, line); ++number)
    try {
      take(split(line));
    } catch (const std::exception &) {
      throw std::runtime_error(file + ", line " + std::to_string(number) + " cannot be read: '" +
                               line + "'; delete the line, or start anew with --fresh");
    }
}

void append(const std::string &file, const char *head, const std::string &line) {
  const bool is_new = !std::filesystem::exists(file);
  std::ofstream to(file, std::ios::app);
  if (is_new)
    to << head << '\n';
  to << line << '\n';
  if (!to.flush())
    throw std::runtime_error("cannot write " + file);
}

} // namespace

record::record(const std::string &folder) : m_folder(folder) {
  std::filesystem::create_directories(folder);
  read(folder + k_samples,
       [&](const std::vector<std::string> &cells) { m_samples.push_back(to_sample(cells)); });
  read(folder + k_counts,
       [&](const std::vector<std::string> &cells) { m_counts.push_back(to_count(cells)); });
}

void record::add(const sample &s) {
  std::ostringstream line;
  line << std::setprecision(9) << s.app << ',' << s.series << ',' << s.workers << ',' << s.size
       << ',' << s.tile << ',' << s.run << ',' << s.tasks << ',' << s.serial_s << ',' << s.wall_s;
  append(m_folder + k_samples, k_samples_head, line.str());
  m_samples.push_back(s);
}

void record::add(const count &c) {
  std::ostringstream line;
  line << std::setprecision(15) << c.app << ',' << c.size << ',' << c.tile << ',' << c.instructions
       << ',' << c.tasks;
  append(m_folder + k_counts, k_counts_head, line.str());
  m_counts.push_back(c);
}

const sample *record::find(const sample &like) const {
  for (const sample &s : m_samples)
    if (s.app == like.app && s.series == like.series && s.workers == like.workers &&
        s.size == like.size && s.tile == like.tile && s.run == like.run)
      return &s;
  return nullptr;
}

std::optional<double> record::instructions_per_task(const std::string &app, long size,
                                                    long tile) const {
  for (const count &c : m_counts)
    if (c.app == app && c.size == size && c.tile == tile)
      return c.instructions / static_cast<double>(c.tasks);
  return std::nullopt;
}

} // namespace bench::apps
