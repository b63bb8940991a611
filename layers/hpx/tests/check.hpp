// SPDX-License-Identifier: Apache-2.0
// What the programs of HPX's names report with.
#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the program if the condition is false.
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                         \
      std::_Exit(1);                                                                               \
    }                                                                                              \
  } while (false)
