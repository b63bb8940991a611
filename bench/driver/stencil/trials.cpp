// SPDX-License-Identifier: Apache-2.0
#include "trials.hpp"

#include "../process.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace bench::stencil {

namespace {

constexpr std::chrono::seconds k_limit(3600); // of a process: all runs of a size

std::string started(const std::vector<std::string> &words, int workers) {
  std::vector<std::string> command{build_folder() + "/bin/weft-stencil-1d"};
  command.insert(command.end(), words.begin(), words.end());
  const outcome result = bench::run(
      command, {"WEFT_WORKERS=" + std::to_string(workers), "WEFT_COUNTERS_TIME=exact"}, k_limit);
  if (!result.ok)
    throw std::runtime_error("weft-stencil-1d failed: " + result.output);
  return result.output;
}

} // namespace

std::string record_path(const std::string &given, const std::string &name) {
  if (!given.empty())
    return given;
  std::filesystem::create_directories(build_folder() + "/bench");
  return build_folder() + "/bench/" + name;
}

trials::trials(std::string record, bool fresh) : m_record(std::move(record)) {
  if (fresh)
    std::filesystem::remove(m_record);
  std::ifstream from(m_record);
  m_all = read_record(from);
  from.clear();
  if (from.seekg(-1, std::ios::end) && from.peek() != '\n') // a line that was cut off
    std::ofstream(m_record, std::ios::app) << '\n';
}

std::vector<counts> trials::of(const subject &what, int runs) {
  std::vector<counts> have = runs_of(m_all, what);
  if (static_cast<int>(have.size()) >= runs) {
    ++m_known;
    return have;
  }
  const int missing = runs - static_cast<int>(have.size());
  const std::string output = started({what.model, std::to_string(what.points),
                                      std::to_string(what.steps), std::to_string(what.size),
                                      std::to_string(missing), serial_sum(what.points, what.steps)},
                                     what.workers);
  std::ofstream to(m_record, std::ios::app);
  for (const counts &c : parse_runs(output)) {
    m_all.push_back({what, c});
    write_sample(to, m_all.back());
    have.push_back(c);
  }
  if (!to.flush())
    throw std::runtime_error("cannot write " + m_record);
  if (static_cast<int>(have.size()) < runs)
    throw std::runtime_error("weft-stencil-1d printed fewer runs than it was asked for: " + output);
  ++m_measured;
  return have;
}

const std::string &trials::serial_sum(long points, int steps) {
  if (m_sum.empty() || m_sum_points != points || m_sum_steps != steps) {
    std::istringstream words(started({"serial", std::to_string(points), std::to_string(steps)}, 1));
    std::string word;
    while (words >> word && word != "sum") {
    }
    if (!(words >> m_sum))
      throw std::runtime_error("weft-stencil-1d serial printed no sum");
    m_sum_points = points;
    m_sum_steps = steps;
  }
  return m_sum;
}

} // namespace bench::stencil
