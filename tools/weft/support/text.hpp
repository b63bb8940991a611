// SPDX-License-Identifier: Apache-2.0
// Text of numbers, times for people, quoted text, and the parts of a text. Streams of the C++ library are not used in the
// command: they bring the library's tables of locales, a fifth of what the command takes in a wheel.
#pragma once

#include "observe/format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

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

/// Returns the parts of a text that separators end. The last part may lack its separator.
[[nodiscard]] inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

/// Returns the words between blanks, tabs and newlines.
[[nodiscard]] inline std::vector<std::string> split_words(std::string_view text) {
  constexpr std::string_view k_blank = " \t\n\v\f\r";
  std::vector<std::string> found;
  for (std::size_t begin = 0, end = 0;
       (begin = text.find_first_not_of(k_blank, end)) != std::string_view::npos;) {
    end = std::min(text.find_first_of(k_blank, begin), text.size());
    found.emplace_back(text.substr(begin, end - begin));
  }
  return found;
}

} // namespace weft_tool
