// SPDX-License-Identifier: Apache-2.0
// The first program of a user of C; prints what is asked of every consumer: "weft 0.2.0: 42".
#include <weft.h>

#include <stdio.h>

static int set(void *arg) {
  *(int *)arg = 21;
  return 0;
}

static int twice(void *arg) {
  *(int *)arg *= 2;
  return 0;
}

int main(void) {
  int b = 0;
  const weft_access access = weft_inout(&b);
  if (weft_spawn(set, &b, 0, &access, 1, NULL, NULL) || weft_spawn(twice, &b, 0, &access, 1, NULL, NULL) ||
      weft_taskwait(NULL)) {
    fprintf(stderr, "%s\n", weft_last_error_message());
    return 1;
  }
  printf("weft %s: %d\n", weft_version(), b);
  return b == 42 ? 0 : 1;
}
