// SPDX-License-Identifier: Apache-2.0
// Counters: what the runtime and the program have counted, read while it runs. Names, and what they
// mean: docs/user/counters.md.
#pragma once

#include <weft/c/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_snapshot weft_snapshot; // all counters at one moment, or the difference of two
typedef struct weft_counter weft_counter; // one of the program's own
typedef struct weft_level weft_level; // one of the program's own whose value rises and falls

// Selects what weft_snapshot_text() writes.
typedef enum weft_format {
  WEFT_FORMAT_TEXT = 0,
  WEFT_FORMAT_CSV = 1,
  WEFT_FORMAT_JSON = 2
} weft_format;

// Takes a snapshot of this program; starts Weft if it has not started.
//
// Ownership. *snapshot is the caller's, to be given to weft_snapshot_free.
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL), and those of weft_start().
WEFT_API int weft_snapshot_take(weft_snapshot **snapshot);

// Takes a snapshot of another program of this user, also of one that was killed.
//
// Errors. INVALID_ARGUMENT (NULL, no such program, or none that shows counters).
WEFT_API int weft_snapshot_take_from(int pid, weft_snapshot **snapshot);

// Computes what was counted between two snapshots of one program; levels are those of the later.
//
// Ownership. *difference is the caller's; the other two stay as they are.
// Threads. Anywhere.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, different programs).
WEFT_API int weft_snapshot_subtract(const weft_snapshot *later, const weft_snapshot *earlier,
                                    weft_snapshot **difference);

// Sets *value to one number; NaN where there is nothing to tell, such as a mean over no tasks.
//
// Threads. Anywhere.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, an unknown name, one that names several, a counter that cannot be
// had here).
WEFT_API int weft_snapshot_value(const weft_snapshot *snapshot, const char *name, double *value);

// Calls `use` for each counter that a list of names, separated by commas, selects.
//
// Threads. Anywhere. `use` must not throw.
// Blocks. While `use` does.
// Errors. INVALID_ARGUMENT (NULL, an unknown name).
WEFT_API int weft_snapshot_each(const weft_snapshot *snapshot, const char *names,
                                void (*use)(const char *name, double value, const char *unit,
                                            void *context),
                                void *context);

// Writes these counters as text, in one of the ways of weft_format, into `buffer`, cut to its size
// and ended by a zero. Sets *needed to the bytes of the whole, with the zero.
//
// Threads. Anywhere.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, but buffer may be NULL when size is 0; an unknown name or
// format).
WEFT_API int weft_snapshot_text(const weft_snapshot *snapshot, const char *names, int format,
                                char *buffer, size_t size, size_t *needed);

// Writes everything in the exposition format of OpenMetrics, in the same way.
//
// Threads. Anywhere.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, but buffer may be NULL when size is 0).
WEFT_API int weft_snapshot_open_metrics(const weft_snapshot *snapshot, char *buffer, size_t size,
                                        size_t *needed);

// Calls `use` for each bucket of a histogram (/threads/time/duration: tasks by how long they ran)
// that is not empty, the smallest first: `count` values from `least` on, up to the `least` of the
// next bucket.
//
// Threads. Anywhere. `use` must not throw.
// Blocks. While `use` does.
// Errors. INVALID_ARGUMENT (NULL, an unknown name, or one of no histogram).
WEFT_API int weft_snapshot_histogram(const weft_snapshot *snapshot, const char *name,
                                     void (*use)(double least, uint64_t count, void *context),
                                     void *context);

// Returns the nanoseconds in which the counts grew; 0 for NULL.
WEFT_API uint64_t weft_snapshot_span_ns(const weft_snapshot *snapshot);

// Gives a snapshot back. NULL is allowed.
WEFT_API void weft_snapshot_free(weft_snapshot *snapshot);

// Calls `use` with each counter whose name matches. `absent` is not 0 where this system does not
// have the counter, and `help` says why.
//
// Threads. Any thread, and tasks. `use` must not throw.
// Blocks. While `use` does.
// Errors. INVALID_ARGUMENT (NULL), and those of weft_start().
WEFT_API int weft_counters_list(const char *pattern,
                                void (*use)(const char *name, const char *unit, const char *help,
                                            int absent, void *context),
                                void *context);

// Refers to the calls that weft_counters_every() has begun.
typedef struct weft_intervals weft_intervals;
// Calls `use` every `period_ns` (1 ms at least) with a snapshot of now and one of the interval, on
// a thread that is not a worker, until weft_counters_stop(), which calls it once more and waits for
// that call. The snapshots are lent for the call.
//
// Ownership. *handle is for weft_counters_stop.
// Threads. Any thread.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, a period that is too short), OUT_OF_RESOURCES, and those of
// weft_start().
WEFT_API int weft_counters_every(uint64_t period_ns,
                                 void (*use)(const weft_snapshot *now,
                                             const weft_snapshot *interval, void *context),
                                 void *context, weft_intervals **handle);
// Ends the calls that weft_counters_every() has begun, after one more call. NULL does nothing.
//
// Blocks. While a call is under way.
WEFT_API void weft_counters_stop(weft_intervals *handle);

// Defines a counter of the program, "/object/name"; the same name gives the same counter. It lives
// as long as the process.
//
// Threads. Any thread.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, a bad name, one of Weft's own), OUT_OF_RESOURCES (more than 64).
WEFT_API int weft_counter_define(const char *name, const char *unit, const char *help,
                                 weft_counter **counter);

// Adds to a counter; NULL is ignored.
//
// Threads. Any thread, at any time.
WEFT_API void weft_counter_add(weft_counter *counter, uint64_t by);

// Defines a level of the program, which is measured whenever counters are read: for each snapshot,
// and a few times per second by the watcher. Any thread may call `value`, one at a time, until
// weft_level_withdraw(). `value` must be short, and must not use Weft.
//
// Ownership. *level is for weft_level_withdraw.
// Threads. Any thread.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, a bad name, one of Weft's own or of a counter), OUT_OF_RESOURCES
// (more than 64, with the counters).
WEFT_API int weft_level_define(const char *name, const char *unit, const char *help,
                               double (*value)(void *context), void *context, weft_level **level);

// Ends the calls of a level's function, and waits for a call that is under way. The last value
// stays. NULL is ignored.
WEFT_API void weft_level_withdraw(weft_level *level);

#ifdef __cplusplus
}
#endif
