// SPDX-License-Identifier: Apache-2.0
// Which work is small, asked in model time: recorded costs, costs that lie, clocks that jump or stand
// still.
#include <weft/detail/work_estimate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>

namespace {

using namespace weft::detail;

constexpr std::uint64_t k_small = k_small_work_ns;

TEST(work_estimate, nothing_fits_before_anything_is_known) {
  const work_estimate e;
  EXPECT_FALSE(e.fits(0));
  EXPECT_FALSE(e.fits(1));
  EXPECT_FALSE(e.fits(UINT64_MAX));
  EXPECT_EQ(e.largest(), 0u);
  EXPECT_EQ(e.unit_ns(), 0);
}

TEST(work_estimate, work_up_to_1_8_times_the_largest_small_work_fits) {
  struct row {
    std::uint64_t known, fits, not_fits;
  };
  for (const row &r : {row{1, 1, 2}, row{2, 3, 4}, row{5, 9, 10}, row{9, 16, 17}, row{10, 18, 19},
                       row{1000, 1800, 1801}, row{UINT64_MAX / 2, UINT64_MAX / 10 * 8, UINT64_MAX}}) {
    work_estimate e;
    e.note(r.known, k_small);
    EXPECT_TRUE(e.fits(r.fits)) << r.known;
    EXPECT_FALSE(e.fits(r.not_fits)) << r.known;
    EXPECT_FALSE(e.fits(0)) << "unknown";
  }
  work_estimate e;
  e.note(UINT64_MAX / 2 + 1, 1);
  EXPECT_TRUE(e.fits(UINT64_MAX)) << "no overflow";
}

TEST(work_estimate, only_small_work_is_kept) {
  work_estimate e;
  e.note(10, k_small + 1);
  EXPECT_EQ(e.largest(), 0u);
  e.note(10, k_small);
  EXPECT_EQ(e.largest(), 10u);
  e.note(5, 1);
  EXPECT_EQ(e.largest(), 10u) << "the largest";
  e.note(20, k_small + 1);
  EXPECT_EQ(e.largest(), 10u);
  e.note(0, 1);
  EXPECT_EQ(e.largest(), 10u) << "an unknown cost";
}

TEST(work_estimate, long_work_in_place_halves_it) {
  work_estimate e;
  e.note(100, 1000);
  e.note_in_place(100, k_long_work_ns);
  EXPECT_EQ(e.largest(), 100u) << "not small, and not long";
  e.note_in_place(100, k_long_work_ns + 1);
  EXPECT_EQ(e.largest(), 50u);
  e.note_in_place(60, k_small);
  EXPECT_EQ(e.largest(), 60u) << "and small work raises it again";
  e.note_too_long();
  EXPECT_EQ(e.largest(), 30u);
  for (int i = 0; i < 6; ++i)
    e.note_too_long();
  EXPECT_EQ(e.largest(), 0u);
}

TEST(work_estimate, a_unit_is_the_mean_of_what_changes) {
  work_estimate e;
  e.note(100, 1000);
  EXPECT_EQ(e.unit_ns(), 10);
  e.note(100, 1100);
  EXPECT_EQ(e.unit_ns(), 10) << "an eighth is no change";
  e.note(100, 2000);
  EXPECT_EQ(e.unit_ns(), 15);
  e.note(100, 500);
  EXPECT_EQ(e.unit_ns(), 10);
}

TEST(work_estimate, looks_become_rare) {
  std::uint32_t calls = k_first_look, looks = 1;
  for (; calls < 100'000; calls = next_look(calls))
    ++looks;
  EXPECT_LE(looks, 9 + 100'000 / k_most_calls_unseen);
  EXPECT_EQ(next_look(2), 4u);
  EXPECT_EQ(next_look(k_most_calls_unseen), 2 * k_most_calls_unseen);
  EXPECT_EQ(next_look(10 * k_most_calls_unseen), 11 * k_most_calls_unseen);
}

/// Runs a recursion in model time, as in_place.cpp does: nodes of a cost, two branches each, that take
/// a time of their own.
struct model {
  explicit model(double of_first = 0.5) : part(of_first) {}
  // What a node of this size says of its cost. It takes 10 ns alone.
  std::function<std::uint64_t(std::uint64_t)> cost = [](std::uint64_t size) { return size; };
  std::function<std::uint64_t(std::uint64_t)> clock = [](std::uint64_t now) { return now; };
  double part; // of the first branch
  work_estimate estimate{};
  std::uint64_t now = 1, apart = 0, in_place = 0, longest = 0;

  void node(std::uint64_t size) {
    if (scope.open) {
      ++in_place;
      if (++scope.calls == scope.look_at) {
        if (clock(now) - clock(scope.began) <= k_long_work_ns) {
          scope.look_at = next_look(scope.calls);
        } else {
          estimate.note_too_long();
          scope.open = false;
        }
      }
      if (scope.open)
        return work(size);
      --in_place;
    }
    const bool fits = estimate.fits(cost(size));
    const struct scope outer = scope;
    const std::uint64_t began = now;
    ++(fits ? in_place : apart);
    if (fits)
      scope = {true, 1, k_first_look, now};
    work(size);
    const bool too_long = fits && !scope.open;
    scope = outer;
    if (fits)
      longest = std::max(longest, now - began);
    const std::uint64_t from = clock(began), to = clock(now), took = to > from ? to - from : 0;
    if (too_long)
      return;
    if (fits)
      estimate.note_in_place(cost(size), took);
    else
      estimate.note(cost(size), took);
  }
  void work(std::uint64_t size) {
    now += 10;
    if (size < 2)
      return;
    const auto first = std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(static_cast<double>(size) * part), 1, size - 1);
    node(first);
    node(size - first);
  }
  struct scope {
    bool open = false;
    std::uint32_t calls = 0, look_at = 0;
    std::uint64_t began = 0;
  } scope{};
};

TEST(work_estimate_in_model_time, a_recursion_finds_its_cut_off) {
  for (const double part : {0.5, 0.38, 0.1}) {
    model m(part);
    constexpr std::uint64_t size = 1 << 18;
    m.node(size); // 20 ns a unit: 262 pieces of 20 us
    EXPECT_GT(m.in_place, 2 * size * 95 / 100) << part;
    EXPECT_LT(m.apart, 2 * size / 50) << part;
    EXPECT_LE(m.longest, 2 * k_long_work_ns) << part;
    const double small = static_cast<double>(k_small) / 20;
    EXPECT_GT(static_cast<double>(m.estimate.largest()), small / 2) << part;
    EXPECT_LE(static_cast<double>(m.estimate.largest()), 1.8 * small) << part;
  }
}

TEST(work_estimate_in_model_time, a_linear_recursion_has_its_leaves_in_place) {
  model m(0.0001); // one branch is a leaf, and the other one nearly all
  m.node(20'000);
  EXPECT_GE(m.in_place, 20'000u);
  EXPECT_LE(m.longest, 2 * k_long_work_ns);
}

TEST(work_estimate_in_model_time, costs_that_lie_cost_bounded_time) {
  // The same cost for all, the depth in the place of the work, and what has nothing to do with it.
  for (int which = 0; which < 3; ++which) {
    model m;
    std::mt19937_64 chance(7);
    if (which == 0)
      m.cost = [](std::uint64_t) { return 5; };
    else if (which == 1)
      m.cost = [](std::uint64_t size) { return 1 + static_cast<std::uint64_t>(std::log2(size)); };
    else
      m.cost = [&](std::uint64_t) { return 1 + chance() % 1000; };
    m.node(1 << 16);
    EXPECT_LE(m.longest, std::uint64_t{1 << 17} * 10) << which << ": no more than all";
    EXPECT_GT(m.in_place + m.apart, 1u << 16) << which;
    if (which != 1)
      continue;
    // All of it would take 1.3 ms. A piece is over after a while, and the next one is smaller.
    EXPECT_GT(m.apart, 2u);
  }
}

TEST(work_estimate_in_model_time, pruned_calls_do_not_poison_it) {
  model m;
  m.estimate.note(1 << 20, 50); // a call that returned at once
  m.node(1 << 18);
  EXPECT_LT(m.estimate.largest(), 1u << 12) << "halved until pieces are small";
  EXPECT_GT(m.apart, 1u << 4) << "and the rest is shared";
  EXPECT_GT(m.in_place, std::uint64_t{1} << 18);
}

TEST(work_estimate_in_model_time, a_clock_that_stands_still_leaves_all_apart) {
  model m;
  m.clock = [](std::uint64_t) { return 7; };
  m.node(1 << 10);
  EXPECT_EQ(m.in_place, 0u);
  EXPECT_EQ(m.estimate.largest(), 0u);
}

TEST(work_estimate_in_model_time, a_clock_that_jumps_is_forgotten) {
  model m;
  m.clock = [](std::uint64_t now) {
    const std::uint64_t hour = 3'600'000'000'000;
    return now % 100'000 < 50'000 ? now + hour : now; // forward and back, every 50 us
  };
  m.node(1 << 18);
  EXPECT_GT(m.in_place, std::uint64_t{1} << 18) << "most of it is in place all the same";
  m.clock = [](std::uint64_t now) { return now; };
  m.in_place = m.apart = 0;
  m.node(1 << 18);
  EXPECT_LT(m.apart, std::uint64_t{1} << 13);
}

} // namespace
