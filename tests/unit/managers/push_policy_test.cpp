// SPDX-License-Identifier: Apache-2.0
#include "managers/push_policy.hpp"

#include <gtest/gtest.h>

namespace {

using namespace weft::rt;

TEST(sibling_policy, new_tasks_of_one_parent_are_queued_until_none_is_left) {
  sibling_policy p;
  int one = 0, other = 0;
  EXPECT_TRUE(p.allows(&one));
  p.pushed();
  EXPECT_TRUE(p.allows(&one));
  EXPECT_FALSE(p.allows(&other)) << "it may work on its own graph meanwhile";
  p.applied();
  EXPECT_TRUE(p.allows(&other));
}

TEST(end_policy, an_end_is_posted_only_by_a_worker_with_other_tasks) {
  end_policy p;
  EXPECT_FALSE(p.allows(0, 0));
  EXPECT_FALSE(p.allows(0, 1));
  EXPECT_TRUE(p.allows(0, 2));
}

TEST(end_policy, above_the_upper_bound_it_waits_for_the_lower_one) {
  end_policy p;
  EXPECT_TRUE(p.allows(5, 9));
  EXPECT_FALSE(p.allows(6, 9));
  EXPECT_FALSE(p.allows(5, 9)) << "below the upper bound, above the lower";
  EXPECT_FALSE(p.allows(4, 9));
  EXPECT_TRUE(p.allows(3, 9));
}

TEST(end_policy, bounds_double_when_the_manager_was_there_at_the_next_end) {
  end_policy p;
  EXPECT_FALSE(p.allows(6, 9));
  EXPECT_TRUE(p.allows(3, 9));
  EXPECT_EQ(p.lower(), 6u);
  EXPECT_EQ(p.upper(), 10u);
}

TEST(end_policy, bounds_halve_when_it_came_later_but_never_to_nothing) {
  end_policy p;
  for (int i = 0; i != 5; ++i) {
    EXPECT_FALSE(p.allows(100, 9));
    EXPECT_FALSE(p.allows(100, 9));
    EXPECT_TRUE(p.allows(0, 9));
    EXPECT_EQ(p.lower(), 1u);
    EXPECT_EQ(p.upper(), 2u);
  }
}

TEST(end_policy, bounds_never_exceed_the_queue) {
  end_policy p;
  for (int i = 0; i != 20; ++i) {
    EXPECT_FALSE(p.allows(p.upper() + 1, 9));
    EXPECT_TRUE(p.allows(0, 9));
  }
  EXPECT_LE(p.upper(), 512u);
}

} // namespace
