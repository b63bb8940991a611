/* SPDX-License-Identifier: Apache-2.0
   Threads pass a token around, far more often than there are time slices. Each one waits for it
   with sched_yield(), as libraries do, or with short sleeps.
   A process that is started with the layer's signal ignored, by which the layer interrupts threads
   that spin, keeps it ignored. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void require(int good, const char *what) {
  if (!good) {
    fprintf(stderr, "yield: %s\n", what);
    abort();
  }
}

static void with_yield(void) { sched_yield(); }
static void with_usleep(void) { require(usleep(1) == 0, "usleep() ends well"); }
static void with_nanosleep(void) {
  const struct timespec some = {0, 1000}, wrong = {0, 1000000000};
  require(nanosleep(&some, NULL) == 0, "nanosleep() ends well");
  errno = 0;
  require(nanosleep(&wrong, NULL) == -1 && errno == EINVAL, "what is no time is told");
}

static void pass_token(int rounds, void (*wait)(void)) {
  long turns = 0;
  int holder = 0;
#pragma omp parallel shared(turns, holder)
  {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    for (int round = 0; round < rounds; ++round) {
      while (__atomic_load_n(&holder, __ATOMIC_ACQUIRE) != me)
        wait();
      ++turns; /* only the holder of the token writes it */
      __atomic_store_n(&holder, (me + 1) % all, __ATOMIC_RELEASE);
    }
#pragma omp barrier
#pragma omp single
    require(turns == (long)rounds * all, "each has had each turn");
  }
}

int main(void) {
  struct sigaction before, after;
  sigaction(SIGURG, NULL, &before);
  pass_token(3000, &with_yield);
  pass_token(100, &with_usleep);
  pass_token(100, &with_nanosleep);
  sigaction(SIGURG, NULL, &after);
  if (before.sa_handler == SIG_IGN)
    require(!(after.sa_flags & SA_SIGINFO) && after.sa_handler == SIG_IGN,
            "the signal stays ignored");
  else if (omp_get_max_threads() > 1)
    require((after.sa_flags & SA_SIGINFO) != 0, "the signal is in use");
  puts("yield: ok");
  return 0;
}
