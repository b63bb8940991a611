// SPDX-License-Identifier: Apache-2.0
// Rows of `weft-bench cliffs`: OpenMP's constructs, by the compiler's own calls.
#include "rows.h"

#include <omp.h>

static long g_sum;
static long g_cells[64];

static long tasks(long n) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp task
    {
    }
  }
  return n;
}
static long chain(long n) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp task depend(inout : g_sum)
    ++g_sum;
  }
  return n;
}
static long addresses(long count) {
  char *const cells = malloc((size_t)count);
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < 200000; ++i) {
    char *const cell = cells + i * 7919 % count;
    (void)cell; // GCC does not see the use
#pragma omp task depend(inout : cell[0])
    {
    }
  }
  free(cells);
  return 200000;
}
static long mutexinoutset(long n) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < n; ++i) {
    long *const a = &g_cells[i % 64], *const b = &g_cells[(i * 7 + 3) % 64];
    (void)a, (void)b;
#pragma omp task depend(mutexinoutset : a[0], b[0])
    {
    }
  }
  return n;
}
static void grow(long depth) {
  if (depth == 0)
    return;
#pragma omp task
  grow(depth - 1);
#pragma omp task
  grow(depth - 1);
#pragma omp taskwait
}
static long tree(long depth) {
#pragma omp parallel
#pragma omp single
  grow(depth);
  return (2L << depth) - 1;
}
static long taskloops(long n) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp taskloop grainsize(10)
    for (int k = 0; k < 1000; ++k) {
    }
  }
  return n;
}
static long regions(long n) {
  for (long i = 0; i < n; ++i) {
#pragma omp parallel
    {
    }
  }
  return n;
}
static long barriers(long n) {
#pragma omp parallel
  for (long i = 0; i < n; ++i) {
#pragma omp barrier
  }
  return n;
}
static long dynamic(long n) {
#pragma omp parallel for schedule(dynamic, 1)
  for (long i = 0; i < n; ++i) {
  }
  return n;
}
static long criticals(long n) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) {
#pragma omp critical
    ++g_sum;
  }
  return n;
}

static const cliff_row k_rows[] = {
    {"omp-tasks", "tasks", &tasks, {1000, 10000, 100000, 1000000}},
    {"omp-chain", "tasks", &chain, {1000, 10000, 100000, 1000000}},
    {"omp-addresses", "addresses", &addresses, {1, 100, 10000, 1000000}},
    {"omp-mutexinoutset", "tasks", &mutexinoutset, {1000, 10000, 100000}},
    {"omp-tree", "levels", &tree, {8, 12, 16, 18}},
    {"omp-taskloop", "calls", &taskloops, {10, 100, 1000}},
    {"omp-parallel", "regions", &regions, {10, 100, 1000, 10000}},
    {"omp-barrier", "barriers", &barriers, {10, 100, 1000, 10000}},
    {"omp-dynamic", "iterations", &dynamic, {1000, 10000, 100000, 1000000}},
    {"omp-critical", "iterations", &criticals, {1000, 10000, 100000, 1000000}},
};

int main(int count, char **words) { return cliff_main(count, words, k_rows, sizeof k_rows / sizeof *k_rows); }
