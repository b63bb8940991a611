// SPDX-License-Identifier: Apache-2.0
// The runtime as a whole: settings before it starts, what it has done, shutdown.
#pragma once

#include <weft/detail/core.hpp>

namespace weft::inline v0 {

/// Gives a setting its value from the program: configure("workers", "4"). Before the runtime starts only (the first use
/// of any other call), by any thread; throws weft::error: errc::bad_setting for an unknown key (with the nearest one) or a
/// bad value, errc::already_started when it is too late, errc::invalid_argument for a null pointer, errc::shut_down.
/// A value that was refused changes nothing.
WEFT_API void configure(const char *key, const char *value);

/// Starts the runtime if it has not started. Not needed: every call does it. Any thread; the one that comes first becomes the main
/// task, worker 0. Cost: one thread per further worker. Throws weft::error: bad_setting, which names where a wrong setting came
/// from; out_of_resources; shut_down.
WEFT_API void start();

/// Waits for all tasks, ends the workers; rethrows what a child threw that nobody waited for, and then Weft goes on. Only from the main
/// task, outside of any other, else errc::invalid_argument. Whatever would need a worker after it throws weft::error
/// (errc::shut_down); totals can still be read, and a second call does nothing. Not needed: exit() does it.
WEFT_API void shutdown();

/// Workers that run tasks, the first thread of the user included. Any thread; errors of these two: as start().
[[nodiscard]] WEFT_API int worker_count();
/// The number of the calling worker, 0 for the first thread; threads adopted later count from worker_count() on.
[[nodiscard]] WEFT_API int worker_id();

/// Monotonic totals over all workers since the start; a snapshot, exact when nothing runs. Any thread, at any time; never throws.
/// Cost: a few loads per worker. Setting stats prints them at the end of the program.
struct statistics {
  std::uint64_t spawned = 0;   ///< tasks created
  std::uint64_t executed = 0;  ///< bodies run or skipped
  std::uint64_t suspended = 0; ///< frames that left their worker
  std::uint64_t stolen = 0;    ///< tasks and join branches taken from another worker's deque
  std::uint64_t slept = 0;     ///< times a worker slept in the kernel
  std::uint64_t throttled = 0; ///< times a producer was held back
  std::uint64_t live_bytes = 0;///< task memory in use
  std::uint64_t cost = 0;      ///< sum of the cost clauses of the tasks created
  // How it is now, no totals; guesses while tasks run. A taskiter's rounds count as executed and not as created.
  std::uint64_t in_graph = 0;  ///< tasks whose accesses are entered and whose bodies have not begun
  std::uint64_t queued = 0;    ///< messages to managers (setting manage.mode): tasks to be entered, released or dropped
  std::uint64_t ready = 0;     ///< work that a worker could take now
};
/// The totals of now; exact when nothing runs. Any thread, and tasks. Cost: a walk over the workers.
[[nodiscard]] WEFT_API statistics stats();
/// How many of the executed bodies worker `id` ran; 0 when there is no such worker.
[[nodiscard]] WEFT_API std::uint64_t executed_by(int id);

} // namespace weft::inline v0
