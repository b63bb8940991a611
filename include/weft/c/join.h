// SPDX-License-Identifier: Apache-2.0
// Binary fork-join without allocation.
#pragma once

#include <weft/c/task.h>

#ifdef __cplusplus
extern "C" {
#endif

// Calls f(f_arg) and g(g_arg), possibly in parallel, and returns when both have returned. The
// caller runs f. An idle worker may take g meanwhile; otherwise the caller runs g, too. Both are
// called even when one fails.
//
// Tasks that a branch spawns:
// - If another worker took the branch, they are ordered among themselves, and complete with the
//   branch.
// - Otherwise they are children of the enclosing task.
//
// Wait before the join where order with earlier tasks matters.
//
// `code`, which may be NULL, is set to what f returned, or else to what g returned.
//
// Threads. Any thread, and tasks.
// Blocks. Yes, when another worker still runs g.
// Errors. INVALID_ARGUMENT (NULL), TASK_FAILED (f or g returned another number than 0),
// OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_join(weft_body f, void *f_arg, weft_body g, void *g_arg, int *code);

#ifdef __cplusplus
}
#endif
