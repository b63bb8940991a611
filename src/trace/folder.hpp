// SPDX-License-Identifier: Apache-2.0
// The files of a trace. Readers of CTF read every file without a leading dot as a stream.
#pragma once

#include "trace/metadata.hpp"

#include <sys/types.h>

namespace weft::inline v0 {
namespace rt {

/// Says why make_trace_folder() would refuse the folder; empty if it would not. Changes nothing.
[[nodiscard]] std::string why_no_trace_folder(const std::string &path);
/// Makes the folder, or empties one that holds an older trace. Returns why it cannot; "" if it can.
[[nodiscard]] std::string make_trace_folder(const std::string &path);
/// Has the folder of the trace that this process writes, alone while the process lives: a lock says so to
/// others, which may know the process by another number. Keeps an entry for it in a list of the user's,
/// so the trace of a killed program remains readable; of each user the newest 16 such folders remain,
/// 4 GiB at most.
class trace_in_progress {
 public:
  trace_in_progress() = default;
  trace_in_progress(const trace_in_progress &) = delete;
  trace_in_progress &operator=(const trace_in_progress &) = delete;
  ~trace_in_progress() { release(); }
  /// Makes the folder, or empties one that holds an older trace. Returns why it cannot; "" if it can.
  /// `%p` in the pattern stands for the number of the process. If a trace of that number is being
  /// written, or has not been ended, it stays, and `-2`, `-3`, ... follows the name.
  [[nodiscard]] std::string begin(const std::string &pattern, std::string &folder);
  /// Enters the trace into the list.
  void enter(const std::string &folder) noexcept;
  /// Removes the entry and the lock, because the trace is whole and belongs to the user.
  void end() noexcept;

 private:
  std::string take(const std::string &path, bool keep, bool &taken);
  void release() noexcept;

  std::string m_path, m_lock_path;
  int m_lock = -1;
};
/// Returns the name of the newest trace among `name`, `name-2`, `name-3`, ...
[[nodiscard]] std::string newest_trace(const std::string &name);

/// Writes packets one behind the other. Each is written whole or not at all, because readers find a
/// packet by the length of the one before it.
class packet_file {
 public:
  /// Makes the file. Returns false, with errno set, on failure.
  bool create(const std::string &path) noexcept;
  [[nodiscard]] bool is_open() const noexcept { return m_file >= 0; }
  /// Returns false, with errno set, if the packet is not written; it may be tried again.
  [[nodiscard]] bool append(const char *packet, std::size_t bytes) noexcept;

 private:
  int m_file = -1; // open until the process ends
  off_t m_bytes = 0;
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
[[nodiscard]] std::string lock_path(const std::string &folder);

} // namespace rt
} // namespace weft::inline v0
