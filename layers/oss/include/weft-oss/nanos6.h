// SPDX-License-Identifier: Apache-2.0
// The calls of Nanos6 that programs with `#pragma oss` make, over Weft's C functions.
#pragma once

#include <weft.h>

#include <pthread.h>
#include <sched.h> // struct timespec, also where the language is plain C99
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

// The functions of Nanos6 return no codes: what Weft refuses ends the program with Weft's sentence.
static inline void weft_oss_require(int code, const char *function) {
  if (code == 0)
    return;
  fprintf(stderr, "weft: %s: %s\n", function, weft_last_error_message());
  abort();
}

// Blocking: a task blocks itself, and any thread unblocks it by the context, once for each time.
static inline void *nanos6_get_current_blocking_context(void) {
  weft_task *task = NULL;
  weft_oss_require(weft_task_self(&task), "nanos6_get_current_blocking_context");
  return task;
}
static inline void nanos6_block_current_task(void *blocking_context) {
  (void)blocking_context;
  weft_oss_require(weft_task_block(), "nanos6_block_current_task");
}
static inline void nanos6_unblock_task(void *blocking_context) {
  weft_oss_require(weft_task_unblock((weft_task *)blocking_context), "nanos6_unblock_task");
}
// The name that <time.h> has is not for plain C (-std=c11); 1 is CLOCK_MONOTONIC.
int weft_oss_clock(int clock, struct timespec *now) __asm__("clock_gettime");
// Blocks the task for a time in microseconds, and returns how long it was.
static inline uint64_t nanos6_wait_for(uint64_t time_us) {
  struct timespec begin, end;
  (void)weft_oss_clock(1, &begin);
  weft_oss_require(weft_task_sleep_for((int64_t)(time_us * 1000)), "nanos6_wait_for");
  (void)weft_oss_clock(1, &end);
  return (uint64_t)((end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000);
}

// Events: a task keeps its dependences until its body has ended and its events are taken back.
static inline void *nanos6_get_current_event_counter(void) {
  weft_task *task = NULL;
  weft_oss_require(weft_task_self(&task), "nanos6_get_current_event_counter");
  return task;
}
static inline void nanos6_increase_current_task_event_counter(void *event_counter,
                                                              unsigned int increment) {
  (void)event_counter;
  if (increment)
    weft_oss_require(weft_task_increase_events(increment),
                     "nanos6_increase_current_task_event_counter");
}
static inline void nanos6_decrease_task_event_counter(void *event_counter, unsigned int decrement) {
  if (decrement)
    weft_oss_require(weft_task_decrease_events((weft_task *)event_counter, decrement),
                     "nanos6_decrease_task_event_counter");
}

// Spawning: an independent function, and another one behind it and all of its tasks.
struct weft_oss_function {
  void (*function)(void *args);
  void *args;
};
static inline int weft_oss_run_function(void *arg) {
  const struct weft_oss_function what = *(struct weft_oss_function *)arg;
  free(arg);
  what.function(what.args);
  return 0;
}
static inline void weft_oss_spawn(void (*function)(void *), void *args,
                                  void (*completion_callback)(void *), void *completion_args,
                                  char const *label, weft_stream *stream, char const *caller) {
  weft_function_options options = WEFT_FUNCTION_OPTIONS_INIT;
  struct weft_oss_function *what = (struct weft_oss_function *)malloc(sizeof *what);
  if (!what) {
    fprintf(stderr, "weft: %s: out of memory\n", caller);
    abort();
  }
  what->function = function;
  what->args = args;
  options.label = label;
  options.stream = stream;
  weft_oss_require(weft_spawn_function(weft_oss_run_function, what, completion_callback,
                                       completion_args, &options),
                   caller);
}
static inline void nanos6_spawn_function(void (*function)(void *), void *args,
                                         void (*completion_callback)(void *), void *completion_args,
                                         char const *label) {
  weft_oss_spawn(function, args, completion_callback, completion_args, label, NULL,
                 "nanos6_spawn_function");
}

// Streams: functions with one number run one after another, in the order of the calls.
struct weft_oss_stream {
  size_t number;
  weft_stream *stream;
  struct weft_oss_stream *next;
};
// One list for all files of the program; streams stay in it to its end.
__attribute__((weak)) struct weft_oss_stream *weft_oss_streams;
__attribute__((weak)) pthread_mutex_t weft_oss_streams_lock = PTHREAD_MUTEX_INITIALIZER;

// Returns the record of a number; NULL if there is none and `make` is 0.
static inline struct weft_oss_stream *weft_oss_find_stream(size_t number, int make) {
  struct weft_oss_stream *at;
  int code = 0;
  pthread_mutex_lock(&weft_oss_streams_lock);
  for (at = weft_oss_streams; at && at->number != number; at = at->next)
    ;
  if (!at && make) {
    at = (struct weft_oss_stream *)malloc(sizeof *at);
    if (!at) {
      fputs("weft: nanos6_stream_spawn_function: out of memory\n", stderr);
      abort();
    }
    at->number = number;
    at->next = weft_oss_streams;
    code = weft_stream_create("nanos6 stream", &at->stream);
    weft_oss_streams = at;
  }
  pthread_mutex_unlock(&weft_oss_streams_lock);
  weft_oss_require(code, "nanos6_stream_spawn_function");
  return at;
}
static inline void nanos6_stream_spawn_function(void (*function)(void *), void *args,
                                                void (*callback)(void *), void *callback_args,
                                                char const *label, size_t stream_id) {
  weft_oss_spawn(function, args, callback, callback_args, label,
                 weft_oss_find_stream(stream_id, 1)->stream, "nanos6_stream_spawn_function");
}
static inline void nanos6_stream_synchronize(size_t stream_id) {
  struct weft_oss_stream *const found = weft_oss_find_stream(stream_id, 0);
  if (found)
    weft_oss_require(weft_stream_wait(found->stream), "nanos6_stream_synchronize");
}
static inline void nanos6_stream_synchronize_all(void) {
  struct weft_oss_stream *at;
  pthread_mutex_lock(&weft_oss_streams_lock);
  at = weft_oss_streams; // records that come later are put in front of it
  pthread_mutex_unlock(&weft_oss_streams_lock);
  for (; at; at = at->next)
    weft_oss_require(weft_stream_wait(at->stream), "nanos6_stream_synchronize_all");
}

// Polling: a service is called until it returns another number than 0, or is unregistered by the
// same function and data.
typedef int (*nanos6_polling_service_t)(void *service_data);
struct weft_oss_service {
  nanos6_polling_service_t function;
  void *data;
  weft_service *service;
  struct weft_oss_service *next;
};
// One list for all files of the program.
__attribute__((weak)) struct weft_oss_service *weft_oss_services;
__attribute__((weak)) pthread_mutex_t weft_oss_services_lock = PTHREAD_MUTEX_INITIALIZER;

// Takes a record, or one of a function and data, out of the list. Returns NULL if it is not there.
static inline struct weft_oss_service *weft_oss_take_service(const struct weft_oss_service *record,
                                                             nanos6_polling_service_t function,
                                                             const void *data) {
  struct weft_oss_service **at, *found;
  pthread_mutex_lock(&weft_oss_services_lock);
  for (at = &weft_oss_services; *at; at = &(*at)->next)
    if (record ? *at == record : (*at)->function == function && (*at)->data == data)
      break;
  found = *at;
  if (found)
    *at = found->next;
  pthread_mutex_unlock(&weft_oss_services_lock);
  return found;
}
static inline int weft_oss_poll(void *context) {
  struct weft_oss_service *record = (struct weft_oss_service *)context;
  if (!record->function(record->data))
    return 0;
  // The thread that takes the record out of the list ends the service.
  if (weft_oss_take_service(record, NULL, NULL)) {
    weft_service_destroy(record->service);
    free(record);
  }
  return 1;
}
static inline void nanos6_register_polling_service(char const *service_name,
                                                   nanos6_polling_service_t service_function,
                                                   void *service_data) {
  struct weft_oss_service *record = (struct weft_oss_service *)malloc(sizeof *record);
  int code;
  if (!record) {
    fputs("weft: nanos6_register_polling_service: out of memory\n", stderr);
    abort();
  }
  record->function = service_function;
  record->data = service_data;
  pthread_mutex_lock(&weft_oss_services_lock); // a first call that ends the service waits for this
  code = weft_service_create(service_name, WEFT_POLL_POINT_IDLE, 0, weft_oss_poll, record,
                             &record->service);
  record->next = weft_oss_services;
  weft_oss_services = record;
  pthread_mutex_unlock(&weft_oss_services_lock);
  weft_oss_require(code, "nanos6_register_polling_service");
}
static inline void nanos6_unregister_polling_service(char const *service_name,
                                                     nanos6_polling_service_t service_function,
                                                     void *service_data) {
  struct weft_oss_service *record = weft_oss_take_service(NULL, service_function, service_data);
  (void)service_name;
  if (record) {
    weft_oss_require(weft_service_destroy(record->service), "nanos6_unregister_polling_service");
    free(record);
  }
}

// Locks: the handle begins as NULL.
static inline void nanos6_user_lock(void **handle, char const *invocation_source) {
  void *mutex = __atomic_load_n(handle, __ATOMIC_ACQUIRE);
  (void)invocation_source;
  if (!mutex) {
    weft_mutex *fresh = NULL;
    weft_oss_require(weft_mutex_create(&fresh), "nanos6_user_lock");
    if (__atomic_compare_exchange_n(handle, &mutex, (void *)fresh, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
      mutex = fresh;
    else
      weft_mutex_destroy(fresh);
  }
  weft_oss_require(weft_mutex_lock((weft_mutex *)mutex), "nanos6_user_lock");
}
static inline void nanos6_user_unlock(void **handle) {
  weft_oss_require(weft_mutex_unlock((weft_mutex *)__atomic_load_n(handle, __ATOMIC_ACQUIRE)),
                   "nanos6_user_unlock");
}

// The runtime.
static inline void nanos6_wait_for_full_initialization(void) {
  weft_oss_require(weft_start(), "nanos6_wait_for_full_initialization");
}
// Returns NULL, or why the runtime cannot start.
static inline char const *nanos6_library_mode_init(void) {
  return weft_start() ? weft_last_error_message() : NULL;
}
static inline void nanos6_init(void) { weft_oss_require(weft_start(), "nanos6_init"); }
static inline void nanos6_shutdown(void) { weft_oss_require(weft_shutdown(), "nanos6_shutdown"); }
static inline void nanos6_taskwait(char const *invocation_source) {
  (void)invocation_source;
  weft_oss_require(weft_taskwait(NULL), "nanos6_taskwait");
}
static inline void nanos6_yield(void) { weft_oss_require(weft_taskyield(), "nanos6_yield"); }
static inline int nanos6_in_final(void) { return weft_task_in_final() > 0; }
static inline int nanos6_in_serial_context(void) { return weft_task_in_final() > 0; }
static inline char const *nanos6_get_runtime_version(void) { return weft_version(); }

#ifdef __cplusplus
}
#endif

#include "nanos6/cpus.h" // and numa.h
