// SPDX-License-Identifier: Apache-2.0
// What the programs for cells of directive and clause have in common, in C and in C++.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>

#define PRAGMA(...) _Pragma(#__VA_ARGS__)

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
static inline int load(const int *counter) { return __atomic_load_n(counter, __ATOMIC_ACQUIRE); }
static inline void add(int *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_ACQ_REL); }
// Lets other tasks run until the counter is no longer 0: the program hangs if none may count.
static inline void wait_for(const int *counter) {
  while (load(counter) == 0) {
#pragma oss taskyield
  }
}
