/* SPDX-License-Identifier: Apache-2.0
   A thread that has as many ready tasks as the setting omp.cutoff allows runs one for each that it
   creates. CUTOFF is that number, 0 for no limit. */
#include <stdio.h>

int main(void) {
  enum { k_tasks = 5000 };
  int run = 0, early = 0;
#pragma omp parallel num_threads(1)
  {
    for (int i = 0; i < k_tasks; ++i) {
#pragma omp task shared(run)
      ++run;
    }
    early = run;
  }
  const int expected = CUTOFF ? k_tasks - CUTOFF : 0;
  if (run != k_tasks || early != expected) {
    fprintf(stderr, "cutoff: %d of %d tasks ran while they were made, not %d; %d in the end\n",
            early, k_tasks, expected, run);
    return 1;
  }
  return 0;
}
