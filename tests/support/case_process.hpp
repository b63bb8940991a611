// SPDX-License-Identifier: Apache-2.0
// A test case in a process of its own: settings are read once per process, and some cases end it.
//
//     TEST(exit, ends_the_process) {
//       auto end = test::in_process({{"WEFT_WORKERS", "2"}}, [] { ...; std::exit(7); });
//       EXPECT_TRUE(end.exited(7)) << end;
//     }
//
// The case is run again by a new process of the same program; there in_process() calls the function and exits
// with 0, or with 1 when an expectation has failed. One in_process() per case.
#pragma once

#include "support/process.hpp"

#include <gtest/gtest.h>

namespace test {

/// True in a process that in_process() has started.
inline bool is_child() { return std::getenv("TEST_CHILD") != nullptr; }

template <class F>
ending in_process(environment settings, F f) {
  if (is_child()) {
    f();
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  const testing::TestInfo *info = testing::UnitTest::GetInstance()->current_test_info();
  settings.emplace_back("TEST_CHILD", "1");
  return run({program_path(),
              std::string("--gtest_filter=") + info->test_suite_name() + "." + info->name(),
              "--gtest_also_run_disabled_tests", "--gtest_repeat=1", "--gtest_output="},
             settings);
}

} // namespace test
