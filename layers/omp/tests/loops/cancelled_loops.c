/* SPDX-License-Identifier: Apache-2.0
   Loops that are cancelled one after the other in a region need the memory of a few, and the loop
   behind them runs as any other. So it is where a loop with sinks and sources follows each. */
#include "../resident.h"

#include <stdio.h>
#include <stdlib.h>

enum { k_loops = 60000, k_iterations = 1000 };

static void before_doacross_loops(void) {
  long grown = 0, steps = 0;
#pragma omp parallel num_threads(2) shared(grown, steps)
  {
    const long before = resident_pages();
    for (int k = 0; k < k_loops; k++) {
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 4; i++) {
#pragma omp cancel for
      }
#pragma omp for ordered(1) schedule(dynamic)
      for (int i = 0; i < 2; i++) {
#pragma omp ordered depend(sink : i - 1)
        ++steps;
#pragma omp ordered depend(source)
      }
    }
#pragma omp master
    grown = resident_pages() - before;
  }
  if (steps != 2L * k_loops || grown >= 1024) {
    fprintf(stderr, "cancelled_loops: %ld steps, %ld pages more\n", steps, grown);
    abort();
  }
}

int main(void) {
  before_doacross_loops();
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
