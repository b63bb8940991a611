// SPDX-License-Identifier: Apache-2.0
#include "deps/regions/region_shape.hpp"

#include <weft/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace weft::rt;
using weft::region;
using run = std::pair<std::ptrdiff_t, std::ptrdiff_t>; // first and last byte, relative to the array

double array[100];

std::vector<run> runs_of(const region &r) {
  std::vector<run> runs;
  shape_of({r, weft::access_mode::inout}, "test", 0)
      .for_each_run([&](std::uintptr_t low, std::uintptr_t end) {
        const auto base = reinterpret_cast<std::uintptr_t>(array);
        runs.emplace_back(low - base, end - base - 1);
      });
  return runs;
}

std::string complaint_about(const region &r) {
  try {
    static_cast<void>(shape_of(weft::weak_in(r), "the task", 2));
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::invalid_argument);
    return e.what();
  }
  return "nothing";
}

#define EXPECT_COMPLAINT(part, text)                                                               \
  EXPECT_NE(complaint_about(part).find(text), std::string::npos) << complaint_about(part)

TEST(region_shape, of_one_dimension_is_one_run) {
  EXPECT_EQ(runs_of(region(array, 4)), (std::vector<run>{{0, 31}}));
  EXPECT_EQ(runs_of(region(array).range(2, 3)), (std::vector<run>{{16, 31}}));
  EXPECT_EQ(runs_of(region(array).span(2, 3)), (std::vector<run>{{16, 39}}));
  double *p = array;
  EXPECT_EQ(runs_of(region(p).span(2, 3)), (std::vector<run>{{16, 39}}));
  EXPECT_EQ(runs_of(region(array)), (std::vector<run>{{0, 799}}));
}

TEST(region_shape, takes_containers_and_arrays_of_arrays) {
  std::vector<double> v(7);
  EXPECT_EQ(region(v).dimension(0).extent, 7);
  EXPECT_EQ(region(v).address(), v.data());
  EXPECT_EQ(region(std::span(v).subspan(2)).address(), v.data() + 2);
  const std::array<int, 3> fixed{};
  EXPECT_EQ(region(fixed).dimension(0).extent, 3);
  short cube[2][3][4];
  const region all(cube);
  EXPECT_EQ(all.dimensions(), 3u);
  EXPECT_EQ(all.element_bytes(), sizeof(short));
  EXPECT_EQ(all.dimension(1).extent, 3);
}

TEST(region_shape, of_a_block_is_one_run_per_row) {
  const region matrix(array, {10, 10});
  EXPECT_EQ(runs_of(matrix.range(1, 2).span(3, 4)), (std::vector<run>{{104, 135}, {184, 215}}));
}

TEST(region_shape, joins_rows_that_are_full) {
  const region matrix(array, {10, 10});
  EXPECT_EQ(runs_of(matrix.range(1, 2)), (std::vector<run>{{80, 239}}));
  EXPECT_EQ(runs_of(matrix), (std::vector<run>{{0, 799}}));
  const region cube(array, {4, 5, 5});
  EXPECT_EQ(runs_of(cube.range(1, 2).range(1, 2)), (std::vector<run>{{240, 319}, {440, 519}}));
  EXPECT_EQ(runs_of(cube.range(1, 2).all().all()), (std::vector<run>{{200, 599}}));
  EXPECT_EQ(runs_of(cube.span(1, 1).span(0, 2).span(1, 2)),
            (std::vector<run>{{208, 223}, {248, 263}}));
  EXPECT_EQ(runs_of(cube.span(0, 2).span(0, 2).span(0, 1)).size(), 4u);
}

TEST(region_shape, keeps_to_strides) {
  EXPECT_EQ(runs_of(region(array, {2, 3}).strides({10, 1})),
            (std::vector<run>{{0, 23}, {80, 103}}));
  EXPECT_EQ(runs_of(region(array, 3).strides({2})), (std::vector<run>{{0, 7}, {16, 23}, {32, 39}}));
  EXPECT_EQ(runs_of(region(array, {2, 2}).strides({10, 2}).span(1, 1)),
            (std::vector<run>{{80, 87}, {96, 103}}));
}

TEST(region_shape, of_nothing_has_no_run) {
  EXPECT_TRUE(runs_of(region(array, 0)).empty());
  EXPECT_TRUE(runs_of(region(array).range(5, 4)).empty());
  EXPECT_TRUE(runs_of(region(array, {10, 10}).all().span(3, 0)).empty());
  EXPECT_TRUE(runs_of(region(static_cast<double *>(nullptr), {-1, 10, 3, 4, 5})).empty());
}

TEST(region_shape, takes_any_integers) {
  const std::size_t rows = 10;
  const unsigned char columns = 10;
  EXPECT_EQ(runs_of(region(array, {rows, columns}).span(rows - 1, 1u)),
            (std::vector<run>{{720, 799}}));
  EXPECT_COMPLAINT(region(array, std::numeric_limits<std::size_t>::max()), "how many elements");
}

TEST(region_shape, complains_of_a_negative_extent) {
  EXPECT_COMPLAINT(region(array, -1), "negative extent");
  EXPECT_COMPLAINT(region(array).range(5, 3), "negative extent");
  EXPECT_COMPLAINT(region(array).span(5, -3), "negative extent");
  EXPECT_COMPLAINT(region(array, {-4, 5}), "negative extent");
  EXPECT_COMPLAINT(region(array, 5).strides({-1}), "negative stride");
  EXPECT_COMPLAINT(region(array).range(std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min()),
                   "negative extent");
}

TEST(region_shape, complains_of_a_part_beyond_the_declared_extents) {
  EXPECT_COMPLAINT(region(array, 10).range(0, 10), "beyond the extents");
  EXPECT_COMPLAINT(region(array, 10).range(-1, 3), "beyond the extents");
  EXPECT_COMPLAINT(region(array, 10).span(11, 0), "beyond the extents");
  EXPECT_COMPLAINT(region(array, {10, 10}).all().span(5, 6), "beyond the extents");
}

TEST(region_shape, complains_of_too_many_dimensions_or_parts) {
  EXPECT_COMPLAINT(region(array, {2, 2, 2, 2}), "more than three dimensions");
  EXPECT_COMPLAINT(region(array, {2, 2}).all().all().all(), "more parts than it has dimensions");
  EXPECT_COMPLAINT(region(array, {2, 2}).strides({1}), "not one for each dimension");
  double *p = array;
  EXPECT_COMPLAINT(region(p), "how many elements");
}

TEST(region_shape, complains_of_more_bytes_than_there_are_addresses) {
  const std::ptrdiff_t huge = std::numeric_limits<std::ptrdiff_t>::max() / 2;
  EXPECT_COMPLAINT(region(array, huge), "wider than the address space");
  EXPECT_COMPLAINT(region(array, {huge, huge}).span(0, 1).span(0, 1),
                   "wider than the address space");
  char *bytes = reinterpret_cast<char *>(array);
  EXPECT_COMPLAINT(region(bytes, {huge, 3}).strides({4, 1}), "wider than the address space");
  EXPECT_COMPLAINT(region(reinterpret_cast<char *>(UINTPTR_MAX - 8), 10),
                   "wider than the address space");
}

TEST(region_shape, complains_of_an_extent_that_no_index_reaches) {
  EXPECT_COMPLAINT(region(array, UINT64_MAX), "more than there are addresses");
}

TEST(region_shape, complains_of_more_runs_than_one_access_has) {
  char *bytes = reinterpret_cast<char *>(array);
  EXPECT_COMPLAINT(region(bytes, {1'000'000'000, 1}).strides({2, 1}), "more than 2^24 runs");
  EXPECT_COMPLAINT(region(bytes, {1 << 12, (1 << 12) + 1, 1}).strides({1 << 14, 2, 1}),
                   "more than 2^24 runs");
  EXPECT_EQ(complaint_about(region(bytes, {1 << 24, 1}).strides({2, 1})), "nothing");
}

TEST(region_shape, complaints_name_the_task_and_the_access) {
  EXPECT_COMPLAINT(region(array, {10, 20}).range(3, 12),
                   "task 'the task': region 2 (weak_in [3;10][0;20] of [10][20] at 0x");
}

} // namespace
