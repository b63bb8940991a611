// SPDX-License-Identifier: Apache-2.0
#include "cliffs.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace bench::cliffs {

namespace {

constexpr const char *k_help =
    R"(weft-bench cliffs [OPTION...]  each construct over sizes; marks what costs more than three times as much at a larger one
  --only NAME,...                rows; --list names them
  --workers N,...                (default 1,2,8)
  --most N                       no size above
  --runs N                       of which the least counts (default 3)
  --cpu                          time of all processors, not elapsed: for a machine that has other work
  --list                         name the rows
Rows of OpenMP need the target weft-omp.
)";

long whole_number(const std::string &option, const std::string &text, long most) {
  char *end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || n < 1 || n > most)
    throw std::runtime_error(option + " wants a number from 1 to " + std::to_string(most) +
                             ", not '" + text + "'");
  return n;
}

std::vector<std::string> split(const std::string &list) {
  std::vector<std::string> parts;
  std::istringstream from(list);
  for (std::string part; std::getline(from, part, ',');)
    parts.push_back(part);
  return parts;
}

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &name = arguments[i];
    const auto value = [&]() -> const std::string & {
      if (i + 1 == arguments.size())
        throw std::runtime_error(name + " wants a value");
      return arguments[++i];
    };
    if (name == "--help") {
      std::fputs(k_help, stdout);
      std::exit(0);
    } else if (name == "--only") {
      o.only = split(value());
    } else if (name == "--workers") {
      o.workers.clear();
      for (const std::string &n : split(value()))
        o.workers.push_back(static_cast<int>(whole_number(name, n, 1024)));
    } else if (name == "--most") {
      o.most = whole_number(name, value(), 1'000'000'000);
    } else if (name == "--runs") {
      o.runs = static_cast<int>(whole_number(name, value(), 1000));
    } else if (name == "--cpu") {
      o.cpu = true;
    } else if (name == "--list") {
      o.list = true;
    } else {
      throw std::runtime_error("unknown option '" + name + "'; see weft-bench cliffs --help");
    }
  }
  return o;
}

} // namespace bench::cliffs
