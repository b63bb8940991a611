/* SPDX-License-Identifier: Apache-2.0
   A taskloop whose tasks are not deferred needs the memory of one task, however many it has. */
#include "../resident.h"

#include <stdio.h>
#include <stdlib.h>

enum { k_tasks = 400000 }; /* of at least 256 bytes: 100 MB */

static void check(const char *what, long sum, long grown) {
  if (sum == k_tasks && grown < 4096) /* 16 MiB */
    return;
  fprintf(stderr, "long_taskloop: %s: %ld tasks ran, %ld pages more\n", what, sum, grown);
  abort();
}

int main(void) {
  long sum = 0, before = resident_pages();
#pragma omp taskloop grainsize(1) shared(sum)
  for (int i = 0; i < k_tasks; i++)
    sum += 1;
  check("outside of a region", sum, resident_pages() - before);
  sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop grainsize(1) if (0) shared(sum)
  for (int i = 0; i < k_tasks; i++)
    sum += 1;
  check("if(0)", sum, resident_pages() - before);
  sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task final(1) shared(sum)
#pragma omp taskloop grainsize(1) shared(sum)
  for (int i = 0; i < k_tasks; i++)
    sum += 1;
  check("in a final task", sum, resident_pages() - before);
  puts("long_taskloop: ok");
  return 0;
}
