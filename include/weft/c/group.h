// SPDX-License-Identifier: Apache-2.0
// Task groups: sets of tasks that the program waits for and cancels, and whose failures it
// receives, together. A task enters a group by weft_spawn_options.group.
#pragma once

#include <weft/c/task.h>

#ifdef __cplusplus
extern "C" {
#endif

// Says what happens when a task of a group fails.
enum weft_policy {
  WEFT_POLICY_FIRST_CANCELS = 0, // the first failure is kept and cancels the group
  WEFT_POLICY_COLLECT_ALL = 1,   // all tasks run; weft_group_failures() lists the failures
  WEFT_POLICY_TERMINATE = 2,     // the program ends with a message that names the task
  WEFT_POLICY_BY_SETTING = 3     // what setting group.exceptions says (first_cancels by default)
};

// Makes a group.
//
// Ownership. The caller gives it back with weft_group_destroy(). On failure *group is NULL.
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT, OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_group_create(int policy, weft_group **group);

// Waits until all tasks of the group and all of their descendants are complete. The group can be
// used again afterwards, a cancelled one too.
//
// `code`, which may be NULL, is set to the code of the first failure, 0 when there was none. A
// failure is given once.
//
// Threads. The task or thread that made the group.
// Blocks. Yes; the worker runs other tasks meanwhile.
// Errors. INVALID_ARGUMENT (NULL, called by another task), TASK_FAILED (a task failed), SHUT_DOWN.
WEFT_API int weft_group_wait(weft_group *group, int *code);

// Waits as weft_group_wait(), for at most `ns` nanoseconds. After TIMED_OUT the group is as it was:
// no failure was given, and it can be waited for again. No task runs on the caller's stack.
//
// Threads. The task or thread that made the group.
// Blocks. Yes.
// Errors. TIMED_OUT (tasks are left), INVALID_ARGUMENT, TASK_FAILED, OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_group_wait_for(weft_group *group, int64_t ns, int *code);

// Lists the codes of the tasks whose failure the last wait for the group gave: one under
// first_cancels, all under collect_all.
//
// Writes at most `capacity` codes and sets *count to how many there are. `codes` may be NULL when
// capacity is 0.
//
// Threads. The maker.
// Blocks. Never.
// Errors. INVALID_ARGUMENT.
WEFT_API int weft_group_failures(const weft_group *group, int *codes, size_t capacity,
                                 size_t *count);

// Cancels the group: from now on tasks of the group that have not started are skipped (their
// accesses are released as if they had run). Running tasks see it by weft_task_cancelled().
//
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL).
WEFT_API int weft_group_cancel(weft_group *group);

// Returns 1 when the group is cancelled, 0 when not, or INVALID_ARGUMENT for NULL.
//
// Threads. Anywhere.
// Blocks. Never.
WEFT_API int weft_group_cancelled(const weft_group *group);

// Waits as weft_group_wait() and frees the group; NULL is allowed. A failure that no
// weft_group_wait() has given yet is reported on standard error.
//
// Threads. The maker.
// Blocks. Yes.
// Errors. None.
// Undefined. Any use of the group afterwards.
WEFT_API int weft_group_destroy(weft_group *group);

#ifdef __cplusplus
}
#endif
