// SPDX-License-Identifier: Apache-2.0
// The program of docs/user/oss/oss.md: heat spreads over a square, block by block, sweep by sweep.
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int k_blocks = 6, k_side = 32, k_cells = k_blocks * k_side, k_sweeps = 8;
using grid = double[k_cells + 2][k_cells + 2];

static void relax(grid &g, int row, int column) { // one block, in place
  for (int i = row; i < row + k_side; ++i)
    for (int j = column; j < column + k_side; ++j)
      g[i][j] = 0.25 * (g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1]);
}

static void begin(grid &g) {
  for (auto &line : g)
    for (double &cell : line)
      cell = 0;
  for (double &cell : g[0])
    cell = 1;
}

static void solve(grid &g, char (&block)[k_blocks + 2][k_blocks + 2]) {
  for (int sweep = 0; sweep < k_sweeps; ++sweep)
    for (int r = 1; r <= k_blocks; ++r)
      for (int c = 1; c <= k_blocks; ++c) {
#pragma oss task inout(block[r][c])                                                                \
    in({block[r + d][c], d = {-1, 1}}, {block[r][c + d], d = {-1, 1}}) shared(g)
        relax(g, 1 + (r - 1) * k_side, 1 + (c - 1) * k_side);
      }
#pragma oss taskwait
}

static double sum(const grid &g) {
  double total = 0, part[k_blocks] = {};
  for (int r = 0; r < k_blocks; ++r) {
#pragma oss task out(part[r]) shared(g) label("sum")
    for (int i = 1 + r * k_side; i <= (r + 1) * k_side; ++i)
      for (const double cell : g[i])
        part[r] += cell;
  }
#pragma oss task in({part[i], i = 0; k_blocks}) shared(total)
  for (const double p : part)
    total += p;
#pragma oss taskwait
  return total;
}

int main() {
  static grid g, serial;
  static char block[k_blocks + 2][k_blocks + 2]; // names of the blocks, with a border
  begin(g);
  begin(serial);
  solve(g, block);
  for (int sweep = 0; sweep < k_sweeps; ++sweep)
    for (int r = 0; r < k_blocks; ++r)
      for (int c = 0; c < k_blocks; ++c)
        relax(serial, 1 + r * k_side, 1 + c * k_side);
  for (int i = 0; i < k_cells; ++i)
    for (int j = 0; j < k_cells; ++j)
      if (g[i][j] != serial[i][j]) {
        std::printf("cell %d, %d: %g instead of %g\n", i, j, g[i][j], serial[i][j]);
        return 1;
      }
  return sum(g) > 0 ? 0 : 1;
}
