// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

/// The whole of a (small) file; nullopt with errno set where it cannot be read.
std::optional<std::string> read_file(const std::string &path);

/// Calls `use(line)` for each line of `text`, without its newline.
template <class Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    use(text.substr(0, end));
    if (end == std::string_view::npos)
      return;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) noexcept;

/// A whole decimal number without sign; nullopt for anything else, or where it does not fit.
std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept;

} // namespace rt
} // namespace weft::inline v0
