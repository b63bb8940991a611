// SPDX-License-Identifier: Apache-2.0
#include "recorded_costs.hpp"

#include <limits>
#include <stdexcept>

namespace recorded_costs {

std::map<std::string, std::vector<double>> read(std::istream &from) {
  std::map<std::string, std::vector<double>> all;
  for (std::string name; from >> name;) {
    if (name.front() == '#') {
      from.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
      continue;
    }
    std::size_t count = 0;
    if (!(from >> count) || count == 0 || count > 1'000'000)
      throw std::invalid_argument("recorded costs: '" + name + "' does not say how many numbers it has");
    std::vector<double> &pieces = all[name];
    if (!pieces.empty())
      throw std::invalid_argument("recorded costs: there are two of '" + name + "'");
    for (double ns = 0; pieces.size() < count; pieces.push_back(ns))
      if (!(from >> ns) || !(ns > 0))
        throw std::invalid_argument("recorded costs: '" + name + "' has " + std::to_string(pieces.size()) +
                                    " numbers above 0, and says " + std::to_string(count));
  }
  return all;
}

std::vector<double> repeated(const std::vector<double> &pieces, double total_ns) {
  std::vector<double> many;
  double ns = 0;
  for (std::size_t i = 0; !pieces.empty() && ns < total_ns; i = (i + 1) % pieces.size()) {
    many.push_back(pieces[i]);
    ns += pieces[i];
  }
  return many;
}

} // namespace recorded_costs
