// SPDX-License-Identifier: Apache-2.0
// Children connect through their parent's accesses, weak ones included; accesses are released early.
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>
#include <vector>

namespace {

using test::dawdle;

TEST(nesting, a_child_sees_what_came_before_its_parent) {
  int x = 0, seen = -1;
  weft::spawn([&] { dawdle(), x = 3; }, weft::out(x));
  weft::spawn([&] { weft::spawn([&] { seen = x; }, weft::in(x)); }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 3);
}

TEST(nesting, what_follows_the_parent_waits_for_the_chain_of_its_children) {
  int x = 0, seen = -1;
  weft::spawn(
      [&] {
        x = 1;
        weft::spawn([&] { dawdle(), x *= 10; }, weft::inout(x));
        weft::spawn([&] { dawdle(), x += 5; }, weft::inout(x));
      },
      weft::inout(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 15);
}

TEST(nesting, a_weak_access_delays_the_child_and_not_the_parent) {
  int x = 0, seen = -1;
  test::gate parent_ran;
  bool passed = false;
  weft::spawn([&] { passed = parent_ran.pass(), dawdle(), x = 4; }, weft::out(x));
  weft::spawn(
      [&] {
        weft::spawn([&] { seen = x; }, weft::in(x));
        parent_ran.open();
      },
      weft::weak_in(x));
  weft::taskwait();
  EXPECT_TRUE(passed) << "the parent waited for data that only its child touches";
  EXPECT_EQ(seen, 4);
}

TEST(nesting, every_weak_mode_connects_children_on_both_sides) {
  for (auto mode : {weft::access_mode::weak_out, weft::access_mode::weak_inout}) {
    int x = 0, seen = -1;
    test::gate parent_ran;
    bool passed = false;
    weft::spawn([&] { passed = parent_ran.pass(), dawdle(), x = 4; }, weft::out(x));
    weft::spawn(
        [&] {
          weft::spawn([&] { dawdle(), x = x * 2; }, weft::inout(x));
          parent_ran.open();
        },
        weft::access{&x, mode});
    weft::spawn([&] { seen = x; }, weft::in(x));
    weft::taskwait();
    EXPECT_TRUE(passed);
    EXPECT_EQ(seen, 8);
  }
}

TEST(nesting, a_weak_task_without_children_passes_the_order_on) {
  int x = 0, seen = -1;
  for (auto mode :
       {weft::access_mode::weak_in, weft::access_mode::weak_out, weft::access_mode::weak_inout}) {
    weft::spawn([&] { dawdle(), ++x; }, weft::inout(x));
    weft::spawn([] {}, weft::access{&x, mode});
    weft::spawn([] {}, weft::access{&x, mode});
    weft::spawn([&] { ++x; }, weft::inout(x));
    weft::spawn([&] { seen = x; }, weft::in(x));
  }
  weft::taskwait();
  EXPECT_EQ(seen, 6);
  EXPECT_EQ(x, 6);
}

TEST(nesting, a_weak_reader_lets_children_of_two_parents_read_together) {
  int x = 1;
  std::atomic<int> inside{0};
  bool met[2] = {};
  for (bool &m : met)
    weft::spawn(
        [&] {
          weft::spawn([&] { ++inside, m = test::eventually([&] { return inside == 2; }); },
                      weft::in(x));
        },
        weft::weak_in(x));
  weft::spawn([&] { x = 2; }, weft::out(x));
  weft::taskwait();
  EXPECT_TRUE(met[0] && met[1]);
  EXPECT_EQ(x, 2);
}

TEST(nesting, an_access_without_children_is_released_when_the_body_ends) {
  int x = 0, y = 0;
  test::gate x_seen;
  bool passed = false;
  weft::spawn(
      [&] {
        x = 1;
        weft::spawn([&] { passed = x_seen.pass(), y = 1; }, weft::out(y));
      },
      weft::out(x), weft::weak_out(y));
  weft::spawn([&] { x_seen.open(); }, weft::in(x)); // while a child of the writer still runs
  int seen = 0;
  weft::spawn([&] { seen = y; }, weft::in(y));
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_EQ(seen, 1);
}

TEST(nesting, a_released_part_goes_on_as_soon_as_its_last_child_is_done) {
  int x = 0, y = 0;
  test::gate go;
  bool passed = false;
  int seen = 0;
  weft::spawn(
      [&] {
        weft::spawn([&] { x = 1; }, weft::out(x));
        weft::spawn([&] { passed = go.pass(), y = 1; }, weft::out(y));
      },
      weft::weak_out(x), weft::weak_out(y));
  weft::spawn([&] { seen = x, go.open(); },
              weft::in(x)); // the chain of x is over, that of y is not
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_EQ(seen, 1);
}

TEST(nesting, a_child_may_touch_data_that_its_parent_does_not_declare) {
  int x = 0, y = 0, seen = -1;
  weft::spawn(
      [&] {
        weft::spawn([&] { dawdle(), y = 2; }, weft::out(y));
        weft::spawn([&] { seen = y; }, weft::in(y));
        weft::taskwait();
        x = y;
      },
      weft::out(x));
  weft::taskwait();
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(x, 2);
}

void chain(int depth, int &x, std::vector<int> &order) {
  if (depth == 0)
    return;
  weft::spawn([&x, &order, depth] { order.push_back(depth), ++x; }, weft::inout(x));
  weft::spawn([&x, &order, depth] { chain(depth - 1, x, order); }, weft::weak_inout(x));
  weft::spawn([&x, &order, depth] { order.push_back(-depth), ++x; }, weft::inout(x));
}

TEST(nesting, five_levels_keep_the_order_of_a_depth_first_run) {
  int x = 0;
  std::vector<int> order, expected;
  for (int round = 0; round != 3; ++round) {
    chain(5, x, order);
    for (int d : {5, 4, 3, 2, 1, -1, -2, -3, -4, -5})
      expected.push_back(d);
  }
  weft::taskwait();
  EXPECT_EQ(order, expected);
  EXPECT_EQ(x, 30);
}

TEST(nesting, a_parent_with_a_strong_access_works_beside_its_children) {
  int x = 1, y = 0, seen = 0;
  weft::spawn(
      [&] {
        weft::spawn([&] { dawdle(), x = 10; }, weft::out(x));
        y = 2;
        weft::spawn([&] { seen = x + y; }, weft::in(x), weft::in(y));
      },
      weft::inout(x), weft::inout(y));
  weft::spawn([&] { x = 0, y = 0; }, weft::out(x), weft::out(y));
  weft::taskwait();
  EXPECT_EQ(seen, 12);
  EXPECT_EQ(x + y, 0);
}

TEST(nesting, a_reading_child_does_not_hold_back_a_sibling_of_its_reading_parent) {
  int x = 5;
  test::gate gate;
  bool passed = false;
  weft::spawn([&] { weft::spawn([&] { passed = gate.pass(); }, weft::in(x)); }, weft::in(x));
  weft::spawn([&] { gate.open(); }, weft::in(x));
  weft::spawn([&] { x = 6; }, weft::out(x));
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_EQ(x, 6);
}

TEST(nesting, a_reading_child_does_not_hold_back_a_reader_behind_its_writing_parent) {
  int x = 0, seen = -1, behind = -1;
  test::gate gate;
  bool passed = false;
  weft::spawn(
      [&] {
        weft::spawn([&] { dawdle(), x = 1; }, weft::inout(x));
        weft::spawn([&] { passed = gate.pass(), seen = x; }, weft::in(x));
      },
      weft::inout(x));
  weft::spawn([&] { behind = x, gate.open(); }, weft::in(x));
  weft::spawn([&] { x = 6; }, weft::out(x)); // waits for both
  weft::taskwait();
  EXPECT_TRUE(passed) << "a reader waited for a reader";
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(behind, 1);
  EXPECT_EQ(x, 6);
}

TEST(nesting, a_reader_that_comes_late_goes_beside_a_reading_child_of_the_writer) {
  int x = 0, seen = -1;
  test::gate child_runs, gate;
  bool passed = false;
  weft::spawn(
      [&] {
        x = 1;
        weft::spawn([&] { child_runs.open(), passed = gate.pass(), seen = x; }, weft::in(x));
      },
      weft::out(x));
  EXPECT_TRUE(child_runs.pass());
  for (int i = 0; i != 3; ++i) // one of them links behind the writer, the others behind a reader
    weft::spawn(
        [&, i] {
          EXPECT_EQ(x, 1);
          if (i == 2)
            gate.open();
        },
        weft::in(x));
  weft::spawn([&] { x = 6; }, weft::out(x));
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(x, 6);
}

TEST(nesting, readers_below_readers_below_weak_writers_hold_back_writers_alone) {
  int x = 0, seen = -1;
  test::gate gate;
  bool passed = false;
  weft::spawn(
      [&] {
        weft::spawn(
            [&] {
              weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
              weft::spawn(
                  [&] {
                    weft::spawn([&] { passed = gate.pass(), seen = x; }, weft::in(x));
                  },
                  weft::weak_in(x));
            },
            weft::weak_inout(x));
      },
      weft::weak_inout(x));
  weft::spawn([&] { weft::spawn([&] { gate.open(); }, weft::in(x)); }, weft::weak_in(x));
  weft::spawn([&] { x = 6; }, weft::out(x));
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(x, 6);
}

TEST(nesting, a_writer_behind_a_reading_sibling_holds_back_what_follows) {
  int x = 0, behind = -1;
  weft::spawn(
      [&] {
        weft::spawn([] { dawdle(); }, weft::in(x));
        weft::spawn([&] { dawdle(), x = 1; }, weft::inout(x)); // the last one writes
      },
      weft::inout(x));
  weft::spawn([&] { behind = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(behind, 1);
}

TEST(nesting, many_weak_parents_on_shared_data_keep_the_order) {
  const int parents = test::scaled(200, 20);
  constexpr int cells = 8;
  long x[cells] = {}, expected[cells] = {};
  auto step = [](long &v, int p, int k) { v = (v * 31 + p * 7 + k) % 1'000'003; };
  for (int p = 0; p != parents; ++p) {
    std::vector<weft::access> weak;
    for (int c = p % 3; c < cells; c += 1 + p % 2)
      weak.push_back(weft::weak_inout(x[c]));
    weft::spawn(
        [&, p] {
          for (int k = 0; k != 3; ++k)
            for (int c = p % 3; c < cells; c += 1 + p % 2)
              weft::spawn([&, p, k, c] { step(x[c], p, k); }, weft::inout(x[c]));
        },
        weft::accesses(weak));
    for (int k = 0; k != 3; ++k)
      for (int c = p % 3; c < cells; c += 1 + p % 2)
        step(expected[c], p, k);
  }
  weft::taskwait();
  for (int c = 0; c != cells; ++c)
    EXPECT_EQ(x[c], expected[c]) << c;
}

} // namespace
