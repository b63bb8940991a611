// SPDX-License-Identifier: Apache-2.0
// The traces of the ranks of a job side by side: their clocks aligned, and the messages between them.
#pragma once

#include "tools/weft/trace/reader.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft_tool {

/// Is what a rank did with a message.
struct message_mark {
  std::int64_t ns = 0; // since the first of the traces began
  std::int64_t lasted = -1; // of an operation: until it ended; -1: not known
  std::uint32_t trace = 0; // the index of the trace
  trace_event what = trace_event::send; // or arrived, awaits
  std::uint16_t type = 0, own = 0, peer = 0;
  std::uint32_t id = 0; // of a notification
  std::uint32_t task = 0; // of send and awaits: the task; 0: not known
  std::uint64_t bytes = 0; // of awaits: how many
  std::uint64_t flow = 0; // the same at both ends; 0: the other end is not known
};

class rank_traces {
 public:
  /// Opens the traces. Throws weft::error for a folder without a trace, and for traces of several jobs.
  explicit rank_traces(const std::vector<std::string> &folders);

  [[nodiscard]] std::size_t count() const noexcept { return m_readers.size(); }
  [[nodiscard]] trace_reader &at(std::size_t index) noexcept { return *m_readers[index]; }
  [[nodiscard]] const trace_reader &at(std::size_t index) const noexcept {
    return *m_readers[index];
  }
  /// Returns what is added to the times of a trace.
  [[nodiscard]] std::int64_t shift(std::size_t index) const noexcept { return m_shifts[index]; }
  /// Names the process of a trace: "rank 1 of 4: heat (pid 12 on node1)"; alone: "heat".
  [[nodiscard]] std::string name_of(std::size_t index) const;
  /// Names what a rank did: "put_notify 7 to rank 1: 800 bytes, 12.500 us".
  [[nodiscard]] std::string text(const message_mark &mark) const;

  /// Reads the messages, in the order of their times. Both ends of a notification, or of a message of a
  /// collective call, get the same `flow`: the first that was sent is the first that arrives, of those
  /// of one number between two ranks. Some 60 bytes for each stay in memory.
  [[nodiscard]] std::vector<message_mark> read_messages();
  /// Returns sentences on what the ends may be wrong by.
  [[nodiscard]] std::vector<std::string> doubts() const;

 private:
  void read_messages_of(std::size_t index, std::vector<message_mark> &all);

  std::vector<std::unique_ptr<trace_reader>> m_readers;
  std::vector<std::int64_t> m_shifts;
};

} // namespace weft_tool
