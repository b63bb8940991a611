// SPDX-License-Identifier: Apache-2.0
// The runtime as a whole: settings before it starts, what it has done, shutdown.
#pragma once

#include <weft/detail/core.hpp>

namespace weft::inline v0 {

/// Gives a setting its value from the program: configure("workers", "4"). The program calls it
/// before the runtime starts, which the first use of any other call does. A refused value changes
/// nothing.
///
/// Threads. Any.
/// Errors. bad_setting for an unknown key (the message names the nearest one) or a bad value;
/// already_started when it is too late; invalid_argument for a null pointer; shut_down.
WEFT_API void configure(const char *key, const char *value);

/// Starts the runtime if it has not started. A program need not call it, because every other call
/// starts the runtime.
///
/// Cost. One thread per further worker.
/// Threads. Any; the first caller becomes the main task, worker 0.
/// Errors. bad_setting, which names where a wrong setting came from; out_of_resources; shut_down.
WEFT_API void start();

/// Waits for all tasks, and ends the workers. If a child that no task waited for has thrown, the
/// call rethrows its exception, and Weft goes on. A program need not call shutdown(), because
/// exit() does.
///
/// Afterwards each call that needs a worker throws weft::error (errc::shut_down). The totals can
/// still be read, and a second shutdown() does nothing.
///
/// Threads. Only the main task, outside of any other task.
/// Blocks. Yes.
/// Errors. invalid_argument for any other caller.
WEFT_API void shutdown();

/// Returns how many workers run tasks, the first thread of the user included.
///
/// Threads. Any.
/// Errors. As start().
[[nodiscard]] WEFT_API int worker_count();
/// Returns the number of the calling worker, 0 for the first thread. Threads adopted later count
/// from worker_count() on.
///
/// Threads. Any.
/// Errors. As start().
[[nodiscard]] WEFT_API int worker_id();

/// Holds monotonic totals over all workers since the start. They are a snapshot, exact when nothing
/// runs. Setting stats prints them at the end of the program.
///
/// Cost. A few loads per worker.
/// Threads. Any, at any time.
/// Errors. None.
struct statistics {
  std::uint64_t spawned = 0; ///< tasks created
  std::uint64_t executed = 0; ///< bodies run or skipped
  std::uint64_t suspended = 0; ///< frames that left their worker
  std::uint64_t stolen = 0; ///< tasks and join branches taken from another worker's deque
  std::uint64_t slept = 0; ///< times a worker slept in the kernel
  std::uint64_t throttled = 0; ///< times a producer was held back
  std::uint64_t live_bytes = 0; ///< task memory in use
  std::uint64_t cost = 0; ///< sum of the cost clauses of the tasks created
  // The present state, not totals; guesses while tasks run. A taskiter's rounds count as executed
  // and not as created.
  std::uint64_t in_graph = 0; ///< tasks whose accesses are entered and whose bodies have not begun
  std::uint64_t queued =
      0; ///< messages to managers (setting manage.mode): tasks to be entered, released or dropped
  std::uint64_t ready = 0; ///< work that a worker could take now
};
/// Returns the present totals; they are exact when nothing runs.
///
/// Cost. A walk over the workers.
/// Threads. Any, and tasks.
[[nodiscard]] WEFT_API statistics stats();
/// Returns how many of the executed bodies worker `id` ran; 0 when there is no such worker.
[[nodiscard]] WEFT_API std::uint64_t executed_by(int id);

} // namespace weft::inline v0
