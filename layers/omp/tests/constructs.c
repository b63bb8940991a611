/* SPDX-License-Identifier: Apache-2.0
   Every worksharing construct against what a serial program gives, with shapes drawn from a seed that is printed. Compiled by GCC and by Clang. */
#include <stdio.h>
#include <stdlib.h>

extern int omp_get_thread_num(void);
extern void omp_set_schedule(int, int);

static unsigned g_seed;
static unsigned draw(unsigned below) {
  g_seed = g_seed * 1664525u + 1013904223u;
  return (g_seed >> 8) % below;
}
static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "constructs: %s (seed %u)\n", what, g_seed);
    exit(1);
  }
}

#define CHECK_LOOP(SCHEDULE)                                                                       \
  do {                                                                                             \
    for (int i = 0; i < n; ++i)                                                                    \
      hits[i] = 0;                                                                                 \
    long sum = 0;                                                                                  \
    int last = -1;                                                                                 \
    _Pragma("omp parallel num_threads(threads)") {                                                 \
      SCHEDULE for (int i = 0; i < n; i += step) {                                                 \
        hits[i]++;                                                                                 \
        sum += i;                                                                                  \
        last = i;                                                                                  \
      }                                                                                            \
    }                                                                                              \
    require(sum == serial, #SCHEDULE ": sum");                                                     \
    require(last == serial_last, #SCHEDULE ": lastprivate");                                       \
    for (int i = 0; i < n; ++i)                                                                    \
      require(hits[i] == (i % step == 0), #SCHEDULE ": each iteration once");                      \
  } while (0)

static int hits[4096];

static void loops(int threads) {
  const int n = 1 + (int)draw(4000), step = 1 + (int)draw(5), chunk = 1 + (int)draw(40);
  long serial = 0;
  int serial_last = -1;
  for (int i = 0; i < n; i += step)
    serial += i, serial_last = i;
  omp_set_schedule(1 + (int)draw(4), chunk);
  CHECK_LOOP(_Pragma("omp for schedule(static) reduction(+:sum) lastprivate(last)"));
  CHECK_LOOP(_Pragma("omp for schedule(static, chunk) reduction(+:sum) lastprivate(last)"));
  CHECK_LOOP(_Pragma("omp for schedule(dynamic, chunk) reduction(+:sum) lastprivate(last)"));
  CHECK_LOOP(_Pragma("omp for schedule(guided, chunk) reduction(+:sum) lastprivate(last)"));
  CHECK_LOOP(_Pragma("omp for schedule(runtime) reduction(+:sum) lastprivate(last)"));
  CHECK_LOOP(_Pragma("omp for schedule(dynamic) nowait reduction(+:sum) lastprivate(last)"));
  int next = 0;
#pragma omp parallel for ordered schedule(dynamic, chunk) num_threads(threads)
  for (int i = 0; i < n; ++i) {
#pragma omp ordered
    require(next++ == i, "ordered");
  }
}

static void others(int threads) {
  int sections = 0, singles = 0, masters = 0, critical = 0, tasks = 0, chain = 0, value = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp atomic
        sections += 1;
      }
#pragma omp section
      {
#pragma omp atomic
        sections += 10;
      }
#pragma omp section
      {
#pragma omp atomic
        sections += 100;
      }
    }
    int copy = 0;
#pragma omp single copyprivate(copy)
    {
      singles++;
      copy = 42;
    }
    require(copy == 42, "copyprivate");
#pragma omp master
    masters++;
#pragma omp critical
    critical++;
#pragma omp barrier
#pragma omp single
    {
#pragma omp taskgroup
      for (int i = 0; i < 100; ++i) {
#pragma omp task shared(tasks)
        {
#pragma omp atomic
          tasks++;
        }
#pragma omp task depend(inout : chain) shared(chain) firstprivate(i)
        {
          require(chain == i, "depend");
          chain = i + 1;
        }
      }
      require(tasks == 100 && chain == 100, "taskgroup");
#pragma omp task shared(value)
      value = 7;
#pragma omp taskwait
      require(value == 7, "taskwait");
    }
  }
  require(sections == 111, "sections");
  require(singles == 1, "single");
  require(masters == 1, "master");
  require(critical == threads, "critical, and as many threads as were asked for");
}

int main(int argc, char **argv) {
  g_seed = argc > 1 ? (unsigned)atoi(argv[1]) : 20170901u;
  for (int round = 0; round < 12; ++round) {
    const int threads = 1 + (int)draw(12);
    loops(threads);
    others(threads);
  }
  puts("constructs: ok");
  return 0;
}
