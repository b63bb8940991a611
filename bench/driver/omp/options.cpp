// SPDX-License-Identifier: Apache-2.0
#include "../arguments.hpp"
#include "omp.hpp"
#include "rows.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace bench::omp {

namespace {

constexpr const char *k_help =
    R"(weft-bench omp [OPTION...]  OpenMP's constructs on GCC's and Intel's runtimes and, the same programs, on Weft
  --only NAME,...                rows; --list names them
  --rounds N                     interleaved rounds (default 5)
  --budget SECONDS               stop after the round in which they are over
  --page FILE                    write the table into a page, between its marks
  --list                         name the rows
Needs the target weft-omp and the peers that bench/peers/install compiles.
)";

bool is_row(const std::string &name) {
  return std::any_of(all_rows().begin(), all_rows().end(),
                     [&](const row &r) { return r.name == name; });
}

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  option_table table("weft-bench omp", k_help);
  table.list("--only", o.only)
      .number("--rounds", o.rounds, 100'000)
      .number("--budget", o.budget_s, 100'000)
      .value("--page", o.page)
      .flag("--list",
            [] {
              for (const row &r : all_rows())
                std::puts(r.name.c_str());
              std::exit(0);
            })
      .parse(arguments);
  for (const std::string &name : o.only)
    if (!is_row(name))
      throw std::runtime_error("no row is called '" + name + "'; --list names them");
  return o;
}

} // namespace bench::omp
