// SPDX-License-Identifier: Apache-2.0
// Finds programs of this user that show counters.
#pragma once

#include "tools/weft/commands.hpp"

#include "observe/reading.hpp"
#include "observe/segment.hpp"

namespace weft_tool {

/// Maps a program's counters: they stay readable after the program has ended and removed its file.
class program {
 public:
  /// Throws weft::error with the cause if there is nothing to read.
  explicit program(long pid);
  explicit program(const std::string &path);
  ~program();
  program(const program &) = delete;
  program &operator=(const program &) = delete;
  [[nodiscard]] weft::rt::reading read() const;

 private:
  weft::rt::segment m_segment;
};

struct readable {
  std::string path;
  weft::rt::reading last;
};
/// Returns the programs that run, then the others, each by pid. Files that are no segment are left
/// out.
[[nodiscard]] std::vector<readable> readable_programs();

/// Returns the pid in a text. Throws weft::error where it is no number of a process.
[[nodiscard]] long pid_of(const std::string &text);
/// Returns the nanoseconds of "100ms", "2s", "1.5" (seconds); 0 for anything else.
[[nodiscard]] std::uint64_t parse_time(const std::string &text);
/// Returns a number; 0 where the text is none.
[[nodiscard]] std::uint64_t parse_count(const std::string &text);
void sleep_until(std::uint64_t monotonic_ns);

} // namespace weft_tool
