/* SPDX-License-Identifier: Apache-2.0
   Threads spin for each other where the layer's signal cannot interrupt them: they mask all signals
   (HOW & 1), or the program has a handler of its own (HOW & 2).
   There are more threads than workers. Every thread must get to run, the last one first, and again
   in the next region. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static void handler(int number) { (void)number; }

int main(void) {
  enum { threads = 8 };
  if (HOW & 2) {
    struct sigaction own = {.sa_handler = handler};
    sigaction(SIGURG, &own, NULL);
  }
  for (int round = 0; round < 2; ++round) {
    int turn = threads - 1;
#pragma omp parallel num_threads(threads) shared(turn)
    {
      sigset_t all, before;
      sigfillset(&all);
      if (HOW & 1)
        pthread_sigmask(SIG_BLOCK, &all, &before);
      while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != omp_get_thread_num()) {
      }
      if (HOW & 1)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
      __atomic_fetch_sub(&turn, 1, __ATOMIC_RELEASE);
    }
    if (turn != -1) {
      fprintf(stderr, "deaf: %d turns are left\n", turn + 1);
      return 1;
    }
  }
  return 0;
}
