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

/// Reads the whole of a (small) file. Returns nullopt with errno set where it cannot be read: EFBIG
/// beyond `most` bytes, so a device without end is not read for ever.
std::optional<std::string> read_file(const std::string &path, std::size_t most = k_longest_file);
/// Reads an open file in the same way, from its current position.
std::optional<std::string> read_all(int file, std::size_t most = k_longest_file);

/// Creates a file that only this user can open, and follows no link. Returns -1 with errno set where
/// it cannot: EEXIST if there is anything of that name. `access`: O_RDWR or O_WRONLY.
[[nodiscard]] int open_new(const std::string &path, int access) noexcept;
/// Opens a file that several programs of this user read and write, or creates it in that way.
/// Follows no link. Returns -1 with errno set where it cannot.
[[nodiscard]] int open_shared(const std::string &path) noexcept;
/// Opens the file that a setting names for output, and empties it; creates it in that way if there
/// is none. A link is not followed, but for the system's to files that are open (/dev/stdout,
/// /dev/stderr, /dev/fd/N, /proc/self/fd/N). What is there has to be the user's or root's, and a
/// plain file has to have one name. Returns -1, and says why in `trouble`, where it cannot.
[[nodiscard]] int open_output(const std::string &path, std::string &trouble);

/// Takes a lock that shows that this process lives, under whatever pid other processes see it. fork
/// does not pass the lock on, and it ends with the process.
[[nodiscard]] bool lock_for_life(int file) noexcept;
/// Returns whether another process holds that lock.
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

/// Reads a whole decimal number without sign; returns nullopt for anything else, or where the
/// number does not fit.
std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept;

} // namespace rt
} // namespace weft::inline v0
