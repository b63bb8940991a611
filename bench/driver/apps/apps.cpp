// SPDX-License-Identifier: Apache-2.0
#include "apps.hpp"

#include "../process.hpp"
#include "report.hpp"
#include "sweep.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <stdexcept>

namespace bench::apps {

namespace {

std::vector<subject> chosen(const options &o) {
  std::vector<subject> all = find_subjects();
  if (all.empty())
    throw std::runtime_error("there are no applications; build the target weft_apps");
  for (const std::string &name : o.only)
    if (std::none_of(all.begin(), all.end(), [&](const subject &s) { return s.name == name; }))
      throw std::runtime_error("no application is called '" + name +
                               "'; --list shows what there is");
  if (!o.only.empty())
    std::erase_if(all, [&](const subject &s) {
      return std::find(o.only.begin(), o.only.end(), s.name) == o.only.end();
    });
  return all;
}

int list(const std::vector<subject> &subjects) {
  for (const subject &s : subjects) {
    std::cout << s.name << ": " << s.title << ", size " << s.size << ", tiles";
    for (const long tile : s.sweep)
      std::cout << ' ' << tile;
    std::cout << ", coarse " << s.coarse << ';';
    for (const series &one : all_series())
      if (std::filesystem::exists(program(s.name, one.backend)))
        std::cout << ' ' << one.name;
    std::cout << '\n';
  }
  return 0;
}

void forget(const std::string &folder) {
  for (const char *name : {"/samples.csv", "/instructions.csv"})
    std::filesystem::remove(folder + name);
}

} // namespace

int run(const options &o) {
  using mode = options::mode;
  const std::vector<subject> subjects = chosen(o);
  if (o.what == mode::list)
    return list(subjects);
  if (o.what == mode::pragmas)
    require_pragma_programs(subjects, o.series);
  const std::string folder = o.out.empty() ? build_folder() + "/bench/granularity" : o.out;
  if (o.fresh)
    forget(folder);
  record all(folder);
  sweep work(o, all);
  if (o.what != mode::report && o.what != mode::pragmas)
    work.count(subjects);
  if (o.what == mode::sweep || o.what == mode::coarse || o.what == mode::pragmas)
    work.measure(subjects);
  for (const subject &s : subjects)
    write_files(all, s, o.workers);
  if (o.what == mode::pragmas)
    write_pragma_table(std::cout, all, subjects, o.workers);
  else if (o.what != mode::count)
    write_tables(std::cout, all, subjects, o.workers);
  for (const std::string &name : work.absent())
    std::cerr
        << name
        << " is absent (bench/peers/install fetches peers, and the target weft_apps_clang builds weft:clang)\n";
  for (const std::string &failure : work.failures())
    std::cerr << failure << '\n';
  std::cerr << (work.over() ? "the budget is spent; the same command goes on. " : "")
            << "Files are in " << folder << '\n';
  return work.failures().empty() ? 0 : 1;
}

} // namespace bench::apps
