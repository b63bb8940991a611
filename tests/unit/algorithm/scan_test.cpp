// SPDX-License-Identifier: Apache-2.0
// How the participants of a scan share its pieces.
#include <weft/detail/skeletons.hpp>
#include <weft/group.hpp>
#include <weft/numeric.hpp>

#include <cstdint>
#include <gtest/gtest.h>
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
