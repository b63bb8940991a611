// SPDX-License-Identifier: Apache-2.0
// Task-local storage: a pointer of which every task has its own, as pthread keys give one to every
// thread.
#pragma once

#include <weft/c/error.h>

#ifdef __cplusplus
extern "C" {
#endif

// Refers to a variable that has a value of its own in each task.
typedef struct weft_local weft_local;

// Creates a variable whose value is NULL in every task. When the body of a task has ended and its
// value is not NULL, `destroy`, which may be NULL, is called with it, before the task's accesses
// are released.
//
// Ownership. Give it back with weft_local_destroy().
// Threads. Anywhere.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL), OUT_OF_RESOURCES.
WEFT_API int weft_local_create(weft_local **local, void (*destroy)(void *value));

// Sets the running task's value; the old value is left to the caller. The branches of a join share
// the value of the task that called weft_join().
//
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL), NOT_A_TASK (in a service), OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_local_set(weft_local *local, void *value);

// Sets *value to the running task's value.
//
// Threads. As weft_local_set().
// Blocks. As weft_local_set().
// Errors. As weft_local_set().
WEFT_API int weft_local_get(weft_local *local, void **value);

// Frees the variable; NULL is fine. Values are not destroyed here.
//
// Threads. Anywhere.
// Blocks. Never.
// Undefined. While a task that has a value of it runs.
WEFT_API void weft_local_destroy(weft_local *local);

#ifdef __cplusplus
}
#endif
