// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <iterator>
#include <ostream>
#include <sstream>

namespace bench::inncabs {

namespace {

/// Returns the quantile 0.975 of Student's distribution.
double quantile(int degrees) {
  static constexpr double k_first[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                       2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                       2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                       2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees <= static_cast<int>(std::size(k_first)))
    return k_first[degrees - 1];
  return degrees <= 60 ? 2.021 : degrees <= 120 ? 2.000 : 1.980; // at 40, 60, 120: never too small
}

bool same_process(const measurement &a, const measurement &b) {
  return a.program == b.program && a.runtime == b.runtime && a.workers == b.workers &&
         a.launch == b.launch;
}

} // namespace

mean_of mean(const std::vector<double> &values) {
  mean_of m;
  m.count = static_cast<int>(values.size());
  if (values.empty())
    return m;
  double sum = 0;
  for (const double v : values)
    sum += v;
  m.mean = sum / m.count;
  if (m.count < 2)
    return m;
  double squares = 0;
  for (const double v : values)
    squares += (v - m.mean) * (v - m.mean);
  m.half = quantile(m.count - 1) * std::sqrt(squares / (m.count - 1) / m.count);
  return m;
}

mean_of measurement::of(double sample::*value) const {
  std::vector<double> values;
  for (std::size_t i = 1; i < samples.size(); ++i)
    if (!std::isnan(samples[i].*value))
      values.push_back(samples[i].*value);
  return mean(values);
}

void read_lines(const std::string &output, measurement &m) {
  static constexpr struct {
    const char *name;
    double sample::*value;
  } k_values[] = {{"cpu", &sample::cpu_ns},
                  {"bandwidth", &sample::bandwidth},
                  {"task_ns", &sample::task_ns},
                  {"overhead_ns", &sample::overhead_ns},
                  {"management_ns", &sample::management_ns},
                  {"tasks", &sample::tasks}};
  std::istringstream lines(output);
  for (std::string text; std::getline(lines, text);) {
    const std::size_t space = text.find(' ');
    const std::string name = text.substr(0, space),
                      rest = space == std::string::npos ? "" : text.substr(space + 1);
    if (name == "sizes")
      m.sizes = rest;
    else if (name == "offcore")
      m.offcore = rest;
    else if (name == "wrong" || name == "failed")
      m.failure = name == "wrong" ? "wrong: " + rest : rest;
    else if (text.starts_with("no thread beyond "))
      m.failure = "threads";
    else if (name == "sample")
      m.samples.emplace_back().ns = std::strtod(rest.c_str(), nullptr);
    else if (!m.samples.empty())
      for (const auto &v : k_values)
        if (name == v.name)
          m.samples.back().*v.value = std::strtod(rest.c_str(), nullptr);
  }
  m.cut_short = output.find("it was killed after ") != std::string::npos;
  // The number of tasks is a sample's last line.
  if (!m.samples.empty() && std::isnan(m.samples.back().tasks))
    m.samples.pop_back();
}

std::vector<measurement> read_record(std::istream &from) {
  std::vector<measurement> all;
  measurement now;
  std::string output;
  const auto end_block = [&] {
    if (now.program.empty())
      return;
    read_lines(output, now);
    std::erase_if(all, [&](const measurement &m) { return same_process(m, now); });
    all.push_back(now);
  };
  for (std::string text; std::getline(from, text);) {
    if (!text.starts_with("run ")) {
      output += text + '\n';
      continue;
    }
    end_block();
    now = {};
    output.clear();
    std::istringstream words(text.substr(4));
    words >> now.program >> now.runtime >> now.workers >> now.launch >> now.load;
  }
  end_block();
  return all;
}

void write_block(std::ostream &to, const measurement &m, const std::string &output) {
  to << "run " << m.program << ' ' << m.runtime << ' ' << m.workers << ' ' << m.launch << ' '
     << m.load << '\n'
     << output;
  if (!output.empty() && !output.ends_with('\n'))
    to << '\n';
  if (!m.failure.empty())
    to << "failed " << m.failure << '\n';
}

const measurement *find(const std::vector<measurement> &all, const std::string &program,
                        const std::string &runtime, int workers) {
  for (const measurement &m : all)
    if (m.program == program && m.runtime == runtime && m.workers == workers && m.launch == "async")
      return &m;
  return nullptr;
}

} // namespace bench::inncabs
