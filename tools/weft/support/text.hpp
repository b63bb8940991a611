// SPDX-License-Identifier: Apache-2.0
// Text of numbers: what printf writes, and times for people.
#pragma once

#include <cstdio>
#include <string>

namespace weft_tool {

/// Returns what printf would write, 599 characters of it at most.
[[nodiscard]] inline std::string text(const char *format, auto... values) {
  char line[600];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

/// Returns a time in the unit that suits it, with the same digits wherever a report shows it.
[[nodiscard]] inline std::string duration(double ns) {
  return ns < 1e3   ? text("%.0f ns", ns)
         : ns < 1e6 ? text("%.1f us", ns / 1e3)
         : ns < 1e9 ? text("%.2f ms", ns / 1e6)
                    : text("%.3f s", ns / 1e9);
}

} // namespace weft_tool
