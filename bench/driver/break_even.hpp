// SPDX-License-Identifier: Apache-2.0
// From how many elements on an algorithm is worth its tasks.
#pragma once

#include "results.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace bench {

/// Is a number of elements at which measurements put the break-even.
struct break_even {
  enum class bound {
    exactly, // the runtime begins to pay at `elements`
    at_most, // it pays at the least number that was measured
    above,   // it does not pay at the greatest
    absent   // the runtime, or the serial algorithm, was not measured
  } what = bound::absent;
  long elements = 0;
};

/// Returns where a runtime begins to pay: the least number of elements from which on its median is
/// below 0.95 of the serial one's. The rows are those of suite "break-even", named ALGORITHM-N.
[[nodiscard]] break_even find_break_even(const std::vector<row> &rows, const std::string &algorithm,
                                         const std::string &runtime);

/// Writes a line for each algorithm: the break-even of each runtime, and Weft's beside half of
/// TBB's, which is asked. Returns how many miss that.
int write_break_even(std::ostream &to, const std::vector<row> &rows, form f);

} // namespace bench
