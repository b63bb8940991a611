// SPDX-License-Identifier: Apache-2.0
// The marks of the throttle: which creators they hold back, and where they move.
#include "base/intrusive_list.hpp"
#include "worker/throttle_core.hpp"

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
  [[nodiscard]] std::int64_t live_bytes() const { return *live; }
  static void wake_one() {}
  static void make_ready(producer &p) { ++p.times_released; }
};

struct marks : throttle_core<real_atomics, world> {
  explicit marks(std::int64_t &live, std::int64_t limit = 16 << 20,
                 std::int64_t lowest = 512 * k_kib)
      : throttle_core({&live}, limit, lowest), now(live) {}
  using throttle_core::is_alarming;
  using throttle_core::is_beyond;
  std::int64_t &now;
  void become(std::int64_t live) { live_bytes_changed(now = live); }
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
  m.set_limits(8 << 20, 64 * k_kib);
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
  m.set_limits(0, 0);
  EXPECT_EQ(first.times_released, 1);
  EXPECT_FALSE(m.over());
  m.become(std::int64_t{1} << 40);
  EXPECT_FALSE(m.over());
  EXPECT_FALSE(m.is_alarming(std::int64_t{1} << 40));
  EXPECT_FALSE(m.is_beyond(std::int64_t{1} << 40));
  m.hold_back(second); // it was on its way when the throttle was turned off
  EXPECT_EQ(second.times_released, 1);
  m.set_limits(1 << 20, 1 << 20);
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

TEST(throttle_marks, a_limit_of_zero_holds_nobody) {
  std::int64_t live = 0;
  marks m(live, 0, 0);
  m.become(std::int64_t{1} << 40);
  EXPECT_FALSE(m.over());
}

} // namespace
