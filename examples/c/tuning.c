/* SPDX-License-Identifier: Apache-2.0
   A program in C that finds the size of its blocks while it runs (with WEFT_TUNE=on). */
#include <weft.h>

#include <stdio.h>

enum { k_points = 20000, k_steps = 400 };

struct block {
  const double *now;
  double *next;
  int first, end;
};

static int flow(void *arg) {
  const struct block *b = arg;
  for (int i = b->first; i < b->end; ++i)
    b->next[i] = b->now[i] + 0.25 * (b->now[(i + k_points - 1) % k_points] - 2 * b->now[i] +
                                     b->now[(i + 1) % k_points]);
  return 0;
}

/* Lets heat flow on a ring, in one task per block. */
static int step(const double *now, double *next, int size) {
  for (int first = 0; first < k_points; first += size) {
    const struct block b = {now, next, first, first + size < k_points ? first + size : k_points};
    if (weft_spawn(flow, &b, sizeof b, NULL, 0, NULL, NULL) != WEFT_OK)
      return -1;
  }
  return weft_taskwait(NULL);
}

int main(void) {
  static double rods[2][k_points];
  rods[0][0] = 1;
  weft_knob *block;
  weft_session *tuned;
  if (weft_knob_define("heat.block", 100, 16, 16384, WEFT_STEPS_LOGARITHMIC,
                       WEFT_HOLDS_FROM_NEXT_CALL, NULL, &block) != WEFT_OK ||
      weft_session_create(&block, 1, NULL, NULL, 0.02, &tuned) != WEFT_OK) {
    fprintf(stderr, "%s\n", weft_last_error_message());
    return 1;
  }
  for (int i = 0; i < k_steps; ++i) {
    int measured;
    if (weft_session_begin(tuned, &measured) != WEFT_OK ||
        step(rods[i % 2], rods[(i + 1) % 2], (int)weft_knob_value(block)) != WEFT_OK ||
        (measured && weft_session_end(tuned, k_points) != WEFT_OK)) { /* so many units of work */
      fprintf(stderr, "%s\n", weft_last_error_message());
      return 1;
    }
  }
  double sum = 0;
  for (int i = 0; i < k_points; ++i)
    sum += rods[k_steps % 2][i];
  printf("heat %.6f, blocks of %d after %zu trials\n", sum, (int)weft_knob_value(block),
         weft_session_trials(tuned));
  weft_session_destroy(tuned);
  weft_knob_withdraw(block);
  return sum > 0.999 && sum < 1.001 ? 0 : 1;
}
