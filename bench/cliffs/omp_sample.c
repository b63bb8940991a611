// SPDX-License-Identifier: Apache-2.0
// Rows of `weft-bench cliffs`: OpenMP's constructs, by the compiler's own calls.
#include "rows.h"

#include <omp.h>

static long g_sum;
static long g_cells[64];

/// A body of no instruction that the compiler must keep: GCC removes a construct whose body is empty.
#define KEEP __asm__ volatile("")

static long tasks(long n) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp task
    KEEP;
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
    KEEP;
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
    KEEP;
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
      KEEP;
    }
  }
  return n;
}
static long regions(long n) {
  for (long i = 0; i < n; ++i) {
#pragma omp parallel
    KEEP;
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

static long priorities(long n) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp task priority((int)(i * 7919 % 1000))
    KEEP;
  }
  return n;
}
static long taskgroups(long n) {
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < n; ++i) {
#pragma omp taskgroup
    {
#pragma omp task
      KEEP;
    }
  }
  return n;
}
static void nest(long depth) {
  if (depth == 0)
    return;
#pragma omp parallel num_threads(2)
#pragma omp single
  nest(depth - 1);
}
static long nested(long depth) {
  omp_set_max_active_levels(1 << 20);
  nest(depth);
  return depth;
}
static long nested_teams(long n) {
  omp_set_max_active_levels(2);
#pragma omp parallel
  for (long i = 0; i < n; ++i) {
#pragma omp parallel num_threads(2)
    KEEP;
  }
  return n;
}
static long singles(long n) {
#pragma omp parallel
  for (long i = 0; i < n; ++i) {
#pragma omp single nowait
    KEEP;
  }
  return n;
}
static long ordered(long n) {
#pragma omp parallel for ordered schedule(dynamic, 1)
  for (long i = 0; i < n; ++i) {
#pragma omp ordered
    KEEP;
  }
  return n;
}
static long reductions(long n) {
  long sum = 0;
  for (long k = 0; k < n; ++k) {
#pragma omp parallel for reduction(+ : sum)
    for (long i = 0; i < 64; ++i)
      sum += i;
  }
  return n + (sum == 1);
}
static long locks(long n) {
  static omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    omp_set_lock(&lock);
    ++g_sum;
    omp_unset_lock(&lock);
  }
  omp_destroy_lock(&lock);
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
    {"omp-priorities", "tasks", &priorities, {1000, 10000, 100000, 1000000}},
    {"omp-taskgroup", "groups", &taskgroups, {1000, 10000, 100000, 1000000}},
    {"omp-nested-depth", "levels", &nested, {1, 2, 8, 32}},
    {"omp-nested-teams", "regions", &nested_teams, {10, 100, 1000}},
    {"omp-single", "constructs", &singles, {1000, 10000, 100000, 1000000}},
    {"omp-ordered", "iterations", &ordered, {1000, 10000, 100000, 1000000}},
    {"omp-reduction", "loops", &reductions, {10, 100, 1000, 10000}},
    {"omp-lock", "iterations", &locks, {1000, 10000, 100000, 1000000}},
    {"omp-critical", "iterations", &criticals, {1000, 10000, 100000, 1000000}},
};

int main(int count, char **words) {
  return cliff_main(count, words, k_rows, sizeof k_rows / sizeof *k_rows);
}
