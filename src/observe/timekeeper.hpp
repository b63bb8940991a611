// SPDX-License-Identifier: Apache-2.0
// Measures where a worker's time goes.
//   overall, idle  exactly: they change when a worker looks for work, or a thread enters or leaves
//                  Weft, which is rare
//   overhead       the time between two tasks, at every task (exact), or at one of some 500
//                  (sampled), which then counts for all tasks since the last sample
//   execution      the rest: overall - idle - overhead
// So one long task never counts for 500, nested tasks do not count twice, and the sums add up.
#pragma once

#include "observe/layout.hpp"
#include "observe/tick_clock.hpp"

namespace weft::inline v0 {
namespace rt {

enum class time_mode : std::uint8_t { off, sampled, exact };

/// Holds what the worker needs to measure; only the worker uses it.
struct timekeeper {
  std::uint32_t until = 1;  // tasks until one is timed
  std::uint32_t weight = 0; // tasks that the open gap stands for
  std::uint64_t gap = 0;    // ticks at its beginning, the end of a timed task; 0: none is open
  std::uint32_t seed = 1;
  const char *last_closure = nullptr; // of the last task without a label; last_type is its type
  type_time *last_type = nullptr;
};

extern time_mode g_time_mode; // written before any task
/// Sets the mode, before any task.
void set_time_mode(time_mode mode) noexcept;

/// Draws after how many tasks the next one is timed.
void schedule_sample(timekeeper &keeper) noexcept;

/// Ends the gap, and counts it.
WEFT_NOINLINE void close_gap(counter_block &block, timekeeper &keeper) noexcept;
WEFT_INLINE void end_gap(counter_block &block, timekeeper &keeper) noexcept {
  if (keeper.gap) [[unlikely]]
    close_gap(block, keeper);
}

/// Holds the measurement of one timed task.
struct timed_task {
  const counter_block *block = nullptr; // null: the task is not timed, after all
  std::uint64_t begin = 0;
  std::uint64_t others =
      0; // tasks that the worker had run, and waits that it had seen, at the begin
  std::uint32_t weight = 1; // tasks that the sample stands for
  type_time *type = nullptr;
};
/// Begins to time the next task, and ends the gap.
[[nodiscard]] timed_task begin_timed(counter_block &block, timekeeper &keeper,
                                     const task_name &name) noexcept;
/// Ends the timing of a task, perhaps on another worker, and opens the gap to the next task.
void end_timed(const timed_task &timed, counter_block &block, timekeeper &keeper) noexcept;
/// Begins a gap where something other than a timed task has ended.
WEFT_INLINE void begin_gap(timekeeper &keeper) noexcept {
  if (g_time_mode == time_mode::exact) [[unlikely]] {
    keeper.gap = read_ticks();
    keeper.weight = 1;
  }
}

WEFT_INLINE void start_watch(std::uint64_t &stopwatch, std::uint64_t now) noexcept {
  if (!is_running(stopwatch))
    put(stopwatch, stopwatch - now);
}
WEFT_INLINE void stop_watch(std::uint64_t &stopwatch, std::uint64_t now) noexcept {
  if (is_running(stopwatch))
    put(stopwatch, stopwatch + now);
}

// The thread enters Weft, or leaves it.
void enter_overall(counter_block &block) noexcept;
void leave_overall(counter_block &block, timekeeper &keeper) noexcept;
// The worker has found nothing to do, or something at last.
void enter_idle(counter_block &block, timekeeper &keeper) noexcept;
void leave_idle(counter_block &block, timekeeper &keeper) noexcept;

} // namespace rt
} // namespace weft::inline v0
