/* SPDX-License-Identifier: Apache-2.0
   Threads spin with a construct of OpenMP's. Each one lets the others run after a few looks, though
   there is one worker and no spare (WEFT_WORKERS=1, WEFT_WATCH_MAX_SPARES=0). Otherwise each one
   would look a million times, until it is interrupted. */
#include <stdio.h>
#include <stdlib.h>

extern int omp_get_thread_num(void);
typedef struct {
  void *word;
} lock_of_program;
extern void omp_init_lock(lock_of_program *);
extern void omp_set_lock(lock_of_program *);
extern void omp_unset_lock(lock_of_program *);
extern int omp_test_lock(lock_of_program *);
extern void omp_destroy_lock(lock_of_program *);

enum { threads = 6, rounds = 50, most_looks = 64 * 20 };
static long looks;

static void check(const char *what) {
  if (looks > (long)most_looks * threads) {
    fprintf(stderr, "looks: %s: %ld looks of %d threads\n", what, looks, threads);
    exit(1);
  }
  looks = 0;
}

static void cancellation_point(void) {
#pragma omp parallel num_threads(threads)
  for (;;) {
    if (omp_get_thread_num() == threads - 1) {
#pragma omp cancel parallel
    }
#pragma omp atomic
    ++looks;
#pragma omp cancellation point parallel
  }
  check("cancellation point");
}

static void test_lock(void) {
  lock_of_program lock;
  int turn = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(threads)
  for (int mine = 0; !mine;) {
#pragma omp atomic
    ++looks;
    if (!omp_test_lock(&lock))
      continue;
    mine = turn == threads - 1 - omp_get_thread_num(); /* the last one first */
    turn += mine;
    omp_unset_lock(&lock);
    if (!mine) {
#pragma omp taskyield
    }
  }
  omp_destroy_lock(&lock);
  check("omp_test_lock");
}

#ifdef __clang__ /* GCC compiles this to an instruction */
static void flush(void) {
  volatile int turn = threads - 1;
#pragma omp parallel num_threads(threads) shared(turn)
  {
    while (turn != omp_get_thread_num()) {
#pragma omp atomic
      ++looks;
#pragma omp flush
    }
    turn = turn - 1;
#pragma omp flush
  }
  check("flush");
}
#endif

int main(void) {
  for (int i = 0; i < rounds; ++i) {
    cancellation_point();
    test_lock();
#ifdef __clang__
    flush();
#endif
  }
  puts("looks: ok");
  return 0;
}
