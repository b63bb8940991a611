// SPDX-License-Identifier: Apache-2.0
// Checks of a C test. A test that made none fails.
#pragma once

#ifdef __cplusplus
#include <atomic>
using std::atomic_fetch_add;
using std::atomic_int;
using std::atomic_load;
#else
#include <stdatomic.h>
#endif
#include <stdio.h>
#include <stdlib.h>

static atomic_int g_checks;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    atomic_fetch_add(&g_checks, 1);                                                                \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      _Exit(1);                                                                                    \
    }                                                                                              \
  } while (0)

// Returns the exit code of the test.
static inline int end_of_checks(void) {
  printf("%d checks\n", atomic_load(&g_checks));
  return atomic_load(&g_checks) > 0 ? 0 : 1;
}
