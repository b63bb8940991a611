// SPDX-License-Identifier: Apache-2.0
#include "adapt.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace bench::adapt {

std::vector<way_time> parse_ways(const std::string &text) {
  std::vector<way_time> all;
  bool is_sound = true;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    way_time one;
    std::string more;
    is_sound &= words >> one.way >> one.ns && one.ns > 0 && !(words >> more);
    all.push_back(one);
  }
  if (!is_sound || all.empty())
    throw std::runtime_error("the sample printed '" + text + "', which is not WAY NS in each line");
  return all;
}

times parse_times(const std::string &text, const std::string &self) {
  times t;
  for (const auto &[name, ns] : parse_ways(text)) {
    if (name == "serial")
      t.serial = ns;
    else if (name == self)
      t.self = ns;
    else if (std::find(k_without_cut_off.begin(), k_without_cut_off.end(), name) !=
             k_without_cut_off.end())
      continue;
    else if (t.best == 0 || ns < t.best)
      t.best = ns, t.grain = name;
  }
  if (t.serial == 0 || t.self == 0)
    throw std::runtime_error("the sample printed '" + text + "', which lacks 'serial' or '" + self + "'");
  return t;
}

double parse_changes(const std::string &text) {
  double changes = -1, seconds = 0, value = 0;
  std::istringstream lines(text);
  for (std::string name; lines >> name >> value;) {
    if (name == "changes")
      changes = value;
    else if (name == "seconds")
      seconds = value;
  }
  if (changes < 0 || seconds <= 0)
    throw std::runtime_error("the sample printed '" + text + "', which has no changes and seconds");
  return 60 * changes / seconds;
}

namespace {

double best_of_all(const times &t) { return t.best > 0 ? std::min(t.serial, t.best) : t.serial; }
constexpr double k_short_ns = 10'000;

} // namespace

verdict assess_uniform(const times &t) { return {t.self / (t.best > 0 ? t.best : t.serial), 1.02, "x"}; }

verdict assess_size(const times &t) {
  if (t.serial < k_short_ns)
    return {t.self - t.serial, 0.02 * t.serial + 100, "ns"};
  return {t.self / best_of_all(t), 1.10, "x"};
}

verdict assess_irregular(const times &t) {
  return {t.self / (t.best > 0 ? t.best : t.serial), 1.05, "x"};
}

verdict assess_tree(const times &t, double nodes) { return {(t.self - t.serial) / nodes, 4, "ns"}; }

verdict assess_recursion(const times &t, const std::string &way) {
  return {t.self / best_of_all(t), way == "join" || way == "spawn" ? 1.2 : 1.1, "x"};
}

verdict assess_phases(const times &t) { return {t.self / t.best, 1.05, "x"}; }
verdict assess_equal_ways(double changes_per_minute) { return {changes_per_minute, 1, "a minute"}; }

verdict assess_time_of_fewer(double part_of_all) { return {part_of_all, 1.05, "x"}; }
verdict assess_energy_of_fewer(double part_of_all) { return {part_of_all, 0.9, "x"}; }

verdict assess_more_workers(const times &with_one, const times &with_more) {
  return {with_more.self / with_one.self, 1, "x"};
}

const std::vector<elsewhere> &rows_elsewhere() {
  static const std::vector<elsewhere> all{
      {"T4", "OpenMP dynamic,1, empty body: 3 ns an iteration", "weft-bench omp"},
      {"T8", "off, it costs no instruction", "weft-bench --instructions"}};
  return all;
}

int write_table(std::ostream &to, const std::vector<line> &lines) {
  const auto text = [](const char *format, double value) {
    char shown[48];
    std::snprintf(shown, sizeof shown, format, value);
    return std::string(shown);
  };
  int missed = 0;
  to << "| row | subject | serial us | self us | best fixed us | it is | asked |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n";
  for (const line &l : lines) {
    const std::string format = (l.judged.unit == "x" ? "%.3f " : "%.1f ") + l.judged.unit;
    const auto us = [&](double ns) { return ns > 0 ? text("%.2f", ns / 1000) : "-"; };
    to << "| " << l.row << " | " << l.subject << " | " << us(l.is.serial) << " | " << us(l.is.self)
       << " | " << us(l.is.best) << (l.is.best > 0 ? " (" + l.is.grain + ")" : "") << " | "
       << text(format.c_str(), l.judged.is) << (l.judged.met() ? "" : " **missed**") << " | "
       << text(format.c_str(), l.judged.asked) << " |\n";
    missed += !l.judged.met();
  }
  return missed;
}

} // namespace bench::adapt
