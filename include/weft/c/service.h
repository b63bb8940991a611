// SPDX-License-Identifier: Apache-2.0
// Services: callbacks that workers run when they have nothing better to do, or between tasks.
#pragma once

#include <weft/c/task.h>

#ifdef __cplusplus
extern "C" {
#endif

// A function that is called again and again.
typedef struct weft_service weft_service;

// Where services are called.
enum weft_poll_point {
  WEFT_POLL_POINT_IDLE = 0,            // by workers without work, again and again; when all workers sleep or none is without
                                       // work, every poll.period or so
  WEFT_POLL_POINT_TIMER = 1,           // by the timer thread, every poll.period
  WEFT_POLL_POINT_TASKWAIT = 2,        // by a task that has to wait for its children or its group, once, before it does
  WEFT_POLL_POINT_SCHEDULING_POINT = 3 // by workers between tasks: in weft_taskyield(), when a task suspends, when a worker asks
                                       // for shared work
};

// The former names, until 1.0.
enum weft_place {
  WEFT_PLACE_IDLE __attribute__((deprecated("use WEFT_POLL_POINT_IDLE"))) = WEFT_POLL_POINT_IDLE,
  WEFT_PLACE_TIMER __attribute__((deprecated("use WEFT_POLL_POINT_TIMER"))) = WEFT_POLL_POINT_TIMER,
  WEFT_PLACE_TASKWAIT __attribute__((deprecated("use WEFT_POLL_POINT_TASKWAIT"))) = WEFT_POLL_POINT_TASKWAIT,
  WEFT_PLACE_SCHEDULING_POINT __attribute__((deprecated("use WEFT_POLL_POINT_SCHEDULING_POINT"))) = WEFT_POLL_POINT_SCHEDULING_POINT
};

// Registers poll(context), which returns another number than 0 when it did something. It is never called
// by two threads at once. Of a poll point's services those of higher priority are called first, equals in the order of
// creation. One that takes longer than poll.slow in a call is reported with its name. It may unblock tasks, decrease events, spawn, and make or end services, itself
// too; a call that would wait returns NO_BLOCK.
//
// Ownership: the caller gives the service back with weft_service_destroy(); `name` must live until then.
//   On failure *service is NULL.
// Callable from: any thread, and tasks.
// Blocks: never.
// Errors: INVALID_ARGUMENT, OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_service_create(const char *name, int poll_point, int priority, int (*poll)(void *context), void *context, weft_service **service);

// Ends the service; poll() is not running and will not be called when this returns. NULL is allowed.
//
// Callable from: any thread, and tasks.
// Blocks: while poll() runs, but not when poll() itself calls it.
// Errors: none.
WEFT_API int weft_service_destroy(weft_service *service);

#ifdef __cplusplus
}
#endif
