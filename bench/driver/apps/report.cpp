// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include "../results.hpp"
#include "chart.hpp"
#include "curves.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <thread>

namespace bench::apps {

namespace {

constexpr double k_wanted_efficiency = 0.85; // of Weft, where the best peer has one half
constexpr double k_wanted_ratio = 4;         // of the half points
constexpr double k_wanted_coarse_pragma = 1.02, k_wanted_fine_pragma = 1.15; // over the C++ API

std::string shown(const char *format, double v) {
  char text[64];
  std::snprintf(text, sizeof text, format, v);
  return text;
}

/// Returns instructions per task with three digits.
std::string shown(const std::optional<half_point> &h) {
  return h ? (h->beyond ? "< " : "") + shown("%.3g", h->instructions) : "never";
}

std::ofstream open(const std::string &file) {
  std::ofstream to(file);
  if (!to)
    throw std::runtime_error("cannot write " + file);
  return to;
}

const point *at(const curve &c, long tile) {
  for (const point &p : c.points)
    if (p.tile == tile)
      return &p;
  return nullptr;
}

/// Returns the best peer: its curve falls through one half at the smallest tasks.
const curve *best_peer(const std::vector<curve> &all) {
  const curve *best = nullptr;
  std::optional<half_point> best_half;
  for (const series &one : all_series())
    if (const curve *c = one.what == series::kind::peer ? find(all, one.name) : nullptr)
      if (const auto h = half(*c); h && (!best_half || h->instructions < best_half->instructions)) {
        best = c;
        best_half = h;
      }
  return best;
}

void write_half_row(std::ostream &to, const subject &s, const std::vector<curve> &all) {
  const curve *own = find(all, "weft"), *peer = best_peer(all);
  to << "| " << s.name;
  for (const series &one : all_series())
    if (one.what == series::kind::weft || one.what == series::kind::peer) {
      const curve *c = find(all, one.name);
      to << " | " << (c ? shown(half(*c)) : "");
    }
  if (own && peer) {
    const std::optional<half_point> mine = half(*own), theirs = half(*peer);
    const point *same = at(*own, theirs->tile);
    const double smaller = mine ? theirs->instructions / mine->instructions : 0;
    to << " | " << (mine && mine->beyond ? "> " : "") << shown("%.1f", smaller)
       << (smaller >= k_wanted_ratio ? "" : " (missed)") << " | ";
    if (same)
      to << shown("%.0f %%", 100 * same->efficiency)
         << (same->efficiency >= k_wanted_efficiency ? "" : " (missed)");
  } else {
    to << " | | ";
  }
  to << " |\n";
}

void write_half_table(std::ostream &to, const record &r, const std::vector<subject> &subjects,
                      int workers) {
  to << "### Instructions per task at an efficiency of 50 %, " << workers
     << " workers\n\n| application";
  std::string rule = "| ---";
  for (const series &one : all_series())
    if (one.what == series::kind::weft || one.what == series::kind::peer) {
      to << " | " << one.name;
      rule += " | ---";
    }
  to << " | Weft's tasks smaller by (>= 4) | Weft at the best peer's 50 % tile (>= 85 %) |\n"
     << rule << " | --- | --- |\n";
  for (const subject &s : subjects)
    write_half_row(to, s, curves(r, s, workers));
}

void write_ablation_table(std::ostream &to, const record &r, const std::vector<subject> &subjects,
                          int workers) {
  to << "\n### The same without parts of Weft\n\n| application";
  std::string rule = "| ---";
  for (const series &one : all_series())
    if (one.what == series::kind::weft || one.what == series::kind::ablation) {
      to << " | " << one.name;
      rule += " | ---";
    }
  to << " |\n" << rule << " |\n";
  for (const subject &s : subjects) {
    const std::vector<curve> all = curves(r, s, workers);
    to << "| " << s.name;
    for (const series &one : all_series())
      if (one.what == series::kind::weft || one.what == series::kind::ablation) {
        const curve *c = find(all, one.name);
        to << " | " << (c ? shown(half(*c)) : "");
      }
    to << " |\n";
  }
}

void write_coarse_table(std::ostream &to, const record &r, const std::vector<subject> &subjects,
                        int workers) {
  to << "\n### At coarse size: time of Weft over that of the fastest peer\n\n"
     << "| application | tile | fastest peer | pairs | median | 95 % interval | |\n"
     << "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const subject &s : subjects)
    if (const auto found = against_best_peer(r, s, s.coarse, workers))
      to << "| " << s.name << " | " << s.coarse << " | " << found->other << " | " << found->pairs
         << " | " << shown("%.3f", found->median) << " | " << shown("%.3f", found->low) << " to "
         << shown("%.3f", found->high) << " | "
         << (!found->enough    ? "too few"
             : found->low > 1  ? "slower"
             : found->high < 1 ? "faster"
                               : "as fast")
         << " |\n";
}

/// Returns the time over that of the other series at the same tile; empty where one is missing.
std::string time_ratio(const curve *c, const point &other) {
  const point *own = c ? at(*c, other.tile) : nullptr;
  return own ? shown("%.2f", own->wall_s / other.wall_s) : "";
}

void write_by_hand(std::ostream &to, const record &r, const std::vector<subject> &subjects,
                   int workers) {
  for (const subject &s : subjects) {
    const std::vector<curve> all = curves(r, s, workers);
    const curve *hand = find(all, "threads");
    if (!hand)
      continue;
    to << "\n### " << s.name << ": time over that of plain threads\n\n"
       << "| tile | weft | weft:taskfor |\n| --- | --- | --- |\n";
    for (const point &p : hand->points)
      to << "| " << p.tile << " | " << time_ratio(find(all, "weft"), p) << " | "
         << time_ratio(find(all, "weft:taskfor"), p) << " |\n";
  }
}

} // namespace

void write_files(const record &r, const subject &s, int workers) {
  const std::vector<curve> all = curves(r, s, workers);
  if (all.empty())
    return;
  std::ofstream table = open(r.folder() + "/" + s.name + ".csv");
  table
      << "series,workers,size,tile,tasks,instructions_per_task,serial_s,wall_s,efficiency,performance_over_"
         "best\n";
  for (const curve &c : all)
    for (const point &p : c.points)
      table << c.series << ',' << workers << ',' << s.size << ',' << p.tile << ',' << p.tasks << ','
            << p.instructions << ',' << p.serial_s << ',' << p.wall_s << ',' << p.efficiency << ','
            << p.relative << '\n';
  std::ofstream picture = open(r.folder() + "/" + s.name + ".svg");
  write_chart(picture, s.title,
              "size " + std::to_string(s.size) + ", " + std::to_string(workers) + " workers, " +
                  cpu_model(),
              all);
}

void write_pragma_table(std::ostream &to, const record &r, const std::vector<subject> &subjects,
                        int workers) {
  to << cpu_model() << ", " << std::thread::hardware_concurrency() << " CPUs\n\n"
     << "### Time of `#pragma oss` over that of the C++ API by the same Clang, " << workers
     << " workers\n\n"
     << "| application | tile | pairs | median | 95 % interval | bound | |\n"
     << "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const subject &s : subjects)
    for (const long tile : {*std::min_element(s.sweep.begin(), s.sweep.end()), s.coarse})
      if (const auto found = against(r, s, tile, workers, "oss", "weft:clang")) {
        const double bound = tile == s.coarse ? k_wanted_coarse_pragma : k_wanted_fine_pragma;
        to << "| " << s.name << " | " << tile << " | " << found->pairs << " | "
           << shown("%.3f", found->median) << " | " << shown("%.3f", found->low) << " to "
           << shown("%.3f", found->high) << " | " << shown("%.2f", bound) << " | "
           << verdict(*found, bound, "met") << " |\n";
      }
}

void write_tables(std::ostream &to, const record &r, const std::vector<subject> &subjects,
                  int workers) {
  to << cpu_model() << ", " << std::thread::hardware_concurrency() << " CPUs\n\n";
  write_half_table(to, r, subjects, workers);
  write_ablation_table(to, r, subjects, workers);
  write_coarse_table(to, r, subjects, workers);
  write_by_hand(to, r, subjects, workers);
}

} // namespace bench::apps
