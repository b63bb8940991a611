// SPDX-License-Identifier: Apache-2.0
// Heat in a rod, in OpenMP: nothing here knows of Weft.
#include <math.h>
#include <omp.h>
#include <stdio.h>

enum { k_cells = 1000, k_steps = 2000 };
static double rod[2][k_cells + 2];

int main(void) {
  rod[0][0] = rod[1][0] = 100; // one end is hot
  int threads = 0;
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
    for (int step = 0; step < k_steps; ++step) {
      const double *now = rod[step % 2];
      double *next = rod[(step + 1) % 2];
#pragma omp for
      for (int i = 1; i <= k_cells; ++i)
        next[i] = now[i] + 0.5 * (now[i - 1] - 2 * now[i] + now[i + 1]);
    }
  }
  // What the equation says: the error function, at the tenth cell.
  const double expected = 100 * erfc(10 / (2 * sqrt(0.5 * k_steps)));
  printf("%d threads: %.2f degrees, %.2f expected\n", threads, rod[0][10], expected);
  return fabs(rod[0][10] - expected) > 0.1;
}
