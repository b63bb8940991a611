// SPDX-License-Identifier: Apache-2.0
// The plans of simulated ranks.
#include "net/scale/skeleton.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace net_scale;

TEST(net_scale, all_that_is_sent_is_expected) {
  for (int a = 0; a != k_apps; ++a)
    for (const int ranks : {1, 2, 3, 8}) {
      const plan all({static_cast<app>(a), ranks, false, 0}, {});
      for (int round = 0; round != all.rounds(); ++round)
        for (int rank = 0; rank != ranks; ++rank)
          for (const int to : all.of(rank, round).to) {
            const std::vector<int> from = all.of(to, round).from;
            EXPECT_EQ(std::count(from.begin(), from.end(), rank), 1)
                << k_app_names[a] << " " << ranks << " " << round << " " << rank;
          }
    }
}

TEST(net_scale, one_rank_sends_nothing) {
  for (int a = 0; a != k_apps; ++a)
    EXPECT_TRUE(plan({static_cast<app>(a), 1, false, 0}, {}).of(0, 0).to.empty());
}

TEST(net_scale, the_last_step_of_a_trip_sends_nothing) {
  const plan ring({app::nbody, 4, false, 0}, {});
  EXPECT_EQ(ring.of(1, 0).to, std::vector<int>{2});
  EXPECT_EQ(ring.of(1, 0).from, std::vector<int>{0});
  EXPECT_TRUE(ring.of(1, 3).to.empty());
}

TEST(net_scale, a_single_column_leaves_every_other_round_idle) {
  const plan one({app::gauss_seidel_column, 2, false, 0}, {});
  EXPECT_GT(one.of(0, 0).before, 0);
  EXPECT_EQ(one.of(0, 1).before, 0);
  EXPECT_EQ(one.of(1, 0).before, 0);
  EXPECT_GT(one.of(1, 1).before, 0);
}

TEST(net_scale, strong_problems_have_the_same_work_on_all_numbers_of_ranks) {
  for (const app a : {app::jacobi, app::nbody, app::matmul})
    EXPECT_NEAR(plan({a, 4, false, 0}, {}).serial() / plan({a, 1, false, 0}, {}).serial(), 1, 1e-9)
        << k_app_names[static_cast<int>(a)];
  EXPECT_NEAR(plan({app::jacobi, 4, true, 0}, {}).serial() /
                  plan({app::jacobi, 1, true, 0}, {}).serial(),
              4, 1e-9);
}

TEST(net_scale, priorities_leave_no_chain_over) {
  costs c;
  c.jitter = 0;
  const auto of = [&](app a) { return plan({a, 32, false, 0}, c).of(0, 0).after; };
  // 64 chains of 64 tasks on 31 cores: three chains on some core, or 133 tasks.
  EXPECT_NEAR(of(app::nbody) / of(app::nbody_priorities), 3.0 * 64 / 133, 1e-9);
}

TEST(net_scale, most_tasks_of_a_core) {
  EXPECT_EQ(most_tasks(31, 31), 1);
  EXPECT_EQ(most_tasks(32, 31), 2);
  EXPECT_EQ(most_tasks(1, 31), 1);
}

} // namespace
