# SPDX-License-Identifier: Apache-2.0
"""Sweeps over a grid in place, block by block. A block reads a line of each neighbour: so blocks of one
sweep run as a wave, and the next sweep begins behind it before it has ended.
"""

import sys

import numpy as np
import weftrt


def relax(grid, rows, columns):
    """Replaces each cell of a block by the mean of its neighbours, in the order of the cells."""
    for i in range(rows.start, rows.stop):
        left = grid[i, columns.start - 1]
        others = grid[i - 1, columns] + grid[i + 1, columns] + grid[i, columns.start + 1 : columns.stop + 1]
        for j, value in enumerate(others.tolist(), columns.start):
            left = (left + value) / 4
            grid[i, j] = left


def sweep(grid, size):
    """Spawns a sweep over the inner cells of the grid."""
    for top in range(1, len(grid) - 1, size):
        for left in range(1, len(grid) - 1, size):
            rows, columns = slice(top, top + size), slice(left, left + size)
            weftrt.spawn(
                relax,
                grid,
                rows,
                columns,
                updates=grid[rows, columns],
                reads=(
                    grid[top - 1, columns],
                    grid[top + size, columns],
                    grid[rows, left - 1],
                    grid[rows, left + size],
                ),
            )


def main(blocks=4, size=16, sweeps=5):
    grid = np.zeros((blocks * size + 2, blocks * size + 2))
    grid[0] = 1
    expected = grid.copy()
    for _ in range(sweeps):
        sweep(grid, size)
    weftrt.taskwait()
    for _ in range(sweeps):
        for top in range(1, len(grid) - 1, size):
            for left in range(1, len(grid) - 1, size):
                relax(expected, slice(top, top + size), slice(left, left + size))
    assert np.array_equal(grid, expected)
    print(f"gauss_seidel: {sweeps} sweeps over {blocks * blocks} blocks are right")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
