// SPDX-License-Identifier: Apache-2.0
#include "../process.hpp"
#include "adapt.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace bench::adapt {

namespace {

struct subject {
  std::string row, loop;
  long n, steps;
};

std::vector<subject> all_subjects(bool quick) {
  const long work = quick ? 100'000 : 10'000'000; // steps of a loop
  std::vector<subject> all;
  for (const long steps : {1, 100, 10'000})
    all.push_back({"T1", "uniform", work / steps, steps});
  for (long n = 1; n <= work; n *= 10)
    all.push_back({"T2", "uniform", n, 1});
  all.push_back({"T3", "triangle", 10'000, work / 10'000});
  all.push_back({"T3", "power", 10'000, std::max(work / 100'000, 1L)});
  all.push_back({"T3", "half", 10'000, std::max(work / 20'000, 1L)});
  all.push_back({"T3", "mandelbrot", quick ? 40 : 400, 1});
  all.push_back({"T5", "tree", 10, 1});
  all.push_back({"T5", "tree", quick ? 13 : 20, 1});
  return all;
}

times measured(const subject &of, int workers, int runs) {
  const outcome result = bench::run({build_folder() + "/bin/weft-adapt-sample", of.loop,
                                     std::to_string(of.n), std::to_string(of.steps),
                                     std::to_string(runs)},
                                    {"WEFT_WORKERS=" + std::to_string(workers)},
                                    std::chrono::seconds(600));
  if (!result.ok)
    throw std::runtime_error(result.output);
  return parse_times(result.output);
}

std::string shown(const subject &of, int workers) {
  std::ostringstream text;
  if (of.loop == "tree")
    text << "tree of depth " << of.n;
  else
    text << of.loop << ", " << of.n << " iterations of " << of.steps << " steps";
  text << ", workers " << workers;
  return text.str();
}

void judge(const subject &of, const options &o, std::vector<line> &lines) {
  if (of.loop != "tree") {
    const times is = measured(of, o.workers, o.runs);
    lines.push_back({of.row, shown(of, o.workers), is,
                     of.row == "T1"   ? assess_uniform(is)
                     : of.row == "T2" ? assess_size(is)
                                      : assess_irregular(is)});
    return;
  }
  const times with_one = measured(of, 1, o.runs);
  const double nodes = static_cast<double>((1L << (of.n + 1)) - 1);
  lines.push_back({of.row, shown(of, 1), with_one, assess_tree(with_one, nodes)});
  if (o.workers == 1)
    return;
  const times with_more = measured(of, o.workers, o.runs);
  lines.push_back(
      {of.row, shown(of, o.workers), with_more, assess_more_workers(with_one, with_more)});
}

bool is_chosen(const std::string &row, const options &o) {
  return o.only.empty() || std::find(o.only.begin(), o.only.end(), row) != o.only.end();
}

void check_names(const options &o) {
  for (const std::string &name : o.only) {
    const auto all = all_subjects(true);
    if (std::any_of(all.begin(), all.end(), [&](const subject &s) { return s.row == name; }))
      continue;
    for (const elsewhere &e : rows_elsewhere())
      if (name == e.row)
        throw std::runtime_error("row " + name + " is not measured here: " + e.where);
    throw std::runtime_error("there is no row '" + name + "'; --list names them");
  }
}

} // namespace

int run(const options &o) {
  check_names(o);
  if (o.list) {
    std::cout << "T1 T2 T3 T5\n";
    for (const elsewhere &e : rows_elsewhere())
      std::cout << e.row << ": " << e.claim << ": " << e.where << '\n';
    return 0;
  }
  std::vector<line> lines;
  bool failed = false;
  for (const subject &of : all_subjects(o.quick)) {
    if (!is_chosen(of.row, o))
      continue;
    try {
      judge(of, o, lines);
      std::cerr << of.row << ": " << lines.back().subject << " is done" << std::endl;
    } catch (const std::exception &e) {
      std::cerr << of.row << ": " << shown(of, o.workers) << " failed: " << e.what() << '\n';
      failed = true;
    }
  }
  const int missed = write_table(std::cout, lines);
  std::cout << missed << " of " << lines.size() << " lines are missed\n";
  return failed || missed != 0 ? 1 : 0;
}

} // namespace bench::adapt
