// SPDX-License-Identifier: Apache-2.0
// The memory of counters: a file in memory that other processes of the user can map, or memory of
// this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct segment_header;

/// Holds a mapping and its file. The owner, a process, keeps the file open and locked. The lock
/// says that the owner lives, whatever pid it has in another process's namespace.
struct segment {
  char *base = nullptr;
  std::size_t bytes = 0;
  int file = -1;
  dev_t device =
      0; // of the file: a program that closes files of others may have freed and reused its number
  ino_t inode = 0;
  std::string path;
  std::string trouble; // why the segment is not shared
  std::uint64_t listed_bytes = 0; // its size in the list of what killed programs leave

  /// Makes room in the file, so that a lack of memory shows now, not by a signal. Returns true for
  /// memory of this process.
  [[nodiscard]] bool reserve(std::size_t from, std::size_t length) noexcept;
};

/// Returns the folder of this user's segments, which no other user can enter; empty if another user
/// has planted it.
[[nodiscard]] std::string segment_folder();
/// Returns the folders in which programs of this user may have segments; for root, of every user.
[[nodiscard]] std::vector<std::string> segment_folders();
/// Sets the folder, for tests, before anything is shared; with a '/' at its end.
void use_segment_folder(const std::string &folder);
/// Returns the file of a list of leftovers in the folder; empty without a folder.
[[nodiscard]] std::string list_path(const char *kind);
/// Returns the segment of a program: the one that exists, or where it would be.
[[nodiscard]] std::string segment_path(long pid);
/// Says which programs can read a segment: this one, or all that can open its file.
enum class readable_by { this_program, others };
/// Makes a zeroed segment; for others in a file of this process. If that fails, sets `trouble` and
/// takes memory of this process. Null base: no memory at all.
[[nodiscard]] segment make_segment(std::size_t bytes, readable_by whom);
/// Maps another program's segment, to read. Throws weft::error that says what is wrong: no file, no
/// segment, or one of another version.
[[nodiscard]] segment map_segment(const std::string &path);
/// Returns a copy of a mapped segment's header. Throws weft::error if it describes parts that are not
/// in the mapping: the program may write anything there, and at any time.
[[nodiscard]] segment_header checked_header(const segment &area);
void unmap(segment &area) noexcept;
/// Says whether the owner lives.
[[nodiscard]] bool owner_lives(const segment &area) noexcept;

/// Enters a segment into the list of what killed programs of this user leave: the newest 64
/// segments of a day, 64 MiB at most, with the files beside them.
void list_segment(segment &area, std::uint64_t bytes) noexcept;
/// Changes a segment's size in the list to `bytes`, with the files beside it. One thread at a time.
void resize_listed(segment &area, std::uint64_t bytes) noexcept;
/// Removes a segment, and takes it off the list. The files beside it are removed first.
void remove_segment(const segment &area) noexcept;

/// Says whether only this user, or root, can have written the file, because a file of another user
/// is not shown. Root may look at the files of a program's user.
[[nodiscard]] bool is_of_owner(int file, long pid) noexcept;
// The task dump beside a segment (diagnose/last_dump.hpp); the text is empty if there is none that
// may be shown.
[[nodiscard]] std::string dump_path(long pid);
[[nodiscard]] std::string read_dump_text(long pid);

} // namespace rt
} // namespace weft::inline v0
