// SPDX-License-Identifier: Apache-2.0
// Two tasks are ordered when a byte is common to their regions and one of them writes it, and run together otherwise: all pairs of
// parts of a small vector and of blocks of a small matrix, in all modes.
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace {

using weft::access_mode;

struct box {
  int row, rows, column, columns;
};

bool meet(int a, int n, int b, int m) { return a < b + m && b < a + n; }
bool overlap(const box &a, const box &b) {
  return meet(a.row, a.rows, b.row, b.rows) && meet(a.column, a.columns, b.column, b.columns);
}

std::vector<box> boxes(int rows, int columns) {
  std::vector<box> all;
  for (int r = 0; r < rows; ++r)
    for (int n = 1; r + n <= rows; ++n)
      for (int c = 0; c < columns; ++c)
        for (int m = 1; c + m <= columns; ++m)
          all.push_back({r, n, c, m});
  return all;
}

/// Whether the second task ran after the first one. If it need not, the first one waits for it.
bool second_came_after(const weft::region_access &first, const weft::region_access &second,
                       bool ordered) {
  std::atomic<bool> first_done{false}, second_ran{false};
  bool after = false;
  weft::spawn(
      [&] {
        weft::taskyield();
        while (!ordered && !second_ran)
          weft::taskyield();
        first_done = true;
      },
      first);
  weft::spawn(
      [&] {
        after = first_done;
        second_ran = true;
      },
      second);
  weft::taskwait();
  return after;
}

void expect_all_pairs(const weft::region &whole, const std::vector<box> &all, bool one_dimension) {
  const auto part = [&](const box &b) {
    return one_dimension ? whole.range(b.column, b.column + b.columns - 1)
                         : whole.span(b.row, b.rows).span(b.column, b.columns);
  };
  constexpr access_mode modes[] = {access_mode::in, access_mode::out, access_mode::inout};
  for (const box &a : all)
    for (const box &b : all)
      for (const access_mode first : modes)
        for (const access_mode second : modes) {
          const bool ordered =
              overlap(a, b) && (first != access_mode::in || second != access_mode::in);
          EXPECT_EQ(second_came_after({part(a), first}, {part(b), second}, ordered), ordered);
        }
}

TEST(regions_are_ordered_where_they_overlap, in_a_vector) {
  static int v[5];
  expect_all_pairs(weft::region(v), boxes(1, 5), true);
}

TEST(regions_are_ordered_where_they_overlap, in_a_matrix) {
  static int m[3][2];
  expect_all_pairs(weft::region(m), boxes(3, 2), false);
}

} // namespace
