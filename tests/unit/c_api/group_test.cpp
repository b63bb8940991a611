// SPDX-License-Identifier: Apache-2.0
// Groups of C: waiting, failures, cancellation.
#include "support/gate.hpp"

#include <weft.h>
#include <weft/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace {

int fail_with(void *arg) { return *static_cast<int *>(arg); }

struct owned_group {
  explicit owned_group(int policy = WEFT_POLICY_BY_SETTING) {
    EXPECT_EQ(weft_group_create(policy, &group), 0);
  }
  ~owned_group() { EXPECT_EQ(weft_group_destroy(group), 0); }
  int spawn(weft_body body, const void *arg, std::size_t bytes, weft_handle **handle = nullptr) {
    weft_spawn_options o = WEFT_SPAWN_OPTIONS_INIT;
    o.group = group;
    return weft_spawn(body, arg, bytes, nullptr, 0, &o, handle);
  }
  weft_group *group = nullptr;
};

TEST(c_group, waits_for_its_tasks_and_can_be_used_again) {
  owned_group g;
  std::atomic<int> n = 0;
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 20; ++i)
      ASSERT_EQ(g.spawn(
                    [](void *arg) {
                      ++*static_cast<std::atomic<int> *>(arg);
                      return 0;
                    },
                    &n, 0),
                0);
    int code = 1;
    EXPECT_EQ(weft_group_wait(g.group, &code), 0);
    EXPECT_EQ(code, 0);
    EXPECT_EQ(n, 20 * round);
  }
}

TEST(c_group, waits_end_at_a_time_and_can_be_made_again) {
  test::gate may_end;
  const auto body = [](void *arg) { return static_cast<const test::gate *>(arg)->pass() ? 9 : 1; };
  owned_group g;
  ASSERT_EQ(g.spawn(body, &may_end, 0), 0);
  ASSERT_EQ(weft_spawn(body, &may_end, 0, nullptr, 0, nullptr, nullptr), 0);
  int code = 1;
  EXPECT_EQ(weft_group_wait_for(g.group, 100'000, &code), WEFT_ERR_TIMED_OUT);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(std::string(weft_last_error_message()),
            "weft_group_wait_for: tasks are left at the end of the time");
  EXPECT_EQ(weft_taskwait_for(100'000, &code), WEFT_ERR_TIMED_OUT);
  EXPECT_EQ(std::string(weft_last_error_message()),
            "weft_taskwait_for: children are left at the end of the time");
  may_end.open();
  EXPECT_EQ(weft_group_wait_for(g.group, INT64_MAX, &code), WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, 9);
  EXPECT_EQ(weft_taskwait_for(INT64_MAX, &code), WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, 9);
  EXPECT_EQ(weft_taskwait_for(0, &code), 0) << "a failure is given once";
}

TEST(c_group, the_first_failure_cancels) {
  owned_group g(WEFT_POLICY_FIRST_CANCELS);
  int code = 6;
  ASSERT_EQ(g.spawn(fail_with, &code, sizeof code), 0);
  code = 0;
  EXPECT_EQ(weft_group_wait(g.group, &code), WEFT_ERR_TASK_FAILED);
  EXPECT_EQ(code, 6);
  std::array<int, 2> codes{};
  std::size_t count = 0;
  EXPECT_EQ(weft_group_failures(g.group, codes.data(), codes.size(), &count), 0);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(codes[0], 6);
  EXPECT_EQ(weft_group_wait(g.group, &code), 0) << "a failure is given once";
  EXPECT_EQ(weft_group_failures(g.group, nullptr, 0, &count), 0);
  EXPECT_EQ(count, 0u);
}

TEST(c_group, collect_all_lists_every_failure) {
  owned_group g(WEFT_POLICY_COLLECT_ALL);
  for (int i = 0; i < 6; ++i)
    ASSERT_EQ(g.spawn(fail_with, &i, sizeof i), 0);
  int code = 0;
  EXPECT_EQ(weft_group_wait(g.group, &code), WEFT_ERR_TASK_FAILED);
  EXPECT_NE(code, 0);
  EXPECT_EQ(std::string(weft_last_error_message()),
            "5 tasks of the group failed; the first: the task 'task' returned " +
                std::to_string(code));
  std::array<int, 8> codes{};
  std::size_t count = 0;
  EXPECT_EQ(weft_group_failures(g.group, codes.data(), 2, &count), 0);
  EXPECT_EQ(count, 5u);
  EXPECT_EQ(codes[2], 0) << "two were asked for";
  EXPECT_EQ(weft_group_failures(g.group, codes.data(), codes.size(), &count), 0);
  std::sort(codes.begin(), codes.begin() + 5);
  EXPECT_EQ(codes, (std::array<int, 8>{1, 2, 3, 4, 5, 0, 0, 0}));
}

// A body that calls C++ may throw what C++ throws.
TEST(c_group, a_failure_of_the_library_keeps_its_code) {
  const auto throws = [](void *) -> int {
    throw weft::error(weft::errc::no_block, "it must not wait");
  };
  const auto throws_other = [](void *) -> int { throw 7; };
  for (const int policy : {WEFT_POLICY_FIRST_CANCELS, WEFT_POLICY_COLLECT_ALL}) {
    owned_group g(policy);
    ASSERT_EQ(g.spawn(throws, nullptr, 0), 0);
    EXPECT_NE(weft_group_wait(g.group, nullptr), 0);
    std::array<int, 2> codes{};
    std::size_t count = 0;
    EXPECT_EQ(weft_group_failures(g.group, codes.data(), codes.size(), &count), 0);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(codes[0], -static_cast<int>(weft::errc::no_block));
    EXPECT_EQ(std::string(weft_error_string(codes[0])), "no_block");
  }
  owned_group g(WEFT_POLICY_COLLECT_ALL);
  ASSERT_EQ(g.spawn(throws, nullptr, 0), 0);
  EXPECT_EQ(weft_group_wait(g.group, nullptr), WEFT_ERR_TASK_FAILED) << weft_last_error_message();
  int six = 6;
  ASSERT_EQ(g.spawn(throws, nullptr, 0), 0);
  ASSERT_EQ(g.spawn(fail_with, &six, sizeof six), 0);
  ASSERT_EQ(g.spawn(throws_other, nullptr, 0), 0);
  int code = 0;
  EXPECT_EQ(weft_group_wait(g.group, &code), WEFT_ERR_TASK_FAILED);
  std::array<int, 3> codes{};
  std::size_t count = 0;
  EXPECT_EQ(weft_group_failures(g.group, codes.data(), codes.size(), &count), 0);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(codes[0], code) << "the first speaks for all";
  std::sort(codes.begin(), codes.end());
  std::array<int, 3> expected{-static_cast<int>(weft::errc::no_block), WEFT_ERR_EXCEPTION, 6};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(codes, expected);
}

TEST(c_group, cancel_is_seen_by_running_tasks_and_skips_the_others) {
  struct shared {
    test::gate started;
    std::atomic<bool> saw = false;
    std::atomic<int> late = 0;
  } s;
  owned_group g;
  EXPECT_EQ(weft_group_cancelled(g.group), 0);
  ASSERT_EQ(g.spawn(
                [](void *arg) {
                  auto *s = static_cast<shared *>(arg);
                  s->started.open();
                  s->saw = test::eventually([] { return weft_task_cancelled() == 1; });
                  return 0;
                },
                &s, 0),
            0);
  ASSERT_TRUE(s.started.pass());
  EXPECT_EQ(weft_group_cancel(g.group), 0);
  EXPECT_EQ(weft_group_cancelled(g.group), 1);
  weft_handle *handle = nullptr;
  ASSERT_EQ(g.spawn(
                [](void *arg) {
                  ++static_cast<shared *>(arg)->late;
                  return 0;
                },
                &s, 0, &handle),
            0);
  EXPECT_EQ(weft_handle_wait(handle, nullptr), WEFT_ERR_CANCELLED);
  EXPECT_EQ(weft_handle_destroy(handle), 0);
  EXPECT_EQ(weft_group_wait(g.group, nullptr), 0);
  EXPECT_TRUE(s.saw);
  EXPECT_EQ(s.late, 0);
}

TEST(c_group, bad_arguments_are_refused) {
  weft_group *group = reinterpret_cast<weft_group *>(&group);
  std::size_t count = 0;
  EXPECT_EQ(weft_group_create(4, &group), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(group, nullptr);
  EXPECT_EQ(weft_group_create(0, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_group_wait(nullptr, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_group_cancel(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_group_cancelled(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_group_failures(nullptr, nullptr, 0, &count), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_group_destroy(nullptr), 0);
}

} // namespace
