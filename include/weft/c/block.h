// SPDX-License-Identifier: Apache-2.0
// Suspending a task until another thread unblocks it, and holding a task's completion for external
// events.
#pragma once

#include <weft/c/task.h>

#ifdef __cplusplus
extern "C" {
#endif

// Names a task to the threads that will unblock it or decrease its events. It is a plain reference:
// there is nothing to free. It is valid until the task is complete (an open event, or a block that
// is not yet undone, keeps the task incomplete).
typedef struct weft_task weft_task;

// Sets *task to the running task; a thread of the user counts as one.
//
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL), OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_task_self(weft_task **task);

// Suspends the running task until weft_task_unblock() is called for it; the worker goes on with
// other work.
//
// Threads. Any thread, and tasks.
// Blocks. Yes.
// Errors. NO_BLOCK, OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_task_block(void);

// Suspends as weft_task_block(), for at most `ns` nanoseconds. Returns 0 when the task was
// unblocked and TIMED_OUT when the time was over.
//
// Threads. Any thread, and tasks.
// Blocks. Yes.
// Errors. TIMED_OUT, NO_BLOCK, OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_task_block_for(int64_t ns);

// Lets a blocked task go on. One unblock may come before its block, which then returns at once.
//
// Threads. Anywhere, also threads that Weft does not know.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL), NO_BLOCK (a second unblock before the block).
// Undefined. A task that is complete.
WEFT_API int weft_task_unblock(weft_task *task);

// Adds `count` external events to the running task. The task's accesses are released, and the task is
// complete, only when its body has ended and every event has been decreased.
//
// Threads. Tasks.
// Blocks. Never.
// Errors. NOT_A_TASK (a thread has no end that events could hold), OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_task_increase_events(uint32_t count);

// Takes back `count` events of a task; the caller that takes back the last one may complete the task.
//
// Threads. Anywhere, also threads that Weft does not know.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL), EVENT_UNDERFLOW (the task has fewer).
// Undefined. A task that is complete.
WEFT_API int weft_task_decrease_events(weft_task *task, uint32_t count);

#ifdef __cplusplus
}
#endif
