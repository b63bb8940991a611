/* SPDX-License-Identifier: Apache-2.0
   More threads than cpus spin on variables, and call nothing. Each one must get its turn, and an
   interrupted thread keeps all that belongs to it. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern void omp_set_max_active_levels(int);

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "spinners: %s\n", what);
    exit(1);
  }
}

static int look(int *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
static void put(int *p, int n) { __atomic_store_n(p, n, __ATOMIC_RELEASE); }

static int own;
#pragma omp threadprivate(own)

/* Passes a word around a ring, in which each thread waits for its neighbour. */
static void ring(int laps, int yields) {
  int word = 0;
#pragma omp parallel num_threads(8)
  {
    const int n = omp_get_num_threads(), me = omp_get_thread_num();
    double rounding = 1.0 / (me + 3); /* in a register over the wait */
    int *const mine = &own;
    own = errno = 100 + me;
    for (int lap = 0; lap < laps; ++lap) {
      while (look(&word) != lap * n + me)
        if (yields)
          sched_yield();
      require(rounding == 1.0 / (me + 3), "a register");
      require(own == 100 + me && errno == 100 + me && mine == &own, "threadprivate and errno");
      put(&word, lap * n + me + 1);
    }
  }
  require(word == 8 * laps, "every thread had its turns");
}

/* All threads spin until the last one has come. It need not have begun when the first ones spin. */
static void roll_call(int threads) {
  int here = 0;
#pragma omp parallel num_threads(threads)
  {
    __atomic_add_fetch(&here, 1, __ATOMIC_ACQ_REL);
    while (look(&here) < omp_get_num_threads()) {
    }
  }
  require(here == threads, "every thread came");
}

/* One thread holds a lock and is interrupted. The threads that wait for the lock do not spin. */
static void in_critical(void) {
  int go = 0, passed = 0;
#pragma omp parallel num_threads(6)
  {
    if (omp_get_thread_num() == 5) {
#pragma omp critical(spinners)
      while (!look(&go)) {
      }
    } else if (omp_get_thread_num() == 4) {
      while (!look(&go) && look(&passed) < 0) {
      }
      put(&go, 1);
    }
#pragma omp critical(spinners)
    ++passed;
  }
  require(passed == 6, "the critical region was left");
}

/* The first thread is ready, and its own worker runs a thread that spins for it. */
static void first_thread(void) {
  int arrived = 0;
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 3; ++round) {
#pragma omp barrier
    if (omp_get_thread_num() == 0)
      put(&arrived, round + 1);
    else
      while (look(&arrived) <= round) {
      }
#pragma omp barrier
  }
}

static void nested(void) {
  int word = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3)
  {
    const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(3)
    {
      const int me = outer * 3 + omp_get_thread_num();
      while (look(&word) != me) {
      }
      put(&word, me + 1);
    }
  }
  require(word == 9, "every member of the inner teams came");
  omp_set_max_active_levels(1);
}

int main(void) {
  for (int round = 0; round < 2; ++round) {
    ring(2, round);
    roll_call(12);
    in_critical();
    first_thread();
    nested();
  }
  puts("spinners: ok");
  return 0;
}
