// SPDX-License-Identifier: Apache-2.0
// The trace that this process writes: its folder, the rings of its workers, and the flusher, the
// thread that empties them.
#pragma once

#include "trace/ring.hpp"
#include "trace/types.hpp"

#include <string>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct trace_options {
  trace_level level = trace_level::off;
  trace_mode mode = trace_mode::stream;
  std::string folder;          // %p stands for the pid
  std::uint64_t bytes = 4 << 20; // of a worker's ring
  unsigned workers = 0;
  bool kernel = false; // context switches of the workers' threads
};

/// Holds what one slot writes its events with.
struct tracer {
  trace_ring ring;
  type_cache types;
};

[[gnu::visibility("hidden")]] extern trace_level g_trace_level; // written before any task

[[nodiscard]] inline bool traces(trace_level level) noexcept { return g_trace_level >= level; }

/// Begins the trace, before any worker. If the folder cannot be written, warns and traces nothing.
void open_trace(const trace_options &options) noexcept;
/// Returns the tracer of a slot; null if nothing is traced or there is no room. The caller holds
/// the start lock.
[[nodiscard]] tracer *tracer_of_slot(unsigned slot) noexcept;
/// Returns the tracer of decisions, which one thread at a time may use; null if nothing is traced or
/// there is no room. The caller holds the start lock.
[[nodiscard]] tracer *tracer_of_decisions() noexcept;
/// Holds the counters of a slot at the end.
struct slot_counts {
  unsigned slot;
  std::uint64_t values[static_cast<std::size_t>(counted_value::limit)];
};
/// Ends the trace, once. Empty `counts`: the workers have not stopped.
/// `spawn_sites`: where types were first spawned, by their number.
/// `shares`: of the workers' time in ns, by runtime.
void end_trace(const std::vector<slot_counts> &counts,
               std::vector<std::pair<unsigned, std::string>> spawn_sites,
               std::vector<std::pair<std::string, std::uint64_t>> shares) noexcept;
/// Leaves the parent's trace alone, in the child of a fork().
void forget_trace_in_child() noexcept;

/// Is the place of the process in a job of ranks; see weft/layer/trace.hpp.
struct trace_place {
  int rank = 0, size = 0; // 0: in none
  std::string job, host;
  std::int64_t offset_ns = 0;
  std::uint64_t uncertain_ns = 0;
};
/// Writes the place into the description, soon. Any thread. Throws std::bad_alloc.
void set_place_of_trace(const trace_place &place);

struct trace_totals {
  std::uint64_t records = 0, discarded = 0;
};
[[nodiscard]] trace_totals totals_of_trace() noexcept;
/// Says whether the flusher runs: a thread of the process that does nothing to tasks.
[[nodiscard]] bool trace_has_thread() noexcept;

} // namespace rt
} // namespace weft::inline v0
