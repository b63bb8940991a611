// SPDX-License-Identifier: Apache-2.0
// Rows of `weft-bench cliffs`: the constructs of the C interface.
#include "rows.h"

#include <weft.h>

static long g_sum;
static long g_cells[64];

static int nothing(void *arg) {
  (void)arg;
  return 0;
}
static int add(void *arg) {
  (void)arg;
  ++g_sum;
  return 0;
}

static void must(int code) {
  if (code != 0) {
    fprintf(stderr, "%s\n", weft_last_error_message());
    exit(1);
  }
}

static long independent(long n) {
  for (long i = 0; i < n; ++i)
    must(weft_spawn(nothing, &i, sizeof i, NULL, 0, NULL, NULL));
  must(weft_taskwait(NULL));
  return n;
}
static long chain(long n) {
  const weft_access list[] = {weft_inout(&g_sum)};
  for (long i = 0; i < n; ++i)
    must(weft_spawn(add, NULL, 0, list, 1, NULL, NULL));
  must(weft_taskwait(NULL));
  return n;
}
static long commutative_pairs(long n) {
  for (long i = 0; i < n; ++i) {
    const weft_access list[] = {weft_commutative(&g_cells[i % 64]), weft_commutative(&g_cells[(i * 7 + 3) % 64])};
    must(weft_spawn(nothing, NULL, 0, list, 2, NULL, NULL));
  }
  must(weft_taskwait(NULL));
  return n;
}
static long priorities(long n) {
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  for (long i = 0; i < n; ++i) {
    options.priority = (int)(i * 7919 % 1000);
    must(weft_spawn(nothing, NULL, 0, NULL, 0, &options, NULL));
  }
  must(weft_taskwait(NULL));
  return n;
}
static int four_children(void *arg) {
  (void)arg;
  for (int i = 0; i < 4; ++i)
    must(weft_spawn(nothing, NULL, 0, NULL, 0, NULL, NULL));
  return 0;
}
static long wait_clause(long n) {
  const weft_access list[] = {weft_inout(&g_sum)};
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  options.flags = WEFT_TASK_WAIT;
  for (long i = 0; i < n / 5 + 1; ++i)
    must(weft_spawn(four_children, NULL, 0, list, 1, &options, NULL));
  must(weft_taskwait(NULL));
  return (n / 5 + 1) * 5;
}
static int grow(void *arg) {
  const long depth = *(long *)arg - 1;
  if (depth < 0)
    return 0;
  must(weft_spawn(grow, &depth, sizeof depth, NULL, 0, NULL, NULL));
  must(weft_spawn(grow, &depth, sizeof depth, NULL, 0, NULL, NULL));
  return 0;
}
static long tree(long depth) {
  must(weft_spawn(grow, &depth, sizeof depth, NULL, 0, NULL, NULL));
  must(weft_taskwait(NULL));
  return (2L << depth) - 1;
}

static const cliff_row k_rows[] = {
    {"c-independent", "tasks", &independent, {1000, 10000, 100000, 1000000, 10000000}},
    {"c-chain", "tasks", &chain, {1000, 10000, 100000, 1000000}},
    {"c-commutative-pairs", "tasks", &commutative_pairs, {1000, 10000, 100000, 1000000}},
    {"c-priorities", "tasks", &priorities, {1000, 10000, 100000, 1000000}},
    {"c-wait-flag", "tasks", &wait_clause, {1000, 10000, 100000, 1000000}},
    {"c-tree", "levels", &tree, {8, 12, 16, 20}},
};

int main(int count, char **words) { return cliff_main(count, words, k_rows, sizeof k_rows / sizeof *k_rows); }
