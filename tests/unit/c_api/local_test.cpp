// SPDX-License-Identifier: Apache-2.0
// Task-local storage of C.
#include <weft.h>

#include <atomic>
#include <gtest/gtest.h>

namespace {

weft_local *g_local = nullptr;
std::atomic<int> g_destroyed{0};

struct report {
  void *first = &g_local;
  void *second = nullptr;
  int status = -1;
};

int body(void *arg) {
  auto *r = static_cast<report *>(arg);
  r->status = weft_local_get(g_local, &r->first);
  weft_local_set(g_local, r);
  weft_taskyield();
  weft_local_get(g_local, &r->second);
  return 0;
}

TEST(c_local, each_task_has_a_value_that_is_destroyed_with_its_body) {
  g_destroyed = 0;
  ASSERT_EQ(weft_local_create(&g_local, [](void *) { ++g_destroyed; }), 0);
  report reports[10];
  for (auto &r : reports)
    ASSERT_EQ(weft_spawn(body, &r, 0, nullptr, 0, nullptr, nullptr), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  for (auto &r : reports) {
    EXPECT_EQ(r.status, 0);
    EXPECT_EQ(r.first, nullptr);
    EXPECT_EQ(r.second, &r);
  }
  EXPECT_EQ(g_destroyed, 10);
  weft_local_destroy(g_local);
}

TEST(c_local, without_a_destructor_values_are_left_alone) {
  weft_local *local = nullptr;
  ASSERT_EQ(weft_local_create(&local, nullptr), 0);
  int x = 0;
  void *value = nullptr;
  EXPECT_EQ(weft_local_set(local, &x), 0);
  EXPECT_EQ(weft_local_get(local, &value), 0);
  EXPECT_EQ(value, &x);
  weft_local_destroy(local);
  weft_local_destroy(nullptr);
}

TEST(c_local, null_is_an_error) {
  void *value = &g_local;
  EXPECT_EQ(weft_local_create(nullptr, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_local_set(nullptr, nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_local_get(nullptr, &value), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(value, nullptr);
}

} // namespace
