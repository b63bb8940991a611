// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

namespace bench::omp {

namespace {

constexpr double k_us = 1e-3;
constexpr double k_more_threads = 0.1; // ten times better than the best, with four threads a core

void add_constructs(std::vector<row> &to) {
  struct construct {
    const char *name, *title;
  };
  const construct all[] = {{"fork-join", "`parallel`, fork and join"},
                           {"barrier", "`barrier`"},
                           {"static", "`for`, static"},
                           {"dynamic", "`for`, dynamic, 1, an iteration"},
                           {"critical", "`critical`"}};
  for (const int threads : {2, 8})
    for (const construct &c : all) {
      const std::string with = std::to_string(threads);
      to.push_back({c.name + ("-" + with),
                    {c.name, with, "0"},
                    {{std::string(c.title) + ", " + with + " threads", "us", "ns", k_us,
                      asked::of_best, threads == 2 ? 1.0 : k_more_threads}}});
    }
}

void add_nests(std::vector<row> &to) {
  struct size {
    int threads;
    double bound_us;
  };
  for (const char *side : {"100", "1000"})
    for (const size &s : {size{2, 2}, size{8, 4}, size{36, 15}}) {
      const std::string with = std::to_string(s.threads), loops = std::string(side) + "x" + side;
      row r{"nested-" + loops + "-" + with,
            {"nested", with, side, side},
            {{"nested loops " + loops + ", an inner region, " + with + " threads", "us", "ns", k_us,
              asked::absolute, s.bound_us}}};
      if (s.threads == 36) // both cores' workers, and a few spares
        r.figures.push_back({"kernel threads created, " + loops + ", 36 x 36", "", "created", 1,
                             asked::absolute, 6});
      to.push_back(r);
    }
}

std::vector<row> make_rows() {
  std::vector<row> all;
  add_constructs(all);
  add_nests(all);
  all.push_back({"chain",
                 {"chain", "2", "0"},
                 {{"`task depend`, chain", "us", "ns", k_us, asked::of_best, 0.2}}});
  all.push_back({"wavefront",
                 {"wavefront", "2", "0"},
                 {{"`task depend`, wavefront", "us", "ns", k_us, asked::of_best, 0.2}}});
  all.push_back(
      {"tasks",
       {"tasks", "2", "1000000"},
       {{"1,000,000 tasks from `single`, a task", "us", "ns", k_us, asked::of_best, 0.5}}});
  all.push_back(
      {"beside",
       {"computing", "2", "1000"},
       {{"2 threads beside 4 busy processes", "x serial", "serial", 1, asked::absolute, 3}},
       4});
  return all;
}

} // namespace

const std::vector<row> &all_rows() {
  static const std::vector<row> all = make_rows();
  return all;
}

const std::vector<contender> &contenders() {
  static const std::vector<contender> all{{"libgomp", "constructs-libgomp", false},
                                          {"libiomp5", "constructs-libiomp5", false},
                                          {"Weft, GCC's program", "constructs-libgomp", true},
                                          {"Weft, Clang's program", "constructs-libiomp5", true}};
  return all;
}

} // namespace bench::omp
