/* SPDX-License-Identifier: Apache-2.0
   How many tasks a taskloop makes. Without a number it makes more than the team has members, so that
   a member that is done early finds one; and no more than it has iterations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int omp_get_num_threads(void);

enum { k_most = 1000 };
static int runs[k_most + 1];
static int tasks, largest, members;

static void require(int holds, const char *what, int n) {
  if (!holds) {
    fprintf(stderr, "taskloop_shares: %s, %d iterations, %d tasks of %d members, largest %d\n", what,
            n, tasks, members, largest);
    exit(1);
  }
}

/* Counts an iteration of a task that has run `of_task` before. */
static int count(long i, int of_task) {
  __atomic_add_fetch(&runs[i], 1, __ATOMIC_RELAXED);
  if (of_task == 0)
    __atomic_add_fetch(&tasks, 1, __ATOMIC_RELAXED);
  int seen = __atomic_load_n(&largest, __ATOMIC_RELAXED);
  while (seen < of_task + 1 &&
         !__atomic_compare_exchange_n(&largest, &seen, of_task + 1, 0, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  return of_task + 1;
}

static void begin(void) {
  memset(runs, 0, sizeof runs);
  tasks = largest = 0;
}
static void check(const char *what, int n, int chosen_by_us) {
  for (int i = 0; i < k_most; ++i)
    require(runs[i] == (i < n), what, n);
  require(tasks <= n && (n == 0) == (tasks == 0), what, n);
  if (!chosen_by_us)
    return;
  const int most = members == 1 ? 1 : 8 * members, wanted = most < n ? most : n;
  require(tasks == wanted, what, n);
  require(n == 0 || largest == (n - 1) / wanted + 1, what, n);
}

#define RUN(WHAT, N, CHOSEN, ...)                                                                  \
  begin();                                                                                         \
  _Pragma("omp parallel") _Pragma("omp single") {                                                  \
    int mine = 0;                                                                                  \
    members = omp_get_num_threads();                                                               \
    __VA_ARGS__                                                                                    \
  }                                                                                                \
  check(WHAT, N, CHOSEN);

static void loops(int n) {
  long last = -1, sum = 0;
  RUN("plain", n, 1, {
    _Pragma("omp taskloop firstprivate(mine)") for (int i = 0; i < n; ++i) mine = count(i, mine);
  })
  RUN("downwards, of an unsigned type", n, 1, {
    _Pragma("omp taskloop firstprivate(mine)") for (unsigned long i = (unsigned long)n; i > 0; --i)
        mine = count((long)i - 1, mine);
  })
  RUN("with a step, from below zero", n, 1, {
    _Pragma("omp taskloop firstprivate(mine)") for (long i = -3; i < -3 + 7L * n; i += 7) mine =
        count((i + 3) / 7, mine);
  })
  RUN("nogroup", n, 1, {
    _Pragma("omp taskloop nogroup firstprivate(mine)") for (int i = 0; i < n; ++i) mine =
        count(i, mine);
  })
  RUN("reduction and lastprivate", n, 1, {
    _Pragma("omp taskloop firstprivate(mine) reduction(+ : sum) lastprivate(last)") for (int i = 0;
                                                                                         i < n;
                                                                                         ++i) {
      mine = count(i, mine);
      sum += i;
      last = i;
    }
  })
  require(sum == n * (n - 1L) / 2 && last == n - 1L, "the sum and the last value", n);
  RUN("undeferred", n, 1, {
    _Pragma("omp taskloop if(0) firstprivate(mine)") for (int i = 0; i < n; ++i) mine =
        count(i, mine);
  })
  RUN("num_tasks(3)", n, 0, {
    _Pragma("omp taskloop num_tasks(3) firstprivate(mine)") for (int i = 0; i < n; ++i) mine =
        count(i, mine);
  })
  require(tasks == (n < 3 ? n : 3), "num_tasks keeps its number", n);
#ifndef __clang__ /* which drops `strict` */
  RUN("grainsize(strict: 4)", n, 0, {
    _Pragma("omp taskloop grainsize(strict: 4) firstprivate(mine)") for (int i = 0; i < n; ++i) mine =
        count(i, mine);
  })
  require(tasks == (n + 3) / 4 && largest == (n < 4 ? n : 4), "strict keeps its size", n);
#endif
}

/* A cancelled loop ends, and the next one runs. */
static void cancelled(int n) {
  begin();
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 0; i < n; ++i) {
#pragma omp cancellation point taskgroup
      __atomic_add_fetch(&runs[i], 1, __ATOMIC_RELAXED);
      if (i % 5 == 0) {
#pragma omp cancel taskgroup
      }
    }
  }
  for (int i = 0; i < n; ++i)
    require(runs[i] <= 1, "an iteration of a cancelled loop runs once at most", n);
}

int main(void) {
  static const int lengths[] = {0, 1, 2, 3, 7, 8, 24, 25, 100, k_most};
  for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    loops(lengths[i]);
    cancelled(lengths[i]);
  }
  puts("taskloop_shares: ok");
  return 0;
}
