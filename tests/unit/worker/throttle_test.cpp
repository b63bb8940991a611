// SPDX-License-Identifier: Apache-2.0
// The marks of the throttle: which creators they hold back, and where they move.
#include "base/intrusive_list.hpp"
#include "worker/throttle/throttle_core.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace {

using namespace weft::rt;

constexpr std::int64_t k_kib = 1 << 10;

struct producer {
  producer *next = nullptr;
  int times_released = 0;
};

struct world {
  using item = producer;
  using queue = intrusive_queue<producer>;
  std::int64_t *live;
  [[nodiscard]] std::int64_t level() const { return *live; }
  static void wake_one() {}
  static void make_ready(producer &p) { ++p.times_released; }
};

struct marks : throttle_core<real_atomics, world> {
  explicit marks(std::int64_t &live,
                 const throttle_marks &at = {.limit = 16 << 20, .lowest = 512 * k_kib})
      : throttle_core({&live}, at), now(live) {}
  using throttle_core::is_alarming;
  using throttle_core::is_beyond;
  std::int64_t &now;
  void become(std::int64_t live) { level_changed(now = live); }
  void hold_back(producer &p) {
    raise_limit(now);
    hold(p);
  }
};

TEST(throttle_marks, new_limits_let_the_held_go_on_and_hold_again) {
  std::int64_t live = 0;
  marks m(live);
  producer first;
  m.become(600 * k_kib);
  m.hold_back(first);
  m.set_limits({.limit = 8 << 20, .lowest = 64 * k_kib});
  EXPECT_EQ(first.times_released, 1) << "it may be held again";
  EXPECT_FALSE(m.holds_any());
  EXPECT_TRUE(m.over()) << "the next creator checks";
  EXPECT_TRUE(m.is_alarming(65 * k_kib));
  EXPECT_FALSE(m.is_alarming(64 * k_kib));
  EXPECT_TRUE(m.is_beyond((8 << 20) + 1));
  EXPECT_FALSE(m.is_beyond(8 << 20));
}

TEST(throttle_marks, off_holds_none_and_on_again_holds) {
  std::int64_t live = 0;
  marks m(live);
  producer first, second;
  m.become(600 * k_kib);
  m.hold_back(first);
  m.set_limits({});
  EXPECT_EQ(first.times_released, 1);
  EXPECT_FALSE(m.over());
  m.become(std::int64_t{1} << 40);
  EXPECT_FALSE(m.over());
  EXPECT_FALSE(m.is_alarming(std::int64_t{1} << 40));
  EXPECT_FALSE(m.is_beyond(std::int64_t{1} << 40));
  m.hold_back(second); // it was on its way when the throttle was turned off
  EXPECT_EQ(second.times_released, 1);
  m.set_limits({.limit = 1 << 20, .lowest = 1 << 20});
  EXPECT_TRUE(m.over());
  EXPECT_TRUE(m.is_beyond(std::int64_t{1} << 40));
}

TEST(throttle_marks, who_is_held_leaves_room_for_others) {
  std::int64_t live = 0;
  marks m(live);
  producer first, second;
  m.become(513 * k_kib);
  EXPECT_TRUE(m.over());
  m.hold_back(first);
  EXPECT_FALSE(m.over()) << "others make tasks until there are more of them";
  EXPECT_TRUE(m.holds_any());
  m.become(529 * k_kib);
  EXPECT_FALSE(m.over());
  m.become(529 * k_kib + 1);
  EXPECT_TRUE(m.over());
  m.hold_back(second);
  EXPECT_FALSE(m.over());
  EXPECT_EQ(first.times_released + second.times_released, 0);
  m.become(384 * k_kib);
  EXPECT_EQ(first.times_released, 1);
  EXPECT_EQ(second.times_released, 1);
  EXPECT_FALSE(m.holds_any());
  m.become(513 * k_kib);
  EXPECT_TRUE(m.over()) << "the marks are where they were";
}

TEST(throttle_marks, there_is_room_beyond_the_limit_too) {
  std::int64_t live = 0;
  marks m(live);
  producer p;
  m.become((16 << 20) + 1);
  EXPECT_TRUE(m.is_beyond(live));
  m.hold_back(p);
  EXPECT_FALSE(m.is_beyond(live + 16 * k_kib));
  EXPECT_TRUE(m.is_beyond(live + 16 * k_kib + 1));
  EXPECT_FALSE(m.is_alarming(live + 16 * k_kib));
  EXPECT_TRUE(m.is_alarming(live + 16 * k_kib + 1));
  m.become(384 * k_kib);
  EXPECT_FALSE(m.is_beyond(16 << 20));
  EXPECT_TRUE(m.is_beyond((16 << 20) + 1)) << "the limit is where it was";
}

TEST(throttle_marks, below_the_limit_room_does_not_raise_it) {
  std::int64_t live = 0;
  marks m(live);
  producer p;
  m.become(600 * k_kib);
  m.hold_back(p);
  EXPECT_FALSE(m.is_beyond(16 << 20));
  EXPECT_TRUE(m.is_beyond((16 << 20) + 1));
}

TEST(throttle_marks, the_alarm_follows_memory_down) {
  std::int64_t live = 0;
  marks m(live);
  producer p;
  m.become(4096 * k_kib);
  m.hold_back(p);
  m.become(4000 * k_kib);
  EXPECT_TRUE(m.is_alarming(4112 * k_kib + 1));
  EXPECT_FALSE(m.is_alarming(4112 * k_kib)) << "by a quarter of the lowest mark, or more";
  m.become(2000 * k_kib);
  EXPECT_FALSE(m.is_alarming(2128 * k_kib));
  EXPECT_TRUE(m.is_alarming(2128 * k_kib + 1));
  m.become(385 * k_kib);
  EXPECT_FALSE(m.is_alarming(513 * k_kib));
  EXPECT_TRUE(m.is_alarming(513 * k_kib + 1));
  EXPECT_EQ(p.times_released, 0);
  m.become(384 * k_kib);
  EXPECT_EQ(p.times_released, 1);
  EXPECT_FALSE(m.is_alarming(512 * k_kib));
  EXPECT_TRUE(m.is_alarming(512 * k_kib + 1));
}

TEST(throttle_marks, without_a_limit_nobody_is_held) {
  std::int64_t live = 0;
  marks m(live, {});
  m.become(std::int64_t{1} << 40);
  EXPECT_FALSE(m.over());
}

TEST(throttle_marks, the_margin_is_the_policys) {
  std::int64_t live = 0;
  marks m(live, {.limit = 100, .lowest = 100, .margin = 10});
  producer first, second;
  m.become(101);
  m.hold_back(first);
  EXPECT_FALSE(m.is_beyond(111));
  EXPECT_TRUE(m.is_beyond(112));
  m.set_limits({.limit = 100, .lowest = 100, .margin = 20});
  m.hold_back(second);
  EXPECT_FALSE(m.is_beyond(121));
  EXPECT_TRUE(m.is_beyond(122));
}

TEST(throttle_marks, each_creator_checks_where_the_policy_asks_for_it) {
  std::int64_t live = 0;
  marks m(live, {.limit = 100, .lowest = 100, .margin = 10, .checks_each_spawn = true});
  producer first;
  EXPECT_TRUE(m.over()) << "from the first spawn on";
  m.become(1);
  EXPECT_TRUE(m.over());
  m.become(101);
  m.hold_back(first);
  EXPECT_TRUE(m.over()) << "also where there is room";
  m.set_limits({.limit = 100, .lowest = 100});
  m.become(1);
  EXPECT_FALSE(m.over());
  m.set_limits({.limit = 100, .lowest = 100, .checks_each_spawn = true});
  m.become(1);
  EXPECT_TRUE(m.over());
}

} // namespace
