// SPDX-License-Identifier: Apache-2.0
// A list, per user and kind, of what programs leave in the file system when they are killed.
// A program enters what it makes and takes it off the list at an orderly end. So what dead programs
// have left is found without a search of a folder, and a start costs the same however full the
// folder is.
// A program whose entry exceeds the limits removes the oldest entries of dead programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Describes one kind of things, and how much of it may stay.
struct leftover_kind {
  std::size_t most; // entries
  std::uint64_t most_bytes; // of all; the newest stays whatever its size
  std::uint64_t most_age_s; // 0: any
  bool (*lives)(const std::string &path); // its program runs
  std::uint64_t (*size)(const std::string &path); // null: as entered
  void (*remove)(const std::string &path);
};

class leftovers {
 public:
  /// Uses `list`, the file of the list, in a folder of this user; an empty name means no list. The
  /// file is read only while it is this user's alone.
  leftovers(std::string list, const leftover_kind &kind) : m_list(std::move(list)), m_kind(kind) {}

  /// Enters a thing at an absolute `path`, which this process made and which exists. Removes others
  /// beyond the limits. `stray`: returns what belongs on the list, oldest first; called when there
  /// is no list yet, and once a day.
  void enter(const std::string &path, std::uint64_t bytes,
             std::vector<std::string> (*stray)() = nullptr) const noexcept;
  /// Notes that the thing has grown.
  void resize(const std::string &path, std::uint64_t bytes) const noexcept;
  /// Removes the entry: the thing is gone, or stays as what the user asked for.
  void take_off(const std::string &path) const noexcept;

 private:
  std::string m_list;
  const leftover_kind &m_kind;
};

} // namespace rt
} // namespace weft::inline v0
