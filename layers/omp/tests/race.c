/* SPDX-License-Identifier: Apache-2.0
   Races that ThreadSanitizer must report, one per run: two threads, or two tasks, that touch a variable at once with nothing between them that orders it. They wait until both have begun,
   so that they are on two kernel threads: what one worker runs one after the other counts as ordered. */
#include <stdio.h>
#include <string.h>

static int begun;
static volatile int cell;

static void meet(void) {
  __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
  while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < 2) {
  }
}

/* More than once: of two accesses at the very same moment the sanitizer may see neither beside the other. */
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

/* Both only read what a third writes. */
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
