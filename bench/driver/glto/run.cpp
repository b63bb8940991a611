// SPDX-License-Identifier: Apache-2.0
#include "glto.hpp"

#include "../page.hpp"
#include "../sampler.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace bench::glto {

namespace {

template <class All>
bool is_chosen(const All &list, const std::string &name) {
  return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

void draw(const figure &f, const std::vector<row> &rows, const std::string &folder) {
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/" + f.workload + ".svg";
  std::ofstream to(path);
  manager_model::write_svg(to, picture_of(f, rows));
  if (!to.flush())
    throw std::runtime_error("cannot write " + path);
}

} // namespace

const std::vector<figure> &all_figures() {
  static const std::vector<figure> all{
      {"uts-t1", "Unbalanced Tree Search, T1", "4", "ns per node"},
      {"uts-t3", "Unbalanced Tree Search, T3", "5", "ns per node"},
      {"hydro-64", "114 parallel loops a step, 64 x 64", "6", "ns per loop"},
      {"hydro-256", "114 parallel loops a step, 256 x 256", "6", "ns per loop"},
      {"assign", "Assigning work", "7", "ns per round"},
      {"nested-100", "Nested loops, 100 x 100", "8", "ns per round"},
      {"nested-1000", "Nested loops, 1000 x 1000", "9", "ns per round"},
      {"cg-10", "Conjugate gradients, 10 rows a task", "10", "ns per task"},
      {"cg-20", "Conjugate gradients, 20 rows a task", "11", "ns per task"},
      {"cg-50", "Conjugate gradients, 50 rows a task", "12", "ns per task"},
      {"cg-100", "Conjugate gradients, 100 rows a task", "13", "ns per task"},
      {"cutoff", "Bounds of queued tasks", "14", "ns per task"}};
  return all;
}

experiment experiment_of(const figure &f) {
  for (experiment &e : catalog(size::quick))
    if (e.suite == "glto" && e.workload == f.workload)
      return std::move(e);
  throw std::runtime_error(std::string("suite glto has no workload ") + f.workload);
}

manager_model::chart picture_of(const figure &f, const std::vector<row> &rows) {
  manager_model::chart picture;
  picture.title = std::string(f.title) + " (in the form of figure " + f.of_paper + ")";
  picture.x_label = "threads";
  picture.y_label = f.unit;
  picture.x = picture.y = manager_model::scale::logarithmic;
  for (const row &r : rows) {
    if (r.workload != f.workload)
      continue;
    auto curve = std::find_if(picture.curves.begin(), picture.curves.end(),
                              [&](const auto &c) { return c.name == r.runtime; });
    if (curve == picture.curves.end())
      curve = picture.curves.insert(curve, {r.runtime, {}});
    curve->points.emplace_back(r.workers, r.median());
  }
  return picture;
}

void write_table(std::ostream &to, const figure &f, const std::vector<int> &threads,
                 const std::vector<row> &rows) {
  std::vector<cells> lines{{f.workload}};
  for (const int n : threads)
    lines.front().push_back(std::to_string(n));
  for (const row &first : rows) {
    if (first.workload != f.workload ||
        std::any_of(lines.begin(), lines.end(),
                    [&](const cells &line) { return line.front() == first.runtime; }))
      continue;
    cells line{first.runtime};
    for (const int n : threads) {
      const auto found = std::find_if(rows.begin(), rows.end(), [&](const row &r) {
        return r.workload == f.workload && r.runtime == first.runtime && r.workers == n;
      });
      line.push_back(found == rows.end() ? "-" : number(found->median(), "%.3g"));
    }
    lines.push_back(std::move(line));
  }
  bench::write_table(to,
                     std::string(f.title) + " (figure " + f.of_paper + "), " + f.unit +
                         " by threads",
                     lines, form::markdown);
}

int run(const options &o) {
  if (!o.page.empty())
    check_page(o.page);
  std::ostringstream tables;
  problems trouble;
  for (const figure &f : all_figures()) {
    if (!is_chosen(o.only, f.workload))
      continue;
    experiment e = experiment_of(f);
    std::erase_if(e.contenders,
                  [&](const contender &c) { return !is_chosen(o.runtimes, c.runtime); });
    std::vector<row> rows;
    for (const int n : o.threads) {
      e.workers = n;
      std::cerr << e.workload << ", threads " << n << std::endl;
      measure(e, o.runs, rows, trouble);
    }
    std::ostringstream table;
    write_table(table, f, o.threads, rows);
    std::cout << table.str() << std::flush;
    tables << table.str();
    if (!o.pictures.empty())
      draw(f, rows, o.pictures);
  }
  if (!o.page.empty())
    put_between_marks(o.page, tables.str());
  for (const std::string &failure : trouble.failures)
    std::cout << failure << '\n';
  return trouble.failures.empty() ? 0 : 1;
}

} // namespace bench::glto
