// SPDX-License-Identifier: Apache-2.0
// How long the watcher naps, by made-up costs at made-up times.
#include "monitor/pace.hpp"

#include <gtest/gtest.h>

namespace {

using namespace weft::rt;

constexpr std::uint64_t k_us = 1000, k_ms = 1000 * k_us;

struct pace_test : testing::Test {
  pace p;
  std::uint64_t now = 1000 * k_ms, spent = 0, nap = 0;
  stall_detector::assessment quiet, stuck;
  pace_test() { stuck.blocked = 2; }

  /// A look that costs so much, after the nap that the last one has advised.
  std::uint64_t look(const stall_detector::assessment &o, std::uint64_t cost) {
    now += nap;
    spent += cost;
    return nap = p.next(o, now, spent);
  }
};

TEST_F(pace_test, naps_grow_and_a_doubt_makes_them_short_again) {
  for (std::uint64_t expected :
       {500 * k_us, k_ms, 2 * k_ms, 4 * k_ms, 8 * k_ms, 10 * k_ms, 10 * k_ms})
    EXPECT_EQ(look(quiet, 5 * k_us), expected);
  stall_detector::assessment doubt;
  doubt.look_soon = true;
  EXPECT_EQ(look(doubt, 5 * k_us), 500 * k_us);
  EXPECT_EQ(look(quiet, 5 * k_us), k_ms);
  p.begin_anew();
  EXPECT_EQ(look(quiet, 5 * k_us), 500 * k_us);
}

TEST_F(pace_test, whoever_can_be_asked_is_looked_at_twice_a_slice) {
  stall_detector::assessment slicing;
  slicing.slicing = true;
  for (int i = 0; i != 1000; ++i)
    look(slicing, 100 * k_us);
  EXPECT_EQ(nap, k_slice_ns / 2);
}

TEST_F(pace_test, looking_for_nothing_takes_a_two_thousandth_of_a_cpu) {
  for (const std::uint64_t cost : {5 * k_us, 12 * k_us, 40 * k_us}) {
    for (int i = 0; i != 300; ++i)
      look(quiet, cost);
    const std::uint64_t from = now, before = spent;
    for (int i = 0; i != 300; ++i)
      look(quiet, cost);
    EXPECT_LE((spent - before) * 1900, now - from) << cost;
  }
  EXPECT_LE(nap, 100 * k_ms);
}

// A burst costs milliseconds; the next one is to be noticed as soon as the first was.
TEST_F(pace_test, what_it_costs_to_see_to_those_that_are_stuck_makes_no_later_nap_longer) {
  for (int i = 0; i != 100; ++i)
    look(stuck, 200 * k_us);
  for (int i = 0; i != 20; ++i)
    EXPECT_LE(look(quiet, 5 * k_us), 10 * k_ms) << i;
}

TEST_F(pace_test, nor_does_one_dear_look_make_many_naps_longer) {
  EXPECT_LE(look(quiet, 50 * k_ms), 100 * k_ms);
  look(quiet, 5 * k_us);
  EXPECT_LE(look(quiet, 5 * k_us), 10 * k_ms);
}

} // namespace
