// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <cmath>
#include <istream>
#include <limits>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace bench::stencil {

namespace {

constexpr struct {
  const char *name;
  double counts::*value;
} k_values[] = {{"ns", &counts::ns},
                {"tasks", &counts::tasks},
                {"exec", &counts::exec},
                {"overhead", &counts::overhead},
                {"management", &counts::management},
                {"idle", &counts::idle},
                {"overall", &counts::overall},
                {"phases", &counts::phases},
                {"accesses", &counts::accesses},
                {"misses", &counts::misses}};

/// Reads the words "ns N tasks N ... end"; returns false where one is missing.
bool read_counts(std::istream &from, counts &into) {
  for (const auto &v : k_values) {
    std::string name;
    double value = std::numeric_limits<double>::quiet_NaN();
    if (!(from >> name >> value) || name != v.name || std::isnan(value))
      return false;
    into.*v.value = value;
  }
  return true;
}

} // namespace

counts parse_run(const std::string &line) {
  std::istringstream words(line);
  std::string first;
  counts c;
  if (!(words >> first) || first != "run" || !read_counts(words, c))
    throw std::runtime_error("weft-stencil-1d printed '" + line +
                             "', which is not a run with all its counts");
  return c;
}

std::vector<counts> parse_runs(const std::string &output) {
  std::vector<counts> all;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("run "))
      all.push_back(parse_run(line));
  return all;
}

std::vector<sample> read_record(std::istream &from) {
  std::vector<sample> all;
  for (std::string line; std::getline(from, line);) {
    std::istringstream words(line);
    sample s;
    std::string end;
    if (words >> s.of.study >> s.of.model >> s.of.points >> s.of.steps >> s.of.workers >>
            s.of.size &&
        read_counts(words, s.is) && words >> end && end == "end")
      all.push_back(std::move(s));
  }
  return all;
}

void write_sample(std::ostream &to, const sample &one) {
  to << one.of.study << ' ' << one.of.model << ' ' << one.of.points << ' ' << one.of.steps << ' '
     << one.of.workers << ' ' << one.of.size;
  const auto before = to.precision(17);
  for (const auto &v : k_values)
    to << ' ' << v.name << ' ' << one.is.*v.value;
  to.precision(before);
  to << " end\n";
}

std::vector<counts> runs_of(const std::vector<sample> &all, const subject &of) {
  std::vector<counts> runs;
  for (const sample &s : all)
    if (s.of == of)
      runs.push_back(s.is);
  return runs;
}

} // namespace bench::stencil
