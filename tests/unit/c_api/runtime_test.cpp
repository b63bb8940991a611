// SPDX-License-Identifier: Apache-2.0
// The runtime as a whole, seen from C.
#include "support/case_process.hpp"

#include <weft.h>

#include <cstring>
#include <gtest/gtest.h>

namespace {

int succeed(void *) { return 0; }

TEST(c_runtime, the_library_has_the_version_of_the_header) {
  EXPECT_STREQ(weft_version(), WEFT_VERSION_STRING);
}

TEST(c_runtime, settings_are_given_before_the_start_only) {
  auto end = test::in_process({}, [] {
    EXPECT_EQ(weft_configure("workers", "2"), 0);
    EXPECT_EQ(weft_configure("worker", "2"), WEFT_ERR_BAD_SETTING);
    EXPECT_NE(std::strstr(weft_last_error_message(), "workers"), nullptr)
        << weft_last_error_message();
    EXPECT_EQ(weft_configure("workers", "many"), WEFT_ERR_BAD_SETTING);
    EXPECT_EQ(weft_configure(nullptr, "2"), WEFT_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(weft_configure("workers", nullptr), WEFT_ERR_INVALID_ARGUMENT);
    EXPECT_EQ(weft_start(), 0);
    EXPECT_EQ(weft_worker_count(), 2);
    EXPECT_EQ(weft_worker_id(), 0);
    EXPECT_LT(weft_configure("workers", "3"), 0);
    EXPECT_EQ(weft_worker_count(), 2);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(c_runtime, after_shutdown_every_call_says_so) {
  auto end = test::in_process({}, [] {
    EXPECT_EQ(weft_spawn(succeed, nullptr, 0, nullptr, 0, nullptr, nullptr), 0);
    EXPECT_EQ(weft_shutdown(), 0);
    EXPECT_EQ(weft_spawn(succeed, nullptr, 0, nullptr, 0, nullptr, nullptr), WEFT_ERR_SHUT_DOWN);
    EXPECT_EQ(weft_start(), WEFT_ERR_SHUT_DOWN);
    EXPECT_EQ(weft_shutdown(), 0);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(c_runtime, the_totals_count_the_tasks) {
  weft_statistics before = {}, after = {};
  before.size = after.size = sizeof(weft_statistics);
  ASSERT_EQ(weft_stats(&before), 0);
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(weft_spawn(succeed, nullptr, 0, nullptr, 0, nullptr, nullptr), 0);
  ASSERT_EQ(weft_taskwait(nullptr), 0);
  ASSERT_EQ(weft_stats(&after), 0);
  EXPECT_EQ(after.size, sizeof(weft_statistics));
  EXPECT_GE(after.spawned - before.spawned, 10u);
  EXPECT_GE(after.executed - before.executed, 10u);

  std::uint64_t total = 0;
  for (int id = 0; id < weft_worker_count(); ++id) {
    std::uint64_t one = 0;
    ASSERT_EQ(weft_executed_by(id, &one), 0);
    total += one;
  }
  EXPECT_GE(total, 10u);
}

TEST(c_runtime, a_shorter_struct_of_an_earlier_version_is_filled_as_far_as_it_goes) {
  weft_statistics s;
  std::memset(&s, 0xff, sizeof s);
  s.size = offsetof(weft_statistics, suspended);
  ASSERT_EQ(weft_stats(&s), 0);
  EXPECT_EQ(s.size, offsetof(weft_statistics, suspended));
  EXPECT_NE(s.executed, UINT64_MAX);
  EXPECT_NE(s.spawned, UINT64_MAX);
  EXPECT_EQ(s.suspended, UINT64_MAX);
  s.size = 0;
  EXPECT_EQ(weft_stats(&s), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_stats(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_executed_by(0, nullptr), WEFT_ERR_INVALID_ARGUMENT);
}

} // namespace
