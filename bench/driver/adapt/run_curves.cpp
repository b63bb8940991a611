// SPDX-License-Identifier: Apache-2.0
#include "application.hpp"
#include "curves.hpp"
#include "half.hpp"
#include "subjects.hpp"

#include "../page.hpp"
#include "../process.hpp"
#include "../results.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace bench::adapt {

namespace {

constexpr std::size_t k_quick_tiles = 4; // the coarsest
constexpr int k_turns = 2;               // of each mode, in turn

const char *kind_name(subject::kind what) {
  return what == subject::kind::recursion ? "recursions" : "loops";
}

/// Returns the loops and recursions that have a grain.
std::vector<subject> with_grain(bool quick) {
  std::vector<subject> some = all_subjects(quick);
  std::erase_if(some, [](const subject &s) {
    return s.what != subject::kind::matrix && s.what != subject::kind::recursion &&
           !(s.what == subject::kind::loop && s.row != "T2");
  });
  return some;
}

bool is_drawn(const options &o, const std::string &kind, const std::string &name) {
  const auto named = [&](const std::string &what) {
    return std::find(o.only.begin(), o.only.end(), what) != o.only.end();
  };
  return o.only.empty() || named(kind) || named(name);
}

std::string unit_of_cut(const std::string &recursion) {
  static const std::map<std::string, std::string> k_units{
      {"fib", "cut-off: calls below fib(k) are serial"},
      {"nqueens", "cut-off: rows that are left"},
      {"sort", "cut-off: numbers"},
      {"uts", "cut-off: levels that are left"},
      {"health", "cut-off: lowest levels"}};
  return k_units.at(recursion);
}

std::vector<grain_curve> curves_of(const subject &of, const options &o) {
  if (of.what == subject::kind::recursion) {
    const auto all = parse_ways(printed_by_sample(of, o.workers, o.runs));
    std::vector<grain_curve> both;
    for (const char *fork : {"join", "spawn"})
      both.push_back(curve_of_recursion(text_of(of) + " by " + fork, unit_of_cut(of.name), fork, all));
    return both;
  }
  std::vector<way_time> off, tuned;
  for (int turn = 0; turn < k_turns; ++turn)
    for (const auto &[into, setting] :
         {std::pair(&off, "WEFT_TUNE=off"), std::pair(&tuned, "WEFT_TUNE=granularity")})
      take_least(*into, parse_ways(printed_by_sample(of, o.workers, std::max(o.runs / k_turns, 1), {setting})));
  return {curve_of_loop(text_of(of), of.n / o.workers + 1, off, tuned)};
}

std::string conditions_of(const options &o, double load_before) {
  double load_after = 0;
  static_cast<void>(getloadavg(&load_after, 1));
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[160];
  const std::size_t dated = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC, ", &utc);
  std::snprintf(text + dated, sizeof text - dated, "%u CPUs, %d workers, load %.1f at the begin and %.1f at the end",
                std::thread::hardware_concurrency(), o.workers, load_before, load_after);
  return text + (", " + cpu_model());
}

std::ofstream opened(const std::string &file) {
  std::ofstream to(file);
  if (!to)
    throw std::runtime_error("cannot write '" + file + "'");
  return to;
}

void write_all(const options &o, const std::vector<grain_curve> &all, const std::string &conditions) {
  const std::filesystem::path page(o.curves);
  const std::string folder = page.stem().string();
  const std::filesystem::path beside = page.parent_path() / folder;
  std::filesystem::create_directories(beside);
  for (const grain_curve &c : all)
    if (c.trouble.empty()) {
      std::ofstream to = opened((beside / picture_of(c)).string());
      write_svg(to, chart_of(c));
    }
  std::ofstream data = opened((beside / "curves.json").string());
  write_curves_json(data, all, conditions, o);
  std::ostringstream text;
  text << conditions << ".\nLoops and recursions: least of " << o.runs << " runs of each way; applications: median of "
       << application_runs(o) << ". The values: [curves.json](" << folder << "/curves.json).\n\n";
  write_curves(text, all, folder);
  std::string trimmed = text.str();
  trimmed.erase(trimmed.find_last_not_of('\n') + 1);
  put_between_marks(o.curves, trimmed);
}

} // namespace

void take_least(std::vector<way_time> &all, const std::vector<way_time> &more) {
  for (const way_time &one : more) {
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const way_time &w) { return w.way == one.way; });
    if (known == all.end())
      all.push_back(one);
    else
      known->ns = std::min(known->ns, one.ns);
  }
}

int application_runs(const options &o) { return std::clamp(o.runs / 10, 1, 3); }

grain_curve measure_application(const std::string &name, const options &o) {
  apps::subject of = find_application(name);
  std::sort(of.sweep.begin(), of.sweep.end());
  if (o.quick && of.sweep.size() > k_quick_tiles)
    of.sweep.erase(of.sweep.begin(), of.sweep.end() - k_quick_tiles);
  const std::vector<long> &tiles = of.sweep;
  const std::string folder = build_folder() + "/bench/adapt-curves/" + name;
  application_samples by_hand(of, folder, o.workers, application_runs(o));
  by_hand.measure(tiles);
  grain_curve c{grain_curve::kind::application, name, "tile"};
  for (const long tile : tiles)
    c.by_hand.emplace_back(tile, by_hand.wall_s(tile) * 1e9);
  c.serial = by_hand.serial_s() * 1e9;
  const auto at = static_cast<std::size_t>(std::lower_bound(tiles.begin(), tiles.end(), of.coarse) - tiles.begin());
  const std::size_t preset = std::min(at, tiles.size() - 1);
  application_samples trials(of, folder + "/trials", o.workers, 1);
  const found_grain found = search_grain(tiles.size(), preset, [&](std::size_t i) {
    trials.measure({tiles[i]});
    return trials.wall_s(tiles[i]);
  });
  c.untuned = {c.by_hand[preset].second, tiles[preset]};
  c.self = {c.by_hand[found.index].second, tiles[found.index]};
  c.trials = found.trials;
  return c;
}

void check_curve_names(const std::vector<std::string> &names) {
  std::vector<std::string> known{"loops", "recursions", "applications"};
  for (const subject &s : with_grain(true))
    if (std::find(known.begin(), known.end(), s.name) == known.end())
      known.push_back(s.name);
  for (const known_half &app : halves_before())
    known.emplace_back(app.app);
  for (const std::string &name : names)
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string list;
      for (const std::string &one : known)
        list += " " + one;
      throw std::runtime_error("there is no curve '" + name + "'; there are" + list);
    }
}

int run_curves(const options &o) {
  check_curve_names(o.only);
  create_page(o.curves, "Time over the size of a task");
  check_page(o.curves);
  double load = 0;
  static_cast<void>(getloadavg(&load, 1));
  std::vector<grain_curve> all;
  bool failed = false;
  const auto add = [&](grain_curve::kind what, const std::string &text, auto measured) {
    try {
      for (grain_curve &c : measured())
        all.push_back(std::move(c));
      std::cerr << text << " is done" << std::endl;
    } catch (const std::exception &e) {
      grain_curve c{what, text, ""};
      c.trouble = e.what();
      all.push_back(std::move(c));
      std::cerr << text << " failed: " << e.what() << '\n';
      failed = true;
    }
  };
  for (const subject &of : with_grain(o.quick))
    if (is_drawn(o, kind_name(of.what), of.name))
      add(of.what == subject::kind::recursion ? grain_curve::kind::recursion : grain_curve::kind::loop,
          text_of(of), [&] { return curves_of(of, o); });
  for (const known_half &app : halves_before())
    if (is_drawn(o, "applications", app.app))
      add(grain_curve::kind::application, app.app,
          [&] { return std::vector{measure_application(app.app, o)}; });
  write_all(o, all, conditions_of(o, load));
  std::cout << all.size() << " curves are in " << o.curves << '\n';
  return failed ? 1 : 0;
}

} // namespace bench::adapt
