// SPDX-License-Identifier: Apache-2.0
// The values of a knob that a search tries, in ascending order: few enough to be tried, and the first
// value among them.
#pragma once

#include "tune/domain.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace weft::inline v0 {
namespace rt {

inline constexpr int k_most_search_values = 65; // of a range

[[nodiscard]] inline std::vector<std::int64_t> search_values(const knob_domain &domain,
                                                             std::int64_t first) {
  std::vector<std::int64_t> values;
  const auto spread = [](double least, double most, bool in_powers, int steps, auto use) {
    for (int i = 0; i < steps; ++i) {
      const double part = static_cast<double>(i) / (steps - 1);
      use(in_powers ? least * std::pow(most / least, part) : least + (most - least) * part);
    }
  };
  switch (domain.what) {
  case knob_domain::kind::numbers:
    values = domain.numbers;
    break;
  case knob_domain::kind::words:
    for (std::size_t i = 0; i < domain.words.size(); ++i)
      values.push_back(static_cast<std::int64_t>(i));
    break;
  case knob_domain::kind::range: {
    const auto span = static_cast<double>(domain.most) - static_cast<double>(domain.least);
    if (domain.in_powers) {
      for (std::int64_t value = std::max<std::int64_t>(domain.least, 1);; value *= 2) {
        values.push_back(value);
        if (value > domain.most / 2)
          break;
      }
      values.push_back(domain.least);
      values.push_back(domain.most);
    } else if (span < k_most_search_values) {
      for (std::int64_t value = domain.least; value < domain.most; ++value)
        values.push_back(value);
      values.push_back(domain.most);
    } else {
      const auto add = [&values, &domain](double value) {
        values.push_back(value >= static_cast<double>(domain.most)
                             ? domain.most
                             : static_cast<std::int64_t>(std::llround(value)));
      };
      spread(static_cast<double>(domain.least), static_cast<double>(domain.most), false,
             k_most_search_values, add);
    }
    break;
  }
  case knob_domain::kind::reals:
    if (domain.real_least < domain.real_most)
      spread(domain.real_least, domain.real_most, domain.in_powers, 17, [&](double value) {
        values.push_back(
            std::bit_cast<std::int64_t>(std::clamp(value, domain.real_least, domain.real_most)));
      });
    break;
  }
  values.push_back(first);
  const bool reals = domain.what == knob_domain::kind::reals;
  const auto less = [reals](std::int64_t a, std::int64_t b) {
    return reals ? std::bit_cast<double>(a) < std::bit_cast<double>(b) : a < b;
  };
  std::sort(values.begin(), values.end(), less);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

} // namespace rt
} // namespace weft::inline v0
