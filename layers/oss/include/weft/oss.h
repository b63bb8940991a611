/* SPDX-License-Identifier: Apache-2.0 */
/* What the code that stands for `#pragma oss` calls in C. Programs do not include it: weft-cc does. */
#pragma once

#ifdef __cplusplus
#error "<weft/oss.h> is for C; <weft/oss.hpp> is for C++"
#endif

#include <weft/c/mutex.h>
#include <weft/c/region.h>
#include <weft/c/runtime.h>
#include <weft/c/task.h>

#ifndef _OMPSS_2
/* Says that `#pragma oss` is compiled. */
#define _OMPSS_2 1
#endif

#define WEFT_OSS_LOCAL static __attribute__((unused))
#define WEFT_OSS_COLD static __attribute__((unused, cold, noinline))

/* Names of their own, so that no header of the C library is needed. */
extern __SIZE_TYPE__ weft_oss_length(const char *text) __asm__("strlen");
extern long weft_oss_write(int file, const void *bytes, __SIZE_TYPE__ count) __asm__("write");
extern void *weft_oss_grow(void *old, __SIZE_TYPE__ bytes) __asm__("realloc");
extern void weft_oss_free(void *old) __asm__("free");
extern void weft_oss_abort(void) __asm__("abort") __attribute__((noreturn));

/* weft::layer::set_default */
extern void weft_oss_default(const char *key,
                             const char *value) __asm__("_ZN4weft2v05layer11set_defaultEPKcS3_");

/* Ends the program with a sentence: C has no exception that could tell it. */
WEFT_OSS_COLD void weft_oss_fail(const char *what) {
  const char *const parts[] = {"weft: #pragma oss ", what, ": ", weft_last_error_message(), "\n"};
  for (__SIZE_TYPE__ i = 0; i < sizeof parts / sizeof *parts; ++i)
    if (weft_oss_write(2, parts[i], weft_oss_length(parts[i])) < 0)
      break;
  weft_oss_abort();
}

/* Prepares a task. The pass writes the body and the bytes of its variables into the call in front of
   the captured statement. `extra` bytes are for arrays whose size is known at run time. */
WEFT_OSS_LOCAL inline void *weft_oss_prepare(weft_prepared *prepared, weft_body body,
                                             __SIZE_TYPE__ bytes, __SIZE_TYPE__ extra,
                                             __SIZE_TYPE__ count, weft_spawn_options *options,
                                             int asks) {
  bytes = extra ? (bytes + 15) / 16 * 16 + extra : bytes;
  if (asks) /* with the task's variables, which say what is asked */
    options->onready = (void (*)(void *))(void (*)(void))body;
  if (weft_task_prepare(prepared, body, bytes, count, options))
    weft_oss_fail("task");
  return prepared->arg;
}

/* Copies an array behind the task's other variables. */
WEFT_OSS_LOCAL void *weft_oss_keep(char **free, const void *array, __SIZE_TYPE__ bytes) {
  void *const copy = *free;
  *free += (bytes + 15) / 16 * 16;
  return __builtin_memcpy(copy, array, bytes);
}
/* Says where the first of these arrays goes. */
WEFT_OSS_LOCAL inline char *weft_oss_behind(void *variables, __SIZE_TYPE__ bytes) {
  return variables ? (char *)variables + (bytes + 15) / 16 * 16 : 0;
}

WEFT_OSS_LOCAL inline void weft_oss_submit(weft_prepared *prepared, const weft_access *list,
                                           __SIZE_TYPE__ count) {
  if (weft_task_submit(prepared, list, count))
    weft_oss_fail("task");
}
WEFT_OSS_LOCAL inline void
weft_oss_submit_regions(weft_prepared *prepared, const weft_region *regions, __SIZE_TYPE__ count) {
  if (weft_task_submit_regions(prepared, regions, count, 0, 0))
    weft_oss_fail("task");
}

/* Waits for children; in C, no parent can go on after a child that has failed. */
WEFT_OSS_LOCAL void weft_oss_taskwait(void) {
  if (weft_taskwait(0))
    weft_oss_fail("taskwait");
}
WEFT_OSS_LOCAL void weft_oss_taskwait_on(const weft_access *list, __SIZE_TYPE__ count) {
  if (weft_taskwait_on(list, count))
    weft_oss_fail("taskwait");
}
WEFT_OSS_LOCAL void weft_oss_taskwait_on_regions(const weft_region *list, __SIZE_TYPE__ count) {
  if (weft_taskwait_on_regions(list, count))
    weft_oss_fail("taskwait");
}
WEFT_OSS_LOCAL void weft_oss_release(const weft_access *list, __SIZE_TYPE__ count) {
  if (weft_release(list, count))
    weft_oss_fail("release");
}
WEFT_OSS_LOCAL void weft_oss_release_regions(const weft_region *list, __SIZE_TYPE__ count) {
  if (weft_release_regions(list, count))
    weft_oss_fail("release");
}
WEFT_OSS_LOCAL void weft_oss_taskyield(void) {
  if (weft_taskyield())
    weft_oss_fail("taskyield");
}
WEFT_OSS_LOCAL void weft_oss_enter(const char *name) {
  if (weft_critical_enter(name))
    weft_oss_fail("critical");
}
WEFT_OSS_LOCAL void weft_oss_leave(const char *name) {
  if (weft_critical_leave(name))
    weft_oss_fail("critical");
}

/* Collects the items of multi-dependences: accesses, or regions. */
typedef struct weft_oss_list {
  void *all;
  __SIZE_TYPE__ count, room;
} weft_oss_list;

WEFT_OSS_LOCAL void *weft_oss_next(weft_oss_list *list, __SIZE_TYPE__ bytes) {
  if (list->count == list->room) {
    list->room = list->room ? 2 * list->room : 16;
    void *const more = weft_oss_grow(list->all, list->room * bytes);
    if (!more) {
      static const char text[] = "weft: no memory for the items of '#pragma oss'\n";
      if (weft_oss_write(2, text, sizeof text - 1) >= 0)
        weft_oss_abort();
      weft_oss_abort();
    }
    list->all = more;
  }
  return (char *)list->all + list->count++ * bytes;
}
WEFT_OSS_LOCAL void weft_oss_add(weft_oss_list *list, weft_access item) {
  *(weft_access *)weft_oss_next(list, sizeof item) = item;
}
WEFT_OSS_LOCAL void weft_oss_add_region(weft_oss_list *list, weft_region item) {
  *(weft_region *)weft_oss_next(list, sizeof item) = item;
}

WEFT_OSS_LOCAL inline weft_access weft_oss_access(const volatile void *address, int mode) {
  const weft_access made = {(const void *)address, mode};
  return made;
}
WEFT_OSS_LOCAL inline weft_region weft_oss_object(const volatile void *address, __SIZE_TYPE__ bytes,
                                                  int mode) {
  return weft_region_span((const void *)address, bytes, 0, 1, mode);
}
WEFT_OSS_LOCAL inline weft_dimension weft_oss_part(long extent, long first, long count) {
  const weft_dimension made = {extent, first, count, 0};
  return made;
}
WEFT_OSS_LOCAL inline weft_region weft_oss_region(const volatile void *address,
                                                  __SIZE_TYPE__ element_bytes, int mode,
                                                  int dimensions, weft_dimension outer,
                                                  weft_dimension middle, weft_dimension inner) {
  const weft_region made = {
      (const void *)address, element_bytes, mode, dimensions, {outer, middle, inner}};
  return made;
}

/* Returns how many values an iterator `i=first:last:step` has; the last is included. */
WEFT_OSS_LOCAL inline long long weft_oss_values(long long first, long long last, long long step) {
  if (step > 0 && first <= last)
    return (last - first) / step + 1;
  if (step < 0 && last <= first)
    return (first - last) / -step + 1;
  return 0;
}

/* Gives tasks the stacks that programs of OmpSs-2 expect, below file, environment and program. */
__attribute__((constructor, unused)) static void weft_oss_begin(void) {
  weft_oss_default("stack.bytes", "8MiB");
}
