// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <thread>

/// Ends the program with the place of a condition that does not hold.
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);           \
      std::_Exit(1);                                                                               \
    }                                                                                              \
  } while (false)

/// Takes long enough for a task that does not wait for the caller to come first.
inline void be_late() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }
