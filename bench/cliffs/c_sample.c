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
    const weft_access list[] = {weft_commutative(&g_cells[i % 64]),
                                weft_commutative(&g_cells[(i * 7 + 3) % 64])};
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

static long in_a_group(long n) {
  weft_group *group;
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  must(weft_group_create(WEFT_POLICY_COLLECT_ALL, &group));
  options.group = group;
  for (long i = 0; i < n; ++i)
    must(weft_spawn(nothing, NULL, 0, NULL, 0, &options, NULL));
  must(weft_group_wait(group, NULL));
  must(weft_group_destroy(group));
  return n;
}
static long handles(long n) {
  for (long i = 0; i < n; ++i) {
    weft_handle *handle;
    must(weft_spawn(nothing, NULL, 0, NULL, 0, NULL, &handle));
    must(weft_handle_wait(handle, NULL));
    must(weft_handle_destroy(handle));
  }
  return n;
}
static int join_below(void *arg) {
  long depth = *(long *)arg - 1;
  if (depth < 0)
    return 0;
  must(weft_join(join_below, &depth, join_below, &depth, NULL));
  return 0;
}
static long joins(long depth) {
  must(join_below(&depth));
  return (2L << depth) - 1;
}
static weft_mutex *g_mutex;
static int add_locked(void *arg) {
  (void)arg;
  must(weft_mutex_lock(g_mutex));
  ++g_sum;
  must(weft_mutex_unlock(g_mutex));
  return 0;
}
static long mutex(long n) {
  if (g_mutex == NULL)
    must(weft_mutex_create(&g_mutex));
  for (long i = 0; i < n; ++i)
    must(weft_spawn(add_locked, NULL, 0, NULL, 0, NULL, NULL));
  must(weft_taskwait(NULL));
  return n;
}
static int event(void *arg) {
  (void)arg;
  weft_task *self;
  must(weft_task_self(&self));
  must(weft_task_increase_events(1));
  must(weft_task_decrease_events(self, 1));
  return 0;
}
static long events(long n) {
  const weft_access list[] = {weft_inout(&g_sum)};
  for (long i = 0; i < n; ++i)
    must(weft_spawn(event, NULL, 0, list, 1, NULL, NULL));
  must(weft_taskwait(NULL));
  return n;
}
static long waits_on_data(long n) {
  const weft_access list[] = {weft_inout(&g_sum)};
  for (long i = 0; i < n; ++i) {
    must(weft_spawn(add, NULL, 0, list, 1, NULL, NULL));
    must(weft_taskwait_on(list, 1));
  }
  return n;
}
static int release(void *arg) {
  (void)arg;
  const weft_access list[] = {weft_inout(&g_sum)};
  must(weft_release(list, 1));
  return 0;
}
static long released_early(long n) {
  const weft_access list[] = {weft_inout(&g_sum)};
  for (long i = 0; i < n; ++i)
    must(weft_spawn(release, NULL, 0, list, 1, NULL, NULL));
  must(weft_taskwait(NULL));
  return n;
}

static const cliff_row k_rows[] = {
    {"c-independent", "tasks", &independent, {1000, 10000, 100000, 1000000, 10000000}},
    {"c-chain", "tasks", &chain, {1000, 10000, 100000, 1000000}},
    {"c-commutative-pairs", "tasks", &commutative_pairs, {1000, 10000, 100000, 1000000}},
    {"c-priorities", "tasks", &priorities, {1000, 10000, 100000, 1000000}},
    {"c-wait-flag", "tasks", &wait_clause, {1000, 10000, 100000, 1000000}},
    {"c-group", "tasks", &in_a_group, {1000, 10000, 100000, 1000000}},
    {"c-handles", "tasks", &handles, {1000, 10000, 100000}},
    {"c-joins", "levels", &joins, {8, 12, 16, 20}},
    {"c-mutex", "tasks", &mutex, {1000, 10000, 100000, 1000000}},
    {"c-events", "tasks", &events, {1000, 10000, 100000, 1000000}},
    {"c-taskwait-on", "tasks", &waits_on_data, {1000, 10000, 100000, 1000000}},
    {"c-release", "tasks", &released_early, {1000, 10000, 100000, 1000000}},
    {"c-tree", "levels", &tree, {8, 12, 16, 20}},
};

int main(int count, char **words) {
  return cliff_main(count, words, k_rows, sizeof k_rows / sizeof *k_rows);
}
