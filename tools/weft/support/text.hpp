// SPDX-License-Identifier: Apache-2.0
// Text of numbers, times for people, and quoted text.
#pragma once

#include "observe/format.hpp"

#include <cstdint>
#include <cstdio>
#include <string>

namespace weft_tool {

/// Returns what printf would write, 599 characters of it at most.
[[nodiscard]] inline std::string text(const char *format, auto... values) {
  char line[600];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

/// Returns `value` in the type that %llu prints.
[[nodiscard]] inline unsigned long long wide(std::uint64_t value) noexcept { return value; }

/// Returns a time in the unit that suits it, with the same digits wherever a report shows it.
[[nodiscard]] inline std::string duration(double ns) {
  return ns < 1e3   ? text("%.0f ns", ns)
         : ns < 1e6 ? text("%.1f us", ns / 1e3)
         : ns < 1e9 ? text("%.2f ms", ns / 1e6)
                    : text("%.3f s", ns / 1e9);
}

/// Returns `text` as a part of an HTML page.
[[nodiscard]] inline std::string html(const std::string &text) {
  std::string out;
  for (const char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

/// Returns `text` as a string of JSON, TOML and DOT.
[[nodiscard]] inline std::string double_quoted(const std::string &text) {
  return weft::rt::json_text(text);
}

/// Returns `text` between single quotes, in which `quote` replaces one of its own: a word of a shell.
[[nodiscard]] inline std::string shell_quoted(const std::string &text, const char *quote = "'\\''") {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? std::string(quote) : std::string(1, c);
  return out + "'";
}

} // namespace weft_tool
