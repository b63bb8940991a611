// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include "../apps/subjects.hpp"
#include "../arguments.hpp"
#include "../page.hpp"
#include "../results.hpp"
#include "prediction.hpp"

#include <chart.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>

namespace bench::managers {

namespace {

std::string text(const char *format, double v) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, format, v);
  return buffer;
}

/// Returns the median over the runs; nothing where there is no sample.
std::optional<double> median_of(const record &r, const sample &like, double sample::*of) {
  std::vector<double> values;
  for (const sample &s : r.samples())
    if (s.study == like.study && s.app == like.app && s.grain == like.grain &&
        s.mode == like.mode && s.parameter == like.parameter && s.workers == like.workers)
      values.push_back(s.*of);
  return values.empty() ? std::nullopt : std::optional(median(values));
}

struct column {
  std::string app, grain;
};
std::vector<column> columns(const options &o) {
  std::vector<column> all;
  for (const program &p : all_programs())
    for (const char *grain : {"coarse", "fine"})
      if (o.only.empty() || std::find(o.only.begin(), o.only.end(), p.name) != o.only.end())
        all.push_back({p.name, grain});
  return all;
}

void head(std::ostream &to, const std::string &first, const std::vector<column> &all) {
  to << "| " << first << " |";
  for (const column &c : all)
    to << ' ' << c.app << ' ' << c.grain << " |";
  to << "\n| --- |";
  for (std::size_t i = 0; i < all.size(); ++i)
    to << " --- |";
  to << '\n';
}

/// Writes one line per mode: the value for `direct`, and for the others their ratio to it.
void table(std::ostream &to, const record &r, const options &o, const std::string &study,
           int workers, const char *what, double sample::*of, double unit) {
  const std::vector<column> all = columns(o);
  to << '\n' << what << ", " << workers << (workers == 1 ? " worker" : " workers") << "\n\n";
  head(to, "mode", all);
  for (const mode &m : all_modes()) {
    to << "| " << m.name << " |";
    for (const column &c : all) {
      sample like{study, c.app, c.grain, m.name, {}, workers};
      const auto value = median_of(r, like, of);
      like.mode = "direct";
      const auto direct = median_of(r, like, of);
      if (!value)
        to << " - |";
      else if (m.name == "direct" || !direct || *direct <= 0)
        to << ' ' << text("%.4g", *value / unit) << " |";
      else
        to << ' ' << text("%.2fx", *value / *direct) << " |";
    }
    to << '\n';
  }
}

void parameter_tables(std::ostream &to, const record &r, int workers) {
  for (const char *app : {"matmul", "nbody", "sparselu"}) {
    sample like{"parameters", app, "fine", "direct", {}, workers};
    const auto direct = median_of(r, like, &sample::seconds);
    if (!direct)
      continue; // not measured with so many workers
    like.mode = "thesis";
    to << "\n"
       << app << " fine, " << workers << (workers == 1 ? " worker" : " workers")
       << ", time over that of direct\n\n"
       << "| parameter | 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (const char *name : {"max_managers", "max_spins", "max_ops", "min_ready"}) {
      to << "| " << name << " |";
      for (int value = 1; value <= 128; value *= 2) {
        like.parameter = std::string(name) + "=" + std::to_string(value);
        const auto t = median_of(r, like, &sample::seconds);
        to << ' ' << (t ? text("%.2f", *t / *direct) : "-") << " |";
      }
      to << '\n';
    }
  }
}

/// Writes the two numbers of the target.
void pair_tables(std::ostream &to, const record &r, const options &o) {
  to << "\nTime over that of direct in the same run: median and 95 % interval\n\n"
     << "| application | workers | pairs | distributed | within 5 % | auto | within 3 % |\n| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const column &c : columns(o))
    for (const int workers : o.workers) {
      const apps::ratio distributed = against_direct(r, c.app, c.grain, "distributed", workers);
      const apps::ratio automatic = against_direct(r, c.app, c.grain, "auto", workers);
      if (distributed.pairs + automatic.pairs == 0)
        continue;
      to << "| " << c.app << ' ' << c.grain << " | " << workers << " | "
         << std::max(distributed.pairs, automatic.pairs) << " |";
      for (const auto &[ratio, bound] : {std::pair(distributed, 1.05), std::pair(automatic, 1.03)})
        if (ratio.pairs == 0)
          to << " - | - |";
        else
          to << text(" %.3f", ratio.median) << text(" (%.3f", ratio.low)
             << text(" to %.3f) | ", ratio.high) << apps::verdict(ratio, bound, "within") << " |";
      to << '\n';
    }
}

using manager_model::chart;
constexpr std::size_t k_most_points = 400;

/// Draws the counts over time of one run, as figures 7.18, 7.19, 7.25, 7.31 and 7.32 do.
bool draw(const std::string &file, const std::string &title, const std::string &picture) {
  std::ifstream from(file);
  std::string line;
  if (!std::getline(from, line))
    return false;
  chart c{title, "ms", "tasks", {}, {}, {{"in the graph", {}}, {"in messages", {}}, {"ready", {}}}};
  std::vector<std::vector<double>> rows;
  while (std::getline(from, line)) {
    rows.emplace_back();
    for (const std::string &cell : split(line))
      rows.back().push_back(std::stod(cell));
  }
  const std::size_t step = rows.size() / k_most_points + 1;
  for (std::size_t i = 0; i < rows.size(); i += step)
    for (std::size_t k = 0; k < 3; ++k)
      c.curves[k].points.emplace_back(rows[i].at(0) / 1e6, rows[i].at(k + 1));
  std::ofstream to(picture);
  write_svg(to, c);
  return true;
}

void draw_all(std::ostream &to, const record &r, const options &o) {
  for (const column &c : columns(o))
    for (const char *mode : {"direct", "thesis"})
      for (const int workers : o.workers) {
        const std::string file = counts_file(r.folder(), c.app, c.grain, mode, workers);
        const std::string picture = file.substr(0, file.size() - 4) + ".svg";
        const std::string title =
            c.app + " " + c.grain + ", " + mode + ", " + std::to_string(workers) + " workers";
        if (draw(file, title, picture))
          to << "![" << title << "](managers/" << std::filesystem::path(picture).filename().string()
             << ")\n";
      }
}

} // namespace

std::string counts_file(const std::string &folder, const std::string &app, const std::string &grain,
                        const std::string &mode, int workers) {
  return folder + "/" + app + "-" + grain + "-" + mode + "-" + std::to_string(workers) + ".csv";
}

apps::ratio against_direct(const record &r, const std::string &app, const std::string &grain,
                           const std::string &mode, int workers) {
  std::map<int, double> direct, other; // by run
  for (const sample &s : r.samples())
    if (s.study == "pairs" && s.app == app && s.grain == grain && s.workers == workers &&
        (s.mode == mode || s.mode == "direct"))
      (s.mode == mode ? other : direct)[s.run] = s.seconds;
  std::vector<double> ratios;
  for (const auto &[run, seconds] : other)
    if (const auto d = direct.find(run); d != direct.end() && d->second > 0)
      ratios.push_back(seconds / d->second);
  return ratios.empty() ? apps::ratio{} : apps::interval(ratios);
}

void put_into_page(const std::string &page, const std::string &text, const std::string &folder) {
  put_between_marks(page, text);
  namespace fs = std::filesystem;
  const fs::path pictures = fs::path(page).parent_path() / "managers";
  fs::create_directories(pictures);
  for (const auto &entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".svg")
      fs::copy_file(entry.path(), pictures / entry.path().filename(),
                    fs::copy_options::overwrite_existing);
}

void write_report(std::ostream &to, const record &r, const options &o) {
  to << "\n" << cpu_model() << ", " << std::thread::hardware_concurrency() << " CPUs.\n";
  for (const study s : o.studies) {
    to << "\n### " << name_of(s) << '\n';
    if (s == study::pairs) {
      pair_tables(to, r, o);
      continue;
    }
    if (s == study::shapes) {
      draw_all(to, r, o);
      continue;
    }
    for (const int workers : o.workers) {
      if (s == study::times)
        table(to, r, o, "times", workers, "Time in ms; other modes over direct", &sample::seconds,
              1e-3);
      if (s == study::bodies) {
        table(to, r, o, "bodies", workers, "A body in us; other modes over direct",
              &sample::body_ns, 1e3);
        table(to, r, o, "bodies", workers, "The program's creating in ms; other modes over direct",
              &sample::creator_ns, 1e6);
        table(to, r, o, "bodies", workers,
              "A task that creates others in us; other modes over direct", &sample::nested_ns, 1e3);
        table(to, r, o, "bodies", workers, "Creating a task (new) in ns; other modes over direct",
              &sample::new_ns, 1);
        table(
            to, r, o, "bodies", workers,
            "From the end of a body to the next (done, delete, next) in ns; other modes over direct",
            &sample::end_ns, 1);
      }
      if (s == study::parameters)
        parameter_tables(to, r, workers);
    }
  }
  if (!o.costs.empty())
    write_prediction(to, r, o);
}

} // namespace bench::managers
