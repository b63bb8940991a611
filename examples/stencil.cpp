// SPDX-License-Identifier: Apache-2.0
// A tiled Gauss-Seidel sweep over a square: a tile waits for its neighbours above and to the left, and
// successive sweeps follow each other as a wave, without a barrier between them.
#include <weft/weft.hpp>

#include <cstdio>
#include <vector>

namespace {

constexpr int k_tile = 32;
constexpr int k_tiles = 8;
constexpr int k_side = k_tile * k_tiles + 2; // with a border
constexpr int k_sweeps = 10;

using grid = std::vector<double>;

double &at(grid &g, int row, int column) {
  return g[static_cast<std::size_t>(row * k_side + column)];
}

void relax(grid &g, int tile_row, int tile_column) {
  for (int i = 1 + tile_row * k_tile; i <= (tile_row + 1) * k_tile; ++i)
    for (int j = 1 + tile_column * k_tile; j <= (tile_column + 1) * k_tile; ++j)
      at(g, i, j) = 0.25 * (at(g, i - 1, j) + at(g, i + 1, j) + at(g, i, j - 1) + at(g, i, j + 1));
}

grid start() {
  grid g(static_cast<std::size_t>(k_side) * k_side, 0.0);
  for (int i = 0; i < k_side; ++i)
    at(g, i, 0) = at(g, 0, i) = 100.0;
  return g;
}

grid solve_with_tasks() {
  grid g = start();
  char tile[k_tiles + 2][k_tiles + 2]; // stands for the tiles: only the addresses count
  for (int sweep = 0; sweep < k_sweeps; ++sweep)
    for (int r = 0; r < k_tiles; ++r)
      for (int c = 0; c < k_tiles; ++c)
        weft::spawn([&g, r, c] { relax(g, r, c); }, weft::inout(tile[r + 1][c + 1]), weft::in(tile[r][c + 1]),
                    weft::in(tile[r + 2][c + 1]), weft::in(tile[r + 1][c]), weft::in(tile[r + 1][c + 2]),
                    weft::label("relax"));
  weft::taskwait();
  return g;
}

grid solve_serially() {
  grid g = start();
  for (int sweep = 0; sweep < k_sweeps; ++sweep)
    for (int r = 0; r < k_tiles; ++r)
      for (int c = 0; c < k_tiles; ++c)
        relax(g, r, c);
  return g;
}

} // namespace

int main() {
  grid parallel = solve_with_tasks();
  grid serial = solve_serially();
  std::printf("%d tasks; cell (10, 10) is %.3f\n", k_sweeps * k_tiles * k_tiles, at(parallel, 10, 10));
  return parallel == serial ? 0 : 1; // the same operations in the same order: equal to the last bit
}
