// SPDX-License-Identifier: Apache-2.0
// Sizes at which steps that grow with the square of the number of accesses or parts would not end.
#include "mem/slab.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/future.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {

std::vector<weft::access> all_of(std::vector<char> &objects) {
  std::vector<weft::access> list;
  for (char &c : objects)
    list.push_back(weft::inout(c));
  return list;
}

TEST(sizes, waits_of_a_task_with_many_accesses_look_only_at_what_its_children_name) {
  const int n = test::scaled(100'000);
  std::vector<char> own(static_cast<std::size_t>(n));
  long sum = 0;
  weft::spawn(
      [&] {
        for (char &c : own) {
          weft::spawn([&c] { c = 1; }, weft::inout(c));
          weft::taskwait();
          sum += c;
        }
      },
      weft::accesses(all_of(own)));
  weft::taskwait();
  EXPECT_EQ(sum, n);
}

TEST(sizes, a_task_with_many_accesses_forgets_what_its_children_have_named) {
  constexpr std::int64_t unreported = 1 << 20; // as in memory_test.cpp
  std::vector<char> own(100), others(20'000);
  std::int64_t grown = 0;
  weft::spawn(
      [&] {
        const auto name_all = [&] {
          std::size_t in_a_row = 0;
          for (char &c : others) {
            weft::spawn([] {}, weft::inout(c));
            if (++in_a_row % 100 == 0)
              weft::taskwait();
          }
        };
        const std::int64_t before = weft::rt::live_bytes();
        name_all();
        grown = weft::rt::live_bytes() - before;
      },
      weft::accesses(all_of(own)));
  weft::taskwait();
  EXPECT_LT(grown, unreported);
}

TEST(sizes, children_find_the_accesses_of_their_parent_again_when_their_own_were_forgotten) {
  for (const std::size_t count : {1u, 12u, 13u, 100u}) { // a few are in any order, more are sorted
    std::vector<char> own(count);
    std::vector<weft::access> list;
    for (char &c : own)
      list.push_back(weft::weak_inout(c));
    std::shuffle(list.begin(), list.end(), std::mt19937(1));
    test::gate open;
    int missed = 0;
    for (char &c : own)
      weft::spawn([&] { c = open.pass() ? 1 : 0; }, weft::inout(c));
    weft::spawn(
        [&] {
          for (int round = 0; round != 3; ++round) {
            if (round == 1)
              open.open();
            for (char &c : own)
              weft::spawn([&missed, &c, round] { missed += c != round + 1 ? 1 : 0, ++c; },
                          weft::inout(c), weft::inout(missed));
            if (round != 0)
              weft::taskwait(); // forgets what the children have named
          }
        },
        weft::accesses(list));
    weft::taskwait();
    EXPECT_EQ(missed, 0);
    EXPECT_TRUE(std::all_of(own.begin(), own.end(), [](char c) { return c == 4; }));
  }
}

TEST(sizes, a_wait_for_one_task_looks_at_cohorts_and_not_at_all_addresses) {
  const int n = test::scaled(100'000);
  std::vector<char> held(static_cast<std::size_t>(n));
  char shared = 0, first = 0;
  test::gate open;
  bool passed = false, passed_first = false;
  weft::spawn([&] { passed = open.pass(); }, weft::concurrent(shared));
  weft::spawn([&] { passed_first = open.pass(); }, weft::inout(first));
  for (char &c : held)
    weft::spawn([&c] { c = 1; }, weft::in(first), weft::inout(c));
  long sum = 0;
  for (int i = 0; i != n; ++i)
    sum += weft::async([] { return 1; }).get();
  EXPECT_EQ(sum, n);
  open.open();
  weft::taskwait();
  EXPECT_TRUE(passed && passed_first);
  EXPECT_EQ(std::count(held.begin(), held.end(), 1), n);
}

TEST(sizes, cohorts_are_closed_in_any_order) {
  // Each round opens some, and ends some of those that are open: by a writer, by a wait, or by the
  // end of the task.
  std::mt19937 random(7);
  for (int round = 0; round != 20; ++round)
    weft::spawn([&] {
      constexpr std::size_t n = 30;
      std::vector<int> x(n);
      std::vector<int> expected(n);
      weft::task_group group;
      for (int i = 0; i != 200; ++i) {
        const std::size_t at = random() % n;
        int &each = x[at];
        switch (random() % 4) {
        case 0:
          weft::spawn([&each] { ++each; }, weft::inout(each));
          ++expected[at];
          break;
        case 3:
          if (random() % 8 == 0)
            weft::async([] {}).get();
          break;
        default:
          weft::spawn([&each] { weft::reduction_local(each) += 2; },
                      weft::reduction(each, weft::sum));
          expected[at] += 2;
        }
      }
      weft::taskwait();
      EXPECT_EQ(x, expected);
    });
  weft::taskwait();
}

/// A task gives up its parts in this order, each of which one task behind it waits for.
void give_up_parts(int parts, const std::vector<int> &order) {
  constexpr int part_bytes = 8;
  std::vector<char> v(static_cast<std::size_t>(parts) * part_bytes);
  const auto part = [&](int i) { return weft::region(v).span(i * part_bytes, part_bytes); };
  std::vector<char> given(static_cast<std::size_t>(parts)); // each by one task before the other
  std::atomic<int> behind{0}, too_early{0};
  test::gate all_wait;
  bool half_went = false, passed = false;
  weft::spawn(
      [&] {
        passed = all_wait.pass();
        for (std::size_t k = 0; k != order.size(); ++k) {
          const int i = order[k];
          given[static_cast<std::size_t>(i)] = 1;
          weft::release(weft::inout(part(i)));
          if (k + 1 == order.size() / 2)
            half_went = test::eventually([&] { return behind == static_cast<int>(k + 1); });
        }
      },
      weft::inout(weft::region(v)));
  for (int i = 0; i != parts; ++i)
    weft::spawn(
        [&, i] {
          too_early += given[static_cast<std::size_t>(i)] ? 0 : 1;
          ++behind;
        },
        weft::inout(part(i)));
  all_wait.open();
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_TRUE(half_went);
  EXPECT_EQ(behind, parts);
  EXPECT_EQ(too_early, 0);
}

TEST(sizes, a_region_is_given_up_part_by_part_in_order) {
  const int n = test::scaled(20'000);
  std::vector<int> order(static_cast<std::size_t>(n));
  for (int i = 0; i != n; ++i)
    order[static_cast<std::size_t>(i)] = i;
  give_up_parts(n, order);
  std::reverse(order.begin(), order.end());
  give_up_parts(n, order);
}

TEST(sizes, a_region_is_given_up_part_by_part_in_any_order) {
  const int n = test::scaled(10'000);
  std::vector<int> order(static_cast<std::size_t>(n));
  for (int i = 0; i != n; ++i)
    order[static_cast<std::size_t>(i)] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  give_up_parts(n, order);
}

TEST(sizes, parts_that_successors_share_hold_them_until_the_last_is_given_up) {
  constexpr int parts = 64;
  std::vector<char> v(parts);
  std::vector<int> order(parts);
  for (int i = 0; i != parts; ++i)
    order[static_cast<std::size_t>(i)] = i;
  std::mt19937 random(11);
  for (int round = 0; round != 20; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::atomic<char>> given(parts);
    std::atomic<int> too_early{0}, ran{0};
    test::gate all_wait;
    bool passed = false;
    weft::spawn(
        [&] {
          passed = all_wait.pass();
          for (const int i : order) {
            given[static_cast<std::size_t>(i)] = 1;
            weft::release(weft::inout(weft::region(v).span(i, 1)));
          }
        },
        weft::inout(weft::region(v)));
    const auto reader = [&](int first, int count) {
      weft::spawn(
          [&, first, count] {
            for (int i = first; i != first + count; ++i)
              too_early += given[static_cast<std::size_t>(i)] ? 0 : 1;
            ++ran;
          },
          weft::in(weft::region(v).span(first, count)));
    };
    reader(0, parts); // waits for all
    for (int first = 0; first + 9 < parts; first += 3)
      reader(first, 1 + static_cast<int>(random() % 9));
    all_wait.open();
    weft::taskwait();
    EXPECT_TRUE(passed);
    EXPECT_EQ(too_early, 0);
    EXPECT_EQ(ran, 1 + (parts - 9 + 2) / 3);
  }
}

TEST(sizes, children_take_the_place_of_a_weak_task_before_many_others) {
  const int n = test::scaled(40'000);
  constexpr int part_bytes = 8;
  std::vector<char> v(static_cast<std::size_t>(n) * part_bytes);
  char first[1] = {};
  const auto part = [&](int i) { return weft::region(v).span(i * part_bytes, part_bytes); };
  test::gate open;
  bool passed = false;
  std::atomic<int> missed{0};
  weft::spawn(
      [&] {
        weft::spawn([&] { passed = open.pass(); }, weft::inout(weft::region(first)));
        for (int i = 0; i != n; ++i)
          weft::spawn([&v, i] { v[static_cast<std::size_t>(i) * part_bytes] = 1; },
                      weft::in(weft::region(first)), weft::inout(part(i)));
      },
      weft::weak_inout(weft::region(v)), weft::weak_inout(weft::region(first)));
  for (int i = 0; i != n; ++i)
    weft::spawn(
        [&, i] { missed += v[static_cast<std::size_t>(i) * part_bytes] == 1 ? 0 : 1; },
        weft::inout(part(i)));
  weft::this_task::sleep_for(std::chrono::milliseconds(1)); // mostly the weak task has ended
  open.open();
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_EQ(missed, 0);
}

TEST(sizes, children_take_the_place_of_many_weak_readers) {
  const int n = test::scaled(2'000);
  int x[1] = {};
  std::atomic<int> wrong{0};
  for (int round = 0; round != 2; ++round) {
    test::gate open;
    for (int i = 0; i != n; ++i)
      weft::spawn(
          [&] {
            weft::spawn(
                [&] { wrong += open.pass() && x[0] == round ? 0 : 1; }, weft::in(weft::region(x)));
          },
          weft::weak_in(weft::region(x)));
    weft::spawn([&] { ++x[0]; }, weft::inout(weft::region(x)));
    open.open();
    weft::taskwait();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(x[0], 2);
}

} // namespace
