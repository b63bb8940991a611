// SPDX-License-Identifier: Apache-2.0
// The runtime as a whole: settings before it starts, what it has done, shutdown.
#pragma once

#include <weft/c/error.h>
#include <weft/version.hpp>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Returns the version of the library that runs, "0.2.0"; WEFT_VERSION_STRING is that of the header.
//
// Threads. Anywhere.
WEFT_API const char *weft_version(void);

// Gives a setting its value from the program: weft_configure("workers", "4"). The value replaces
// that of the environment. docs/user/settings.md lists the keys.
//
// Ownership. Both strings are copied.
// Threads. Any thread, before the first use of any other function.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL), BAD_SETTING (unknown key, bad value), ALREADY_STARTED (too
// late), SHUT_DOWN.
WEFT_API int weft_configure(const char *key, const char *value);

// Starts the runtime if it has not started. A program need not call it, because every other call
// starts the runtime.
//
// Threads. Any thread.
// Blocks. No.
// Errors. BAD_SETTING, OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_start(void);

// Waits for all tasks and ends the workers. A program need not call it, because exit() does. A
// second call does nothing.
//
// Threads. The first thread that used Weft, outside of tasks.
// Blocks. Yes.
// Errors. INVALID_ARGUMENT (called from elsewhere), TASK_FAILED (a child that no task waited for
// failed).
WEFT_API int weft_shutdown(void);

// Returns how many workers run tasks, the user's first thread included; or a negative code when the
// runtime cannot start.
WEFT_API int weft_worker_count(void);

// Returns the number of the calling worker, 0 for the first thread; or a negative code. A task that
// waits may go on on another worker.
WEFT_API int weft_worker_id(void);

// Holds monotonic totals over all workers since the start. Later versions add members at the end;
// `size` says which the caller knows.
typedef struct weft_statistics {
  size_t size; // sizeof(weft_statistics), set by the caller
  uint64_t spawned; // tasks created
  uint64_t executed; // bodies run or skipped
  uint64_t suspended; // frames that left their worker
  uint64_t stolen; // tasks and join branches taken from another worker's deque
  uint64_t slept; // times a worker slept in the kernel
  uint64_t throttled; // times a producer was held back
  uint64_t live_bytes; // task memory in use
  uint64_t cost; // sum of the cost hints of the tasks created
  uint64_t in_graph; // now: tasks whose accesses are entered and whose bodies have not begun
  uint64_t queued; // now: messages to managers
  uint64_t ready; // now: work that a worker could take
} weft_statistics;

// Fills *statistics as far as its `size` says; exact when nothing runs.
//
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, a size that is too small).
WEFT_API int weft_stats(weft_statistics *statistics);

// Sets *count to how many of the executed bodies worker `id` ran; 0 when there is no such worker.
//
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL).
WEFT_API int weft_executed_by(int id, uint64_t *count);

#ifdef __cplusplus
}
#endif
