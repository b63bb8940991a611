// SPDX-License-Identifier: Apache-2.0
// The files of a trace. Readers of CTF read every file without a leading dot as a stream.
#pragma once

#include "trace/metadata.hpp"

namespace weft::inline v0 {
namespace rt {

/// Says why make_trace_folder() would refuse the folder; empty if it would not. Changes nothing.
[[nodiscard]] std::string why_no_trace_folder(const std::string &path);
/// Makes the folder, or empties one that holds an older trace. Returns why it cannot; "" if it can.
[[nodiscard]] std::string make_trace_folder(const std::string &path);
/// Keeps an entry for a trace that is being written. The trace of a killed program remains
/// readable; of each user the newest 16 such folders remain, 4 GiB at most. The entry also tells
/// programs that would remove the folder that this process writes there.
class trace_in_progress {
 public:
  /// Enters the trace into the list; its folder exists, with the file of types.
  void begin(const std::string &folder) noexcept;
  /// Removes the entry, because the trace is whole and belongs to the user.
  void end() noexcept;

 private:
  std::string m_path;
};

/// Maps a new file of `bytes`, which remains if the process is killed; returns null without room,
/// with errno set.
[[nodiscard]] void *map_new_file(const std::string &path, std::size_t bytes) noexcept;
/// Touches the memory of a file, so that no first write to it waits for the system; a hint.
void touch(void *memory, std::size_t bytes) noexcept;
/// Replaces the file as a whole. Returns false, with errno set, on failure.
bool replace_file(const std::string &path, const std::string &text) noexcept;
bool write_whole(int file, const char *data, std::size_t bytes) noexcept;

[[nodiscard]] std::string stream_path(const std::string &folder, unsigned slot);
[[nodiscard]] std::string kernel_path(const std::string &folder, unsigned slot);
[[nodiscard]] std::string ring_path(const std::string &folder, unsigned slot);
[[nodiscard]] std::string types_path(const std::string &folder);
[[nodiscard]] std::string description_path(const std::string &folder);

} // namespace rt
} // namespace weft::inline v0
