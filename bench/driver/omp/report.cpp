// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include "../results.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <ostream>
#include <stdexcept>

namespace bench::omp {

namespace {

constexpr double k_nothing = std::numeric_limits<double>::infinity();

std::string shown(double v) {
  char text[32];
  std::snprintf(text, sizeof text,
                v >= 100  ? "%.0f"
                : v >= 10 ? "%.1f"
                : v >= 1  ? "%.2f"
                          : "%.3f",
                v);
  return text;
}

const std::vector<double> *find(const values &all, const figure &f, const contender &c) {
  const auto row = all.find(f.title);
  if (row == all.end())
    return nullptr;
  const auto cell = row->second.find(c.title);
  return cell == row->second.end() || cell->second.empty() ? nullptr : &cell->second;
}

struct ends {
  double best_of_others = k_nothing, worst_of_ours = 0;
};

ends ends_of(const values &all, const figure &f) {
  ends e;
  for (const contender &c : contenders())
    if (const auto *v = find(all, f, c)) {
      if (c.ours)
        e.worst_of_ours = std::max(e.worst_of_ours, median(*v));
      else
        e.best_of_others = std::min(e.best_of_others, median(*v));
    }
  return e;
}

/// Writes the last two cells; counts the missed targets.
std::string verdict(const values &all, const figure &f, int &missed) {
  const ends e = ends_of(all, f);
  const bool relative = f.how == asked::of_best;
  std::string wanted = "at most " + shown(f.bound) +
                       (relative         ? " x the best"
                        : f.unit.empty() ? ""
                                         : " " + f.unit);
  if (e.worst_of_ours == 0 || (relative && e.best_of_others == k_nothing))
    return wanted + " | not known";
  const double reached = relative ? e.worst_of_ours / e.best_of_others : e.worst_of_ours;
  const bool met = reached <= f.bound;
  missed += !met;
  return wanted + " | " + shown(reached) + (met ? "" : ", missed");
}

} // namespace

int write_table(std::ostream &to, const values &all, int rounds) {
  to << cpu_model() << ", " << rounds << " interleaved rounds; median (least).\n\n| what | unit ";
  for (const contender &c : contenders())
    to << "| " << c.title << ' ';
  to << "| asked | reached |\n| --- | --- ";
  for (std::size_t i = 0; i < contenders().size() + 2; ++i)
    to << "| --- ";
  to << "|\n";
  int missed = 0;
  for (const row &r : all_rows())
    for (const figure &f : r.figures) {
      if (!all.count(f.title))
        continue;
      to << "| " << f.title << " | " << f.unit << ' ';
      for (const contender &c : contenders()) {
        const auto *v = find(all, f, c);
        to << "| "
           << (v ? shown(median(*v)) + " (" + shown(*std::min_element(v->begin(), v->end())) + ")"
                 : "none")
           << ' ';
      }
      to << "| " << verdict(all, f, missed) << " |\n";
    }
  return missed;
}

void write_page(const std::string &path, const std::string &text) {
  std::ifstream from(path);
  std::string page{std::istreambuf_iterator<char>(from), {}};
  const std::string begin = "<!-- weft-bench omp -->\n", end = "<!-- end -->\n";
  const std::size_t first = page.find(begin), last = page.find(end);
  if (!from || first == std::string::npos || last == std::string::npos || last < first)
    throw std::runtime_error(
        path + " has no marks '<!-- weft-bench omp -->' and '<!-- end -->' to write between");
  page.replace(first + begin.size(), last - first - begin.size(), text);
  std::ofstream file(path);
  file << page;
  if (!file.flush())
    throw std::runtime_error("cannot write " + path);
}

} // namespace bench::omp
