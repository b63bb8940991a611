// SPDX-License-Identifier: Apache-2.0
// Reads the trace of a program that has ended, still runs or was killed; records come in the order
// of their times.
#pragma once

#include "trace/metadata.hpp"

#include <memory>

namespace weft_tool {

using namespace weft::rt;

struct trace_item {
  const trace_record *record = nullptr;
  unsigned slot = 0;
};

class trace_reader {
 public:
  /// Opens a trace. Throws weft::error when the folder holds no trace of Weft.
  explicit trace_reader(const std::string &folder);
  ~trace_reader();
  trace_reader(const trace_reader &) = delete;
  trace_reader &operator=(const trace_reader &) = delete;

  [[nodiscard]] const trace_description &about() const noexcept { return m_about; }
  [[nodiscard]] const std::string &type_name(std::uint16_t type) const noexcept;
  /// Returns nanoseconds since the trace began.
  [[nodiscard]] std::int64_t ns(std::uint64_t ticks) const noexcept {
    return static_cast<std::int64_t>(wide{static_cast<std::int64_t>(ticks - m_about.first_ticks)} *
                                         static_cast<std::int64_t>(m_scale) >>
                                     k_shift);
  }
  [[nodiscard]] std::uint64_t ticks(std::int64_t ns) const noexcept;
  /// Returns the number of records of all streams.
  [[nodiscard]] std::uint64_t records() const noexcept { return m_records; }
  [[nodiscard]] std::uint64_t discarded() const noexcept { return m_discarded; }
  /// Returns whether the end of a stream is missing.
  [[nodiscard]] bool is_cut_off() const noexcept { return m_cut_off; }
  /// Returns sentences on what is missing: a stream that is cut off, a program that did not end in
  /// order.
  [[nodiscard]] const std::vector<std::string> &troubles() const noexcept { return m_troubles; }
  [[nodiscard]] std::vector<unsigned> slots() const;
  /// Holds the times of the first record and of the last one of an event; equal where there is
  /// none.
  struct span {
    std::int64_t first, last;
  };
  [[nodiscard]] span bounds() const noexcept;

  /// Reads the next record; returns false at the end. Shows how far it is (progress.hpp), so it may
  /// throw `interrupted`.
  bool next(trace_item &item);
  /// Begins again at the first record; `what` says what the caller does with the records.
  void rewind(const char *what);

 private:
  __extension__ typedef __int128 wide;
  static constexpr int k_shift =
      44; // exact to 1 ns over three hours, and for clocks of 1 MHz and more

  struct packet {
    const trace_record *begin, *end;
    std::uint64_t number;
  };
  struct stream {
    unsigned slot = 0;
    std::vector<packet> packets;
    std::size_t at = 0; // packet
    const trace_record *next = nullptr;
    std::uint64_t time = 0; // of what comes next
    trace_record parts[2]{}; // of `next`, where it is two in one
    trace_record given{}; // the one that was returned
    unsigned count = 0, part = 0;
    std::unique_ptr<trace_record> last; // an end that is still to be returned
    std::uint64_t discarded = 0;
  };
  struct mapping {
    const char *base = nullptr;
    std::size_t bytes = 0;
  };
  void take_types(const trace_type *table);
  void find_streams();
  void read_stream(stream &source, const std::string &path);
  void read_ring(stream &source, const std::string &path);
  mapping map(const std::string &path);
  static void settle(stream &source) noexcept;
  static void look(stream &source) noexcept;
  void sink(std::size_t at) noexcept;

  std::string m_folder;
  trace_description m_about;
  std::vector<stream> m_streams;
  std::vector<mapping> m_mappings;
  std::vector<std::string> m_troubles;
  std::uint64_t m_records = 0, m_discarded = 0;
  bool m_cut_off = false;
  std::uint64_t m_scale = 0; // ns per tick, times 2^k_shift
  std::vector<stream *> m_heap; // streams with more records: the earliest record first
};

} // namespace weft_tool
