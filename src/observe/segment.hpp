// SPDX-License-Identifier: Apache-2.0
// The memory that counters lie in: a file in memory that other processes of the user can map, or memory of this process.
#pragma once

#include <cstddef>
#include <string>
#include <sys/types.h>

namespace weft::inline v0 {
namespace rt {

/// A mapping, and the file below it. Kept open by its owner, whose lock on it says that he lives, whatever pid others see him under.
struct segment {
  char *base = nullptr;
  std::size_t bytes = 0;
  int file = -1;
  dev_t device = 0; // of the file: a program that closes what it has not opened may have given its number away
  ino_t inode = 0;
  std::string path;
  std::string trouble; // why it is not shared

  /// Makes room in the file: memory that cannot be had is found out now, not by a signal. True for memory of this process.
  [[nodiscard]] bool reserve(std::size_t from, std::size_t length) noexcept;
};

/// Where segments lie.
[[nodiscard]] std::string segment_folder();
[[nodiscard]] std::string segment_path(long pid);
/// Zeroed. With `share` a file of this process; where that cannot be, `trouble` is set. Null base: no memory at all.
[[nodiscard]] segment make_segment(std::size_t bytes, bool share);
/// Of others, to read. Throws weft::error that says what is wrong with it: none there, not a segment, of another version.
[[nodiscard]] segment map_segment(const std::string &path);
void unmap(segment &s) noexcept;
/// Whether the owner lives.
[[nodiscard]] bool owner_lives(const segment &s) noexcept;
/// Those of programs that ended without a word more than a day ago.
void remove_old_segments() noexcept;

} // namespace rt
} // namespace weft::inline v0
