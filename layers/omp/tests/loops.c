/* SPDX-License-Identifier: Apache-2.0
   Loops whose chunks members take and steal, against what a serial program gives: shapes, kinds of variable, bodies and teams are drawn from a seed that is printed. Members
   come late, run ahead of each other by more loops than are kept open at once, and nest. Compiled by GCC and by Clang. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern int omp_get_max_threads(void);
extern void omp_set_schedule(unsigned, int);
extern void omp_set_max_active_levels(int);

static unsigned g_seed, g_now;
static unsigned draw(unsigned below) {
  g_now = g_now * 1664525u + 1013904223u;
  return (g_now >> 8) % below;
}
static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "loops: %s (seed %u)\n", what, g_seed);
    exit(1);
  }
}

enum { k_most = 5000 };
static unsigned char hits[k_most];

static void hit(long i, long n) {
  require(i >= 0 && i < n, "an iteration is one of the loop's");
  require(__atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED) == 0, "no iteration runs twice");
}
static void require_all(long n, const char *what) {
  for (long i = 0; i < n; ++i)
    require(hits[i] == 1, what);
  memset(hits, 0, sizeof hits);
}

/* Bodies are long and short, so that some members have much left when others have nothing. */
static void work(unsigned kind, long i) {
  const long rounds = kind == 0 ? 0 : kind == 1 ? i % 64 == 0 ? 20000 : 0 : i < 40 ? 5000 : 10;
  for (volatile long r = 0; r < rounds; ++r) {
  }
}

#define LOOP(T, SCHEDULE, FIRST, TEST, STEP, NUMBER)                                               \
  do {                                                                                             \
    T last_value = 0;                                                                              \
    _Pragma("omp parallel num_threads(threads)") {                                                 \
      if (late && omp_get_thread_num() % 2)                                                        \
        work(1, 0);                                                                                \
      SCHEDULE for (T v = FIRST; TEST; STEP) {                                                     \
        hit((long)(NUMBER), n);                                                                    \
        work(kind, (long)(NUMBER));                                                                \
        last_value = v;                                                                            \
      }                                                                                            \
    }                                                                                              \
    require_all(n, #T " " #SCHEDULE);                                                              \
    for (T v = FIRST; TEST; STEP)                                                                  \
      if ((long)(NUMBER) == n - 1)                                                                 \
        require(last_value == v, #T " " #SCHEDULE ": lastprivate");                                \
  } while (0)

#define KINDS(T, FIRST, TEST, STEP, NUMBER)                                                        \
  LOOP(T, _Pragma("omp for schedule(dynamic, chunk) lastprivate(last_value)"), FIRST, TEST, STEP,  \
       NUMBER);                                                                                    \
  LOOP(T, _Pragma("omp for schedule(nonmonotonic : dynamic, chunk) lastprivate(last_value)"),      \
       FIRST, TEST, STEP, NUMBER);                                                                 \
  LOOP(T, _Pragma("omp for schedule(monotonic : dynamic, chunk) lastprivate(last_value)"), FIRST,  \
       TEST, STEP, NUMBER);                                                                        \
  LOOP(T, _Pragma("omp for schedule(runtime) lastprivate(last_value)"), FIRST, TEST, STEP, NUMBER)

static void shapes(int threads) {
  const long n = 1 + draw(draw(2) ? 20 : k_most);
  const int chunk = 1 + (int)draw(draw(3) ? 2 : 100), late = (int)draw(2);
  const unsigned kind = draw(3);
  const int by = 1 + (int)draw(7);
  omp_set_schedule(2 | (draw(2) ? 0x80000000u : 0), chunk);
  KINDS(int, -30, v < -30 + n * by, v += by, (v + 30) / by);
  KINDS(int, (int)(n * by), v > 0, v -= by, n - v / by);
  KINDS(unsigned, 7u, v < 7u + (unsigned)(n * by), v += (unsigned)by, (v - 7u) / (unsigned)by);
  KINDS(long, LONG_MIN + 5, v < LONG_MIN + 5 + n, ++v, v - (LONG_MIN + 5));
  KINDS(unsigned long long, ULLONG_MAX - 2ull * (unsigned long long)n,
        v < ULLONG_MAX - (unsigned long long)n, ++v,
        v - (ULLONG_MAX - 2ull * (unsigned long long)n));
  KINDS(unsigned long long, ULLONG_MAX - 3, v > ULLONG_MAX - 3 - (unsigned long long)n, --v,
        ULLONG_MAX - 3 - v);
  long sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, chunk) reduction(+ : sum)
  for (int v = 0; v < n; ++v)
    sum += v, hit(v, n);
  require(sum == n * (n - 1) / 2, "a combined loop");
  require_all(n, "a combined loop");
  long none = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, chunk) reduction(+ : none)
  for (int v = 0; v < -(int)n; ++v)
    none++;
  require(none == 0, "a loop without iterations");
}

/* Each member's chunks come in order. */
static void in_order(int threads) {
  const int n = 1 + (int)draw(k_most);
#pragma omp parallel num_threads(threads)
  {
    int before = -1;
#pragma omp for schedule(monotonic : dynamic, 3)
    for (int i = 0; i < n; ++i) {
      require(i > before, "monotonic");
      before = i;
      hit(i, n);
    }
  }
  require_all(n, "monotonic");
  int next = 0;
#pragma omp parallel for ordered schedule(dynamic) num_threads(threads)
  for (int i = 0; i < n; ++i) {
#pragma omp ordered
    require(next++ == i, "ordered");
  }
}

/* No member waits between the loops, and the first member comes last. */
static void ahead(int threads) {
  const int loops = 2 + (int)draw(38), n = 1 + (int)draw(40);
  int done[40] = {0};
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0)
      work(1, 0);
    for (int l = 0; l < loops; ++l) {
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < n; ++i) {
        work(1, l + i);
#pragma omp atomic
        done[l]++;
      }
    }
  }
  for (int l = 0; l < loops; ++l)
    require(done[l] == n, "loops without waiting");
}

static void nested(int threads) {
  const int n = 1 + (int)draw(60), m = 1 + (int)draw(60);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int i = 0; i < n; ++i) {
#pragma omp parallel for num_threads(3) schedule(dynamic, 2)
    for (int j = 0; j < m; ++j)
      hit(i * m + j, (long)n * m);
  }
  require_all((long)n * m, "nested loops");
}

static void cancelled(int threads) {
  const int n = 1000 + (int)draw(1000);
  int begun = 0, after = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < n; ++i) {
#pragma omp atomic
      begun++;
      if (i == n / 2) {
#pragma omp cancel for
      }
#pragma omp cancellation point for
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < n; ++i) {
#pragma omp atomic
      after++;
    }
  }
  require(begun >= 1 && begun <= n, "a cancelled loop");
  require(after == n, "the loop behind a cancelled one");
}

/* Runs a loop of more chunks than 32 bits can count, which come from the first one on. The loop is
   cancelled soon. */
static void long_loop(int threads) {
  const unsigned long long n = 1ull << 40;
  int begun = 0;
#pragma omp parallel num_threads(threads)
#pragma omp for schedule(dynamic)
  for (unsigned long long i = 0; i < n; ++i) {
    int mine;
#pragma omp atomic capture
    mine = ++begun;
    hit((long)i, k_most);
    if (mine == 1000) {
#pragma omp cancel for
    }
#pragma omp cancellation point for
  }
  require(begun >= 1000 && begun < k_most, "a long loop is cancelled");
  memset(hits, 0, sizeof hits);
}

int main(int argc, char **argv) {
  g_seed = g_now = argc > 1 ? (unsigned)atoi(argv[1]) : 20261122u;
  omp_set_max_active_levels(2);
  for (int round = 0; round < 20; ++round) {
    const int threads = round % 2 ? omp_get_max_threads() : 1 + (int)draw(draw(4) ? 8 : 70);
    shapes(threads);
    in_order(threads);
    ahead(threads);
    nested(threads > 8 ? 8 : threads);
    cancelled(threads);
    long_loop(threads);
  }
  puts("loops: ok");
  return 0;
}
