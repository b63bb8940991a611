/* SPDX-License-Identifier: Apache-2.0 */
/* What the code that stands for `#pragma oss` calls in C. Programs do not include it: weft-cc does. */
#pragma once
#ifndef __ASSEMBLER__ /* -include in front of a file of the assembler */

#ifdef __cplusplus
#error "<weft/oss.h> is for C; <weft/oss.hpp> is for C++"
#endif

#include <weft/c/loop.h>
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

/* Is in front of each array behind the task's other variables. */
typedef struct weft_oss_kept {
  __SIZE_TYPE__ field; /* of the variables: the place of the pointer to the array */
  __SIZE_TYPE__ bytes; /* of this and the array */
} weft_oss_kept;

/* Copies an array behind the task's other variables, of which `field` is to point to it. */
WEFT_OSS_LOCAL void *weft_oss_keep(char **free, const void *array, __SIZE_TYPE__ bytes,
                                   __SIZE_TYPE__ field) {
  weft_oss_kept *const kept = (weft_oss_kept *)*free;
  kept->field = field;
  kept->bytes = sizeof *kept + (bytes + 15) / 16 * 16;
  *free += kept->bytes;
  return __builtin_memcpy(kept + 1, array, bytes);
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

/* Ends the program with a sentence about a loop. */
WEFT_OSS_COLD void weft_oss_refuse(const char *why) {
  const char *const parts[] = {"weft: ", why, "\n"};
  for (__SIZE_TYPE__ i = 0; i < sizeof parts / sizeof *parts; ++i)
    if (weft_oss_write(2, parts[i], weft_oss_length(parts[i])) < 0)
      break;
  weft_oss_abort();
}

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
#define WEFT_OSS_REFUSES(condition, sentence)                                                      \
  __attribute__((diagnose_if(condition, sentence, "error")))
#else
#define WEFT_OSS_REFUSES(condition, sentence)
#endif
/* Refuse what does not count with integers, where the program is compiled. */
WEFT_OSS_LOCAL inline void weft_oss_loop_counts(int with_integers)
    WEFT_OSS_REFUSES(!with_integers,
                     "the variable of a loop of '#pragma oss', its limit and its step must be "
                     "integers") {
  (void)with_integers;
}
WEFT_OSS_LOCAL inline void weft_oss_clause_counts(int with_integers)
    WEFT_OSS_REFUSES(!with_integers,
                     "grainsize, chunksize, unroll and update of '#pragma oss' count iterations: "
                     "the expression must be an integer") {
  (void)with_integers;
}
#undef WEFT_OSS_REFUSES
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/* Holds what one loop counts through: values modulo 2^64, so none beyond the limit is computed. */
typedef struct weft_oss_axis {
  unsigned long long first, step, count;
} weft_oss_axis;

/* Returns whether one number is below another one; a signed one is given by its bits. */
WEFT_OSS_LOCAL inline int weft_oss_precedes(unsigned long long a, int a_signed,
                                            unsigned long long b, int b_signed) {
  const int a_below_0 = a_signed && (long long)a < 0, b_below_0 = b_signed && (long long)b < 0;
  return a_below_0 != b_below_0 ? a_below_0 : a < b;
}

enum weft_oss_relation {
  weft_oss_less,
  weft_oss_less_equal,
  weft_oss_greater,
  weft_oss_greater_equal,
  weft_oss_unequal
};

/* Returns the values of `for (i = first; i < limit; i += step)`. */
WEFT_OSS_LOCAL inline weft_oss_axis weft_oss_axis_of(unsigned long long first, int first_signed,
                                                     unsigned long long limit, int limit_signed,
                                                     enum weft_oss_relation how,
                                                     unsigned long long step, int step_signed,
                                                     int down) {
  if (step == 0)
    weft_oss_refuse("the step of a loop of '#pragma oss' is 0: no iteration would be the last");
  const int up = weft_oss_precedes(0, 0, step, step_signed) != down;
  if (how != weft_oss_unequal && up != (how == weft_oss_less || how == weft_oss_less_equal))
    weft_oss_refuse("the step of a loop of '#pragma oss' leads away from its limit");
  weft_oss_axis all = {first, down ? 0 - step : step, 0};
  const int included = how == weft_oss_less_equal || how == weft_oss_greater_equal;
  const int before = weft_oss_precedes(first, first_signed, limit, limit_signed),
            behind = weft_oss_precedes(limit, limit_signed, first, first_signed);
  if ((up ? behind : before) || (!included && !before && !behind))
    return all;
  const unsigned long long width = up ? limit - first : first - limit;
  all.count = (width - (included ? 0 : 1)) / (up ? all.step : 0 - all.step) + 1;
  return all;
}
WEFT_OSS_LOCAL inline unsigned long long weft_oss_value(const weft_oss_axis *axis,
                                                        unsigned long long position) {
  return axis->first + position * axis->step;
}
/* Returns the number of iterations of loops that are one, the last loop the fastest. */
WEFT_OSS_LOCAL inline unsigned long long weft_oss_size(const weft_oss_axis *axes, int loops) {
  unsigned long long size = 1;
  for (int i = 0; i < loops; ++i)
    size *= axes[i].count;
  return size;
}
/* Returns the position of a loop in an iteration of them all. */
WEFT_OSS_LOCAL inline unsigned long long weft_oss_position(const weft_oss_axis *axes, int loops,
                                                           unsigned long long iteration, int loop) {
  for (int i = loops - 1; i > loop; --i)
    iteration /= axes[i].count;
  return iteration % axes[loop].count;
}

/* Returns what a clause that counts iterations says. */
WEFT_OSS_LOCAL inline unsigned long long weft_oss_positive(unsigned long long value, int is_signed,
                                                           const char *why) {
  if (!weft_oss_precedes(0, 0, value, is_signed))
    weft_oss_refuse(why);
  return value;
}

/* Says how a loop is cut: into chunks of `grain` iterations, the first ones with one more. */
typedef struct weft_oss_cut {
  unsigned long long size, chunks, grain, longer;
} weft_oss_cut;

WEFT_OSS_LOCAL inline weft_oss_cut weft_oss_cut_by(unsigned long long size,
                                                   unsigned long long grain) {
  const weft_oss_cut cut = {size, size / grain + (size % grain != 0), grain, 0};
  return cut;
}
/* Cuts into as many chunks as a weft_taskloop() has. */
WEFT_OSS_LOCAL weft_oss_cut weft_oss_cut_default(unsigned long long size) {
  weft_oss_cut cut = {size, 0, 0, 0};
  uint64_t chunks = 0;
  if (weft_taskloop_chunks(size, 0, &chunks))
    weft_oss_fail("taskloop");
  if (chunks) {
    cut.chunks = chunks;
    cut.grain = size / chunks;
    cut.longer = size % chunks;
  }
  return cut;
}
/* Returns one chunk that is all of the loop, or none if the loop has no iteration. */
WEFT_OSS_LOCAL inline weft_oss_cut weft_oss_cut_never(unsigned long long size) {
  const weft_oss_cut cut = {size, size != 0, size, 0};
  return cut;
}

/* Is a row of iterations. In the variables of a shared loop it is the first one. */
typedef struct weft_oss_chunk {
  unsigned long long first, count;
  unsigned long long behind; /* where the task's arrays begin; 0: there is none */
} weft_oss_chunk;

WEFT_OSS_LOCAL inline weft_oss_chunk weft_oss_chunk_of(const weft_oss_cut *cut,
                                                       unsigned long long chunk) {
  const unsigned long long first = chunk * cut->grain + (chunk < cut->longer ? chunk : cut->longer),
                           most = cut->grain + (chunk < cut->longer ? 1 : 0);
  const weft_oss_chunk made = {first, cut->size - first < most ? cut->size - first : most, 0};
  return made;
}

enum weft_oss_corner { weft_oss_front, weft_oss_low, weft_oss_high };

/* Returns the value of a loop's variable in the first iteration of a chunk, or its least or largest
   position in the chunk. */
WEFT_OSS_LOCAL unsigned long long weft_oss_at(const weft_oss_axis *axes, int loops,
                                              const weft_oss_chunk *chunk, int loop,
                                              enum weft_oss_corner which) {
  const unsigned long long last = chunk->first + chunk->count - 1;
  unsigned long long position =
      weft_oss_position(axes, loops, which == weft_oss_high ? last : chunk->first, loop);
  if (which != weft_oss_front)
    for (int i = 0; i < loop; ++i) /* an outer loop goes on: the inner ones go all the way */
      if (weft_oss_position(axes, loops, chunk->first, i) !=
          weft_oss_position(axes, loops, last, i))
        position = which == weft_oss_low ? 0 : axes[loop].count - 1;
  return weft_oss_value(&axes[loop], position);
}

/* Is an iteration of loops that are one. */
typedef struct weft_oss_place {
  unsigned long long left; /* with this one */
  unsigned long long at[9]; /* as many as clause `collapse` may ask for */
} weft_oss_place;

WEFT_OSS_LOCAL inline weft_oss_place weft_oss_place_of(const weft_oss_axis *axes, int loops,
                                                       const weft_oss_chunk *chunk) {
  weft_oss_place place;
  place.left = chunk->count;
  for (int i = 0; i < loops; ++i)
    place.at[i] = weft_oss_position(axes, loops, chunk->first, i);
  return place;
}
WEFT_OSS_LOCAL inline void weft_oss_step(weft_oss_place *place, const weft_oss_axis *axes,
                                         int loops) {
  --place->left;
  for (int i = loops - 1; i >= 0 && ++place->at[i] == axes[i].count; --i)
    place->at[i] = 0;
}

/* Copies the variables of a shared loop for a worker, and moves the pointers to its arrays. */
WEFT_OSS_LOCAL void weft_oss_copy(void *to, const void *from, __SIZE_TYPE__ bytes) {
  __builtin_memcpy(to, from, bytes);
  unsigned long long at = ((const weft_oss_chunk *)from)->behind;
  while (at && at < bytes) {
    weft_oss_kept *const kept = (weft_oss_kept *)((char *)to + at);
    void *const array = kept + 1;
    __builtin_memcpy((char *)to + kept->field, &array, sizeof array);
    at += kept->bytes;
  }
}

/* Prepares a loop that workers share, as weft_oss_prepare(). The pass writes `ready`, too, which gets the
   variables before the loop begins. */
WEFT_OSS_LOCAL inline void *weft_oss_prepare_loop(weft_prepared *prepared, weft_loop_body body,
                                                  __SIZE_TYPE__ bytes, __SIZE_TYPE__ extra,
                                                  weft_body ready, const weft_oss_chunk *all,
                                                  unsigned long long grain, __SIZE_TYPE__ count,
                                                  weft_spawn_options *options, int asks) {
  bytes = extra ? (bytes + 15) / 16 * 16 + extra : bytes;
  if (asks)
    options->onready = (void (*)(void *))(void (*)(void))ready;
  if (all->first + all->count > 0x7fffffffffffffffULL)
    weft_oss_refuse("a loop of '#pragma oss' that workers share has more than 2^63 iterations");
  const weft_range range = {(int64_t)all->first, (int64_t)(all->first + all->count), 1};
  if (weft_taskfor_prepare(prepared, range, body, bytes, grain, weft_oss_copy, count, options))
    weft_oss_fail("task for");
  return prepared->arg;
}

/* Says what is asked of the statement of a taskiter. */
enum weft_oss_phase { weft_oss_ready, weft_oss_run, weft_oss_ask };

/* Says how often the tasks of an iteration run. It is the first of a taskiter's variables. */
typedef struct weft_oss_iterations {
  weft_body statement;
  unsigned long long count; /* of a for loop */
  unsigned long long unroll, update; /* at most so many in one recording; after so many a new one */
  unsigned long long recorded; /* iterations that one recording holds */
  unsigned long long done; /* since the last update */
  int conditional; /* a condition ends the loop */
  enum weft_oss_phase phase;
  int goes_on; /* what the condition has said */
} weft_oss_iterations;

WEFT_OSS_LOCAL inline weft_oss_iterations weft_oss_iterations_of(int conditional,
                                                                 unsigned long long count,
                                                                 unsigned long long unroll,
                                                                 unsigned long long update) {
  const weft_oss_iterations made = {0, count,       unroll,         update, 1,
                                    0, conditional, weft_oss_ready, 0};
  return made;
}

/* Divides iterations into rounds: a recording holds the largest number of them that leaves no rest. */
WEFT_OSS_LOCAL unsigned long long weft_oss_rounds(weft_oss_iterations *loop,
                                                  unsigned long long iterations) {
  if (loop->conditional || !iterations)
    return 0;
  loop->recorded = loop->unroll < iterations ? loop->unroll : iterations;
  while (iterations % loop->recorded)
    --loop->recorded;
  return iterations / loop->recorded;
}
WEFT_OSS_LOCAL int weft_oss_record(void *variables) {
  weft_oss_iterations *const loop = (weft_oss_iterations *)variables;
  for (unsigned long long i = 0; i < loop->recorded; ++i) {
    loop->phase = weft_oss_run;
    loop->statement(variables);
  }
  return 0;
}
WEFT_OSS_LOCAL int weft_oss_goes_on(void *variables) {
  weft_oss_iterations *const loop = (weft_oss_iterations *)variables;
  loop->phase = weft_oss_ask;
  loop->statement(variables);
  return loop->goes_on;
}
/* Asks before each iteration but the first one, whose answer is known, and ends after `update` of them. */
WEFT_OSS_LOCAL int weft_oss_goes_on_alike(void *variables) {
  weft_oss_iterations *const loop = (weft_oss_iterations *)variables;
  return (!loop->done || weft_oss_goes_on(variables)) && loop->done++ != loop->update;
}

/* Is the body of a taskiter without a recording. */
WEFT_OSS_LOCAL int weft_oss_iterate_in_place(void *variables) {
  weft_oss_iterations *const loop = (weft_oss_iterations *)variables;
  for (unsigned long long i = 0; loop->conditional ? weft_oss_goes_on(loop) : i < loop->count; ++i)
    weft_oss_record(variables);
  return 0;
}
/* Is the body of a taskiter that is recorded again and again. */
WEFT_OSS_LOCAL int weft_oss_iterate_updated(void *variables) {
  weft_oss_iterations *const loop = (weft_oss_iterations *)variables;
  unsigned long long left = loop->count;
  while (loop->conditional ? loop->goes_on : left != 0) {
    const unsigned long long now = left < loop->update ? left : loop->update;
    left -= now;
    loop->done = 0;
    if (weft_taskiter(weft_oss_rounds(loop, now), loop->conditional ? weft_oss_goes_on_alike : 0,
                      weft_oss_record, loop, 0, 0, 0, 0, 0))
      weft_oss_fail("taskiter");
  }
  return 0;
}
WEFT_OSS_LOCAL int weft_oss_iterate_updated_if(void *variables) {
  return weft_oss_goes_on(variables) ? weft_oss_iterate_updated(variables) : 0;
}

/* Prepares a taskiter, as weft_oss_prepare(). */
WEFT_OSS_LOCAL inline void *weft_oss_prepare_taskiter(weft_prepared *prepared, weft_body statement,
                                                      __SIZE_TYPE__ bytes, __SIZE_TYPE__ extra,
                                                      weft_oss_iterations *loop,
                                                      __SIZE_TYPE__ count,
                                                      weft_spawn_options *options, int asks) {
  bytes = extra ? (bytes + 15) / 16 * 16 + extra : bytes;
  loop->statement = statement;
  if (asks)
    options->onready = (void (*)(void *))(void (*)(void))statement;
  const int in_place = options && options->flags & (WEFT_TASK_FINAL | WEFT_TASK_UNDEFERRED);
  const weft_body body = in_place            ? weft_oss_iterate_in_place
                         : !loop->update     ? 0
                         : loop->conditional ? weft_oss_iterate_updated_if
                                             : weft_oss_iterate_updated;
  if (body ? weft_task_prepare(prepared, body, bytes, count, options)
           : weft_taskiter_prepare(prepared, weft_oss_rounds(loop, loop->count),
                                   loop->conditional ? weft_oss_goes_on : 0, weft_oss_record, bytes,
                                   count, options))
    weft_oss_fail("taskiter");
  return prepared->arg;
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
/* Of an object, or of a part without gaps. */
WEFT_OSS_LOCAL inline weft_access weft_oss_item(const volatile void *address, int mode,
                                                __SIZE_TYPE__ bytes) {
  return weft_sized(weft_oss_access(address, mode), bytes);
}
/* Returns how many bytes a part of an array has, by the elements of its dimensions, those that it names and all; 0: it has gaps. */
WEFT_OSS_LOCAL inline __SIZE_TYPE__ weft_oss_part_bytes(__SIZE_TYPE__ element_bytes, long outer,
                                                    long middle, long of_middle, long inner,
                                                    long of_inner) {
  if (outer <= 0 || middle <= 0 || inner <= 0 ||
      (inner != of_inner && (middle != 1 || outer != 1)) || (middle != of_middle && outer != 1))
    return 0;
  return element_bytes * (__SIZE_TYPE__)outer * (__SIZE_TYPE__)middle * (__SIZE_TYPE__)inner;
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

/* Returns the part of a region between its first and its last byte. */
WEFT_OSS_LOCAL weft_region weft_oss_bytes_of(const weft_region *part) {
  ptrdiff_t low = 0, high = 0;
  for (int i = 0; i < part->dimensions; ++i) {
    const weft_dimension *const d = &part->dimension[i];
    const ptrdiff_t extent = i ? d->extent : 1;
    low = low * extent + d->first;
    high = high * extent + d->first + d->count - 1;
  }
  const ptrdiff_t bytes = (ptrdiff_t)part->element_bytes;
  return weft_region_span((const char *)part->address + low * bytes, 1, 0, (high - low + 1) * bytes,
                          part->mode);
}
/* Returns what an item of a loop names: all between the one of the first and the one of the last
   iteration. */
WEFT_OSS_LOCAL weft_region weft_oss_hull(weft_region low, weft_region high) {
  int alike = low.address == high.address && low.element_bytes == high.element_bytes &&
              low.dimensions == high.dimensions;
  if (alike) {
    for (int i = 0; i < low.dimensions; ++i) {
      weft_dimension *const x = &low.dimension[i];
      const weft_dimension *const y = &high.dimension[i];
      const ptrdiff_t first = x->first < y->first ? x->first : y->first;
      const ptrdiff_t x_end = x->first + x->count;
      ptrdiff_t y_end = y->first + y->count;
      /* v[i;n] of a chunk of n iterations: the last one would reach beyond the array. */
      if (y_end > y->extent && x_end <= x->extent)
        y_end = y->extent;
      x->first = first;
      x->count = (x_end < y_end ? y_end : x_end) - first;
    }
    return low;
  }
  weft_region x = weft_oss_bytes_of(&low);
  const weft_region y = weft_oss_bytes_of(&high);
  const char *const x_first = (const char *)x.address, *const y_first = (const char *)y.address,
                    *const x_end = x_first + x.dimension[0].count,
                    *const y_end = y_first + y.dimension[0].count;
  x.address = x_first < y_first ? x_first : y_first;
  x.dimension[0].count = (x_end < y_end ? y_end : x_end) - (const char *)x.address;
  return x;
}
/* Adds what items of a loop name, and frees both lists. */
WEFT_OSS_LOCAL void weft_oss_add_hulls(weft_oss_list *list, const weft_oss_list *low,
                                       const weft_oss_list *high) {
  const weft_region *const first = (const weft_region *)low->all, *const last =
                                                                      (const weft_region *)
                                                                          high->all;
  const int alike = low->count == high->count;
  for (__SIZE_TYPE__ i = 0; i < low->count; ++i)
    weft_oss_add_region(list, alike ? weft_oss_hull(first[i], last[i]) : first[i]);
  for (__SIZE_TYPE__ i = 0; !alike && i < high->count; ++i)
    weft_oss_add_region(list, last[i]);
  weft_oss_free(low->all);
  weft_oss_free(high->all);
}

/* Returns how many values an iterator `i=first:last:step` has; the last is included. */
WEFT_OSS_LOCAL inline long long weft_oss_values(long long first, long long last, long long step) {
  if (step > 0 && first <= last)
    return (last - first) / step + 1;
  if (step < 0 && last <= first)
    return (first - last) / -step + 1;
  return 0;
}

#include <weft/oss/orders.h>
#include <weft/oss/reductions.h>

/* Each list of items leaves a byte: whether its file orders items by bytes. What has been seen, files of C++ note likewise. */
extern const char weft_oss_orders[] __asm__("__start_weft_oss_order")
    __attribute__((weak, visibility("hidden")));
extern const char weft_oss_orders_end[] __asm__("__stop_weft_oss_order")
    __attribute__((weak, visibility("hidden")));
__attribute__((weak, visibility("default"))) unsigned char weft_oss_orders_seen[2];

/* Gives tasks the stacks that programs of OmpSs-2 expect, below file, environment and program. */
__attribute__((constructor, unused)) static void weft_oss_begin(void) {
  for (const char *order = weft_oss_orders; order != weft_oss_orders_end; ++order) {
    const int how = *order;
    static const char text[] = WEFT_OSS_TWO_ORDERS;
    if (!weft_oss_orders_seen[how] && weft_oss_orders_seen[1 - how] &&
        weft_oss_write(2, text, sizeof text - 1) < 0)
      weft_oss_abort();
    weft_oss_orders_seen[how] = 1;
  }
  weft_oss_default("stack.bytes", "8MiB");
}

#endif /* __ASSEMBLER__ */
