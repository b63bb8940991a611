/* SPDX-License-Identifier: Apache-2.0
   A thread that has as many ready tasks as the setting omp.cutoff allows runs one for each that it
   creates, and so with tasks with a priority, where a larger one goes first. CUTOFF is that number, 0
   for no limit. Runs with OMP_MAX_TASK_PRIORITY=2. */
#include <stdio.h>

static int check(const char *what, int got, int expected) {
  if (got != expected)
    fprintf(stderr, "cutoff: %s: %d, not %d\n", what, got, expected);
  return got != expected;
}

/* Returns how many mistakes it has found. */
static int with_priorities(void) {
  enum { k_tasks = 5000, k_few = 5 };
  int wrong = 0, run = 0, early = 0, of_cell = 0;
#pragma omp parallel num_threads(1)
  {
    for (int i = 0; i < k_tasks; ++i) {
#pragma omp task shared(run) priority(1)
      ++run;
    }
    early = run;
  }
  wrong += check("tasks of one priority that ran early", early, CUTOFF ? k_tasks - CUTOFF : 0);
  wrong += check("tasks of one priority", run, k_tasks);

  int low = 0, high = 0;
#pragma omp parallel num_threads(1)
  {
    for (int i = 0; i < CUTOFF; ++i) {
#pragma omp task shared(low) priority(1)
      ++low;
    }
    for (int i = 0; i < k_few; ++i) {
#pragma omp task shared(high) priority(2)
      ++high;
    }
    wrong += check("larger priorities that ran early", high, CUTOFF ? k_few : 0);
    wrong += check("smaller priorities that ran early", low, 0);
  }
  wrong += check("larger and smaller priorities", low + high, CUTOFF + k_few);

  low = high = 0;
#pragma omp parallel num_threads(1)
  {
    for (int i = 0; i < CUTOFF; ++i) {
#pragma omp task shared(high) priority(2)
      ++high;
    }
    for (int i = 0; i < k_few && i < CUTOFF; ++i) {
#pragma omp task shared(low) priority(1)
      ++low;
    }
    wrong += check("smaller priorities that ran before larger ones", low, 0);
    wrong += check("larger priorities that ran in their place", high, CUTOFF ? k_few : 0);
  }
  run = 0;
#pragma omp parallel num_threads(1)
  {
    for (int i = 0; i < k_tasks; ++i) {
#pragma omp task shared(run, of_cell) depend(in : of_cell) priority(1)
      ++run;
    }
    early = run;
  }
  /* With dependences, what is incomplete is counted: 64 for each member at least. */
  const int most = CUTOFF > 64 ? CUTOFF : 64;
  wrong += check("tasks of one priority with dependences that ran early", early,
                 CUTOFF ? k_tasks - most + 1 : 0);
  wrong += check("tasks of one priority with dependences", run, k_tasks);
  return wrong;
}

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
  return with_priorities() == 0 ? 0 : 1;
}
