// SPDX-License-Identifier: Apache-2.0
// Independent functions: tasks that no other task waits for, and streams, which run them one after
// another.
#pragma once

#include <weft/c/error.h>
#include <weft/c/task.h>

#ifdef __cplusplus
extern "C" {
#endif

// Refers to a stream, whose functions run one after another.
typedef struct weft_stream weft_stream;

// Makes a stream: functions that are spawned into it run one after another, in the order of the
// spawns. Several streams run side by side.
//
// Ownership. The caller gives *stream back with weft_stream_destroy(). `label` must outlive it, or
// is NULL.
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL), OUT_OF_RESOURCES.
WEFT_API int weft_stream_create(const char *label, weft_stream **stream);

// Waits until every function that was spawned into the stream before has ended, with its
// descendants and its completion function.
//
// Threads. Any thread, and tasks.
// Blocks. Yes; the worker runs other tasks meanwhile.
// Errors. INVALID_ARGUMENT (NULL, a stream of before fork()), DEADLOCK (called by a function of the
// stream), NO_BLOCK, OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_stream_wait(weft_stream *stream);

// Gives a stream back without waiting: the functions that were spawned into it run, in order. NULL
// does nothing.
//
// Threads. Any thread, and tasks.
// Blocks. Never.
WEFT_API int weft_stream_destroy(weft_stream *stream);

// Holds a set of workers, which alone run a function. It is a value; all zero: all workers. There
// may be 63 different ones.
typedef struct weft_worker_set {
  unsigned number; // of the library
  unsigned generation; // of the library
} weft_worker_set;

// Sets *set to the set of the workers with these numbers, which weft_worker_id() returns.
//
// Ownership. `ids` is read before the call returns.
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, an empty list, a number that no worker has), OUT_OF_RESOURCES
// (also the 64th set), SHUT_DOWN.
WEFT_API int weft_worker_set_of_workers(const int *ids, size_t count, weft_worker_set *set);

// Sets *set to the set of the workers that are bound to one of these cpus (setting bind; worker 0
// never is), or to all workers when these are all cpus that the process may use. Else as
// weft_worker_set_of_workers().
//
// Errors. Also INVALID_ARGUMENT when no worker is left.
WEFT_API int weft_worker_set_of_cpus(const int *cpus, size_t count, weft_worker_set *set);

// Holds the properties of a function. Later versions add members at the end; `size` says which the
// caller knows.
typedef struct weft_function_options {
  size_t size; // sizeof(weft_function_options)
  const char *label; // for messages and tools; must outlive the function; or NULL
  int priority; // larger runs earlier where the policy has a choice; clamped to -32768..32767
  weft_stream *stream; // the stream it runs in; or NULL
  weft_worker_set on; // the workers that alone run it, its descendants and its completion function
} weft_function_options;

// Sets every member to its default.
#define WEFT_FUNCTION_OPTIONS_INIT {sizeof(weft_function_options), 0, 0, 0, {0, 0}}

// Spawns body(arg) as an independent task. Only the end of the program waits for it, and its
// children are ordered among themselves, with no other task. When the task and all of its
// descendants are complete (external events, too), on_completion(completion_arg) runs as a task of
// its own, once.
//
// A code other than 0 is reported on standard error; on_completion runs nevertheless.
//
// Ownership. `arg` and `completion_arg` are passed on as they are; `options` is read before the
// call returns.
// Threads. Any thread, and tasks, services and onready functions.
// Blocks. When the creator is throttled (setting throttle.bytes).
// Errors. INVALID_ARGUMENT (no body, options without size, a set of workers of before fork()),
// NOT_SUPPORTED (options of a later version), OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_spawn_function(weft_body body, void *arg, void (*on_completion)(void *arg),
                                 void *completion_arg, const weft_function_options *options);

#ifdef __cplusplus
}
#endif
