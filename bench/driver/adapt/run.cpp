// SPDX-License-Identifier: Apache-2.0
#include "../process.hpp"
#include "adapt.hpp"
#include "curves.hpp"
#include "half.hpp"
#include "subjects.hpp"

#include <memory_bound.hpp>

#include <algorithm>
#include <iostream>
#include <stdexcept>

namespace bench::adapt {

namespace {

void measure_loop(const subject &of, const options &o, std::vector<line> &lines) {
  const times is = parse_times(printed_by_sample(of, o.workers, o.runs));
  lines.push_back({of.row, shown(of, o.workers), is,
                   of.row == "T1"   ? assess_uniform(is)
                   : of.row == "T2" ? assess_size(is)
                                    : assess_irregular(is)});
}

void measure_tree(const subject &of, const options &o, std::vector<line> &lines) {
  const times with_one = parse_times(printed_by_sample(of, 1, o.runs));
  const double nodes = static_cast<double>((1L << (of.n + 1)) - 1);
  lines.push_back({of.row, shown(of, 1), with_one, assess_tree(with_one, nodes)});
  if (o.workers == 1)
    return;
  const times with_more = parse_times(printed_by_sample(of, o.workers, o.runs));
  lines.push_back(
      {of.row, shown(of, o.workers), with_more, assess_more_workers(with_one, with_more)});
}

void measure_recursion(const subject &of, const options &o, std::vector<line> &lines) {
  const std::string printed = printed_by_sample(of, o.workers, o.runs);
  for (const std::string &way : k_without_cut_off) {
    const times is = parse_times(printed, way);
    lines.push_back({of.row, shown(of, o.workers) + ", " + way, is, assess_recursion(is, way)});
  }
}

line measure_half(const subject &of, const options &o) {
  const auto all = halves_before();
  const auto before = std::find_if(all.begin(), all.end(),
                                   [&](const known_half &h) { return of.name == h.app; });
  return measure_half(*before, o.workers, std::clamp(o.runs / 10, 1, 3));
}

void measure_changes(const subject &of, const options &o, std::vector<line> &lines) {
  const busy_processes beside(of.neighbours);
  const std::string printed =
      printed_by_sample({of.name, std::to_string(of.n), std::to_string(of.steps)},
                        {"WEFT_TUNE=on", "WEFT_TUNE_HISTORY=none"}, o.workers);
  if (of.what == subject::kind::equal_ways) {
    lines.push_back({of.row, shown(of, o.workers), {}, assess_equal_ways(parse_changes(printed))});
    return;
  }
  const times is = parse_times(printed);
  lines.push_back({of.row, shown(of, o.workers), is, assess_phases(is)});
}

/// Asks the model: the same on each machine.
void ask_model(const subject &of, std::vector<line> &lines) {
  memory_model::parameters p;
  p.workers = static_cast<unsigned>(of.n);
  p.low = 20; // all workers take 40 or 80 W
  p.high = 38;
  const memory_model::outcome all = memory_model::simulate(p, memory_model::goal::all);
  for (const auto aim : {memory_model::goal::energy, memory_model::goal::watts}) {
    const memory_model::outcome those = memory_model::simulate(p, aim);
    const std::string subject = shown(of, 0) + ", " + std::string(name_of(aim)) + ", kept " +
                                std::to_string(those.kept);
    const times per_task{all.time_ns / p.tasks, those.time_ns / p.tasks, 0, ""};
    lines.push_back({of.row, subject + ": time", per_task,
                     assess_time_of_fewer(those.time_ns / all.time_ns)});
    lines.push_back({of.row, subject + ": energy", {},
                     assess_energy_of_fewer(those.energy_uj / all.energy_uj)});
  }
}

void measure(const subject &of, const options &o, std::vector<line> &lines) {
  switch (of.what) {
  case subject::kind::tree:
    return measure_tree(of, o, lines);
  case subject::kind::recursion:
    return measure_recursion(of, o, lines);
  case subject::kind::half:
    lines.push_back(measure_half(of, o));
    return;
  case subject::kind::phases:
  case subject::kind::equal_ways:
    return measure_changes(of, o, lines);
  case subject::kind::memory_bound:
    return ask_model(of, lines);
  default:
    return measure_loop(of, o, lines);
  }
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
  if (!o.curves.empty())
    return run_curves(o);
  check_names(o);
  if (o.list) {
    std::cout << "T1 T2 T3 T5 T6 T7 T9 T10\n";
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
      measure(of, o, lines);
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
