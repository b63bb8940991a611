// SPDX-License-Identifier: Apache-2.0
// Loops: as many tasks, as one task that idle workers share, and over a graph of tasks that is
// built once.
#pragma once

#include <weft/c/group.h>
#include <weft/c/handle.h>
#include <weft/c/region.h>
#include <weft/c/task.h>

#ifdef __cplusplus
extern "C" {
#endif

// Holds the integers first, first + step, ... up to, and without, `limit`; down to it when the step
// is negative. A range is empty when the limit lies the other way. A part of a range, which a body
// gets, is a range.
typedef struct weft_range {
  int64_t first; // unless the range is empty
  int64_t limit; // not reached
  int64_t step; // not 0
} weft_range;

// Runs a chunk of a loop. Its results are those of a weft_body.
typedef int (*weft_loop_body)(const weft_range *chunk, void *arg);

// Lists the bits of weft_loop_options.flags.
enum weft_loop_flag {
  WEFT_LOOP_NOGROUP =
      1 // the loop's tasks are children of the current task, and the loop does not wait
};

// Says how a loop is cut into tasks. Later versions add members at the end; members left out are 0,
// the default.
typedef struct weft_loop_options {
  size_t size; // sizeof(weft_loop_options)
  uint64_t grain_size; // iterations per chunk, the last may have fewer; 0: see num_tasks
  uint64_t num_tasks; // number of tasks; 0: by grain_size, or see weft_taskloop()
  // Writes the accesses of a chunk's task, at most `most_accesses`, to `list` and returns how many; or NULL.
  size_t (*accesses)(const weft_range *chunk, void *arg, weft_access *list);
  size_t most_accesses; // how many accesses() writes at most
  unsigned flags; // of enum weft_loop_flag
  // Writes the regions of a chunk's task in the same way, beside accesses().
  size_t (*regions)(const weft_range *chunk, void *arg, weft_region *list);
  size_t most_regions; // how many regions() writes at most
} weft_loop_options;

// Sets every member to its default.
#define WEFT_LOOP_OPTIONS_INIT {sizeof(weft_loop_options), 0, 0, 0, 0, 0, 0, 0}

// All loops keep one rule: a loop with accesses is ordered by them, and does not wait. A loop
// without accesses waits until its tasks and their descendants are complete, unless something else
// is to wait for them: the current task (NOGROUP), a group, a handle.

// Cuts `range` into chunks, and spawns a task for each chunk, in order. With WEFT_LOOP_NOGROUP the
// tasks are children of the current task, and the loop does not wait.
//
// With neither grain_size nor num_tasks there are 8 tasks per worker. A loop that has no accesses either,
// and of whose options only label, priority, group and cost are given, is one task that has them: idle
// workers share it, and its chunks choose their sizes, as those of weft_taskfor().
//
// The first failure skips the chunks that have not begun. `code`, which may be NULL, is set to its
// code.
//
// Ownership. As weft_spawn(). With arg_bytes > 0 tasks that the loop does not wait for have copies.
// Threads. Any thread, and tasks.
// Blocks. Yes, but for loops that do not wait; those as weft_spawn().
// Errors. TASK_FAILED (a chunk failed); INVALID_ARGUMENT (no body, a step of 0, both grain_size and
// num_tasks, an unknown flag, a NULL with a size, more accesses or regions than announced); else as
// weft_spawn_regions().
WEFT_API int weft_taskloop(weft_range range, weft_loop_body body, const void *arg, size_t arg_bytes,
                           const weft_loop_options *loop, const weft_spawn_options *options,
                           int *code);

// Writes to `chunks` into how many chunks weft_taskloop() cuts a loop of so many iterations that has a
// task for each chunk: with grain_size all but the last have that many, otherwise the first ones may have
// one more than the others.
//
// Threads. Any; starts the runtime.
// Blocks. Never.
// Errors. As weft_taskloop(), of `loop`; INVALID_ARGUMENT (NULL).
WEFT_API int weft_taskloop_chunks(uint64_t iterations, const weft_loop_options *loop,
                                  uint64_t *chunks);

// Spawns one task that calls body() for all of `range`, in chunks of grain_size iterations (0: the
// chunks choose their sizes); workers with nothing else to do take chunks of it. The task has the accesses
// of the list, once. options->flags may hold WEFT_TASK_NOGROUP. One worker runs all chunks of a loop
// with weak accesses, so that these order all that body() spawns; its chunks must not wait for each
// other. So it is with a loop that reduces where reductions are in place, among regions and below a
// final task.
//
// Ownership. As weft_spawn().
// Threads. As weft_spawn(). Several workers call body() at once.
// Blocks. A loop without accesses; else as weft_spawn().
// Errors. INVALID_ARGUMENT (a step of 0), TASK_FAILED (of a loop that waits); else as weft_spawn().
WEFT_API int weft_taskfor(weft_range range, weft_loop_body body, const void *arg, size_t arg_bytes,
                          uint64_t grain_size, const weft_access *list, size_t list_count,
                          const weft_spawn_options *options, weft_handle **handle);

// Spawns as weft_taskfor() a task of whose accesses some are regions, as with weft_spawn_regions().
WEFT_API int weft_taskfor_regions(weft_range range, weft_loop_body body, const void *arg,
                                  size_t arg_bytes, uint64_t grain_size, const weft_region *regions,
                                  size_t region_count, const weft_access *list, size_t list_count,
                                  const weft_spawn_options *options, weft_handle **handle);

// Creates a task as weft_taskfor(), in the first of two steps; the second one is weft_task_submit()
// or weft_task_submit_regions(), and weft_task_discard() frees it (<weft/c/task.h>). Nothing waits
// for the loop, whatever its accesses are.
//
// With copy() each worker that takes part has an argument of its own: copy() makes it of the one in
// `prepared`, which no body gets, in `bytes` bytes at `to` that are aligned to 16. A worker may use
// one for several chunks, and another worker later. All of them live until the task and all of its
// descendants are complete. Without copy() all workers share one argument.
//
// Cost. With copy() a lock, and for each worker an allocation of arg_bytes.
// Ownership. As weft_task_prepare().
// Threads. As weft_task_prepare(). Several workers call body() and copy() at once.
// Blocks. Never.
// Errors. As weft_task_prepare(); INVALID_ARGUMENT (a step of 0, copy() without arg_bytes). Without
// memory for a copy the task fails.
// Undefined. Waiting between the two steps, and in copy().
WEFT_API int weft_taskfor_prepare(weft_prepared *prepared, weft_range range, weft_loop_body body,
                                  size_t arg_bytes, uint64_t grain_size,
                                  void (*copy)(void *to, const void *from, size_t bytes),
                                  size_t count, const weft_spawn_options *options);

// Spawns one task that calls record() once, keeps the tasks that record() spawns instead of running
// them, and then runs them all `count` times. With more() they run while more() returns another
// number than 0: it is called before the recording and after each iteration, and `count` says
// nothing. What the tasks wait for, within an iteration and from one to the next, is found once.
// See docs/user/loops.md for what they may do.
//
// The flags are those of weft_taskfor(). record() and more() get the same argument.
//
// Ownership. As weft_spawn().
// Threads. As weft_spawn().
// Blocks. As weft_taskfor().
// Errors. INVALID_ARGUMENT (no record, options->flags holds WEFT_TASK_FINAL or _UNDEFERRED); else
// as weft_spawn(). Inside of record() weft_spawn() returns INVALID_ARGUMENT for what cannot be
// recorded.
WEFT_API int weft_taskiter(uint64_t count, int (*more)(void *arg), weft_body record,
                           const void *arg, size_t arg_bytes, const weft_access *list,
                           size_t list_count, const weft_spawn_options *options,
                           weft_handle **handle);

// Creates a task as weft_taskiter(), in the first of two steps; the second one is weft_task_submit()
// or weft_task_submit_regions(), and weft_task_discard() frees it (<weft/c/task.h>). Nothing waits
// for the loop, whatever its accesses are. `accesses` is their number, regions left out.
//
// record() and more() get the argument that the caller has filled.
//
// Ownership. As weft_task_prepare().
// Threads. As weft_task_prepare().
// Blocks. Never.
// Errors. As weft_task_prepare(); INVALID_ARGUMENT (no record, options->flags holds WEFT_TASK_FINAL
// or _UNDEFERRED).
// Undefined. Waiting between the two steps.
WEFT_API int weft_taskiter_prepare(weft_prepared *prepared, uint64_t count, int (*more)(void *arg),
                                   weft_body record, size_t arg_bytes, size_t accesses,
                                   const weft_spawn_options *options);

#ifdef __cplusplus
}
#endif
