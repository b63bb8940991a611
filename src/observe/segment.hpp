// SPDX-License-Identifier: Apache-2.0
// The memory that counters lie in: a file in memory that other processes of the user can map, or memory of this process.
#pragma once

#include <cstddef>
#include <cstdint>
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
  std::uint64_t listed_bytes = 0; // what it counts for among what killed programs leave

  /// Makes room in the file: memory that cannot be had is found out now, not by a signal. True for memory of this process.
  [[nodiscard]] bool reserve(std::size_t from, std::size_t length) noexcept;
};

/// Where segments lie.
[[nodiscard]] const std::string &segment_folder();
/// For tests, before anything is shared; with a '/' at its end.
void use_segment_folder(const std::string &folder);
[[nodiscard]] std::string segment_path(long pid);
/// Zeroed. With `share` a file of this process; where that cannot be, `trouble` is set. Null base: no memory at all.
[[nodiscard]] segment make_segment(std::size_t bytes, bool share);
/// Of others, to read. Throws weft::error that says what is wrong with it: none there, not a segment, of another version.
[[nodiscard]] segment map_segment(const std::string &path);
void unmap(segment &s) noexcept;
/// Whether the owner lives.
[[nodiscard]] bool owner_lives(const segment &s) noexcept;

/// The list of what killed programs of this user leave: the newest 64 segments of a day, 64 MiB at most, with what lies beside them.
void list_segment(segment &s, std::uint64_t bytes) noexcept;
/// `bytes` in all by now, with what lies beside it. One thread at a time.
void resize_listed(segment &s, std::uint64_t bytes) noexcept;
/// Removes it, and takes it off that list. What lies beside it goes before.
void remove_segment(const segment &s) noexcept;

/// A file that only this user, or the system's, can have written: what another user has put there is not shown. Root may look at the files of a
/// program's user.
[[nodiscard]] bool is_of_owner(int file, long pid) noexcept;
/// The task dump beside a segment (diagnose/last_dump.hpp). Empty where there is none that may be shown.
[[nodiscard]] std::string dump_path(long pid);
[[nodiscard]] std::string read_dump_text(long pid);

} // namespace rt
} // namespace weft::inline v0
