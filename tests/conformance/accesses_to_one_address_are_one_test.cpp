// SPDX-License-Identifier: Apache-2.0
// Promise: a task may name an address several times, and however many others beside it. It writes if one of the accesses writes, shares if all share alike, and is
// weak if all are weak.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <vector>

namespace {

/// Both of `named`, and others between them, so that there are `count`.
std::vector<weft::access> among(std::array<int, 64> &others, std::size_t count,
                                const std::array<weft::access, 2> &named) {
  std::vector<weft::access> all{named[0]};
  for (std::size_t i = 2; i < count; ++i)
    all.push_back(weft::in(others[i]));
  all.push_back(named[1]);
  return all;
}

// Few are compared pair by pair, many are sorted.
constexpr std::size_t k_counts[] = {2, 3, 11, 12, 13, 14, 40};

TEST(accesses, to_one_address_write_if_one_writes) {
  std::array<int, 64> others{};
  for (const std::size_t count : k_counts)
    for (const bool writes_first : {false, true}) {
      int x = 0, seen = 0, after = 0;
      const auto named = writes_first ? std::array<weft::access, 2>{weft::out(x), weft::in(x)}
                                      : std::array<weft::access, 2>{weft::in(x), weft::out(x)};
      weft::spawn([&] { test::dawdle(), x = 1; }, weft::out(x));
      weft::spawn([&] { seen = x, test::dawdle(), x = 2; },
                  weft::accesses(among(others, count, named)));
      weft::spawn([&] { after = x; }, weft::in(x));
      weft::taskwait();
      EXPECT_EQ(seen, 1) << count;
      EXPECT_EQ(after, 2) << count;
    }
}

TEST(accesses, to_one_address_are_weak_if_all_are) {
  std::array<int, 64> others{};
  for (const std::size_t count : k_counts) {
    int x = 0, seen = 0, seen_too = 0, seen_by_child = 0;
    test::gate begun;
    bool in_time = false;
    weft::spawn([&] { in_time = begun.pass(), x = 1; }, weft::out(x));
    weft::spawn(
        [&] {
          begun.open(); // before the writer ends
          weft::spawn([&] { seen_by_child = x, x = 2; }, weft::inout(x));
        },
        weft::accesses(among(others, count,
                             std::array<weft::access, 2>{weft::weak_in(x), weft::weak_inout(x)})));
    weft::spawn([&] { seen = x; },
                weft::accesses(among(others, count,
                                     std::array<weft::access, 2>{weft::weak_in(x), weft::in(x)})));
    weft::spawn([&] { seen_too = x; },
                weft::accesses(among(others, count,
                                     std::array<weft::access, 2>{weft::in(x), weft::weak_in(x)})));
    weft::taskwait();
    EXPECT_TRUE(in_time) << count << ": it waits although all its accesses are weak";
    EXPECT_EQ(seen_by_child, 1) << count;
    EXPECT_EQ(seen_too, 2) << count;
    EXPECT_EQ(seen, 2) << count << ": a strong access among them waits";
  }
}

TEST(accesses, to_one_address_share_if_all_share_alike) {
  std::array<int, 64> others{};
  for (const std::size_t count : k_counts) {
    int x = 0;
    std::atomic<int> inside{0}, most{0};
    const auto enter = [&] {
      for (int now = ++inside, seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      test::dawdle();
      --inside;
    };
    for (int i = 0; i != 3; ++i)
      weft::spawn(enter, weft::accesses(among(others, count,
                                              std::array<weft::access, 2>{weft::concurrent(x),
                                                                          weft::commutative(x)})));
    weft::taskwait();
    EXPECT_EQ(most, 1) << count << ": two ways of sharing are none";
    test::gate first, second;
    bool met[2] = {};
    weft::spawn(
        [&] { first.open(), met[0] = second.pass(); },
        weft::accesses(among(
            others, count, std::array<weft::access, 2>{weft::concurrent(x), weft::concurrent(x)})));
    weft::spawn([&] { second.open(), met[1] = first.pass(); }, weft::concurrent(x));
    weft::taskwait();
    EXPECT_TRUE(met[0] && met[1]) << count;
  }
}

} // namespace
