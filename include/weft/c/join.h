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

// Does the same for work of a known cost, in a unit of your choice. Small work runs in place: f and
// then g as plain calls, and all joins and tasks below them that may. So a recursion needs no
// cut-off. Weft measures what the work of f takes (setting tune.inline). 0 is unknown.
//
// The program promises that f does not wait for g.
//
// Threads. Any thread, and tasks.
// Blocks. As weft_join().
// Errors. As weft_join().
WEFT_API int weft_join_by_cost(uint64_t cost, weft_body f, void *f_arg, weft_body g, void *g_arg,
                               int *code);

#ifdef __cplusplus
}
#endif
