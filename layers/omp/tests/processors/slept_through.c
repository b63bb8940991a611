// SPDX-License-Identifier: Apache-2.0
// A member that sleeps while its team goes through 2^24 regions of one thread begins the next region that
// is for it: the number of a barrier, of which the team keeps 24 bits, is as before then. With one worker
// the members count barriers in another word.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  int threads = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0)
    usleep(100000); /* the other one sleeps at the region's end */
  for (long i = 1; i < 1L << 24; ++i) {
#pragma omp parallel num_threads(1)
    __asm__ volatile("");
  }
#pragma omp parallel num_threads(2) reduction(+ : threads)
  threads += omp_get_num_threads();
  if (threads != 4)
    fprintf(stderr, "slept_through: %d\n", threads);
  return threads == 4 ? 0 : 1;
}
