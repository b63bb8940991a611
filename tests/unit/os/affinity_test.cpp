// SPDX-License-Identifier: Apache-2.0
#include "os/affinity.hpp"

#include <algorithm>
#include <cerrno>
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

namespace {

using namespace weft::rt;
using cpus = std::vector<int>;

TEST(affinity, of_a_thread_is_what_the_kernel_says) {
  const auto mine = current_affinity();
  ASSERT_FALSE(mine.empty());
  EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
  EXPECT_NE(std::find(mine.begin(), mine.end(), sched_getcpu()), mine.end());
}

TEST(affinity, a_bound_thread_stays_on_its_cpu) {
  for (const int cpu : current_affinity())
    std::thread([&] {
      EXPECT_EQ(bind_this_thread(cpu), 0);
      EXPECT_EQ(current_affinity(), cpus{cpu});
      EXPECT_EQ(sched_getcpu(), cpu);
    }).join();
}

TEST(affinity, a_thread_can_be_given_back_its_whole_mask) {
  const auto before = current_affinity();
  std::thread([&] {
    EXPECT_EQ(bind_this_thread(before.back()), 0);
    EXPECT_EQ(bind_this_thread(before), 0);
    EXPECT_EQ(current_affinity(), before);
  }).join();
}

TEST(affinity, a_cpu_that_does_not_exist_is_refused_and_nothing_changes) {
  const auto before = current_affinity();
  EXPECT_EQ(bind_this_thread(100000), EINVAL);
  EXPECT_EQ(bind_this_thread(1 << 30), EINVAL);
  EXPECT_EQ(bind_this_thread(-1), EINVAL);
  EXPECT_EQ(bind_this_thread(cpus{}), EINVAL);
  EXPECT_EQ(current_affinity(), before);
}

TEST(cpu_list, of_ranges_and_numbers_is_read_in_order) {
  EXPECT_EQ(parse_cpu_list("0-3,8,10-11\n"), (cpus{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_cpu_list("4,0-1,1"), (cpus{0, 1, 4}));
  EXPECT_EQ(parse_cpu_list("2000"), (cpus{2000}));
}

TEST(cpu_list, that_is_empty_names_none) {
  EXPECT_EQ(parse_cpu_list(""), cpus{});
  EXPECT_EQ(parse_cpu_list("\n"), cpus{});
}

TEST(cpu_list, that_is_malformed_is_refused) {
  for (const char *text :
       {"x", "1-", "-1", "3-1", "1,,2", "1,", ",1", "1 2", "0-99999999999", "0-300000"})
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
}

} // namespace
