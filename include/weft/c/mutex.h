// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion that suspends the task, not the core.
#pragma once

#include <weft/c/task.h>

#ifdef __cplusplus
extern "C" {
#endif

// Excludes tasks and threads from each other. Not recursive; first come, first served; may be held
// across a suspension.
typedef struct weft_mutex weft_mutex;

// Makes a mutex, unlocked.
//
// Ownership. The caller gives it back with weft_mutex_destroy(). On failure *mutex is NULL.
// Threads. Anywhere.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL), OUT_OF_RESOURCES.
WEFT_API int weft_mutex_create(weft_mutex **mutex);

// Takes the mutex; a task that finds it taken is suspended and its worker goes on with other tasks.
//
// Threads. Any thread, and tasks.
// Blocks. Yes.
// Errors. INVALID_ARGUMENT (NULL), OUT_OF_RESOURCES, SHUT_DOWN.
// Undefined. Locking it again before unlocking it (in practice a deadlock).
WEFT_API int weft_mutex_lock(weft_mutex *mutex);

// Takes the mutex when it is free. Returns 0, or BUSY when it is taken.
//
// Threads. Anywhere.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL), BUSY.
WEFT_API int weft_mutex_try_lock(weft_mutex *mutex);

// Gives the mutex to the task that has waited longest, or frees it.
//
// Threads. The task that holds it, on whatever worker.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, a mutex that no task holds).
// Undefined. Unlocking a mutex that another task holds.
WEFT_API int weft_mutex_unlock(weft_mutex *mutex);

// Frees the mutex; NULL is allowed.
//
// Threads. Anywhere.
// Blocks. Never.
// Errors. None.
// Undefined. A mutex that is locked; any use afterwards.
WEFT_API int weft_mutex_destroy(weft_mutex *mutex);

// Calls body(arg) while no other critical section of the same name runs; equal text is the same
// name, NULL is "". The names are shared with weft::critical().
//
// `code`, which may be NULL, is set to what the body returned.
//
// Ownership. The name is copied.
// Threads. Any thread, and tasks.
// Blocks. Yes.
// Errors. INVALID_ARGUMENT (no body), TASK_FAILED (it returned another number than 0),
// OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_critical(const char *name, weft_body body, void *arg, int *code);

// Waits until no critical section of the name is there, and begins one; weft_critical_leave() ends
// it. They are weft_critical() in two steps, for statements that are no function.
//
// Ownership. The name is copied.
// Threads. Any thread, and tasks.
// Blocks. Yes.
// Errors. NO_BLOCK (in a service), OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_critical_enter(const char *name);

// Ends the critical section of the name that the caller has begun.
//
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (no section of the name is there).
WEFT_API int weft_critical_leave(const char *name);

#ifdef __cplusplus
}
#endif
