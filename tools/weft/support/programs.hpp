// SPDX-License-Identifier: Apache-2.0
// Programs of this user that show counters.
#pragma once

#include "tools/weft/commands.hpp"

#include "observe/reading.hpp"
#include "observe/segment.hpp"

namespace weft_tool {

/// A program's counters, mapped: they can be read on after it has ended and taken its file away.
class program {
 public:
  /// Throws weft::error that says why there is nothing to read.
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
/// Those that run first, then by pid. What is no segment is left out.
[[nodiscard]] std::vector<readable> readable_programs();

/// Throws weft::error where it is no number of a process.
[[nodiscard]] long pid_of(const std::string &text);
/// Nanoseconds of "100ms", "2s", "1.5" (seconds); 0 for anything else.
[[nodiscard]] std::uint64_t parse_time(const std::string &text);
/// 0 where it is no number.
[[nodiscard]] std::uint64_t parse_count(const std::string &text);
void sleep_until(std::uint64_t monotonic_ns);

} // namespace weft_tool
