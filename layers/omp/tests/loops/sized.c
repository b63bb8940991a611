/* SPDX-License-Identifier: Apache-2.0
   Loops that size their blocks themselves: schedule(guided), schedule(auto) where the compiler asks
   the library for its chunks, and schedule(runtime) where the schedule is auto. A member gets a part
   of its share, and what it has not got stays open: other members run it. This file has its own
   prototypes, because Clang's <omp.h> is packaged with its runtime. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern int omp_get_max_threads(void);
extern void omp_set_schedule(int kind, int chunk);

enum { k_iterations = 1000, k_auto = 4 };
enum loop { guided_loop, auto_loop, runtime_loop };

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "sized: %s\n", what);
    exit(1);
  }
}

/* ---- A loop from 0 to k_iterations by the entry points of the compiler. */

#ifdef __clang__
void __kmpc_dispatch_init_8(void *, int, int, long, long, long, long);
int __kmpc_dispatch_next_8(void *, int, int *, long *, long *, long *);
int __kmpc_global_thread_num(void *);
static const int k_schedules[] = {1 << 30 | 36, 1 << 30 | 38, 1 << 30 | 37};
static int next(long *first, long *end) {
  int last = 0;
  long step = 0;
  if (!__kmpc_dispatch_next_8(NULL, __kmpc_global_thread_num(NULL), &last, first, end, &step))
    return 0;
  require(last == (*end == k_iterations - 1), "the last chunk is reported as the last");
  ++*end;
  return 1;
}
static int begin(enum loop which, int chunk, long *first, long *end) {
  __kmpc_dispatch_init_8(NULL, __kmpc_global_thread_num(NULL), k_schedules[which], 0,
                         k_iterations - 1, 1, chunk);
  return next(first, end);
}
static void leave(void) {}
#else
_Bool GOMP_loop_nonmonotonic_guided_start(long, long, long, long, long *, long *);
_Bool GOMP_loop_nonmonotonic_guided_next(long *, long *);
_Bool GOMP_loop_maybe_nonmonotonic_runtime_start(long, long, long, long *, long *);
void GOMP_loop_end_nowait(void);
static int begin(enum loop which, int chunk, long *first, long *end) {
  return which == guided_loop
             ? GOMP_loop_nonmonotonic_guided_start(0, k_iterations, 1, chunk, first, end)
             : GOMP_loop_maybe_nonmonotonic_runtime_start(0, k_iterations, 1, first, end);
}
static int next(long *first, long *end) { return GOMP_loop_nonmonotonic_guided_next(first, end); }
static void leave(void) { GOMP_loop_end_nowait(); }
#endif

static int runs[k_iterations], done_by[k_iterations];

static void run(long first, long end, int chunk) {
  require(0 <= first && first < end && end <= k_iterations, "a chunk lies in the loop");
  require(first % chunk == 0 && (end == k_iterations || end % chunk == 0),
          "a chunk has the least number of iterations");
  for (; first < end; ++first) {
    done_by[first] = omp_get_thread_num();
    __atomic_add_fetch(&runs[first], 1, __ATOMIC_RELAXED);
  }
}

static void wait_until(const int *word, int least) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < least) {
#pragma omp taskyield
  }
}

/* The first member asks once, and again when all others have left the loop. */
static void other_members_run_what_is_open(enum loop which, int chunk) {
  int has_begun = 0, have_left = 0, of_the_first = 0;
  long length = 0;
  memset(runs, 0, sizeof runs);
#pragma omp parallel
  {
    const int others = omp_get_num_threads() - 1, me = omp_get_thread_num();
    long first = 0, end = 0;
    if (me != 0)
      wait_until(&has_begun, 1);
    int found = begin(which, chunk, &first, &end);
    if (me == 0) {
      require(found, "the first member gets a chunk");
      length = end - first;
      run(first, end, chunk);
      __atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
      wait_until(&have_left, others);
      found = next(&first, &end);
    }
    for (; found; found = next(&first, &end))
      run(first, end, chunk);
    leave();
    __atomic_add_fetch(&have_left, 1, __ATOMIC_RELEASE);
  }
  require(length == chunk, "the first block is one chunk");
  for (int i = 0; i < k_iterations; ++i) {
    require(runs[i] == 1, "each iteration once");
    of_the_first += done_by[i] == 0;
  }
  require(omp_get_max_threads() == 1 || of_the_first == chunk,
          "the other members run what the first one has not got");
}

/* ---- The value of the last iteration. */

static void last_value(int n, int chunk) {
  long of_guided = -1, of_runtime = -1, of_auto = -1, sum = 0;
#pragma omp parallel for schedule(guided, chunk) lastprivate(of_guided) reduction(+ : sum)
  for (long i = 0; i < n; ++i) {
    of_guided = 3 * i;
    sum += i;
  }
#pragma omp parallel for schedule(runtime) lastprivate(of_runtime) reduction(+ : sum)
  for (long i = 0; i < n; ++i) {
    of_runtime = 3 * i;
    sum += i;
  }
#pragma omp parallel for schedule(auto) lastprivate(of_auto) reduction(+ : sum)
  for (long i = n; i > 0; --i) {
    of_auto = 3 * (n - i);
    sum += n - i;
  }
  const long last = 3 * (n - 1L);
  require(n == 0 || (of_guided == last && of_runtime == last && of_auto == last),
          "a lastprivate variable has the value of the last iteration");
  require(sum == 3L * n * (n - 1L) / 2, "each iteration once, in compiled loops");
}

static void over_all_of_the_type(void) {
  const long step = LONG_MAX / 8;
  long last = 0, loops = 0, last_of_one = 0, loops_of_one = 0;
#pragma omp parallel for schedule(runtime) lastprivate(last) reduction(+ : loops)
  for (long i = LONG_MIN; i <= LONG_MAX - 1 - step; i += step) {
    last = i;
    ++loops;
  }
  for (long i = LONG_MIN; i <= LONG_MAX - 1 - step; i += step) {
    last_of_one = i;
    ++loops_of_one;
  }
  require(loops == loops_of_one && last == last_of_one, "a loop over all of its type");
}

int main(void) {
#ifndef __clang__ /* the initial schedule of Clang's programs */
  omp_set_schedule(k_auto, 0);
#endif
  for (int round = 0; round < 20; ++round) {
    other_members_run_what_is_open(guided_loop, 1);
    other_members_run_what_is_open(guided_loop, 7);
    other_members_run_what_is_open(auto_loop, 1);
    other_members_run_what_is_open(runtime_loop, 1);
  }
  for (int n = 0; n < 200; ++n)
    last_value(n, 1 + n % 9);
  over_all_of_the_type();
  puts("sized: ok");
  return 0;
}
