# SPDX-License-Identifier: Apache-2.0
"""Factors a matrix tile by tile. No line says which task waits for which: the tiles do."""

import sys

import numpy as np
import weftrt


@weftrt.task(updates="a")
def factor(a):
    a[:] = np.linalg.cholesky(a)


@weftrt.task(reads="a", updates="b")
def solve(a, b):
    b[:] = np.linalg.solve(a, b.T).T


@weftrt.task(reads="a b", updates="c")
def subtract(a, b, c):
    c -= a @ b.T


def cholesky(matrix, size):
    """Replaces the lower triangle of a matrix by its factor."""
    n = range(len(matrix) // size)
    tile = [[matrix[i * size : (i + 1) * size, j * size : (j + 1) * size] for j in n] for i in n]
    for k in n:
        factor(tile[k][k])
        for i in n[k + 1 :]:
            solve(tile[k][k], tile[i][k])
        for i in n[k + 1 :]:
            for j in n[k + 1 : i + 1]:
                subtract(tile[i][k], tile[j][k], tile[i][j])
    weftrt.taskwait()


def main(size=64, tiles=8):
    random = np.random.default_rng(1)
    part = random.random((size * tiles, size * tiles))
    matrix = part @ part.T + size * tiles * np.eye(size * tiles)
    expected = np.linalg.cholesky(matrix)
    cholesky(matrix, size)
    assert np.allclose(np.tril(matrix), expected)
    print(f"cholesky: a matrix of {len(matrix)} rows is right")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
