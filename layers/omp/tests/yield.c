/* SPDX-License-Identifier: Apache-2.0
   Threads that pass a token around, each waiting for it with sched_yield(), as libraries do: far more often than time slices are given out. And what becomes of the
   signal by which threads that spin without it are interrupted: a process that is started with it ignored keeps it so. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void require(int good, const char *what) {
  if (!good) {
    fprintf(stderr, "yield: %s\n", what);
    abort();
  }
}

int main(void) {
  struct sigaction before, after;
  sigaction(SIGURG, NULL, &before);
  long turns = 0;
  int holder = 0;
#pragma omp parallel shared(turns, holder)
  {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    for (int round = 0; round < 3000; ++round) {
      while (__atomic_load_n(&holder, __ATOMIC_ACQUIRE) != me)
        sched_yield();
      ++turns; /* of who holds the token */
      __atomic_store_n(&holder, (me + 1) % all, __ATOMIC_RELEASE);
    }
#pragma omp barrier
#pragma omp single
    require(turns == 3000L * all, "each has had each turn");
  }
  sigaction(SIGURG, NULL, &after);
  if (before.sa_handler == SIG_IGN)
    require(!(after.sa_flags & SA_SIGINFO) && after.sa_handler == SIG_IGN, "the signal stays ignored");
  else if (omp_get_max_threads() > 1)
    require((after.sa_flags & SA_SIGINFO) != 0, "the signal is in use");
  puts("yield: ok");
  return 0;
}
