// SPDX-License-Identifier: Apache-2.0
// A file of `name = number` lines, where `#` begins a comment.
#pragma once

#include <istream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace named_numbers {

[[nodiscard]] inline std::string_view trimmed(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r");
  return first == s.npos ? std::string_view()
                         : s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

/// Calls set(line) for each line that is not empty, without its comment. Messages of invalid_argument
/// name `origin` and the line.
template <class Set>
void read(std::istream &from, std::string_view origin, Set set) {
  std::string line;
  for (int number = 1; std::getline(from, line); ++number) {
    const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (text.empty())
      continue;
    try {
      set(text);
    } catch (const std::invalid_argument &e) {
      throw std::invalid_argument(std::string(origin) + ":" + std::to_string(number) + ": " +
                                  e.what());
    }
  }
}

} // namespace named_numbers
