// SPDX-License-Identifier: Apache-2.0
// How many chunks of a static_steal loop a member takes at once, by a clock that the test sets.
#include "workshare/static_steal.hpp"

#include <weft/knob.hpp>
#include <weft/weft.hpp>

#include <cstdint>
#include <gtest/gtest.h>

namespace {

std::uint64_t g_now = 0;
std::uint64_t now() noexcept { return g_now; }
using pace = weft_omp::basic_chunk_pace<&now>;

constexpr std::uint32_t k_many = 1'000'000;

/// Takes blocks of chunks that last `ns` each until one is as large as the last one.
std::uint32_t settled(pace &of, std::uint64_t ns) {
  std::uint32_t last = of.next(k_many);
  for (;;) {
    g_now += ns * last;
    const std::uint32_t next = of.next(k_many);
    if (next == last)
      return next;
    last = next;
  }
}

pace begun(bool takes_single_chunks = false) {
  pace made;
  made.begin(takes_single_chunks);
  return made;
}

TEST(chunk_pace, begins_with_one_chunk_and_doubles) {
  pace p = begun();
  EXPECT_EQ(p.next(k_many), 1u);
  for (std::uint32_t block = 2; block <= 16; block *= 2) {
    g_now += block; // a nanosecond or two each
    EXPECT_EQ(p.next(k_many), block);
  }
}

TEST(chunk_pace, takes_as_many_chunks_as_last_four_microseconds) {
  pace p = begun();
  EXPECT_EQ(settled(p, 100), 40u);
  pace slow = begun();
  EXPECT_EQ(settled(slow, 10'000), 1u);
}

TEST(chunk_pace, setting_loop_block_says_how_long_a_block_takes) {
  weft::start();
  weft::tune::set("loop.block", "16us");
  pace p = begun();
  EXPECT_EQ(settled(p, 100), 160u);
  weft::tune::set("loop.block", "4us");
  EXPECT_EQ(settled(p, 100), 40u);
}

TEST(chunk_pace, takes_no_more_than_a_quarter_of_what_is_left) {
  pace p = begun();
  ASSERT_EQ(settled(p, 100), 40u);
  g_now += 4000;
  EXPECT_EQ(p.next(100), 25u);
  g_now += 2500;
  EXPECT_EQ(p.next(8), 2u);
}

TEST(chunk_pace, takes_one_of_few_chunks_and_no_time) {
  pace p = begun();
  ASSERT_EQ(settled(p, 100), 40u);
  g_now += 4000;
  EXPECT_EQ(p.next(7), 1u);
  g_now += 1'000'000'000; // the time of the one chunk says nothing
  EXPECT_EQ(p.next(k_many), 1u);
  g_now += 100;
  EXPECT_EQ(p.next(k_many), 2u);
}

TEST(chunk_pace, a_lost_time_begins_at_one_chunk_and_keeps_the_cost) {
  pace p = begun();
  ASSERT_EQ(settled(p, 1000), 4u);
  p.lose_time();
  g_now += 1'000'000'000;
  EXPECT_EQ(p.next(k_many), 1u);
  g_now += 1000;
  EXPECT_EQ(p.next(k_many), 2u);
  g_now += 2000;
  EXPECT_EQ(p.next(k_many), 4u);
  g_now += 4000;
  EXPECT_EQ(p.next(k_many), 4u);
}

TEST(chunk_pace, a_loop_of_single_chunks_takes_one_each_time) {
  pace p = begun(true);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(p.next(k_many), 1u);
  p.begin(false); // the next loop
  EXPECT_EQ(p.next(k_many), 1u);
  EXPECT_EQ(p.next(k_many), 2u);
}

TEST(chunk_pace, a_loop_forgets_the_cost_of_the_one_before) {
  pace p = begun();
  ASSERT_EQ(settled(p, 10'000), 1u);
  p.begin(false);
  g_now += 1'000'000'000;
  EXPECT_EQ(p.next(k_many), 1u);
  EXPECT_EQ(p.next(k_many), 2u);
}

} // namespace
