/* SPDX-License-Identifier: Apache-2.0
   Loops that are cancelled one after the other in a region need the memory of a few, and the loop
   behind them runs as any other. */
#include "../resident.h"

#include <stdio.h>
#include <stdlib.h>

enum { k_loops = 60000, k_iterations = 1000 };

int main(void) {
  long sum = 0, grown = 0;
#pragma omp parallel num_threads(2) shared(sum, grown)
  {
    const long before = resident_pages();
    for (int k = 0; k < k_loops; k++) {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 4; i++) {
#pragma omp cancel for
      }
    }
#pragma omp master
    grown = resident_pages() - before;
#pragma omp for schedule(dynamic) reduction(+ : sum)
    for (int i = 0; i < k_iterations; i++)
      sum += i;
  }
  if (sum != k_iterations * (k_iterations - 1L) / 2 || grown >= 1024) { /* 4 MiB */
    fprintf(stderr, "cancelled_loops: sum %ld, %ld pages more\n", sum, grown);
    abort();
  }
  puts("cancelled_loops: ok");
  return 0;
}
