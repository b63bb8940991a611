// SPDX-License-Identifier: Apache-2.0
// How the participants of a scan share its pieces.
#include <weft/detail/skeletons.hpp>
#include <weft/group.hpp>
#include <weft/numeric.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <stdexcept>
#include <vector>

namespace {

using weft::detail::scan_front;
using numbers = std::vector<std::uint64_t>;

TEST(scan_front, gives_a_participant_that_stays_alone_all_pieces) {
  scan_front front(5, 3);
  numbers scanned;
  int reduced = 0;
  front.take_part(
      2, [&](std::uint64_t i) { scanned.push_back(i); }, [&](std::uint64_t) { ++reduced; });
  EXPECT_EQ(scanned, (numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(front.scanned(), 5U);
  EXPECT_EQ(reduced, 0);
}

TEST(scan_front, gives_others_pieces_from_the_back) {
  scan_front front(8, 2);
  numbers scanned, reduced;
  const auto reduce = [&](std::uint64_t i) { reduced.push_back(i); };
  front.take_part(
      0,
      [&](std::uint64_t i) {
        scanned.push_back(i);
        if (i == 1) // the other one comes now: of six pieces it takes three, two, one
          front.take_part(1, [&](std::uint64_t) { FAIL() << "there is a scanner"; }, reduce);
      },
      reduce);
  EXPECT_EQ(scanned, (numbers{0, 1}));
  EXPECT_EQ(front.scanned(), 2U);
  EXPECT_EQ(reduced, (numbers{5, 6, 7, 3, 4, 2}));
}

TEST(scan_front, stops_all_at_an_exception) {
  scan_front front(8, 2);
  int later = 0;
  const auto count = [&](std::uint64_t) { ++later; };
  EXPECT_THROW(front.take_part(
                   0,
                   [&](std::uint64_t i) {
                     if (i == 2)
                       throw std::runtime_error("a piece");
                   },
                   count),
               std::runtime_error);
  front.take_part(1, count, count);
  EXPECT_EQ(later, 0);
}

/// Is the call site of a scan in a test.
struct slow_at_first {};

TEST(scans, that_are_shared_learn_what_an_element_takes) {
  using weft::detail::site_of;
  constexpr std::uint64_t k_elements = 1000;
  constexpr float k_slow_ns = 1e6; // so that the scan is shared, while a worker is idle
  std::vector<std::uint64_t> out(k_elements);
  const weft::detail::loop_control control{0, false, weft::exception_policy::first_cancels, 0};
  site_of<slow_at_first>.ns.store(k_slow_ns, std::memory_order_relaxed);
  std::optional<std::uint64_t> carry(0);
  const auto write = [&](std::uint64_t first, std::uint64_t count, std::uint64_t value) {
    for (std::uint64_t i = first; i < first + count; ++i)
      out[i] = ++value;
    return value;
  };
  weft::detail::scan_timed_blocks<slow_at_first, std::uint64_t>(
      control, k_elements, carry,
      [&](std::uint64_t first, std::uint64_t count) { carry = write(first, count, *carry); },
      [](std::uint64_t, std::uint64_t count) { return count; },
      [&](std::uint64_t first, std::uint64_t count, std::optional<std::uint64_t> &&value) {
        write(first, count, *value);
      },
      std::plus<>());
  EXPECT_EQ(out.front(), 1U);
  EXPECT_EQ(out.back(), k_elements);
  EXPECT_LT(site_of<slow_at_first>.ns.load(std::memory_order_relaxed), k_slow_ns);
}

/// Scans 1000 numbers at a site. Returns how many pieces of them were reduced first, as those are that
/// the caller shares.
template <class Tag>
int pieces_reduced() {
  std::atomic<int> reduced{0};
  std::vector<std::uint64_t> out(1000);
  std::optional<std::uint64_t> carry(0);
  const auto write = [&](std::uint64_t first, std::uint64_t count, std::uint64_t value) {
    for (std::uint64_t i = first; i < first + count; ++i)
      out[i] = ++value;
    return value;
  };
  weft::detail::scan_timed_blocks<Tag, std::uint64_t>(
      weft::detail::loop_control(), out.size(), carry,
      [&](std::uint64_t first, std::uint64_t count) { carry = write(first, count, *carry); },
      [&](std::uint64_t, std::uint64_t count) {
        ++reduced;
        return count;
      },
      [&](std::uint64_t first, std::uint64_t count, std::optional<std::uint64_t> &&value) {
        write(first, count, *value);
      },
      std::plus<>());
  EXPECT_EQ(out.back(), out.size());
  return reduced;
}

struct short_scan {};
struct losing_scan {};

TEST(scans, of_less_than_15_us_stay_with_their_caller) {
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  for (int i = 0; i != 20; ++i) {
    weft::detail::site_of<short_scan>.ns = 14.9F;
    EXPECT_EQ(pieces_reduced<short_scan>(), 0);
  }
}

TEST(scans, stay_with_their_caller_after_a_shared_one_that_took_longer) {
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  weft::detail::loop_site &site = weft::detail::site_of<losing_scan>;
  for (int i = 0; i != 20; ++i) {
    site.ns = 1e6F; // so that the scan is shared, while a worker is idle
    site.alone = 1;
    EXPECT_EQ(pieces_reduced<losing_scan>(), 0);
    EXPECT_EQ(site.alone, 0);
  }
}

/// Is the call site of a shared call in a test.
struct shared_site {};
struct paying_site {};

TEST(shared_calls, that_took_longer_leave_the_next_ones_alone) {
  weft::detail::loop_site &site = weft::detail::site_of<paying_site>;
  const auto left_alone = [&](float least_ns) {
    site.least_ns = least_ns;
    { const weft::detail::shared_call timed(site, 1000); }
    int calls = 0;
    while (weft::detail::is_left_alone(site))
      ++calls;
    return calls;
  };
  if (weft::detail::blocks_ignore_time()) {
    EXPECT_EQ(left_alone(1e-6F), 0) << "blocks depend on no clock";
    return;
  }
  EXPECT_EQ(left_alone(0), 1) << "to learn what a call takes";
  const auto lose = [&] { // as often as it takes until calls stay alone
    for (int i = 1; i != 8; ++i)
      EXPECT_EQ(left_alone(1e-6F), 0) << site.losses;
    return left_alone(1e-6F);
  };
  EXPECT_EQ(lose(), 1);
  EXPECT_EQ(lose(), 3);
  for (int gains = 16; gains != 0; --gains)
    EXPECT_EQ(left_alone(1e9F), 0) << "1000 elements did not take 1000 seconds";
  EXPECT_EQ(lose(), 1);
  EXPECT_EQ(lose(), 3);
  for (const int calls : {7, 15, 31, 63, 127, 127, 127, 127, 127})
    EXPECT_EQ(lose(), calls);
  for (int gains = 80; gains != 0; --gains)
    left_alone(1e9F);
  EXPECT_EQ(site.losses, 0) << "as many gains as the most losses";
}

TEST(pays, not_at_a_site_that_is_left_alone) {
  weft::detail::loop_site site;
  weft::detail::loop_control control;
  site.alone = 1;
  EXPECT_FALSE(weft::detail::pays(control, site, 1e12));
  EXPECT_EQ(site.alone, 0);
  site.alone = 1;
  control.grain = 1;
  EXPECT_TRUE(weft::detail::pays(control, site, 1)) << "the program asks for it";
  EXPECT_EQ(site.alone, 1);
}

TEST(shared_calls, lower_what_a_site_remembers_and_never_raise_it) {
  std::atomic<float> &ns = weft::detail::site_of<shared_site>.ns;
  ns.store(1e9, std::memory_order_relaxed);
  { const weft::detail::shared_call timed(weft::detail::site_of<shared_site>, 1000); }
  EXPECT_LT(ns.load(std::memory_order_relaxed), 1e9F) << "1000 elements did not take 1000 seconds";
  ns.store(1e-5F, std::memory_order_relaxed);
  { const weft::detail::shared_call timed(weft::detail::site_of<shared_site>, 1); }
  EXPECT_EQ(ns.load(std::memory_order_relaxed), 1e-5F);
  { const weft::detail::shared_call timed(weft::detail::site_of<shared_site>, 0); }
  EXPECT_EQ(ns.load(std::memory_order_relaxed), 1e-5F) << "of no element nothing is known";
}

TEST(shared_calls, that_leave_work_undone_tell_nothing) {
  std::atomic<float> &ns = weft::detail::site_of<shared_site>.ns;
  ns.store(1e9, std::memory_order_relaxed);
  try {
    const weft::detail::shared_call timed(weft::detail::site_of<shared_site>, 1000);
    throw std::runtime_error("an element");
  } catch (const std::runtime_error &) {
  }
  EXPECT_EQ(ns.load(std::memory_order_relaxed), 1e9F);
  {
    weft::detail::shared_call timed(weft::detail::site_of<shared_site>, 1000);
    timed.ends_early();
  }
  EXPECT_EQ(ns.load(std::memory_order_relaxed), 1e9F);
}

TEST(scans, end_at_the_first_exception_whatever_the_policy) {
  namespace ex = weft::execution;
  std::vector<int> v(20'000, 1), out(v.size());
  const auto op = [](int a, int b) {
    if (a == 5'000)
      throw std::runtime_error("an operation");
    return a + b;
  };
  const auto all = ex::par.with(ex::grain(100)).with(weft::exception_policy::collect_all);
  EXPECT_THROW(weft::inclusive_scan(all, v, out.begin(), op), weft::exception_list);
}

} // namespace
