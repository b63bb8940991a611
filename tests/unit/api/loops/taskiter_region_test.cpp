// SPDX-License-Identifier: Apache-2.0
// taskiter: tasks that name regions, round after round.
#include "support/gate.hpp"
#include "support/refusal.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

namespace {

using test::refusal;
using weft::region;

TEST(taskiter, orders_regions_where_they_overlap_in_every_round) {
  std::vector<std::uint64_t> v(40, 1), expected = v;
  const auto mix = [](std::vector<std::uint64_t> &in, std::size_t low, std::size_t n,
                      std::size_t from, std::size_t length) {
    const std::uint64_t sum = std::accumulate(
        in.begin() + static_cast<std::ptrdiff_t>(from),
        in.begin() + static_cast<std::ptrdiff_t>(from + length), std::uint64_t{low});
    for (std::size_t i = low; i < low + n; ++i)
      in[i] = in[i] * 31 + sum;
  };
  const auto each = [](auto f) { // windows of several lengths, one beside and across the other
    for (std::size_t k = 0; k != 24; ++k)
      f(k * 7 % 36, 1 + k % 4, k * 11 % 33, 1 + k % 7);
  };
  weft::taskiter(30, [&] {
    each([&](std::size_t low, std::size_t n, std::size_t from, std::size_t length) {
      weft::spawn([=, &v] { mix(v, low, n, from, length); },
                  weft::inout(region(v).span(static_cast<std::ptrdiff_t>(low),
                                             static_cast<std::ptrdiff_t>(n))),
                  weft::in(region(v).span(static_cast<std::ptrdiff_t>(from),
                                          static_cast<std::ptrdiff_t>(length))));
    });
  });
  weft::taskwait();
  for (int r = 0; r != 30; ++r)
    each([&](std::size_t low, std::size_t n, std::size_t from, std::size_t length) {
      mix(expected, low, n, from, length);
    });
  EXPECT_EQ(v, expected);
}

TEST(taskiter, of_blocks_of_a_matrix_orders_those_that_touch) {
  constexpr int k_side = 12, k_block = 4, k_rounds = 25;
  std::vector<long> m(k_side * k_side, 1), expected = m;
  const auto relax = [](std::vector<long> &a, int row,
                        int column) { // a block, from a frame of one element around it
    const auto at = [&a](int i, int j) -> long & {
      return a[static_cast<std::size_t>(i * k_side + j)];
    };
    for (int i = row; i < row + k_block; ++i)
      for (int j = column; j < column + k_block; ++j)
        at(i, j) = (at(i, j) + (i > 0 ? at(i - 1, j) : 3) + (j + 1 < k_side ? at(i, j + 1) : 5)) %
                   1'000'003;
  };
  const region whole(m.data(), {k_side, k_side});
  weft::taskiter(k_rounds, [&] {
    for (int i = 0; i < k_side; i += k_block)
      for (int j = 0; j < k_side; j += k_block)
        weft::spawn([&, i, j] { relax(m, i, j); },
                    weft::inout(whole.span(i, k_block).span(j, k_block)),
                    weft::in(whole.range(i > 0 ? i - 1 : 0, i + k_block - 1)
                                 .range(j, j + k_block < k_side ? j + k_block : k_side - 1)));
  });
  weft::taskwait();
  for (int r = 0; r != k_rounds; ++r)
    for (int i = 0; i < k_side; i += k_block)
      for (int j = 0; j < k_side; j += k_block)
        relax(expected, i, j);
  EXPECT_EQ(m, expected);
}

TEST(taskiter, does_not_order_regions_that_are_disjoint_or_read) {
  int v[16] = {};
  test::gate halves, readers;
  bool met[2] = {};
  weft::taskiter(1, [&] {
    weft::spawn([&] { met[0] = halves.pass(); }, weft::inout(region(v).span(0, 8)));
    weft::spawn([&] { halves.open(); }, weft::inout(region(v).span(8, 8)));
    weft::spawn([&] { met[1] = readers.pass(); }, weft::in(region(v).range(2, 12)));
    weft::spawn([&] { readers.open(); }, weft::in(region(v).range(4, 15)));
  });
  weft::taskwait();
  EXPECT_TRUE(met[0]);
  EXPECT_TRUE(met[1]);
}

TEST(taskiter, orders_objects_and_regions_together_whichever_comes_first) {
  struct pair {
    int first, second;
  } p{1, 1};
  int *const both = &p.first;
  std::vector<int> seen;
  weft::taskiter(20, [&] {
    weft::spawn([&] { weft::taskyield(), p.second += p.first; }, weft::inout(p));
    weft::spawn([&] { p.first += p.second % 7; }, weft::inout(region(both, 1)), weft::in(p.second));
    weft::spawn([&] { seen.push_back(p.second); }, weft::in(p.second),
                weft::inout(weft::object(seen)));
  });
  weft::taskwait();
  int first = 1, second = 1;
  for (std::size_t r = 0; r != 20; ++r) {
    second += first;
    first += second % 7;
    ASSERT_EQ(seen.at(r), second) << "round " << r;
  }
  EXPECT_EQ(p.first, first);
}

TEST(taskiter, among_regions_reduces_in_place) {
  long x = 0, v[4] = {};
  std::vector<long> seen;
  weft::taskiter(25, [&] {
    for (int i = 1; i <= 4; ++i)
      weft::spawn([&x, i] { weft::reduction_local(x) += i; }, weft::reduction(x, weft::sum));
    weft::spawn([&] { v[0] = x; }, weft::in(x), weft::out(region(v).span(0, 2)));
    weft::spawn([&] { weft::reduction_local(x) += 5; }, weft::reduction(x, weft::sum));
    weft::spawn([&] { seen.push_back(v[0]); }, weft::in(region(v)),
                weft::inout(weft::object(seen)));
  });
  weft::taskwait();
  ASSERT_EQ(seen.size(), 25u);
  for (long r = 0; r != 25; ++r)
    EXPECT_EQ(seen[static_cast<std::size_t>(r)], 15 * r + 10) << "round " << r;
  EXPECT_EQ(x, 25 * 15);
}

TEST(taskiter, reduces_a_region_in_place_in_the_order_of_creation) {
  for (const weft::access_mode mode :
       {weft::access_mode::reduction, weft::access_mode::weak_reduction}) {
    long x[2] = {};
    std::vector<int> order; // no two of the tasks run at once
    weft::taskiter(20, [&] {
      for (int i = 0; i != 3; ++i)
        weft::spawn(
            [&, i] {
              x[i / 2] += i;
              order.push_back(i);
            },
            weft::region_access{region(x).span(0, i == 1 ? 2 : 1 + i / 2), mode});
    });
    weft::taskwait();
    ASSERT_EQ(order.size(), 60u);
    for (int k = 0; k != 60; ++k)
      EXPECT_EQ(order[static_cast<std::size_t>(k)], k % 3) << "task " << k;
    EXPECT_EQ(x[0], 20);
    EXPECT_EQ(x[1], 40);
  }
}

TEST(taskiter, refuses_regions_beside_what_it_reduces_itself) {
  long x = 0;
  int v[2] = {};
  std::string said[2];
  const auto reduce = [&] {
    weft::spawn([&] { weft::reduction_local(x) += 1; }, weft::reduction(x, weft::sum),
                weft::label("adder"));
  };
  const auto touch = [&] {
    weft::spawn([&] { v[0] = 1; }, weft::out(region(v)), weft::label("part"));
  };
  weft::taskiter(
      3, [&] { reduce(), said[0] = refusal(touch); }, weft::reduction(x, weft::sum),
      weft::label("loop"));
  weft::taskiter(
      1, [&] { touch(), said[1] = refusal(reduce); }, weft::reduction(x, weft::sum),
      weft::label("loop"));
  weft::taskwait();
  EXPECT_EQ(x, 3);
  const std::string why =
      "' cannot be recorded by taskiter 'loop': tasks that name regions are beside "
      "tasks that reduce what the taskiter itself "
      "reduces; name objects there";
  EXPECT_EQ(said[0], "task 'part" + why);
  EXPECT_EQ(said[1], "task 'adder" + why);
}

TEST(taskiter, refuses_a_region_that_is_none) {
  int v[4] = {}, ran = 0;
  std::string said;
  weft::taskiter(2, [&] {
    said =
        refusal([&] { weft::spawn([] {}, weft::in(region(v).span(2, 3)), weft::label("beyond")); });
    weft::spawn([&] { ++ran; }, weft::inout(ran));
  });
  weft::taskwait();
  EXPECT_EQ(ran, 2);
  EXPECT_NE(said.find("'beyond'"), std::string::npos) << said;
}

} // namespace
