// SPDX-License-Identifier: Apache-2.0
// Nestable locks stay in the bytes that the compiler's omp.h gives them, and are held by a task.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "nest_locks: does not hold: %s\n", what);
    exit(1);
  }
}

struct guarded {
  unsigned char before[16];
  omp_nest_lock_t lock;
  unsigned char after[16];
};

static void surround(struct guarded *g) {
  memset(g->before, 0xA5, sizeof g->before);
  memset(g->after, 0x5A, sizeof g->after);
}

static int is_untouched(const struct guarded *g) {
  for (size_t i = 0; i < sizeof g->before; ++i)
    if (g->before[i] != 0xA5 || g->after[i] != 0x5A)
      return 0;
  return 1;
}

static void counts_how_often_a_task_holds_it(void) {
  struct guarded g;
  surround(&g);
  omp_init_nest_lock(&g.lock);
  check(is_untouched(&g), "init keeps to the lock");
  for (int i = 1; i <= 3; ++i)
    check(omp_test_nest_lock(&g.lock) == i, "test returns how often the task has the lock");
  omp_set_nest_lock(&g.lock);
  check(omp_test_nest_lock(&g.lock) == 5, "set counts, too");
  for (int i = 0; i < 5; ++i)
    omp_unset_nest_lock(&g.lock);
  check(omp_test_nest_lock(&g.lock) == 1, "the lock was free");
  omp_unset_nest_lock(&g.lock);
  omp_destroy_nest_lock(&g.lock);
  check(is_untouched(&g), "nothing else is written");
}

static void excludes_other_threads(void) {
  struct guarded g[3];
  int sum = 0, refused = 0;
  for (int i = 0; i < 3; ++i) {
    surround(&g[i]);
    omp_init_nest_lock(&g[i].lock);
  }
#pragma omp parallel for
  for (int i = 0; i < 30000; ++i) {
    omp_set_nest_lock(&g[1].lock);
    omp_set_nest_lock(&g[1].lock);
    ++sum;
    omp_unset_nest_lock(&g[1].lock);
    omp_unset_nest_lock(&g[1].lock);
  }
  check(sum == 30000, "one thread at a time has the lock");
  omp_set_nest_lock(&g[0].lock);
#pragma omp parallel reduction(+ : refused)
  refused += omp_test_nest_lock(&g[0].lock) == 0;
  check(refused == omp_get_max_threads(), "the tasks of a region are other tasks");
  omp_unset_nest_lock(&g[0].lock);
  for (int i = 0; i < 3; ++i) {
    omp_destroy_nest_lock(&g[i].lock);
    check(is_untouched(&g[i]), "neighbours are whole");
  }
}

int main(void) {
  counts_how_often_a_task_holds_it();
  excludes_other_threads();
  return 0;
}
