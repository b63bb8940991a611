/* SPDX-License-Identifier: Apache-2.0
   Loops with schedule(dynamic, 1) whose iterations wait for each other. An iteration may wait for the
   one before: each thread goes on upwards, so the least one that has not ended can run. It may wait
   for the next one where each iteration has a thread of its own; where there are fewer threads, the
   loop has to be handed out from its first iteration to its last, which `monotonic` asks for. */
#include <stdio.h>
#include <stdlib.h>

extern int omp_get_max_threads(void);
extern int omp_get_num_threads(void);

enum { k_most = 2000 };
static int ended[k_most + 1];

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "waits: %s\n", what);
    exit(1);
  }
}

/* Waits for an iteration, with a construct or as a program that knows nothing of other threads. */
static void wait_for(int i, int yields) {
  while (!__atomic_load_n(&ended[i], __ATOMIC_ACQUIRE)) {
    if (yields) {
#pragma omp taskyield
    }
  }
}
static void end(int i) {
  require(!__atomic_exchange_n(&ended[i], 1, __ATOMIC_RELEASE), "each iteration once");
}
static void begin(int n) {
  for (int i = 0; i <= n; ++i)
    ended[i] = 0;
}
static void check(int n) {
  for (int i = 0; i < n; ++i)
    require(ended[i], "each iteration");
}

static void for_the_one_before(int n, int yields) {
  begin(n);
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 1) nowait
    for (int i = 0; i < n; ++i) {
      if (i > 0)
        wait_for(i - 1, yields);
      end(i);
    }
  }
  check(n);
}

/* Of a long loop the blocks that a thread takes at once have many iterations before one waits. */
static void now_and_then(int n, int every) {
  begin(n);
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < n; ++i) {
    if (i % every == every - 1)
      wait_for(i - 1, 1);
    end(i);
  }
  check(n);
}

/* The last one waits for none. There are no more iterations than threads. */
static void for_the_next_one(int yields) {
  int n = 0;
#pragma omp parallel
  {
#pragma omp single
    {
      n = omp_get_num_threads();
      begin(n);
    }
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < n; ++i) {
      if (i + 1 < n)
        wait_for(i + 1, yields);
      end(i);
    }
  }
  check(n);
}

/* Pairs, of which the first one waits for the second. Without `monotonic` they may wait for ever
   (docs/design/openmp.md, Loops). */
static void pairs(int n, int yields) {
  if (omp_get_max_threads() < 2)
    return; /* one-by-one hand-out to one thread does not end either */
  begin(n);
#pragma omp parallel for schedule(monotonic : dynamic, 1)
  for (int i = 0; i < n; ++i) {
    if (i % 2 == 0)
      wait_for(i + 1, yields);
    end(i);
  }
  check(n);
}

int main(void) {
  for (int round = 0; round < 5; ++round) {
    for_the_one_before(200, 1);
    for_the_one_before(20, 0);
    now_and_then(k_most, 7);
    for_the_next_one(1);
    for_the_next_one(0);
    pairs(200, 1);
    pairs(10, 0);
  }
  puts("waits: ok");
  return 0;
}
