/* SPDX-License-Identifier: Apache-2.0
   Recursions that wait, lock, spin and send events end where their tasks are undeferred, included or
   mergeable, as they end where each task is deferred. This file has its own prototypes, because
   Clang's <omp.h> is packaged with its runtime. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __clang__
typedef enum omp_event_handle_t { k_most_of_event = UINTPTR_MAX } omp_event_handle_t;
extern void omp_fulfill_event(omp_event_handle_t event);
extern int omp_get_num_threads(void);
#else
#include <omp.h>
#endif

enum mode { deferred, undeferred, mergeable, in_turns, included, k_modes };
enum { k_depth = 5, k_leaves = 1 << k_depth };
typedef void leaf(int i, enum mode mode);

static int g_count;
static void count_up(void) { __atomic_add_fetch(&g_count, 1, __ATOMIC_RELAXED); }

static void require(int holds, const char *what, enum mode mode) {
  if (!holds) {
    fprintf(stderr, "undeferred: %s, mode %d, %d threads: counted %d\n", what, (int)mode,
            omp_get_num_threads(), g_count);
    exit(1);
  }
}

/* Makes a task of STATEMENT as the mode says. */
#define TASK(MODE, LEVEL, STATEMENT, ...)                                                          \
  switch (MODE == in_turns ? (LEVEL) % 3 : (int)MODE) {                                            \
  case deferred:                                                                                   \
    DIRECTIVE(task __VA_ARGS__)                                                                    \
    STATEMENT;                                                                                     \
    break;                                                                                         \
  case undeferred:                                                                                 \
    DIRECTIVE(task if (0) __VA_ARGS__)                                                             \
    STATEMENT;                                                                                     \
    break;                                                                                         \
  case mergeable:                                                                                  \
    DIRECTIVE(task if (0) mergeable __VA_ARGS__)                                                   \
    STATEMENT;                                                                                     \
    break;                                                                                         \
  default:                                                                                         \
    DIRECTIVE(task final(1) __VA_ARGS__)                                                           \
    STATEMENT;                                                                                     \
    break;                                                                                         \
  }
#define DIRECTIVE(...) DIRECTIVE_OF(omp __VA_ARGS__)
#define DIRECTIVE_OF(...) _Pragma(#__VA_ARGS__)

static void recur(enum mode mode, int depth, int first, leaf *run) {
  if (depth == 0) {
    run(first, mode);
    return;
  }
  TASK(mode, depth, recur(mode, depth - 1, first, run))
  TASK(mode, depth + 1, recur(mode, depth - 1, first + (1 << (depth - 1)), run))
#pragma omp taskwait
}

/* ---- Leaves */

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static int g_locked, g_critical;
static void locks(int i, enum mode mode) {
  TASK(mode, 0, {
    pthread_mutex_lock(&g_lock);
    ++g_locked;
    pthread_mutex_unlock(&g_lock);
  })
#pragma omp critical(undeferred)
  ++g_critical;
  if (i % 8 == 0) {
#pragma omp taskyield
  }
#pragma omp taskwait
  count_up();
}

static void waits(int i, enum mode mode) {
  int before = 0, data = 0, seen = 0;
#pragma omp task shared(before)
  before = 1;
#pragma omp taskgroup
  {
#pragma omp task
    if (i % 8 == 0) {
#pragma omp taskyield
    }
    TASK(mode, i, count_up())
  }
#pragma omp task shared(data) depend(inout : data)
  ++data;
  TASK(mode, i, seen = data, shared(seen, data) depend(in : data))
#pragma omp taskwait
  require(before == 1 && seen == 1, "what was spawned before is over", mode);
}

/* Spins for what its creator made before, in the region's first task: all other threads are at the
   barrier, because one in taskwait is not woken for new tasks below it. */
static void spins(int i, enum mode mode) {
  int flag = 0;
  (void)i;
  if (omp_get_num_threads() > 1 && mode != included) {
#pragma omp task shared(flag)
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    TASK(
        mode, 0,
        while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)){}, shared(flag))
#pragma omp taskwait
  }
  count_up();
}

static void *fulfill(void *event) {
  omp_fulfill_event(*(omp_event_handle_t *)event);
  return NULL;
}

/* The event of a deferred task comes from a task in its place, that of one in its place from a
   thread of the program. An included task waits for its event, as the creator has to. */
static void events(int i, enum mode mode) {
  int data = 0, seen = 0;
  omp_event_handle_t event = (omp_event_handle_t)0, of_thread = (omp_event_handle_t)0;
  if (mode != included) {
#pragma omp task detach(event) depend(out : data) shared(data)
    ++data;
    TASK(mode, i, omp_fulfill_event(event), firstprivate(event))
    TASK(mode, i, seen = data, shared(seen, data) depend(in : data))
#pragma omp taskwait
    require(seen == 1, "a task comes after the event of the one before", mode);
  }
  if (i % 8 == 0) {
    pthread_t other;
#pragma omp task if (0) detach(of_thread) shared(other)
    {
      omp_event_handle_t *const mine = malloc(sizeof *mine);
      require(mine != NULL, "memory", mode);
      *mine = of_thread;
      require(pthread_create(&other, NULL, &fulfill, mine) == 0, "a thread", mode);
    }
    pthread_join(other, NULL);
  }
  count_up();
}

static void run(const char *what, leaf *body, int depth) {
  for (int mode = deferred; mode < k_modes; ++mode) {
    g_count = g_locked = g_critical = 0;
#pragma omp parallel
#pragma omp single
    recur((enum mode)mode, depth, 0, body);
    require(g_count == 1 << depth, what, (enum mode)mode);
    require(body != &locks || (g_locked == k_leaves && g_critical == k_leaves),
            "who holds a lock holds it alone", (enum mode)mode);
  }
}

int main(void) {
  for (int round = 0; round < 3; ++round) {
    run("locks", &locks, k_depth);
    run("waits", &waits, k_depth);
    run("spins", &spins, 0);
    run("events", &events, k_depth);
  }
  puts("undeferred: ok");
  return 0;
}
