// SPDX-License-Identifier: Apache-2.0
// Counters: what the runtime and the program have counted, read while it runs. Names, and what they mean: docs/user/counters.md.
#pragma once

#include <weft/c/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_snapshot weft_snapshot; // all counters at one moment, or the difference of two
typedef struct weft_counter weft_counter;   // one of the program's own
typedef struct weft_level weft_level;       // the same, of a value that rises and falls

// What weft_snapshot_text() writes.
typedef enum weft_format { WEFT_FORMAT_TEXT = 0, WEFT_FORMAT_CSV = 1, WEFT_FORMAT_JSON = 2 } weft_format;

// Takes a snapshot of this program; starts Weft if it has not started.
//
// Ownership: *snapshot is the caller's, to be given to weft_snapshot_free.
// Callable from: any thread, and tasks.
// Blocks: never.
// Errors: INVALID_ARGUMENT (NULL), and those of weft_start().
WEFT_API int weft_snapshot_take(weft_snapshot **snapshot);

// The same of another program of this user, also of one that was killed.
//
// Errors: INVALID_ARGUMENT (NULL, no such program, or none that shows counters).
WEFT_API int weft_snapshot_take_from(int pid, weft_snapshot **snapshot);

// What was counted between two snapshots of one program; levels are those of the later.
//
// Ownership: *difference is the caller's; the other two stay as they are.
// Callable from: anywhere.
// Blocks: never.
// Errors: INVALID_ARGUMENT (NULL, different programs).
WEFT_API int weft_snapshot_subtract(const weft_snapshot *later, const weft_snapshot *earlier, weft_snapshot **difference);

// Sets *value to one number; NaN where there is nothing to tell, such as a mean over no tasks.
//
// Callable from: anywhere.
// Blocks: never.
// Errors: INVALID_ARGUMENT (NULL, an unknown name, one that names several, a counter that cannot be had here).
WEFT_API int weft_snapshot_value(const weft_snapshot *snapshot, const char *name, double *value);

// Calls `use` for each counter that a list of names, separated by commas, stands for.
//
// Callable from: anywhere. `use` must not throw.
// Blocks: while `use` does.
// Errors: INVALID_ARGUMENT (NULL, an unknown name).
WEFT_API int weft_snapshot_each(const weft_snapshot *snapshot, const char *names,
                                void (*use)(const char *name, double value, const char *unit, void *context), void *context);

// Writes the same as text in one of the ways of weft_format into `buffer`, cut to its size and ended by a zero; sets *needed to the bytes of the whole, with the zero.
//
// Callable from: anywhere.
// Blocks: never.
// Errors: INVALID_ARGUMENT (NULL, but buffer may be NULL when size is 0; an unknown name or format).
WEFT_API int weft_snapshot_text(const weft_snapshot *snapshot, const char *names, int format, char *buffer, size_t size, size_t *needed);

// Writes everything in the exposition format of OpenMetrics, in the same way.
//
// Callable from: anywhere.
// Blocks: never.
// Errors: INVALID_ARGUMENT (NULL, but buffer may be NULL when size is 0).
WEFT_API int weft_snapshot_open_metrics(const weft_snapshot *snapshot, char *buffer, size_t size, size_t *needed);

// Calls `use` for each bucket of a histogram (/threads/time/duration: tasks by how long they ran) that is not empty, the smallest first: `count` values
// from `least` on, up to the `least` of the next.
//
// Callable from: anywhere. `use` must not throw.
// Blocks: while `use` does.
// Errors: INVALID_ARGUMENT (NULL, an unknown name, or one of no histogram).
WEFT_API int weft_snapshot_histogram(const weft_snapshot *snapshot, const char *name, void (*use)(double least, uint64_t count, void *context),
                                     void *context);

// Nanoseconds that the counts are of; 0 for NULL.
WEFT_API uint64_t weft_snapshot_span_ns(const weft_snapshot *snapshot);

// Gives a snapshot back. NULL is allowed.
WEFT_API void weft_snapshot_free(weft_snapshot *snapshot);

// Calls `use` with each counter that can be asked for; `absent` is not 0 where it cannot be had here, and `help` says why.
//
// Callable from: any thread, and tasks. `use` must not throw.
// Blocks: while `use` does.
// Errors: INVALID_ARGUMENT (NULL), and those of weft_start().
WEFT_API int weft_counters_list(const char *pattern, void (*use)(const char *name, const char *unit, const char *help, int absent, void *context),
                                void *context);

// What weft_counters_every() has begun.
typedef struct weft_intervals weft_intervals;
// Calls `use` every `period_ns` (1 ms at least) with a snapshot of now and one of the interval, on a thread that is no worker, until
// weft_counters_stop(), which calls it once more and waits for it. The snapshots are lent for the call.
//
// Ownership: *handle is for weft_counters_stop.
// Callable from: any thread.
// Blocks: never.
// Errors: INVALID_ARGUMENT (NULL, a period that is too short), OUT_OF_RESOURCES, and those of weft_start().
WEFT_API int weft_counters_every(uint64_t period_ns, void (*use)(const weft_snapshot *now, const weft_snapshot *interval, void *context),
                                 void *context, weft_intervals **handle);
// Ends what weft_counters_every() has begun, after one more call. NULL does nothing. Blocks: while a call is under way.
WEFT_API void weft_counters_stop(weft_intervals *handle);

// Defines a counter of the program, "/object/name"; the same name gives the same counter. It lives as long as the process.
//
// Callable from: any thread.
// Blocks: never.
// Errors: INVALID_ARGUMENT (NULL, a bad name, one of Weft's own), OUT_OF_RESOURCES (more than 64).
WEFT_API int weft_counter_define(const char *name, const char *unit, const char *help, weft_counter **counter);

// Adds to it. Any thread, at any time; NULL is ignored.
WEFT_API void weft_counter_add(weft_counter *counter, uint64_t n);

// Defines a level of the program, asked for when counters are read: for each snapshot, and a few times per second by the watcher. `value` is called by
// any thread, one at a time, until weft_level_withdraw(); it must be short, and not use Weft.
//
// Ownership: *level is for weft_level_withdraw.
// Callable from: any thread.
// Blocks: never.
// Errors: INVALID_ARGUMENT (NULL, a bad name, one of Weft's own or of a counter), OUT_OF_RESOURCES (more than 64, with the counters).
WEFT_API int weft_level_define(const char *name, const char *unit, const char *help, double (*value)(void *context), void *context,
                               weft_level **level);

// Its function is not called any more; waits for a call that is under way. The last value stays. NULL is ignored.
WEFT_API void weft_level_withdraw(weft_level *level);

#ifdef __cplusplus
}
#endif
