// SPDX-License-Identifier: Apache-2.0
#include "../process.hpp"
#include "inncabs.hpp"
#include "report.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace bench::inncabs {

namespace {

bool chosen(const std::vector<std::string> &list, const std::string &name) {
  return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

bool has_launch(const contender &c, const std::string &launch) {
  return ("," + std::string(c.launches) + ",").find("," + launch + ",") != std::string::npos;
}

/// Runs one process, and adds its block to the record. Returns false when something is wrong that
/// is no matter of threads or time.
bool measure(const options &o, const program &p, const contender &c, int workers,
             const std::string &launch) {
  std::vector<std::string> command{build_folder() + "/bin/" + c.binary,
                                   p.name,
                                   "--workers",
                                   std::to_string(workers),
                                   "--samples",
                                   std::to_string(o.samples),
                                   "--threads",
                                   std::to_string(o.threads),
                                   "--launch",
                                   launch};
  for (const std::string &size : o.sizes)
    if (size.starts_with(std::string(p.name) + ":"))
      command.push_back(size.substr(size.find(':') + 1));
  std::vector<std::string> settings;
  if (*c.library)
    settings.push_back("LD_LIBRARY_PATH=" + build_folder() + "/lib/" + c.library);
  measurement m;
  m.program = p.name, m.runtime = c.name, m.workers = workers, m.launch = launch;
  double load = 0;
  if (getloadavg(&load, 1) == 1)
    m.load = load;
  const outcome result = bench::run(command, settings, std::chrono::seconds(o.limit_s));
  read_lines(result.output, m);
  if (m.cut_short && !m.measured())
    m.failure = "time";
  else if (!m.cut_short && !result.ok && m.failure.empty())
    m.failure = result.output.substr(result.output.rfind('\n') + 1);
  std::ofstream record(o.record, std::ios::app);
  write_block(record, m, result.output);
  if (!record.flush())
    throw std::runtime_error("cannot write " + o.record);
  std::cerr << p.name << ", " << c.name << ", " << workers << ", " << launch << ": "
            << (m.failure.empty() ? std::to_string(m.of(&sample::ns).mean / 1e6) + " ms"
                                  : m.failure)
            << std::endl;
  return m.failure.empty() || m.failure == "threads" || m.failure == "time";
}

bool measure_all(const options &o) {
  bool right = true;
  for (const program &p : all_programs()) {
    if (!chosen(o.only, p.name))
      continue;
    for (const int workers : o.workers)
      for (const contender &c : all_contenders()) {
        const bool serial = c.name == std::string("serial");
        if (serial ? workers != o.workers.front()
                   : !chosen(o.runtimes, c.name) || !has_launch(c, o.launch))
          continue;
        if (!std::filesystem::exists(build_folder() + "/bin/" + c.binary) ||
            (*c.library && !std::filesystem::exists(build_folder() + "/lib/" + c.library)))
          std::cerr << c.name << " is not built: left out\n";
        else
          right &= measure(o, p, c, serial ? 1 : workers, serial ? "async" : o.launch);
      }
  }
  return right;
}

template <class Write>
void write_file(const std::string &path, Write write, const std::vector<measurement> &all) {
  std::ofstream file(path);
  write(file, all);
  if (!file.flush())
    throw std::runtime_error("cannot write " + path);
}

} // namespace

int run(const options &given) {
  options o = given;
  if (o.list) {
    for (const program &p : all_programs())
      std::cout << p.name << '\n';
    for (const contender &c : all_contenders())
      std::cout << "  runtime " << c.name << ": " << c.launches << '\n';
    return 0;
  }
  if (o.record.empty()) {
    std::filesystem::create_directories(build_folder() + "/bench");
    o.record = build_folder() + "/bench/inncabs.txt";
  }
  const bool right = !o.measure || measure_all(o);
  std::ifstream record(o.record);
  if (!record)
    throw std::runtime_error("cannot read " + o.record);
  const std::vector<measurement> all = read_record(record);
  std::ostringstream tables;
  write_tables(tables, all);
  std::cout << tables.str();
  if (!o.page.empty())
    write_page(o.page, tables.str());
  if (!o.pictures.empty()) {
    std::filesystem::create_directories(o.pictures);
    write_file(o.pictures + "/times.svg", write_times, all);
    write_file(o.pictures + "/overhead.svg", write_overhead, all);
  }
  return right ? 0 : 1;
}

} // namespace bench::inncabs
