// SPDX-License-Identifier: Apache-2.0
#include "cliffs.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace bench::cliffs {

row parse_row(const std::string &text) {
  std::istringstream words(text);
  row r;
  words >> r.name >> r.counts;
  for (long size = 0; words >> size;)
    r.sizes.push_back(size);
  if (r.sizes.empty() || !words.eof())
    throw std::runtime_error("a sample listed a row '" + text +
                             "', which is not NAME COUNTS SIZE...");
  return r;
}

double growth(const line &l) {
  double least = std::numeric_limits<double>::infinity(), most = 1;
  for (const cost &c : l.costs) {
    least = std::min(least, c.ns);
    most = std::max(most, c.ns / least);
  }
  return most;
}

bool is_cliff(const line &l) { return growth(l) > k_cliff; }

namespace {

std::string shown(long size) {
  if (size >= 1'000'000 && size % 1'000'000 == 0)
    return std::to_string(size / 1'000'000) + "M";
  if (size >= 1000 && size % 1000 == 0)
    return std::to_string(size / 1000) + "k";
  return std::to_string(size);
}

std::string shown(double v) {
  char text[32];
  std::snprintf(text, sizeof text, v >= 100 ? "%.0f" : "%.1f", v);
  return text;
}

} // namespace

int write_table(std::ostream &to, const std::vector<line> &lines) {
  int marked = 0;
  to << "| row | workers | ns per operation, by size | growth |\n| --- | ---: | --- | ---: |\n";
  for (const line &l : lines) {
    to << "| " << l.name << " (" << l.counts << ") | " << l.workers << " |";
    for (const cost &c : l.costs)
      to << ' ' << shown(c.size) << ": " << shown(c.ns) << (&c == &l.costs.back() ? "" : ",");
    to << " | " << shown(growth(l)) << (is_cliff(l) ? " **cliff**" : "") << " |\n";
    marked += is_cliff(l);
  }
  return marked;
}

} // namespace bench::cliffs
