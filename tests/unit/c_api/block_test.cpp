// SPDX-License-Identifier: Apache-2.0
// Blocking and external events of C.
#include "support/gate.hpp"

#include <weft.h>

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace {

struct meeting {
  std::atomic<weft_task *> task{nullptr};
  int first = -1, second = -1;
};

TEST(c_block, another_thread_unblocks) {
  meeting m;
  ASSERT_EQ(weft_spawn(
                [](void *arg) {
                  auto *m = static_cast<meeting *>(arg);
                  weft_task *self = nullptr;
                  m->second = weft_task_self(&self);
                  m->task = self;
                  m->first = weft_task_block();
                  return 0;
                },
                &m, 0, nullptr, 0, nullptr, nullptr),
            0);
  int unblocked = -1;
  std::thread other([&] {
    while (!m.task)
      std::this_thread::yield();
    unblocked = weft_task_unblock(m.task);
  });
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  other.join();
  EXPECT_EQ(unblocked, 0);
  EXPECT_EQ(m.first, 0);
  EXPECT_EQ(m.second, 0);
}

TEST(c_block, one_unblock_may_come_first_and_a_second_is_an_error) {
  meeting m;
  ASSERT_EQ(weft_spawn(
                [](void *arg) {
                  auto *m = static_cast<meeting *>(arg);
                  weft_task *self = nullptr;
                  weft_task_self(&self);
                  m->first = weft_task_unblock(self);
                  m->second = weft_task_unblock(self);
                  return weft_task_block();
                },
                &m, 0, nullptr, 0, nullptr, nullptr),
            0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(m.first, 0);
  EXPECT_EQ(m.second, WEFT_ERR_NO_BLOCK);
}

TEST(c_block, block_for_says_whether_the_time_was_over) {
  meeting m;
  ASSERT_EQ(weft_spawn(
                [](void *arg) {
                  auto *m = static_cast<meeting *>(arg);
                  weft_task *self = nullptr;
                  weft_task_self(&self);
                  m->first = weft_task_block_for(100'000);
                  weft_task_unblock(self);
                  m->second = weft_task_block_for(INT64_C(3'600'000'000'000));
                  return 0;
                },
                &m, 0, nullptr, 0, nullptr, nullptr),
            0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(m.first, WEFT_ERR_TIMED_OUT);
  EXPECT_EQ(m.second, 0);
}

TEST(c_event, holds_the_successor_until_it_is_decreased) {
  static std::atomic<weft_task *> holder;
  static std::atomic<int> reader_ran;
  holder = nullptr;
  reader_ran = 0;
  int data = 0;
  const weft_access out = weft_out(&data), in = weft_in(&data);
  ASSERT_EQ(weft_spawn(
                [](void *) {
                  weft_task *self = nullptr;
                  if (weft_task_self(&self) || weft_task_increase_events(2))
                    return 1;
                  holder = self;
                  return 0;
                },
                nullptr, 0, &out, 1, nullptr, nullptr),
            0);
  ASSERT_EQ(weft_spawn(
                [](void *) {
                  reader_ran = 1;
                  return 0;
                },
                nullptr, 0, &in, 1, nullptr, nullptr),
            0);
  ASSERT_TRUE(test::eventually([] { return holder != nullptr; }));
  test::dawdle();
  EXPECT_EQ(reader_ran, 0);
  EXPECT_EQ(weft_task_decrease_events(holder, 3), WEFT_ERR_EVENT_UNDERFLOW);
  EXPECT_EQ(weft_task_decrease_events(holder, 1), 0);
  test::dawdle();
  EXPECT_EQ(reader_ran, 0);
  EXPECT_EQ(weft_task_decrease_events(holder, 1), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_EQ(reader_ran, 1);
}

TEST(c_block, a_task_goes_on_behind_what_unblocks_it) {
  struct order {
    weft_task *blocked = nullptr;
    test::gate known;
    std::atomic<bool> unblocking{false};
    bool too_early = false;
  } o;
  ASSERT_EQ(weft_spawn(
                [](void *arg) {
                  auto *o = static_cast<order *>(arg);
                  (void)weft_task_self(&o->blocked);
                  o->known.open();
                  const int code = weft_task_block();
                  o->too_early = !o->unblocking;
                  return code;
                },
                &o, 0, nullptr, 0, nullptr, nullptr),
            0);
  EXPECT_TRUE(o.known.pass());
  test::dawdle();
  o.unblocking = true;
  EXPECT_EQ(weft_task_unblock(o.blocked), 0);
  EXPECT_EQ(weft_taskwait(nullptr), 0);
  EXPECT_FALSE(o.too_early);
}

TEST(c_block, null_is_refused) {
  EXPECT_EQ(weft_task_self(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_task_unblock(nullptr), WEFT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(weft_task_decrease_events(nullptr, 1), WEFT_ERR_INVALID_ARGUMENT);
}

} // namespace
