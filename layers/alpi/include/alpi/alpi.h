// SPDX-License-Identifier: Apache-2.0
// ALPI 1.2, the Asynchronous Low-level Programming Interface: what a library needs of a tasking runtime to let tasks wait for
// something that is no task. Names, types and numbers are those of every implementation, so a library that was written for
// another one, and looks the functions up in the running process, works with Weft as it is.
//
// Every function but alpi_error_string() returns 0 or a code of alpi_error_t. A misuse returns a code and changes nothing. What is
// meant by "task" here: a body that Weft runs as a task, an OpenMP task that it runs, and outside of these the first thread of the program and each thread
// that has used Weft.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ALPI_VERSION_MAJOR 1
#define ALPI_VERSION_MINOR 2

// Groups of functions that alpi_feature_check() asks for.
#define ALPI_FEATURE_BLOCKING (1 << 0)  // block, unblock, waitfor
#define ALPI_FEATURE_EVENTS (1 << 1)    // events
#define ALPI_FEATURE_RESOURCES (1 << 2) // cpus
#define ALPI_FEATURE_SUSPEND (1 << 3)   // suspend

// Callers hand over any number, which an enumeration of C++ may only hold when it says how large it is.
#ifdef __cplusplus
#define ALPI_ENUM enum : int
extern "C" {
#else
#define ALPI_ENUM enum
#endif
#pragma GCC visibility push(default)

struct alpi_task; // a handle; valid until the task is complete
struct alpi_attr; // attributes of a task to be spawned

typedef ALPI_ENUM{ALPI_SUCCESS = 0,
                  ALPI_ERR_VERSION = 1,         // the version is not compatible
                  ALPI_ERR_NOT_INITIALIZED = 2, // the runtime cannot start, or was shut down
                  ALPI_ERR_PARAMETER = 3,       // an argument is not valid
                  ALPI_ERR_OUT_OF_MEMORY = 4,
                  ALPI_ERR_OUTSIDE_TASK = 5,    // only a task may call this
                  ALPI_ERR_UNKNOWN = 6,
                  ALPI_ERR_FEATURE_UNKNOWN = 7, // a feature is not known or not supported
                  ALPI_ERR_MAX = 8} alpi_error_t;

typedef ALPI_ENUM{
    ALPI_INFO_RUNTIME_NAME = 0, ALPI_INFO_RUNTIME_VENDOR = 1,
    ALPI_INFO_VERSION = 2 // of the interface and of the runtime, to be shown
} alpi_info_t;

// What a code means; a constant string, for any number. (1.0)
const char *alpi_error_string(alpi_error_t error);

// Writes what `query` asks for, cut to `max_length` bytes with the terminating zero; *length, which may be null, is set to the
// number of characters written. PARAMETER: an unknown query, no buffer, no room. (1.2)
int alpi_info_get(alpi_info_t query, char *buffer, size_t max_length, int *length);

// 0 when every feature of the mask is supported, else FEATURE_UNKNOWN. (1.2)
int alpi_feature_check(int feature_bitmask);

// 0 when this is version major.minor or a later one of the same major, else VERSION. (1.0)
int alpi_version_check(int major, int minor);
// PARAMETER: a null pointer. (1.0)
int alpi_version_get(int *major, int *minor);

// Sets *task to the running task, null outside of tasks, which is no error. PARAMETER: a null pointer. (1.0)
int alpi_task_self(struct alpi_task **task);

// Blocks the calling task until alpi_task_unblock(); its worker runs other tasks. An unblock may have come before: then it returns at
// once. PARAMETER: not the calling task. OUTSIDE_TASK. (1.0)
int alpi_task_block(struct alpi_task *task);
// Any thread. One unblock may precede its block. PARAMETER: null, or a second unblock before the block. (1.0)
int alpi_task_unblock(struct alpi_task *task);

// Blocks the calling task for about `target_ns`; an unblock does not end that. *actual_ns, which may be null, is set to the time that
// passed. 0 lets other tasks run. OUTSIDE_TASK. (1.0)
int alpi_task_waitfor_ns(uint64_t target_ns, uint64_t *actual_ns);

// Adds external events to the calling task: it is complete, and its data dependencies are released, when its body has ended and all
// of them are decreased. PARAMETER: not the calling task, more than 2^32-1 at once. OUTSIDE_TASK. (1.0)
int alpi_task_events_increase(struct alpi_task *task, uint64_t increment);
// Sets *has_events to 0 when the calling task has no events, else to 1, which may have just become wrong. PARAMETER, OUTSIDE_TASK. (1.1)
int alpi_task_events_test(struct alpi_task *task, uint64_t *has_events);
// Any thread, worker or not. PARAMETER: null, or more than there are. (1.0)
int alpi_task_events_decrease(struct alpi_task *task, uint64_t decrement);

// Attributes have no fields yet. alpi_attr_create() allocates what alpi_attr_destroy() frees; memory of one's own, of
// alpi_attr_size() bytes and aligned for a uint64_t, is made valid by alpi_attr_init(). PARAMETER: a null pointer; destroy: what is
// not initialised. OUT_OF_MEMORY. (1.0)
int alpi_attr_create(struct alpi_attr **attr);
int alpi_attr_destroy(struct alpi_attr *attr);
int alpi_attr_init(struct alpi_attr *attr);
int alpi_attr_size(uint64_t *attr_size);

// Spawns an independent task: no task waits for it, its dependencies have a namespace of their own. When it and its
// descendants are complete, completion_callback(completion_args) runs as a task. `label` (may be null) is copied, `attr` null stands for
// the defaults. Any thread. PARAMETER: no body, no callback, attributes that are not initialised. OUT_OF_MEMORY, NOT_INITIALIZED. (1.0)
int alpi_task_spawn(void (*body)(void *), void *body_args, void (*completion_callback)(void *), void *completion_args, const char *label,
                    const struct alpi_attr *attr);

// Sets *count to the number of logical ids: as many as the machine has CPUs. PARAMETER, NOT_INITIALIZED. (1.0)
int alpi_cpu_count(uint64_t *count);
// Sets *logical_id to a number below the count that no other task has which computes; it holds until the task blocks, or waits in the kernel.
// Waits while all are in use. PARAMETER, OUTSIDE_TASK. (1.0)
int alpi_cpu_logical_id(uint64_t *logical_id);
// The same with the operating system's number of the CPU, which may change at any time. (1.0)
int alpi_cpu_system_id(uint64_t *system_id);

typedef ALPI_ENUM{
    ALPI_SUSPEND_NONE = 0,           // until alpi_task_unblock()
    ALPI_SUSPEND_SUBMIT = 1,         // at once: args 0 behind ready tasks, 1 as one that yields
    ALPI_SUSPEND_TIMEOUT_SUBMIT = 2, // after args nanoseconds
    ALPI_SUSPEND_EVENT_SUBMIT = 3    // when its events are over
} alpi_suspend_mode_t;

// How the next suspension of the calling task ends; it stays set. PARAMETER: not the calling task, an unknown mode, args of SUBMIT
// beyond 1. OUTSIDE_TASK. (1.1)
int alpi_task_suspend_mode_set(struct alpi_task *task, alpi_suspend_mode_t suspend_mode, uint64_t args);
// When the body has returned, the task does not end: as its mode says, the same body is run again, with the same argument. No stack is
// kept meanwhile. PARAMETER: not the calling task. OUTSIDE_TASK. UNKNOWN: a task that returns a value, or that its creator
// runs in place; a thread; a task of OpenMP's. (1.1)
int alpi_task_suspend(struct alpi_task *task);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
