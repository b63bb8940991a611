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
//
// Ownership. The handle stays the caller's.
// Threads. Any thread, and tasks; one at a time for one handle.
// Blocks. Yes; the worker runs other tasks meanwhile.
// Errors. INVALID_ARGUMENT (NULL), TASK_FAILED (the body failed), CANCELLED (its group was
// cancelled before it ran), SHUT_DOWN.
// Undefined. Two threads use one handle at the same time.
WEFT_API int weft_handle_wait(weft_handle *handle, int *code);

// Returns 1 when weft_handle_wait() would return at once, 0 when not, or INVALID_ARGUMENT for NULL.
//
// Threads. Anywhere.
// Blocks. Never.
WEFT_API int weft_handle_ready(const weft_handle *handle);

// Gives the handle back without waiting: the task runs on, and a failure that no thread asked for
// is reported on standard error. NULL is allowed.
//
// Threads. Anywhere.
// Blocks. Never.
// Errors. None.
// Undefined. Any use of the handle afterwards.
WEFT_API int weft_handle_destroy(weft_handle *handle);

#ifdef __cplusplus
}
#endif
