// SPDX-License-Identifier: Apache-2.0
// A chain of tasks with one inout in C: `by-hand` in two steps, `pragma` by the plugin, which does the same.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

static char x;

static int nothing(void *arg) {
  (void)arg;
  return 0;
}

static void by_hand(long n) {
  for (long i = 0; i < n; ++i) {
    weft_prepared task;
    if (weft_task_prepare(&task, nothing, sizeof i, 1, NULL))
      abort();
    *(long *)task.arg = i;
    const weft_access access = weft_inout(&x);
    if (weft_task_submit(&task, &access, 1))
      abort();
  }
}

static void by_pragma(long n) {
  for (long i = 0; i < n; ++i) {
#pragma oss task inout(x)
    (void)i;
  }
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s by-hand|pragma WORKERS COUNT\n", argv[0]);
    return 2;
  }
  if (weft_configure("workers", argv[2]) || weft_start())
    return 1;
  (strcmp(argv[1], "pragma") ? by_hand : by_pragma)(atol(argv[3]));
  return weft_taskwait(NULL) != 0;
}
