// SPDX-License-Identifier: Apache-2.0
// Services: callbacks that workers run when they have nothing better to do, or between tasks.
#pragma once

#include <weft/c/task.h>

#ifdef __cplusplus
extern "C" {
#endif

// Refers to a service: a function that Weft calls again and again.
typedef struct weft_service weft_service;

// Says where services are called.
enum weft_poll_point {
  WEFT_POLL_POINT_IDLE =
      0, // by workers without work, again and again; when all workers sleep or none is without
  // work, every poll.period or so
  WEFT_POLL_POINT_TIMER = 1, // by the timer thread, every poll.period
  WEFT_POLL_POINT_TASKWAIT =
      2, // by a task that has to wait for its children or its group, once, before it does
  WEFT_POLL_POINT_SCHEDULING_POINT =
      3 // by workers between tasks: in weft_taskyield(), when a task suspends, when a worker asks
  // for shared work
};

// Lists the former names, until 1.0.
enum weft_place {
  WEFT_PLACE_IDLE __attribute__((deprecated("use WEFT_POLL_POINT_IDLE"))) = WEFT_POLL_POINT_IDLE,
  WEFT_PLACE_TIMER __attribute__((deprecated("use WEFT_POLL_POINT_TIMER"))) = WEFT_POLL_POINT_TIMER,
  WEFT_PLACE_TASKWAIT __attribute__((deprecated("use WEFT_POLL_POINT_TASKWAIT"))) =
      WEFT_POLL_POINT_TASKWAIT,
  WEFT_PLACE_SCHEDULING_POINT __attribute__((deprecated("use WEFT_POLL_POINT_SCHEDULING_POINT"))) =
      WEFT_POLL_POINT_SCHEDULING_POINT
};

// Registers poll(context), which returns another number than 0 when it did something.
//
// - No two threads call it at the same time.
// - Of a poll point's services those of higher priority are called first, those of equal priority
//   in the order of creation.
// - A service that takes longer than poll.slow in a call is reported with its name.
// - poll() may unblock tasks, decrease events, spawn, and make or end services, also its own. A
//   call that would wait returns NO_BLOCK.
//
// Ownership. The caller gives the service back with weft_service_destroy(); `name` must live until
// then. On failure *service is NULL.
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT, OUT_OF_RESOURCES, SHUT_DOWN.
WEFT_API int weft_service_create(const char *name, int poll_point, int priority,
                                 int (*poll)(void *context), void *context, weft_service **service);

// Ends the service: when the call returns, poll() is not running and will not be called. NULL is
// allowed.
//
// Threads. Any thread, and tasks.
// Blocks. While poll() runs, but not when poll() itself calls it.
// Errors. None.
WEFT_API int weft_service_destroy(weft_service *service);

#ifdef __cplusplus
}
#endif
