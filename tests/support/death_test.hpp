// SPDX-License-Identifier: Apache-2.0
// Death tests of programs with threads.
#pragma once

#include <gtest/gtest.h>

namespace test {

/// Each death test in a new process. An emulated program cannot start itself again by exec(), so there it is forked.
inline void use_a_process_for_each_death() {
#ifdef WEFT_TEST_EMULATOR
  GTEST_FLAG_SET(death_test_style, "fast");
#else
  GTEST_FLAG_SET(death_test_style, "threadsafe");
#endif
}

} // namespace test
