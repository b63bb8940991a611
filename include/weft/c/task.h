// SPDX-License-Identifier: Apache-2.0
// Spawning tasks, waiting for them, and what a task can say about itself.
#pragma once

#include <weft/c/access.h>
#include <weft/c/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_group weft_group;   // <weft/c/group.h>
typedef struct weft_handle weft_handle; // <weft/c/handle.h>

// Runs as the body of a task. 0 is success; any other number is the task's failure, and the one
// that waits for the task gets it: the handle, else the group, else the parent's weft_taskwait(). A
// body may be C++ and throw: that is a failure of code WEFT_ERR_EXCEPTION.
typedef int (*weft_body)(void *arg);

// Lists the bits of weft_spawn_options.flags.
enum weft_task_flag {
  WEFT_TASK_FINAL = 1, // the task's children run in place at once, in the order of their creation
  WEFT_TASK_UNDEFERRED =
      2, // weft_spawn() returns when the body has ended; accesses are waited for as ever
  WEFT_TASK_WAIT = 4, // accesses are released when all children are complete, not with the body
  WEFT_TASK_NOGROUP =
      8, // of weft_taskfor() and weft_taskiter() alone: without accesses they do not wait, either
  WEFT_TASK_MAY_INLINE =
      16, // of weft_spawn() alone: with a cost, the task may run in place, before the call returns; it
          // and all below it do not wait for what its creator does later
  WEFT_TASK_BLOCKS_WAIT =
      32 // of weft_taskfor_prepare() alone, without a grain: as many chunks may wait at once as those of
         // a weft_taskloop(), 8 per worker
};

// Holds the properties of a task beside its accesses. Later versions add members at the end; `size`
// says which the caller knows. In C: `weft_spawn_options o = {.size = sizeof o, .label = "add"};` -
// members left out are 0, which is the default.
typedef struct weft_spawn_options {
  size_t size; // sizeof(weft_spawn_options)
  const char *label; // for messages and tools; must outlive the task (a literal does); or NULL
  int priority; // larger runs earlier where the policy has a choice; clamped to -32768..32767
  unsigned flags; // of enum weft_task_flag
  size_t stack_bytes; // stack that the task needs, guard included; 0: setting stack.bytes
  void (*onready)(
      void *context); // called once when the task may run, on any thread; must not wait; or NULL
  void *onready_context; // what it is called with
  weft_group *group; // the group that the task belongs to; or NULL
  uint64_t
      cost; // a hint: the work of the body, in a unit that all tasks of the label share; 0: unknown
} weft_spawn_options;

// Sets every member to its default.
#define WEFT_SPAWN_OPTIONS_INIT {sizeof(weft_spawn_options), 0, 0, 0, 0, 0, 0, 0, 0}

// Creates a task that calls body() once every access of `list` allows it: after the earlier
// siblings that write what the task reads, and after the earlier siblings that touch what it
// writes.
//
// With arg_bytes > 0 the task gets its own copy of `arg`, aligned to 16 bytes, that lives until the
// task and all of its descendants are complete; with arg_bytes == 0 the body gets `arg` itself.
//
// Ownership. Everything passed in is read before the call returns, but for options->label. `handle`
// may be NULL; else the caller gets a handle, which it gives back with weft_handle_destroy(). On
// failure *handle is NULL.
// Threads. Any thread, and tasks; the first call starts the runtime.
// Blocks. With WEFT_TASK_UNDEFERRED, in a final task, and when the creator is throttled (setting
// throttle.bytes).
// Errors. INVALID_ARGUMENT (no body, a NULL with a size, an unknown mode or flag, options without
// size), NOT_SUPPORTED (options of a later version), OUT_OF_RESOURCES, SHUT_DOWN.
// Undefined. A group that was destroyed; leaving body() by longjmp or pthread_exit.
WEFT_API int weft_spawn(weft_body body, const void *arg, size_t arg_bytes, const weft_access *list,
                        size_t count, const weft_spawn_options *options, weft_handle **handle);

// Holds a task between weft_task_prepare() and weft_task_submit().
typedef struct weft_prepared {
  void *arg; // what the body gets: arg_bytes bytes, aligned to 16, for the caller to fill
  void *task; // of the library
  size_t count; // of the task's accesses
} weft_prepared;

// Creates a task as weft_spawn(), in the first of two steps: between them the caller writes the
// argument where the task keeps it, so nothing is copied. A task with `onready` and no
// onready_context calls it with the argument.
//
// Every task that is prepared must be submitted or discarded, by the thread and in the task that
// prepared it. With arg_bytes == 0 the body gets NULL.
//
// Ownership. On failure prepared->arg is NULL, and there is nothing to give back.
// Threads. Any thread, and tasks; the first call starts the runtime.
// Blocks. Never.
// Errors. As weft_spawn(), before its accesses; INVALID_ARGUMENT (NULL).
// Undefined. Waiting between the two steps.
WEFT_API int weft_task_prepare(weft_prepared *prepared, weft_body body, size_t arg_bytes,
                               size_t count, const weft_spawn_options *options);

// Lets a prepared task run as `list` allows, which has as many accesses as were announced.
//
// Ownership. The task is gone from `prepared`, also on failure.
// Threads. As weft_task_prepare().
// Blocks. As weft_spawn().
// Errors. As weft_spawn(), of its accesses; INVALID_ARGUMENT (NULL, not prepared, another number of
// accesses).
WEFT_API int weft_task_submit(weft_prepared *prepared, const weft_access *list, size_t count);

// Frees a prepared task, which never runs. NULL is allowed, and so is what is not prepared.
//
// Threads. As weft_task_prepare().
// Blocks. Never.
// Errors. None.
WEFT_API int weft_task_discard(weft_prepared *prepared);

// Waits until every child that the current task has spawned outside of groups, and all of their
// descendants, are complete; also for the children in groups that the task has open.
//
// `code`, which may be NULL, is set to the code of the first child outside of groups that failed, 0
// when none did. A failure is given once; those after the first are reported on standard error.
//
// Threads. Any thread, and tasks.
// Blocks. Yes; the worker runs other tasks meanwhile.
// Errors. TASK_FAILED (a child failed), SHUT_DOWN.
WEFT_API int weft_taskwait(int *code);

// Waits as weft_taskwait(), for at most `ns` nanoseconds. After TIMED_OUT no failure was given, and
// the next wait is for the same children. No child runs on the caller's stack.
//
// Threads. Any thread, and tasks.
// Blocks. Yes.
// Errors. TIMED_OUT (children are left), TASK_FAILED, OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_taskwait_for(int64_t ns, int *code);

// Waits until the current task could touch the data in the way that the list names. Children of the
// task that touch other data go on.
//
// Threads. Any thread, and tasks.
// Blocks. Yes.
// Errors. As weft_spawn(). Failures stay with weft_taskwait().
WEFT_API int weft_taskwait_on(const weft_access *list, size_t count);

// Gives up some of the running task's accesses before its body ends. Tasks that wait only for these
// accesses may start. Children that the task spawned before, and that touch the data, delay the
// release until they have released the data, too.
//
// The address of an access counts, not its mode. The task, and children that it spawns later, must
// not touch the data any more. Releasing again is harmless, and so is a release in a child of a
// final task.
//
// Threads. Tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (an access that the task has not declared; then none is released),
// NOT_A_TASK.
WEFT_API int weft_release(const weft_access *list, size_t count);

// Lets other ready work run before the caller goes on. Returns at once when there is none.
//
// Threads. Any thread, and tasks.
// Blocks. As long as that work takes.
// Errors. SHUT_DOWN.
WEFT_API int weft_taskyield(void);

// Suspends the caller for at least `ns` nanoseconds; the core goes on with other tasks. 0 or less
// is a weft_taskyield().
//
// Threads. Any thread, and tasks.
// Blocks. Yes.
// Errors. OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_task_sleep_for(int64_t ns);

// Returns the label of the running task: "main" for the first thread, "thread" for other threads of
// the user. Never NULL.
//
// Ownership. As the label that was passed in.
// Threads. Anywhere.
// Blocks. Never.
WEFT_API const char *weft_task_label(void);

// Returns 1 in a final task or a descendant of one, else 0.
//
// Threads. Anywhere.
// Blocks. Never.
WEFT_API int weft_task_in_final(void);

// Returns the cost that the running task was spawned with, 0 without one.
//
// Threads. Anywhere.
// Blocks. Never.
WEFT_API uint64_t weft_task_cost(void);

// Returns 1 when the group of the running task has been cancelled, else 0.
//
// Threads. Anywhere.
// Blocks. Never.
WEFT_API int weft_task_cancelled(void);

#ifdef __cplusplus
}
#endif
