// SPDX-License-Identifier: Apache-2.0
// Heat on a line that processes share, by Jacobi's method, in tasks. The edges go to the neighbours by
// talpf_put, and each iteration ends with talpf_sync, in three versions:
//
// - default: the processes exchange how many messages come;
// - cached: they do that once;
// - acknowledged: heat flows in one direction only, so a receiver sends nothing back, and the library's
//   acknowledgements keep a sender from overtaking it.
#include <lpf/core.h>
#include <lpf/talpf.h>

#include <weft.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { k_blocks = 4, k_block = 16, k_cells = k_blocks * k_block, k_rounds = 50, k_most = 64 };
enum { k_left, k_right, k_sides };

struct version {
  const char *name;
  lpf_sync_attr_t how;
  int one_way;
};
static const struct version k_versions[] = {
    {"default", 0, 0}, {"cached", LPF_SYNC_CACHED, 0}, {"acknowledged", LPF_SYNC_CACHED, 1}};

static void check(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "jacobi: %s failed\n", what);
    exit(EXIT_FAILURE);
  }
}

static double next_value(double left, double own, double right, int one_way) {
  return one_way ? own + 0.5 * (left - own) : own + 0.25 * (left - 2 * own + right);
}

// Holds what the tasks of a process share.
struct line {
  lpf_t ctx;
  lpf_pid_t pid, processes;
  const struct version *version;
  lpf_memslot_t cells_slot, halo_slot;
  uint64_t first; // superstep
  int step; // what orders messages, supersteps and readers
  double cells[2][k_cells];
};
struct work {
  struct line *line;
  int round, part; // a block, or a side
};

// Sends an edge to a neighbour, which gets it as the halo of its other side.
static int send_edge(void *context) {
  const struct work *const w = context;
  const struct line *const l = w->line;
  const size_t cell = (size_t)(w->round % 2) * k_cells + (w->part == k_left ? 0 : k_cells - 1);
  const lpf_pid_t to = w->part == k_left ? l->pid - 1 : l->pid + 1;
  const size_t side = w->part == k_left ? k_right : k_left;
  return talpf_put(l->ctx, l->cells_slot, cell * sizeof(double), to, l->halo_slot,
                   side * sizeof(double), sizeof(double), LPF_MSG_DEFAULT);
}

static int end_superstep(void *context) {
  const struct work *const w = context;
  return talpf_sync(w->line->ctx, w->line->version->how);
}

static int compute(void *context) {
  const struct work *const w = context;
  struct line *const l = w->line;
  const double *const from = l->cells[w->round % 2];
  double *const to = l->cells[(w->round + 1) % 2];
  const double *const halo = talpf_half(l->ctx, l->halo_slot, l->first + (uint64_t)w->round);
  for (int i = w->part * k_block; i != (w->part + 1) * k_block; ++i) {
    const double left = i != 0 ? from[i - 1] : l->pid != 0 ? halo[k_left] : 1;
    const double right = i != k_cells - 1 ? from[i + 1]
                         : l->pid != l->processes - 1 ? halo[k_right]
                                                      : 0;
    to[i] = next_value(left, from[i], right, l->version->one_way);
  }
  return 0;
}

static void spawn(int (*body)(void *), struct line *l, int round, int part,
                  const weft_access *list, size_t count) {
  const struct work w = {l, round, part};
  check(weft_spawn(body, &w, sizeof w, list, count, NULL, NULL) == 0, "weft_spawn");
}

static void spawn_round(struct line *l, int round) {
  double *const from = l->cells[round % 2], *const to = l->cells[(round + 1) % 2];
  for (int side = 0; side != k_sides; ++side) {
    const weft_access list[] = {weft_concurrent(&l->step),
                                weft_in(&from[side == k_left ? 0 : k_cells - k_block])};
    if (side == k_left ? l->pid != 0 && !l->version->one_way : l->pid != l->processes - 1)
      spawn(&send_edge, l, round, side, list, 2);
  }
  {
    const weft_access list[] = {weft_inout(&l->step)};
    spawn(&end_superstep, l, round, 0, list, 1);
  }
  for (int b = 0; b != k_blocks; ++b) {
    const weft_access list[] = {weft_in(&l->step), weft_out(&to[b * k_block]),
                                weft_in(&from[b * k_block]),
                                weft_in(&from[(b != 0 ? b - 1 : b) * k_block]),
                                weft_in(&from[(b != k_blocks - 1 ? b + 1 : b) * k_block])};
    spawn(&compute, l, round, b, list, 5);
  }
}

// Computes the whole line without tasks, and compares this process's part.
static void compare(const struct line *l) {
  static const size_t k_bytes = sizeof(double);
  const size_t all = (size_t)l->processes * k_cells;
  double *from = calloc(all, k_bytes), *to = calloc(all, k_bytes);
  check(from && to, "calloc");
  for (int round = 0; round != k_rounds; ++round) {
    double *const swapped = from;
    for (size_t i = 0; i != all; ++i)
      to[i] = next_value(i != 0 ? from[i - 1] : 1, from[i], i != all - 1 ? from[i + 1] : 0,
                         l->version->one_way);
    from = to;
    to = swapped;
  }
  check(memcmp(l->cells[k_rounds % 2], from + (size_t)l->pid * k_cells, k_cells * k_bytes) == 0,
        l->version->name);
  free(from);
  free(to);
}

static void solve(lpf_t ctx, lpf_pid_t pid, lpf_pid_t processes, lpf_args_t args) {
  (void)args;
  for (size_t v = 0; v != sizeof k_versions / sizeof k_versions[0]; ++v) {
    static struct line lines[k_most];
    struct line *const l = &lines[pid];
    memset(l, 0, sizeof *l);
    l->ctx = ctx;
    l->pid = pid;
    l->processes = processes;
    l->version = &k_versions[v];
    check(lpf_register_global(ctx, l->cells, sizeof l->cells, &l->cells_slot) == LPF_SUCCESS &&
              talpf_register_double(ctx, k_sides * sizeof(double), &l->halo_slot) == LPF_SUCCESS &&
              talpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS,
          "the registration");
    l->first = talpf_superstep(ctx);
    for (int round = 0; round != k_rounds; ++round)
      spawn_round(l, round);
    check(weft_taskwait(NULL) == 0, "an iteration");
    compare(l);
    check(talpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS, "the last superstep");
    check(lpf_deregister(ctx, l->halo_slot) == LPF_SUCCESS, "lpf_deregister");
    check(lpf_deregister(ctx, l->cells_slot) == LPF_SUCCESS, "lpf_deregister");
    if (pid == 0)
      printf("%s: %d iterations of %u processes, as without tasks\n", l->version->name, k_rounds,
             processes);
  }
}

int main(void) {
  check(lpf_exec(LPF_ROOT, k_most, &solve, LPF_NO_ARGS) == LPF_SUCCESS, "lpf_exec");
  return 0;
}
