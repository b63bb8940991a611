// SPDX-License-Identifier: Apache-2.0
// What a session makes small, as a text:
//
//   time                                            the time of a unit of work
//   /threads/time/cumulative-overhead               a counter, per unit of work
//   /power/estimate * time^2                        a product; a factor may have a power
//   /power/estimate subject to time <= 1.05x        with a bound: 1.05 times what the default takes
//   time subject to /app/misses <= 40 and /app/errors <= 0.5    bounds per unit of work
#pragma once

#include "tune/criteria.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct objective_text {
  std::vector<std::string> terms; ///< "time", or names and formulas of counters; each once
  criteria by;

  /// Says whether the time is all that counts.
  [[nodiscard]] bool is_time() const noexcept { return terms.size() == 1 && terms[0] == k_time; }

  static constexpr std::string_view k_time = "time";
};

/// Parses an objective; an empty one is the time. Throws weft::error (invalid_argument) that says what
/// is wrong. Whether the counters are there is not looked at.
[[nodiscard]] objective_text parse_objective(std::string_view text);

} // namespace rt
} // namespace weft::inline v0
