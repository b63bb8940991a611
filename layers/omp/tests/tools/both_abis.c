/* SPDX-License-Identifier: Apache-2.0
   GCC compiles one half of the program, Clang the other half, which is a library. Both halves must
   have one runtime, so that a region of one half inside a region of the other one knows of that
   region. */
#include <stdio.h>
#include <stdlib.h>

extern int omp_get_level(void);
extern int omp_get_thread_num(void);
extern void omp_set_num_threads(int);
extern int omp_get_max_threads(void);
extern void omp_set_max_active_levels(int);

int inner_sum(int n, int *level);
int inner_threads(void);

#ifdef __clang__
int inner_threads(void) { return omp_get_max_threads(); }
int inner_sum(int n, int *level) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
  for (int i = 0; i < n; ++i) {
    if (i == 0)
      *level = omp_get_level();
#pragma omp critical(shared_name)
    sum += i;
  }
  return sum;
}
#else
static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "both_abis: %s\n", what);
    exit(1);
  }
}

int main(void) {
  omp_set_num_threads(5);
  omp_set_max_active_levels(4);
  require(inner_threads() == 5, "a setting made by one half is seen by the other");
  for (int round = 0; round < 20; ++round) {
    int at_top = 0;
    require(inner_sum(100, &at_top) == 4950 && at_top == 1, "a region of Clang's");
#pragma omp parallel num_threads(4)
    {
      int level = 0;
      const int me = omp_get_thread_num();
      require(inner_sum(100, &level) == 4950, "a region of Clang's inside of one of GCC's");
      require(level == 2, "it knows of the region around it");
      require(omp_get_thread_num() == me, "and gives the thread's number back");
    }
  }
  puts("both_abis: ok");
  return 0;
}
#endif
