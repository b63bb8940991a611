// SPDX-License-Identifier: Apache-2.0
// All data that the report shows, computed from a trace.
#pragma once

#include "tools/weft/trace/analysis.hpp"
#include "tools/weft/trace/export/export.hpp"

#include "observe/shares.hpp"

#include <array>
#include <map>

namespace weft_tool {

inline constexpr std::size_t k_grain_buckets = 48; // two per power of two, from 64 ns

struct type_row {
  std::string name;
  std::string spawn_site; // "FILE:LINE" of the call that spawned the first; empty: not known
  std::uint64_t tasks = 0;
  double exec_ns = 0, longest_ns = 0;
  double on_path_ns = 0; // of the critical path
  double gain_percent = -1; // of the span, if its bodies took half as long; -1: not known
  bool gain_is_bound = false; // the gain is at most gain_percent
};

/// Is a coroutine that has waited, or that has called one.
struct coroutine_row {
  std::string name;
  std::uint64_t waits = 0;
  double waited_ns = 0, longest_ns = 0; // until the task ran again
  double ran_ns = 0; // of its task, in the runs that began in it
  std::map<std::string, std::uint64_t> awaited; // how often it waited for what, "end of load" or "mutex"
};

/// Is a column of the timeline: parts of the time, by type and otherwise.
struct cell {
  std::uint16_t type = 0; // that took most of the task time
  float tasks = 0, idle = 0, away = 0; // 0 to 1
};

/// Is the number of samples of a series over time.
inline constexpr std::size_t k_samples = 400;
using series = std::array<double, k_samples>;

struct idle_reason {
  double ns = 0; // of all workers
  double no_ready = 0, tail = 0, start = 0,
         after = 0; // parts of it; after: the last task had ended
  /// no_ready and tail, by the type of the task that ran meanwhile and released the next one
  std::map<std::string, double> behind;
};

/// Is one task of the timeline: it is on the critical path, or one of the longest others.
struct shown_task {
  std::size_t track;
  std::string type;
  double begin_ns, ns; // begin: since the trace began
  long on_path = -1; // number of tasks before it on the critical path
};

/// Is one decision of a session or a policy.
struct tuning_decision {
  double after_ns; // since the trace began
  std::string what; // the site and the sentence
  double of_default; // cost of the last trial; 1: as much as the default's; 0: there was none
};

struct report_data {
  std::string program;
  std::vector<weft::rt::time_share> shares; // of the workers' time in the run, by runtime
  std::vector<std::pair<std::string, std::string>>
      about; // of the run: command, machine, date and so on
  unsigned workers = 0;
  double duration_ns = 0, begin_ns = 0;
  double task_ns = 0, idle_ns = 0, away_ns = 0, overhead_ns = 0; // sums; of idleness: of the workers
  double worker_task_ns = 0; // of task_ns, what takes the workers' time: no spare's, which runs beside one that blocks
  double idle_share = 1; // of the workers' idle time, in which no other thread ran a task in their place
  std::uint64_t tasks = 0, records = 0, discarded = 0, stolen = 0, switches = 0;
  std::uint64_t unfinished = 0; // tasks that had been created, and had not ended
  std::vector<std::string> notes, warnings;
  std::vector<std::string> track_names;
  std::vector<shown_task> shown;
  std::vector<std::pair<std::size_t, std::size_t>> arrows; // predecessor, successor
  std::vector<type_row> types; // the most expensive first
  std::vector<coroutine_row> coroutines; // those that waited longest first
  std::size_t columns = 1; // of a track
  std::vector<std::vector<cell>> tracks; // by worker
  std::array<double, k_grain_buckets> grains{}; // tasks by duration
  series live{}, ready{}, running{}; // tasks in the graph, those that are ready, workers in tasks
  idle_reason idle;
  std::vector<std::uint16_t> running_at; // by column: the type of the task that ran amid it and ended next
  bool has_creations = false; // `live` is computed from creations
  bool has_graph = false;
  graph_bounds bounds;
  double gap_ns = 0; // between two tasks
  double graph_ns = 0; // from the first task to the end of the last, as predictions are
  double own_on_path_ns = 0; // of the critical path, the program's own code
  std::vector<std::pair<unsigned, double>> predicted; // workers, ns
  double no_overhead_ns = 0;
  std::vector<std::pair<std::string, double>> faster; // a type twice as fast, on as many workers
  std::vector<tuning_decision> decisions; // the oldest first
  std::vector<std::string> sentences;
};

/// Returns the columns of each track of a page with that many.
[[nodiscard]] std::size_t columns_of(std::size_t tracks) noexcept;
/// Returns how many tracks a timeline of the trace has: one for each number up to the highest slot.
[[nodiscard]] std::size_t tracks_of(const trace_reader &reader);

[[nodiscard]] report_data analyse(trace_reader &reader);

} // namespace weft_tool
