// SPDX-License-Identifier: Apache-2.0
// Iteration spaces at the ends of their types.
#include <weft/weft.hpp>

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace {

template <class Index>
std::vector<Index> indices(const weft::range<Index> &r) {
  return {r.begin(), r.end()};
}

TEST(range, counts_up_and_down) {
  EXPECT_EQ(indices(weft::range(3)), (std::vector{0, 1, 2}));
  EXPECT_EQ(indices(weft::range(2, 9, 3)), (std::vector{2, 5, 8}));
  EXPECT_EQ(indices(weft::range(2, 8, 3)), (std::vector{2, 5}));
  EXPECT_EQ(indices(weft::range(3, -2, -2)), (std::vector{3, 1, -1}));
  EXPECT_EQ(indices(weft::range(5u, 1u, -2)), (std::vector{5u, 3u}));
}

TEST(range, is_empty_when_the_limit_lies_the_other_way) {
  EXPECT_TRUE(weft::range(0).empty());
  EXPECT_TRUE(weft::range(-1).empty());
  EXPECT_TRUE(weft::range(5, 5).empty());
  EXPECT_TRUE(weft::range(5, 5, -1).empty());
  EXPECT_TRUE(weft::range(0, 5, -1).empty());
  EXPECT_TRUE(weft::range(5, 0).empty());
  EXPECT_EQ(indices(weft::range(5, 0)), std::vector<int>{});
}

TEST(range, reaches_the_ends_of_its_type) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min(),
                 most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(weft::range(least, most).size(), UINT64_MAX);
  EXPECT_EQ(weft::range(most, least, -1).size(), UINT64_MAX);
  EXPECT_EQ(indices(weft::range(least, most, most)),
            (std::vector{least, std::int64_t{-1}, most - 1}));
  EXPECT_EQ(indices(weft::range(most, least, least)), (std::vector{most, std::int64_t{-1}}));
  EXPECT_EQ(weft::range(UINT64_MAX).size(), UINT64_MAX);
  EXPECT_EQ(indices(weft::range<std::int8_t>(100, 127, 13)),
            (std::vector<std::int8_t>{100, 113, 126}));
  EXPECT_EQ(indices(weft::range<std::int8_t>(-100, -128, -13)),
            (std::vector<std::int8_t>{-100, -113, -126}));
  EXPECT_EQ(indices(weft::range<std::uint8_t>(250, 255, 200)), (std::vector<std::uint8_t>{250}));
}

TEST(range, has_parts_that_are_ranges) {
  const weft::range whole(10, 0, -3); // 10 7 4 1
  EXPECT_EQ(indices(whole.part(1, 2)), (std::vector{7, 4}));
  EXPECT_EQ(whole.part(1, 2).limit(), 1);
  EXPECT_EQ(indices(whole.part(3, 1)), (std::vector{1}));
  EXPECT_EQ(whole.part(3, 1).limit(), 0);
  const weft::range<std::int8_t> end(100, 127, 13);
  EXPECT_EQ(end.part(2, 1).limit(), 127) << "the next index would not fit";
}

TEST(range, refuses_a_step_of_zero) {
  try {
    (void)weft::range(0, 5, 0);
    FAIL();
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::invalid_argument);
    EXPECT_STREQ(e.what(), "the step of a range is 0; give a positive or a negative one");
  }
}

TEST(blocks, cover_the_rectangle_once) {
  const weft::blocks space(weft::range(7), 3, weft::range(2, 12, 2), 2);
  EXPECT_EQ(space.size(), 9u);
  std::vector<int> seen(7 * 12);
  for (std::uint64_t k = 0; k != space.size(); ++k)
    for (int i : space.rows(k))
      for (int j : space.columns(k))
        ++seen[static_cast<std::size_t>(12 * i + j)];
  for (int i = 0; i != 7; ++i)
    for (int j = 0; j != 12; ++j)
      EXPECT_EQ(seen[static_cast<std::size_t>(12 * i + j)], j >= 2 && j % 2 == 0) << i << ' ' << j;
  EXPECT_EQ(weft::blocks(weft::range(0), 3, weft::range(5), 2).size(), 0u);
}

TEST(blocks, refuse_no_grain_and_too_many) {
  const weft::range<std::uint64_t> all(UINT64_MAX);
  EXPECT_THROW(weft::blocks(weft::range(5), 0, weft::range(5), 1), weft::error);
  EXPECT_THROW(weft::blocks(all, 1, all, 1), weft::error);
  EXPECT_EQ(weft::blocks(all, UINT64_MAX, all, 1).size(), UINT64_MAX);
}

} // namespace
