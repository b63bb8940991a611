/* SPDX-License-Identifier: Apache-2.0
   Races that ThreadSanitizer must report, one per run: two threads, or two tasks, touch a variable
   at once, and nothing orders the two accesses. Both wait until both have begun, so that they are
   on two kernel threads: for the sanitizer, what one worker runs one after the other is ordered. */
#include <stdio.h>
#include <string.h>

static int begun;
static volatile int cell;

static void meet(void) {
  __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < 2) {
  }
}

/* Touches the variable more than once: of two accesses at the very same moment the sanitizer may
   miss that they are concurrent. */
static void touch(int by) {
  for (int i = 0; i < 1000; ++i)
    cell = cell + by;
}

static void of_threads(void) {
#pragma omp parallel num_threads(2)
  {
    meet();
    touch(1);
  }
}

static void of_tasks(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 2; ++i) {
#pragma omp task
    {
      meet();
      touch(1);
    }
  }
}

/* Two tasks only read what a third one writes. */
static void of_dependences(void) {
  int x = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 1;
    for (int i = 0; i < 2; ++i) {
#pragma omp task depend(in : x)
      {
        meet();
        touch(x);
      }
    }
  }
}

int main(int argc, char **argv) {
  const char *which = argc > 1 ? argv[1] : "";
  if (strcmp(which, "threads") == 0)
    of_threads();
  else if (strcmp(which, "tasks") == 0)
    of_tasks();
  else if (strcmp(which, "dependences") == 0)
    of_dependences();
  printf("race: %d\n", cell);
  return 0;
}
