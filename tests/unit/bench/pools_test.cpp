// SPDX-License-Identifier: Apache-2.0
// How `weft-bench pools` sums up times.
#include <driver/pools/pools.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using namespace bench::pools;

TEST(bench_pools, sums_up_times_as_quantiles) {
  const distribution d = distribution_of({5, 1, 4, 2, 3, 6, 7, 8, 9, 10, 11}, 4);
  EXPECT_EQ(d.half, 6);
  EXPECT_EQ(d.nine_tenths, 10);
  EXPECT_EQ(d.most, 11);
  EXPECT_DOUBLE_EQ(d.within, 4.0 / 11);
  EXPECT_EQ(distribution_of({7}, 7).within, 1);
  EXPECT_THROW(static_cast<void>(distribution_of({}, 1)), std::runtime_error);
}

TEST(bench_pools, asks_for_a_faster_return_where_the_library_sees_the_wait) {
  ASSERT_EQ(ways().size(), 5u);
  for (const way &w : ways())
    EXPECT_EQ(w.return_ns, w.name == "read" || w.name == "mutex" ? 10e6 : 1e6) << w.name;
}

TEST(bench_pools, reads_its_options) {
  const options o = parse_options({"--runs", "3", "--tasks", "10", "--reactions", "7", "--times"});
  EXPECT_EQ(o.runs, 3);
  EXPECT_EQ(o.tasks, 10);
  EXPECT_EQ(o.reactions, 7);
  EXPECT_FALSE(o.costs);
  EXPECT_TRUE(o.times);
  EXPECT_FALSE(parse_options({"--costs"}).times);
}

TEST(bench_pools, refuses_what_it_does_not_know) {
  for (const std::vector<std::string> &words : {std::vector<std::string>{"--run", "3"},
                                                {"--runs"},
                                                {"--runs", "0"},
                                                {"--tasks", "x"},
                                                {"--times", "--costs"}})
    EXPECT_THROW(static_cast<void>(parse_options(words)), std::runtime_error) << words[0];
}

} // namespace
