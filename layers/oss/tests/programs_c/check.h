// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// Ends the program with the place of a condition that does not hold.
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                \
      _Exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

// Takes long enough for a task that does not wait for the caller to come first.
static inline void be_late(void) {
  const struct timespec time = {0, 2000000};
  nanosleep(&time, NULL);
}
