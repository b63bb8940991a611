/* SPDX-License-Identifier: Apache-2.0
   Far more threads than workers block in the kernel, region after region. In each region as many
   are blocked at once as in the first one. The pauses between regions are shorter and longer than
   the time for which a spare is kept (40 ms here). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int blocked, expected, all, ends[2];

static void nap(int ms) {
  const struct timespec t = {0, ms * 1000000L};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void *release_all(void *none) {
  for (int i = 0; __atomic_load_n(&blocked, __ATOMIC_ACQUIRE) < expected; ++i) {
    if (i == 12000) {
      fprintf(stderr, "bursts: %d of %d are blocked at once\n", blocked, expected);
      exit(1);
    }
    nap(5);
  }
  for (int i = 0; i < all; ++i)
    if (write(ends[1], "x", 1) != 1)
      exit(1);
  return none;
}

static void burst(int threads) {
  pthread_t usher;
  all = threads;
  expected = threads < 66 ? threads : 66; /* two workers, and 64 spares */
  blocked = 0;
  pthread_create(&usher, NULL, release_all, NULL);
#pragma omp parallel num_threads(threads)
  {
    char c;
    __atomic_fetch_add(&blocked, 1, __ATOMIC_ACQ_REL);
    if (read(ends[0], &c, 1) != 1)
      exit(1);
  }
  pthread_join(usher, NULL);
}

int main(void) {
  const int sizes[] = {2, 10, 200}, pauses[] = {0, 20, 40, 80};
  if (pipe2(ends, O_CLOEXEC) != 0)
    return 1;
  for (int n = 0; n < 3; ++n)
    for (int p = 0; p < 4; ++p) {
      burst(sizes[n]);
      nap(pauses[p]);
    }
  return 0;
}
