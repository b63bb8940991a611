// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

inline constexpr std::size_t k_longest_file = 64 << 20;

/// The whole of a (small) file; nullopt with errno set where it cannot be read: EFBIG beyond `most` bytes, so a device without end is not
/// read for ever.
std::optional<std::string> read_file(const std::string &path, std::size_t most = k_longest_file);
/// The same of an open file, from where it is.
std::optional<std::string> read_all(int file, std::size_t most = k_longest_file);

/// A lock that says that this process lives, whatever pid others see it under. fork does not pass it on, and it ends with the process.
[[nodiscard]] bool lock_for_life(int file) noexcept;
/// Whether another process holds that lock.
[[nodiscard]] bool is_locked(int file) noexcept;

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
