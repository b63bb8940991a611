// SPDX-License-Identifier: Apache-2.0
// Heat on a grid, block by block: the serial program. docs/user/oss/oss_in_c.md quotes these files.
#include <math.h>
#include <stdio.h>

enum { k_blocks = 8, k_block = 32, k_side = k_blocks * k_block, k_sweeps = 12 };

static double g_heat[k_side + 2][k_side + 2];

static void relax(int row, int column, double *change) {
  for (int i = row; i < row + k_block; ++i)
    for (int j = column; j < column + k_block; ++j) {
      const double old = g_heat[i][j];
      g_heat[i][j] = (g_heat[i - 1][j] + g_heat[i + 1][j] + g_heat[i][j - 1] + g_heat[i][j + 1]) / 4;
      if (*change < fabs(g_heat[i][j] - old))
        *change = fabs(g_heat[i][j] - old);
    }
}

static void sweep(double *change) {
  for (int r = 0; r < k_blocks; ++r)
    for (int c = 0; c < k_blocks; ++c)
      relax(1 + r * k_block, 1 + c * k_block, change);
}

int main(void) {
  double change[k_sweeps] = {0};
  for (int j = 0; j < k_side + 2; ++j)
    g_heat[0][j] = 100;
  for (int s = 0; s < k_sweeps; ++s)
    sweep(&change[s]);
  printf("changes by %.9g, then by %.9g; %.9g degrees\n", change[0], change[k_sweeps - 1],
         g_heat[4][k_side / 2]);
}
