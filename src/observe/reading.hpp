// SPDX-License-Identifier: Apache-2.0
// A reading: all counters of a program at one moment, or what was counted between two moments.
// Plain data of the reader.
#pragma once

#include "observe/layout.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct segment;

struct described {
  std::string name, unit, help;
  counter_kind kind = counter_kind::count;
  counter_scope scope = counter_scope::worker;
  bool absent = false; // cannot be had where the program runs: `help` says why
};

struct reading {
  struct slot {
    unsigned id;
    block_kind kind;
    bool present; // in Weft
    bool idle;
  };
  using buckets = std::array<std::uint64_t, k_duration_buckets>;

  unsigned pid = 0, workers = 0, cpus = 0;
  std::string program, library;
  bool exact_time = false, alive = false, ended = false;
  std::uint64_t started_ns = 0, taken_ns = 0; // monotonic; of a dead program, when it was last seen
  std::uint64_t span_ns = 0; // the time over which the counts were counted
  std::uint64_t resident_bytes = 0;
  std::int64_t in_graph = 0,
               suspended =
                   0; // tasks created and not begun, frames that wait: at taken_ns, not of the span
  std::uint32_t missing_blocks = 0;
  double reference_task_ns = 0, reference_run_ns = 0;

  std::vector<described> catalogue;
  std::vector<slot> slots;
  std::vector<std::int64_t> cells; // per entry: of the process, then of each slot
  std::vector<buckets> durations; // per slot
  struct type {
    std::string name;
    std::uint64_t tasks, timed, ns; // see type_time
  };
  std::vector<type> types; // of all slots, by name

  /// Returns the index of a counter in the catalogue; catalogue.size() if there is none.
  [[nodiscard]] std::size_t find(std::string_view name) const noexcept;
  [[nodiscard]] std::int64_t of_process(std::size_t entry) const noexcept {
    return cells[entry * (slots.size() + 1)];
  }
  [[nodiscard]] std::int64_t of_slot(std::size_t entry, std::size_t slot) const noexcept {
    return cells[entry * (slots.size() + 1) + 1 + slot];
  }
  /// Returns the sum over the process and all slots of this reading.
  [[nodiscard]] std::int64_t total(std::size_t entry) const noexcept;
  [[nodiscard]] buckets all_durations() const noexcept;
};

/// Says whether the program of a segment still runs.
enum class program_state { running, gone };
/// Reads the segment of this program.
[[nodiscard]] reading read_segment(const char *base, program_state state);
/// Reads the mapped segment of any program. Throws weft::error if it is none any more.
[[nodiscard]] reading read_segment(const segment &area, program_state state);
/// Returns what was counted between two readings: subtracts counts, and keeps the levels of the
/// later one. Throws weft::error if the two are of different programs.
[[nodiscard]] reading difference(const reading &later, const reading &earlier);
/// Opens, reads and closes the segment of a program. Throws weft::error that says why it cannot.
[[nodiscard]] reading read_program(long pid);

} // namespace rt
} // namespace weft::inline v0
