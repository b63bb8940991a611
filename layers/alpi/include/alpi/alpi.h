// SPDX-License-Identifier: Apache-2.0
// ALPI 1.2, the Asynchronous Low-level Programming Interface: the functions of a tasking runtime by
// which a library lets tasks wait for something that is no task. Names, types and numbers are those
// of every implementation. So a library that was written for another implementation, and that looks
// the functions up in the running process, works with Weft without a change.
//
// Every function but alpi_error_string() returns 0 or a code of alpi_error_t. A misuse returns a
// code and changes nothing.
// A "task" is one of these:
// - a body that Weft runs as a task;
// - an OpenMP task that Weft runs;
// - outside of these, the first thread of the program, and each thread that has used Weft.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ALPI_VERSION_MAJOR 1
#define ALPI_VERSION_MINOR 2

// Groups of functions that alpi_feature_check() asks for.
#define ALPI_FEATURE_BLOCKING (1 << 0) // block, unblock, waitfor
#define ALPI_FEATURE_EVENTS (1 << 1) // events
#define ALPI_FEATURE_RESOURCES (1 << 2) // cpus
#define ALPI_FEATURE_SUSPEND (1 << 3) // suspend

// Callers pass any number, and an enumeration of C++ may hold any number only if its type is given.
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
                  ALPI_ERR_VERSION = 1, // the version is not compatible
                  ALPI_ERR_NOT_INITIALIZED = 2, // the runtime cannot start, or was shut down
                  ALPI_ERR_PARAMETER = 3, // an argument is not valid
                  ALPI_ERR_OUT_OF_MEMORY = 4,
                  ALPI_ERR_OUTSIDE_TASK = 5, // only a task may call this
                  ALPI_ERR_UNKNOWN = 6,
                  ALPI_ERR_FEATURE_UNKNOWN = 7, // a feature is not known or not supported
                  ALPI_ERR_MAX = 8} alpi_error_t;

typedef ALPI_ENUM{
    ALPI_INFO_RUNTIME_NAME = 0, ALPI_INFO_RUNTIME_VENDOR = 1,
    ALPI_INFO_VERSION = 2 // of the interface and of the runtime, to be shown
} alpi_info_t;

// Returns the meaning of a code, as a constant string, for any number. (1.0)
const char *alpi_error_string(alpi_error_t error);

// Writes the answer to `query`, cut to `max_length` bytes with the terminating zero. Sets *length
// to the number of characters written; `length` may be null. PARAMETER: an unknown query, no
// buffer, no space. (1.2)
int alpi_info_get(alpi_info_t query, char *buffer, size_t max_length, int *length);

// Returns 0 if every feature of the mask is supported, else FEATURE_UNKNOWN. (1.2)
int alpi_feature_check(int feature_bitmask);

// Returns 0 if this is version major.minor or a later one of the same major, else VERSION. (1.0)
int alpi_version_check(int major, int minor);
// Sets *major and *minor to the version. PARAMETER: a null pointer. (1.0)
int alpi_version_get(int *major, int *minor);

// Sets *task to the running task, null outside of tasks, which is no error. PARAMETER: a null pointer. (1.0)
int alpi_task_self(struct alpi_task **task);

// Blocks the calling task until alpi_task_unblock(); its worker runs other tasks. If an unblock
// came before, the call returns at once. PARAMETER: not the calling task. OUTSIDE_TASK. (1.0)
int alpi_task_block(struct alpi_task *task);
// Unblocks a task. Any thread may call it. One unblock may precede its block. PARAMETER: null, or a
// second unblock before the block. (1.0)
int alpi_task_unblock(struct alpi_task *task);

// Blocks the calling task for about `target_ns`; an unblock does not end the block. Sets *actual_ns
// to the time that passed; `actual_ns` may be null. A target of 0 lets other tasks run.
// OUTSIDE_TASK. (1.0)
int alpi_task_waitfor_ns(uint64_t target_ns, uint64_t *actual_ns);

// Adds external events to the calling task. The task is complete, and its data dependencies are
// released, when its body has ended and all events are decreased. PARAMETER: not the calling task,
// more than 2^32-1 at once. OUTSIDE_TASK. (1.0)
int alpi_task_events_increase(struct alpi_task *task, uint64_t increment);
// Sets *has_events to 0 if the calling task has no events, else to 1; the 1 may just have become
// wrong. PARAMETER, OUTSIDE_TASK. (1.1)
int alpi_task_events_test(struct alpi_task *task, uint64_t *has_events);
// Takes events of a task away. Any thread may call it, worker or not. PARAMETER: null, or more than
// the task has. (1.0)
int alpi_task_events_decrease(struct alpi_task *task, uint64_t decrement);

// Make and free attributes, which have no fields yet. alpi_attr_create() allocates attributes, and
// alpi_attr_destroy() frees them. alpi_attr_init() makes attributes in the caller's own memory, of
// alpi_attr_size() bytes and aligned for a uint64_t. PARAMETER: a null pointer; destroy: attributes
// that are not initialised. OUT_OF_MEMORY. (1.0)
int alpi_attr_create(struct alpi_attr **attr);
int alpi_attr_destroy(struct alpi_attr *attr);
int alpi_attr_init(struct alpi_attr *attr);
int alpi_attr_size(uint64_t *attr_size);

// Spawns an independent task: no task waits for it, and its dependencies have a namespace of their
// own. When it and its descendants are complete, completion_callback(completion_args) runs as a
// task. `label`, which may be null, is copied; a null `attr` means the defaults. Any thread may
// call it. PARAMETER: no body, no callback, attributes that are not initialised. OUT_OF_MEMORY,
// NOT_INITIALIZED. (1.0)
int alpi_task_spawn(void (*body)(void *), void *body_args, void (*completion_callback)(void *),
                    void *completion_args, const char *label, const struct alpi_attr *attr);

// Sets *count to the number of logical ids: as many as the machine has CPUs. PARAMETER, NOT_INITIALIZED. (1.0)
int alpi_cpu_count(uint64_t *count);
// Sets *logical_id to a number below the count that no other computing task has. The number is the
// task's until the task blocks, or waits in the kernel. Waits while all numbers are in use.
// PARAMETER, OUTSIDE_TASK. (1.0)
int alpi_cpu_logical_id(uint64_t *logical_id);
// Sets *system_id to the operating system's number of the CPU, which may change at any time.
// PARAMETER, OUTSIDE_TASK. (1.0)
int alpi_cpu_system_id(uint64_t *system_id);

typedef ALPI_ENUM{
    ALPI_SUSPEND_NONE = 0, // until alpi_task_unblock()
    ALPI_SUSPEND_SUBMIT = 1, // at once: args 0 behind ready tasks, 1 as one that yields
    ALPI_SUSPEND_TIMEOUT_SUBMIT = 2, // after args nanoseconds
    ALPI_SUSPEND_EVENT_SUBMIT = 3 // when its events are over
} alpi_suspend_mode_t;

// Sets how the next suspensions of the calling task end; the mode stays set. PARAMETER: not the
// calling task, an unknown mode, args of SUBMIT beyond 1. OUTSIDE_TASK. (1.1)
int alpi_task_suspend_mode_set(struct alpi_task *task, alpi_suspend_mode_t suspend_mode,
                               uint64_t args);
// Suspends the calling task when its body has returned: the task does not end, and as its mode
// says, Weft runs the same body again, with the same argument. The task keeps no stack meanwhile.
// PARAMETER: not the calling task. OUTSIDE_TASK. UNKNOWN: a task that returns a value, or that its
// creator runs in place; a thread; a task of OpenMP's. (1.1)
int alpi_task_suspend(struct alpi_task *task);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
