// SPDX-License-Identifier: Apache-2.0
#include "../apps/subjects.hpp"
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

int whole_number(const std::string &option, const std::string &text) {
  char *end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || n < 1 || n > 100'000)
    throw std::runtime_error(option + " wants a number from 1 to 100000, not '" + text + "'");
  return static_cast<int>(n);
}

bool is_row(const std::string &name) {
  return std::any_of(all_rows().begin(), all_rows().end(),
                     [&](const row &r) { return r.name == name; });
}

/// Handles an option that ends the program; returns whether it was one.
bool ends(const std::string &name) {
  if (name == "--help")
    std::fputs(k_help, stdout);
  else if (name == "--list")
    for (const row &r : all_rows())
      std::puts(r.name.c_str());
  else
    return false;
  return true;
}

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &name = arguments[i];
    if (ends(name))
      std::exit(0);
    if (name != "--only" && name != "--rounds" && name != "--budget" && name != "--page")
      throw std::runtime_error("unknown option '" + name + "'; see weft-bench omp --help");
    if (++i == arguments.size())
      throw std::runtime_error(name + " wants a value");
    const std::string &value = arguments[i];
    if (name == "--only")
      o.only = apps::split(value);
    else if (name == "--rounds")
      o.rounds = whole_number(name, value);
    else if (name == "--budget")
      o.budget_s = whole_number(name, value);
    else
      o.page = value;
  }
  for (const std::string &name : o.only)
    if (!is_row(name))
      throw std::runtime_error("no row is called '" + name + "'; --list names them");
  return o;
}

} // namespace bench::omp
