// SPDX-License-Identifier: Apache-2.0
// The decisions of loops whose blocks choose their sizes, by table.
#include <weft/detail/loop_blocks.hpp>

#include <gtest/gtest.h>

namespace {

using namespace weft::detail;

TEST(loop_blocks, the_next_block_takes_four_microseconds) {
  struct row {
    std::uint64_t last;
    double ns;
    std::uint64_t left, next;
  };
  constexpr std::uint64_t most = UINT64_MAX;
  for (const row &r : {
           row{1000, 4, 100'000, 1000}, // 4 us
           row{100, 4, 100'000, 200}, // twice the last at most
           row{1000, 4, 2000, 500}, // a quarter of what is left at most
           row{1000, 4, 8, 2}, row{1000, 4, 4, 1}, row{1000, 4, 3, 1}, // one at least
           row{1000, 4, 0, 1},
           row{1000, 1e6, 100'000, 1}, // an iteration that takes longer than a block
           row{1000, 4001, 100'000, 1}, row{1000, 2000, 100'000, 2},
           row{1000, 0, 100'000, 2000}, // a clock that does not move
           row{most, 1e-6, most, 4000000000}, // 4 us of tiny iterations
           row{most / 2 + 1, 0, most, most / 4}, // no overflow
       })
    EXPECT_EQ(next_block(r.last, r.ns, r.left), r.next) << r.last << " " << r.ns << " " << r.left;
}

TEST(loop_blocks, another_time_of_a_block_holds_for_both) {
  EXPECT_EQ(next_block(1'000'000, 4, 10'000'000, 40'000), 10'000u);
  EXPECT_EQ(next_block(1'000'000, 4, 10'000'000, 1), 1u);
  EXPECT_EQ(next_serial_block(1'000'000, 4, 10'000'000, 40'000), 10'000u);
}

TEST(loop_blocks, blocks_of_a_long_shared_loop_are_longer) {
  EXPECT_EQ(shared_block(256'000, 2), 4000) << "a share of 128 us";
  EXPECT_EQ(shared_block(512'000, 2), 8000);
  EXPECT_EQ(shared_block(512'000, 4), 4000) << "by the share, not by the loop";
  EXPECT_EQ(shared_block(1e9, 2), 32'000) << "eight times at most";
  EXPECT_EQ(shared_block(100, 2), 4000) << "once at least";
  EXPECT_EQ(shared_block(0, 64), 4000) << "unknown";
  EXPECT_EQ(shared_block(512'000, 2, 1000), 8000);
  EXPECT_EQ(shared_block(1e9, 2, 1000), 8000);
}

TEST(loop_blocks, a_caller_alone_ends_its_loop_without_small_blocks) {
  EXPECT_EQ(next_serial_block(1000, 4, 900), 900u) << "all that is left";
  EXPECT_EQ(next_serial_block(100, 4, 900), 200u) << "twice the last";
  EXPECT_EQ(next_serial_block(10'000, 4, 900'000), 1000u) << "4 us";
  EXPECT_EQ(next_serial_block(1, 1e9, 5), 1u);
  EXPECT_EQ(next_serial_block(UINT64_MAX, 0, UINT64_MAX), UINT64_MAX / 4);
}

TEST(loop_blocks, a_caller_alone_takes_longer_blocks_of_what_it_knows) {
  EXPECT_EQ(lone_block(false, false), 4000);
  EXPECT_EQ(lone_block(false, true), 4000) << "the iterations may get longer";
  EXPECT_EQ(lone_block(true, false), 10'000) << "as long as what is never shared";
  EXPECT_EQ(lone_block(true, true), 256'000) << "no worker could take a part";
  EXPECT_EQ(lone_block(false, false, 40'000), 40'000) << "as the setting says";
  EXPECT_EQ(lone_block(true, false, 40'000), 40'000);
}

TEST(loop_blocks, a_block_worth_taking_is_an_eighth_of_one) {
  EXPECT_EQ(least_block(5, 1000), 100u);
  EXPECT_EQ(least_block(5, 101), 100u);
  EXPECT_EQ(least_block(5, 100), 100u) << "all that is left";
  EXPECT_EQ(least_block(5, 99), 99u);
  EXPECT_EQ(least_block(5, 1000, 40'000), 1000u);
  EXPECT_EQ(least_block(300, 1000), 1u);
  EXPECT_EQ(least_block(1e9, 1000), 1u);
  EXPECT_EQ(least_block(0, 1000), 1u) << "unknown";
  EXPECT_EQ(least_block(5, 0), 1u);
}

TEST(loop_blocks, every_sequence_of_blocks_covers_the_loop) {
  for (const double ns : {0.0, 1e-6, 0.3, 40.0, 3999.0, 1e7})
    for (const std::uint64_t size : {1ull, 2ull, 5ull, 1000ull, 1'000'000ull}) {
      std::uint64_t done = 0, last = 1, blocks = 0;
      while (done < size) {
        const std::uint64_t next = next_block(last, ns, size - done);
        ASSERT_GE(next, 1u);
        ASSERT_LE(next, size - done);
        done += next;
        last = next;
        ++blocks;
      }
      EXPECT_LE(static_cast<double>(blocks),
                100 + static_cast<double>(size) * std::max(ns, 1.0) / 1000)
          << ns << " " << size;
    }
}

TEST(loop_blocks, a_loop_shorter_than_two_wake_ups_stays_serial) {
  EXPECT_TRUE(stays_serial(39'999, 20'000));
  EXPECT_FALSE(stays_serial(40'000, 20'000));
  EXPECT_TRUE(stays_serial(9999, 1000)) << "too short to be shared, however fast a worker wakes up";
  EXPECT_FALSE(stays_serial(10'000, 1000));
  EXPECT_TRUE(stays_serial(0, 1000));
}

TEST(loop_blocks, participants_grow_as_the_root_of_the_work) {
  struct row {
    double rest;
    unsigned most, n;
  };
  for (const row &r : {row{1000, 8, 1}, row{5000, 8, 2}, row{20'000, 8, 3}, row{45'000, 8, 4},
                       row{1e9, 8, 8}, row{1e9, 1, 1}, row{44'999, 8, 3}})
    EXPECT_EQ(participants_for(r.rest, 5000, r.most), r.n) << r.rest;
}

TEST(loop_blocks, an_iteration_that_costs_more_counts_at_once) {
  EXPECT_EQ(blend(10, 1000), 1000);
  EXPECT_EQ(blend(1000, 10), 505);
  EXPECT_EQ(blend(0, 7), 7);
}

TEST(loop_blocks, a_call_site_forgets_a_preempted_call) {
  EXPECT_EQ(blend_calls(0, 7), 7);
  EXPECT_EQ(blend_calls(100, 500), 200);
  EXPECT_EQ(blend_calls(200, 100), 150);
}

TEST(loop_blocks, a_site_keeps_the_least_time_of_late) {
  EXPECT_EQ(least_of_late(0, 7), 7);
  EXPECT_EQ(least_of_late(16, 12), 12);
  EXPECT_EQ(least_of_late(16, 16.5), 16.5) << "other work";
  EXPECT_EQ(least_of_late(16, 1000), 17) << "other work, or preempted";
}

TEST(loop_blocks, a_shared_call_loses_that_takes_a_tenth_longer) {
  EXPECT_EQ(losses_after(111, 100, 7), 8u);
  EXPECT_EQ(losses_after(110, 100, 7), 7u);
  EXPECT_EQ(losses_after(100, 100, 7), 7u);
  EXPECT_EQ(losses_after(99, 100, 7), 6u);
  EXPECT_EQ(losses_after(99, 100, 0), 0u);
}

TEST(loop_blocks, calls_stay_alone_after_eight_shared_ones_that_lost) {
  const unsigned alone[] = {0, 1, 3, 7, 15, 31, 63, 127, 127};
  unsigned losses = 0;
  for (const unsigned calls : alone) {
    EXPECT_EQ(calls_alone_after(losses++), calls) << losses - 1;
    for (int i = 1; i != 8; ++i)
      EXPECT_EQ(calls_alone_after(losses++), 0u) << losses - 1;
  }
  EXPECT_EQ(calls_alone_after(8 * 100'000), 127u);
}

TEST(loop_blocks, a_shared_call_has_no_more_work_than_all_do_after_a_wake_up) {
  EXPECT_EQ(most_work(4000, 5000, 64), 4000) << "no other worker came";
  EXPECT_EQ(most_work(8000, 5000, 1), 8000);
  EXPECT_EQ(most_work(8000, 5000, 3), 14'000);
}

TEST(loop_blocks, the_time_of_a_wake_up_has_bounds) {
  EXPECT_EQ(blend_wake(5000, 13'000), 6000);
  EXPECT_EQ(blend_wake(k_most_wake_ns, 1e12), k_most_wake_ns);
  EXPECT_EQ(blend_wake(k_least_wake_ns, 0), k_least_wake_ns);
}

} // namespace
