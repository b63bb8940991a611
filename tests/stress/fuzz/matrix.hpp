// SPDX-License-Identifier: Apache-2.0
// Configurations that cover every pair of two values of two dimensions.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace fuzz {

struct dimension {
  std::string name;
  std::vector<std::string> values;
};
using configuration = std::vector<std::size_t>; // a value's place in each dimension

using value_pair = std::tuple<std::size_t, std::size_t, std::size_t,
                              std::size_t>; // dimension, value, dimension, value
inline void pairs_of(const configuration &c, std::set<value_pair> &out) {
  for (std::size_t a = 0; a != c.size(); ++a)
    for (std::size_t b = a + 1; b != c.size(); ++b)
      out.emplace(a, c[a], b, c[b]);
}

/// Every configuration that `allowed` accepts.
template <class Allowed>
std::vector<configuration> all_configurations(const std::vector<dimension> &dimensions,
                                              Allowed allowed) {
  std::vector<configuration> all;
  configuration c(dimensions.size(), 0);
  for (;;) {
    if (allowed(c))
      all.push_back(c);
    std::size_t i = 0;
    while (i != c.size() && ++c[i] == dimensions[i].values.size())
      c[i++] = 0;
    if (i == c.size())
      return all;
  }
}

/// Greedy: always the configuration with the most pairs that are still missing.
template <class Allowed>
std::vector<configuration> pairwise(const std::vector<dimension> &dimensions, Allowed allowed) {
  const auto all = all_configurations(dimensions, allowed);
  std::set<value_pair> missing;
  for (const auto &c : all)
    pairs_of(c, missing);
  std::vector<configuration> chosen;
  while (!missing.empty()) {
    const configuration *best = nullptr;
    std::size_t most = 0;
    for (const auto &c : all) {
      std::size_t n = 0;
      for (std::size_t a = 0; a != c.size(); ++a)
        for (std::size_t b = a + 1; b != c.size(); ++b)
          n += missing.count({a, c[a], b, c[b]});
      if (n > most)
        most = n, best = &c;
    }
    std::set<value_pair> covered;
    pairs_of(*best, covered);
    for (const auto &pair : covered)
      missing.erase(pair);
    chosen.push_back(*best);
  }
  return chosen;
}

} // namespace fuzz
