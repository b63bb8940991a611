// SPDX-License-Identifier: Apache-2.0
// Replays a trace against what a task may do: created, ready, running, suspended, ended.
#pragma once

#include "tools/weft/support/paged_table.hpp"
#include "tools/weft/trace/reader.hpp"

#include <map>
#include <string>

namespace weft_tool {

struct type_tally {
  std::uint64_t created = 0, executed = 0, reruns = 0, rounds = 0, recorded = 0, abandoned = 0;
  std::uint64_t live = 0; // tasks that the replay leaves created and not ended
  [[nodiscard]] bool adds_up() const noexcept {
    return created - abandoned - recorded == executed - reruns + live;
  }
};

class trace_checker {
 public:
  explicit trace_checker(trace_reader &reader) : m_reader(reader) {}
  void run();

  std::map<std::string, type_tally> types;
  type_tally all;
  std::uint64_t suspended = 0, events[static_cast<std::size_t>(trace_event::limit)]{};
  std::uint64_t faults = 0;
  std::int64_t last_ns = 0;
  std::vector<std::string> sentences; // the first of them
  bool has_counters = false;
  /// Returns whether the trace has all records.
  [[nodiscard]] bool complete() const noexcept {
    return m_reader.discarded() == 0 && !m_reader.is_cut_off() &&
           m_reader.about().mode == trace_mode::stream;
  }

 private:
  struct state {
    std::uint64_t last = 0;           // time of its last event
    std::uint16_t type = 0;
    std::uint8_t created = 0, ended = 0, recorded = 0;
    std::int8_t running = 0, away = 0; // begun and not ended; suspended and not resumed
    bool early = false;               // an event came before its creation
    bool implicit = false;
    bool left = false; // a coroutine of it waits
  };
  void take(const trace_item &item);
  void begin(const trace_record &record, state &own);
  void end(const trace_record &record, state &own);
  void create(const trace_record &record, state &own);
  void suspend(const trace_record &record, state &own);
  void resume(const trace_record &record, state &own);
  void leave(const trace_record &record, state &own);
  void make_ready(const trace_record &record, state &own);
  void look_at_the_end(std::uint32_t id, const state &own);
  void add_up();
  void compare_with_counters();
  void fault(const trace_record &record, const char *what);
  [[nodiscard]] bool is_close(const trace_record &record, const state &own) const noexcept;
  type_tally &tally(const state &own) { return m_tallies[own.type]; }

  trace_reader &m_reader;
  std::vector<type_tally> m_tallies; // by number of the type
  paged_table<state> m_tasks;
  std::uint64_t m_counted[static_cast<std::size_t>(counted_value::limit)]{};
};

} // namespace weft_tool
