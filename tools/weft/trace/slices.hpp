// SPDX-License-Identifier: Apache-2.0
// Computes what each worker did, interval by interval, and how many tasks there were.
#pragma once

#include "tools/weft/support/paged_table.hpp"
#include "tools/weft/trace/reader.hpp"

#include <functional>
#include <unordered_map>

namespace weft_tool {

/// Is an interval in which a worker did one thing.
struct slice {
  enum kind : unsigned char {
    body,
    idle,
    away
  }; // away: the kernel had taken the processor from its thread
  kind what = body;
  unsigned slot = 0;
  std::uint32_t task = 0;
  std::uint16_t type = 0;
  std::int64_t begin = 0, end = 0; // ns
  bool ends_task = false;
  // Of a coroutine: the functions in which it went on, and in which it waits; 0: not known.
  std::uint16_t began_in = 0, left_in = 0;
  std::uint64_t left_for = 0, left_object = 0; // the words of `left`
};
/// Returns what a body's slice shows of a coroutine, "read -> lock (mutex 0x7f60)": where it went on,
/// where it waits, and for what; empty where nothing is known.
[[nodiscard]] std::string coroutine_text(const trace_reader &reader, const slice &part);
/// Returns what a coroutine waits for, "mutex" or "end of load": of a task its type; empty where the
/// trace does not say it.
[[nodiscard]] std::string awaited_text(const trace_reader &reader, std::uint64_t chain);

/// Turns records into slices, in the order of their ends. Of nested bodies only the innermost runs.
class slice_builder {
 public:
  explicit slice_builder(const trace_reader &reader, std::function<void(const slice &)> use)
      : m_reader(reader), m_use(std::move(use)) {}
  void take(const trace_item &item);
  /// Ends all open slices at the end of the trace.
  void finish();
  /// Ends all open slices and begins new ones, so that a caller that sorts slices by their begins
  /// may write those that it has.
  void cut();
  [[nodiscard]] std::uint16_t type_of(std::uint32_t task) const noexcept;

 private:
  struct worker {
    std::vector<std::uint32_t> running; // innermost last
    std::int64_t since = 0;
    std::int64_t idle_since = -1, away_since = -1;
  };
  /// Returns whether the ends of bodies are implied, because they are not recorded.
  [[nodiscard]] bool implied() const noexcept {
    return m_reader.about().level < trace_level::tasks;
  }
  void begin(worker &w, unsigned slot, const trace_record &record, std::int64_t now);
  void end(worker &w, unsigned slot, const trace_record &record, std::int64_t now);
  void resume(worker &w, unsigned slot, const trace_record &record, std::int64_t now);
  /// Says why a slice of a body ends: the body is over, or it goes on later.
  enum class body { over, goes_on };
  void close(worker &w, unsigned slot, std::int64_t now, body what);
  worker &at(unsigned slot);

  const trace_reader &m_reader;
  std::function<void(const slice &)> m_use;
  std::vector<worker> m_workers;
  paged_table<std::uint16_t> m_types; // of tasks that are alive
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> m_suspended; // below a left frame
  struct coroutine {
    std::uint16_t began_in = 0, left_in = 0;
    std::uint64_t left_for = 0, left_object = 0;
  };
  std::unordered_map<std::uint32_t, coroutine> m_coroutines; // tasks that have waited as one
  std::int64_t m_last = 0;
};

/// Counts the tasks in the graph: a created task counts until it ends for good. Rounds of recorded
/// tasks and branches of joins do not count.
class live_tasks {
 public:
  /// Returns how many more there are after a record.
  int take(const trace_record &record) {
    const auto e = static_cast<trace_event>(record.event);
    if (e == trace_event::create && (record.a & k_created_for_rounds) == 0) {
      m_created.put(record.task, 1);
      return ++m_tasks, 1;
    }
    const bool ends = (e == trace_event::end && (record.a & (k_again | k_round)) == 0) ||
                      e == trace_event::abandon;
    if (!ends || m_created.take(record.task) == 0)
      return 0;
    return --m_tasks, -1;
  }
  [[nodiscard]] std::int64_t tasks() const noexcept { return m_tasks; }

 private:
  paged_table<std::uint8_t> m_created;
  std::int64_t m_tasks = 0;
};

} // namespace weft_tool
