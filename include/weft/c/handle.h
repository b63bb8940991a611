// SPDX-License-Identifier: Apache-2.0
// Handles: waiting for one task.
#pragma once

#include <weft/c/task.h>

#ifdef __cplusplus
extern "C" {
#endif

// Waits until the task's body has ended and its external events are done; not for its children.
//
// `code`, which may be NULL, is set to what the body returned. Waiting again gives the same answer.
// Ownership: the handle stays the caller's.
// Callable from: any thread, and tasks; one at a time for one handle.
// Blocks: yes; the worker runs other tasks meanwhile.
// Errors: INVALID_ARGUMENT (NULL), TASK_FAILED (the body failed), CANCELLED (its group was cancelled
//   before it ran), SHUT_DOWN.
// Undefined: two threads use one handle at the same time.
WEFT_API int weft_handle_wait(weft_handle *handle, int *code);

// 1 when weft_handle_wait() would return at once, 0 when not, or INVALID_ARGUMENT for NULL.
//
// Callable from: anywhere.
// Blocks: never.
WEFT_API int weft_handle_ready(const weft_handle *handle);

// Gives the handle back; NULL is allowed. Does not wait: the task runs on, and a failure that nobody
// asked for is reported on standard error.
//
// Callable from: anywhere.
// Blocks: never.
// Errors: none.
// Undefined: any use of the handle afterwards.
WEFT_API int weft_handle_destroy(weft_handle *handle);

#ifdef __cplusplus
}
#endif
