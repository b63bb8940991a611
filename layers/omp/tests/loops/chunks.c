/* SPDX-License-Identifier: Apache-2.0
   Chunks that a program asks for through the entry points of its compiler, nestable locks, what
   omp_get_schedule() returns if OMP_SCHEDULE is static, what schedule(runtime) does then, and that
   loops that have ended take no memory. This file has its own prototypes, because
   Clang's <omp.h> is packaged with its runtime. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern void omp_get_schedule(int *kind, int *chunk);
extern void omp_set_schedule(int kind, int chunk);

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "chunks: %s\n", what);
    exit(1);
  }
}

enum { k_static = 1, k_dynamic = 2, k_guided = 3, k_monotonic = INT_MIN };

/* ---- guided: no chunk but the last is smaller than was asked for, and none is larger than a fair share of what is left ---- */

enum { k_iterations = 1000, k_least = 7 };

#ifdef __clang__
void __kmpc_dispatch_init_8(void *, int, int, long, long, long, long);
int __kmpc_dispatch_next_8(void *, int, int *, long *, long *, long *);
int __kmpc_global_thread_num(void *);
static void guided_begins(void) {
  __kmpc_dispatch_init_8(NULL, __kmpc_global_thread_num(NULL), 36, 0, k_iterations - 1, 1, k_least);
}
static int guided_next(long *first, long *end) {
  int last;
  long step;
  if (!__kmpc_dispatch_next_8(NULL, __kmpc_global_thread_num(NULL), &last, first, end, &step))
    return 0;
  require(last == (*end == k_iterations - 1), "the last chunk is reported as the last");
  ++*end;
  return 1;
}
static void guided_ends(void) {}
#else
int GOMP_loop_guided_start(long, long, long, long, long *, long *);
int GOMP_loop_guided_next(long *, long *);
void GOMP_loop_end_nowait(void);
static _Thread_local int begun;
static void guided_begins(void) { begun = 0; }
static int guided_next(long *first, long *end) {
  return begun++ ? GOMP_loop_guided_next(first, end) & 1
                 : GOMP_loop_guided_start(0, k_iterations, 1, k_least, first, end) & 1;
}
static void guided_ends(void) { GOMP_loop_end_nowait(); }
#endif

static void guided(void) {
  static int length[k_iterations + 1]; /* of the chunk that begins there */
  int threads = 1, covered = 0;
  for (int i = 0; i <= k_iterations; ++i)
    length[i] = 0;
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
    long first, end;
    guided_begins();
    while (guided_next(&first, &end)) {
      require(first >= 0 && end <= k_iterations && first < end, "a chunk lies in the loop");
      length[first] = (int)(end - first);
    }
    guided_ends();
  }
  while (covered < k_iterations) {
    const int left = k_iterations - covered, fair = (left - 1) / threads + 1, n = length[covered];
    require(n > 0, "each iteration is in a chunk");
    require(n >= k_least || n == left, "a guided chunk has the least number of iterations");
    require(n <= fair || n == k_least || n == left,
            "a guided chunk is no more than a fair share of what is left");
    covered += n;
  }
}

/* ---- nestable locks ---- */

struct nest {
  void *words[2]; /* the larger of the two compilers' */
};
extern void omp_init_nest_lock(struct nest *);
extern void omp_destroy_nest_lock(struct nest *);
extern void omp_set_nest_lock(struct nest *);
extern void omp_unset_nest_lock(struct nest *);
extern int omp_test_nest_lock(struct nest *);

static int other_can_take(struct nest *lock) {
  int got = 0;
#pragma omp parallel num_threads(2) shared(got)
  if (omp_get_thread_num() == 1) {
    got = omp_test_nest_lock(lock);
    if (got)
      omp_unset_nest_lock(lock);
  }
  return got;
}

static void nestable(void) {
  struct nest lock;
  long sum = 0;
  omp_init_nest_lock(&lock);
  for (int round = 0; round < 2; ++round) {
    require(other_can_take(&lock) == 1, "a free nestable lock is taken once");
    omp_set_nest_lock(&lock);
    require(omp_test_nest_lock(&lock) == 2, "the owner takes it twice");
    omp_set_nest_lock(&lock);
    require(omp_test_nest_lock(&lock) == 4, "and four times");
    require(other_can_take(&lock) == 0, "another thread does not take it meanwhile");
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
    require(other_can_take(&lock) == 0, "it is given back as often as it was taken");
    omp_unset_nest_lock(&lock);
  }
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 500; ++i) {
    omp_set_nest_lock(&lock);
    omp_set_nest_lock(&lock);
    sum = sum + 1;
    omp_unset_nest_lock(&lock);
    sum = sum + 1;
    omp_unset_nest_lock(&lock);
  }
  require(sum == 4 * 500 * 2, "only one thread holds a nestable lock");
  omp_destroy_nest_lock(&lock);
}

/* ---- schedules ---- */

static void schedules(void) {
  int kind = 0, chunk = 0;
  omp_get_schedule(&kind, &chunk); /* OMP_SCHEDULE=static */
#ifdef __clang__
  require(kind == k_static, "a static schedule has no modifier");
#else
  require(kind == (k_static | k_monotonic), "a static schedule is monotonic");
#endif
  omp_set_schedule(k_static | k_monotonic, 5);
  omp_get_schedule(&kind, &chunk);
  require(kind == (k_static | k_monotonic) && chunk == 5,
          "omp_get_schedule() returns what was set, with its modifier");
  omp_set_schedule(k_guided, 9);
  omp_get_schedule(&kind, &chunk);
  require(kind == k_guided && chunk == 9, "omp_get_schedule() returns what was set");
}

static void runtime_schedules(void) {
  enum { n = 60 };
  static int member[n];
  int threads = 1;
  for (int chunk = 1; chunk <= 5; ++chunk)
    for (int kind = k_static; kind <= k_dynamic; ++kind) {
      omp_set_schedule(kind, chunk);
#pragma omp parallel
      {
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp for schedule(runtime)
        for (int i = 0; i < n; ++i)
          member[i] = omp_get_thread_num();
      }
      for (int i = 0; i < n; ++i) {
        require(member[i] == member[i / chunk * chunk],
                "one thread runs a chunk of runtime's size");
        require(kind != k_static || member[i] == i / chunk % threads,
                "static chunks of schedule(runtime) go to the threads in turn");
      }
    }
}

/* ---- records of regions are used again ---- */

static long resident_bytes(void) {
  long pages = 0;
  FILE *const file = fopen("/proc/self/statm", "r");
  require(file != NULL && fscanf(file, "%*s %ld", &pages) == 1, "/proc/self/statm can be read");
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static void many_regions(int regions) {
  long sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (int i = 0; i < regions; ++i) {
#pragma omp for schedule(dynamic) nowait
    for (int k = 0; k < 4; ++k)
      sum++;
  }
  require(sum == 4L * regions, "each loop runs once");
}

static void regions_are_used_again(void) {
  many_regions(5000);
  const long before = resident_bytes();
  for (int i = 0; i < 20; ++i)
    many_regions(2000);
  require(resident_bytes() - before < 4 << 20, "regions that have ended take no memory");
}

/* ---- chunks that teams get, at the ends of the integers ---- */

#ifdef __clang__
#define TEAM_PART(SUFFIX, T, S)                                                                    \
  void __kmpc_team_static_init_##SUFFIX(void *, int, int *, T *, T *, S *, S, S);
TEAM_PART(4, int, int)
TEAM_PART(4u, unsigned, int)
TEAM_PART(8, long, long)
TEAM_PART(8u, unsigned long, long)

/* One team gets the whole loop if the chunk is longer than the loop. */
#define DEAL(SUFFIX, T, S, FROM, TO, STEP, CHUNK, END)                                             \
  {                                                                                                \
    int last = 7;                                                                                  \
    T low = FROM, high = TO;                                                                       \
    S stride = 0;                                                                                  \
    __kmpc_team_static_init_##SUFFIX(NULL, __kmpc_global_thread_num(NULL), &last, &low, &high,     \
                                     &stride, STEP, CHUNK);                                        \
    require(low == (T)(FROM) && high == (T)(END),                                                  \
            "a chunk of " #FROM " to " #TO " ends with the loop");                                 \
  }
static void chunks_of_teams(void) {
  DEAL(4, int, int, INT_MAX - 5, INT_MAX, 1, 100, INT_MAX)
  DEAL(4, int, int, INT_MIN + 5, INT_MIN, -1, 100, INT_MIN)
  DEAL(4, int, int, 0, 9, 1, 4, 3)
  DEAL(4, int, int, 9, 0, -1, 4, 6)
  DEAL(4, int, int, 0, 9, 1, 100, 9)
  DEAL(4u, unsigned, int, UINT_MAX - 5, UINT_MAX, 1, 100, UINT_MAX)
  DEAL(4u, unsigned, int, 5, 0, -1, 100, 0)
  DEAL(8, long, long, LONG_MAX - 5, LONG_MAX, 1, 100, LONG_MAX)
  DEAL(8, long, long, LONG_MIN + 5, LONG_MIN, -1, 100, LONG_MIN)
  DEAL(8u, unsigned long, long, ULONG_MAX - 5, ULONG_MAX, 1, 100, ULONG_MAX)
  DEAL(8u, unsigned long, long, 5, 0, -1, 100, 0)
}
#else
static void chunks_of_teams(void) {}
#endif

int main(void) {
  guided();
  nestable();
  schedules();
  runtime_schedules();
  regions_are_used_again();
  chunks_of_teams();
  puts("chunks: ok");
  return 0;
}
