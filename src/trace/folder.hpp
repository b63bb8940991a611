// SPDX-License-Identifier: Apache-2.0
// The files of a trace. CTF's readers take every file without a leading dot for a stream.
#pragma once

#include "trace/metadata.hpp"

namespace weft::inline v0 {
namespace rt {

/// Makes the folder, or empties one that holds an older trace. Otherwise says why not.
[[nodiscard]] std::string make_trace_folder(const std::string &path);
/// What a killed program leaves of a trace: it stays readable, but of each user the newest 16 such folders, 4 GiB at most. An entry also says
/// that this process writes there, to programs that would remove the folder.
class trace_in_progress {
 public:
  /// The folder exists, with its file of types.
  void begin(const std::string &folder) noexcept;
  /// The trace is whole, and the user's.
  void end() noexcept;

 private:
  std::string m_path;
};

/// A file of `bytes` in memory, which stays when the process is killed; null without room, with errno set.
[[nodiscard]] void *map_new_file(const std::string &path, std::size_t bytes) noexcept;
/// So that no write to that memory, of a file, waits for the system the first time; a hint.
void touch(void *memory, std::size_t bytes) noexcept;
/// Replaces the file as a whole. False with errno set.
bool replace_file(const std::string &path, const std::string &text) noexcept;
bool write_whole(int file, const char *data, std::size_t bytes) noexcept;

[[nodiscard]] std::string stream_path(const std::string &folder, unsigned slot);
[[nodiscard]] std::string kernel_path(const std::string &folder, unsigned slot);
[[nodiscard]] std::string ring_path(const std::string &folder, unsigned slot);
[[nodiscard]] std::string types_path(const std::string &folder);
[[nodiscard]] std::string description_path(const std::string &folder);

} // namespace rt
} // namespace weft::inline v0
