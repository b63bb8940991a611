// SPDX-License-Identifier: Apache-2.0
// release(): a task gives up an access before its body ends.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

TEST(release, lets_the_successor_of_that_access_start_while_the_body_runs) {
  int x = 0, y = 0, seen_x = 0;
  std::atomic<bool> successor_ran{false}, early{false}, other_ran{false};
  weft::spawn(
      [&] {
        x = 1;
        weft::release(weft::out(x));
        EXPECT_TRUE(test::eventually([&] { return successor_ran.load(); }));
        test::dawdle();
        early = other_ran.load();
        y = 2;
      },
      weft::out(x), weft::out(y));
  weft::spawn([&] { seen_x = x, successor_ran = true; }, weft::in(x));
  weft::spawn([&] { other_ran = true; }, weft::in(y));
  weft::taskwait();
  EXPECT_EQ(seen_x, 1);
  EXPECT_FALSE(early) << "y was not released";
}

TEST(release, of_a_weak_access_holds_no_child_that_comes_later) {
  int x = 0;
  test::gate child;
  weft::spawn([&] { EXPECT_TRUE(child.pass()); }, weft::inout(x));
  weft::spawn(
      [&] {
        weft::release(weft::weak_inout(x));
        weft::spawn([&] { child.open(); },
                    weft::inout(x)); // the parent has nothing left to pass on
        weft::taskwait();
      },
      weft::weak_inout(x));
  weft::taskwait();
}

TEST(release, of_the_only_access_lets_a_chain_go_on) {
  int x = 0;
  std::atomic<int> done{0};
  for (int i = 0; i != 20; ++i)
    weft::spawn(
        [&] {
          ++x;
          weft::release(weft::inout(x));
          EXPECT_TRUE(test::eventually([&] { return done > 0; })); // the last of the chain
        },
        weft::inout(x));
  weft::spawn([&] { done = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(done, 20);
}

TEST(release, waits_for_children_that_hold_the_access) {
  int x = 0, seen = 0;
  test::gate child, successor;
  std::atomic<bool> early{false};
  weft::spawn(
      [&] {
        weft::spawn(
            [&] {
              EXPECT_TRUE(child.pass());
              x = 7;
            },
            weft::inout(x));
        weft::release(weft::inout(x));
        test::dawdle();
        early = successor.is_open();
        child.open();
        EXPECT_TRUE(successor.pass()) << "the body need not end";
      },
      weft::inout(x));
  weft::spawn([&] { seen = x, successor.open(); }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 7);
  EXPECT_FALSE(early);
}

TEST(release, above_a_child_that_reads_lets_readers_start_and_no_writer) {
  int x = 0, seen = -1, beside = -1;
  bool passed = false;
  std::atomic<bool> reader_ran{false}, writer_ran{false}, early{false};
  test::gate child;
  weft::spawn(
      [&] {
        x = 1;
        weft::spawn([&] { passed = child.pass(), early = writer_ran.load(), seen = x; },
                    weft::in(x));
        weft::release(weft::out(x));
        EXPECT_TRUE(test::eventually([&] { return reader_ran.load(); }));
        test::dawdle();
        child.open();
      },
      weft::out(x));
  weft::spawn([&] { beside = x, reader_ran = true; }, weft::in(x));
  weft::spawn([&] { x = 2, writer_ran = true; }, weft::out(x));
  weft::taskwait();
  EXPECT_TRUE(passed);
  EXPECT_EQ(beside, 1);
  EXPECT_EQ(seen, 1);
  EXPECT_FALSE(early) << "a writer did not wait for a reader";
}

TEST(release, of_a_weak_access_connects_the_children_that_came_before) {
  int x = 0, seen = 0;
  test::gate first, successor;
  weft::spawn(
      [&] {
        EXPECT_TRUE(first.pass());
        x = 1;
      },
      weft::out(x));
  weft::spawn(
      [&] {
        weft::spawn([&] { x += 10; }, weft::inout(x));
        weft::release(weft::weak_inout(x));
        first.open();
        EXPECT_TRUE(successor.pass());
      },
      weft::weak_inout(x));
  weft::spawn([&] { seen = x, successor.open(); }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 11);
}

TEST(release, twice_and_of_null_is_harmless) {
  int x = 0, y = 0, seen = 0;
  weft::spawn(
      [&] {
        x = 1, y = 1;
        weft::release(weft::out(x), weft::access{});
        weft::release(weft::out(x), weft::out(y));
        weft::release(weft::out(y));
      },
      weft::out(x), weft::out(y));
  weft::spawn([&] { seen = x + y; }, weft::in(x), weft::in(y));
  weft::taskwait();
  EXPECT_EQ(seen, 2);
}

TEST(release, before_the_events_are_over_holds_only_the_rest) {
  int x = 0, y = 0;
  weft::task_ref holder;
  std::atomic<bool> ran_y{false}, early{true};
  weft::spawn(
      [&] {
        weft::this_task::increase_events();
        holder = weft::this_task::self();
        weft::release(weft::out(x));
      },
      weft::out(x), weft::out(y));
  weft::spawn([&] { ran_y = true; }, weft::in(y));
  weft::spawn(
      [&] {
        test::dawdle();
        early = ran_y.load();
        weft::decrease_events(holder);
      },
      weft::in(x));
  weft::taskwait();
  EXPECT_FALSE(early);
  EXPECT_TRUE(ran_y);
}

TEST(release, of_what_was_not_declared_names_the_task_and_releases_nothing) {
  int x = 0, y = 0;
  std::string text;
  weft::errc code{};
  std::atomic<bool> ran{false}, early{false};
  weft::spawn(
      [&] {
        try {
          weft::release(weft::out(x), weft::out(y));
        } catch (const weft::error &e) {
          code = e.code();
          text = e.what();
        }
        test::dawdle();
        early = ran.load();
      },
      weft::out(x), weft::label("wrong"));
  weft::spawn([&] { ran = true; }, weft::in(x));
  weft::taskwait();
  char address[32];
  std::snprintf(address, sizeof address, "%p", static_cast<void *>(&y));
  EXPECT_EQ(code, weft::errc::invalid_argument);
  EXPECT_NE(text.find("'wrong'"), std::string::npos) << text;
  EXPECT_NE(text.find(address), std::string::npos) << text;
  EXPECT_FALSE(early);
}

TEST(release, outside_of_a_task_is_refused) {
  int x = 0;
  weft::errc code{};
  try {
    weft::release(weft::out(x));
  } catch (const weft::error &e) {
    code = e.code();
  }
  EXPECT_EQ(code, weft::errc::not_a_task);
}

TEST(release, in_a_child_of_a_final_task_does_nothing) {
  int x = 0;
  weft::spawn([&] { weft::spawn([&] { x = 3, weft::release(weft::out(x)); }, weft::out(x)); },
              weft::final());
  weft::taskwait();
  EXPECT_EQ(x, 3);
}

TEST(release, works_for_many_accesses) {
  int cells[40] = {};
  std::atomic<int> ran{0}, early{-1};
  std::vector<weft::access> all;
  for (int &c : cells)
    all.push_back(weft::inout(c));
  weft::spawn(
      [&] {
        for (int i = 0; i != 39; ++i)
          weft::release(weft::inout(cells[i]));
        EXPECT_TRUE(test::eventually([&] { return ran == 39; }));
        test::dawdle();
        early = ran.load();
      },
      weft::accesses(all));
  for (int &c : cells)
    weft::spawn([&] { ++ran; }, weft::inout(c));
  weft::taskwait();
  EXPECT_EQ(early, 39);
  EXPECT_EQ(ran, 40);
}

TEST(release, before_any_child_leaves_nothing_to_the_end_of_the_body) {
  int x = 0, y = 0, seen = 0;
  weft::spawn(
      [&] {
        x = 1;
        weft::release(weft::out(x));
        weft::spawn([&] { y = 1; }, weft::out(y));
        weft::spawn([&] { seen += y; }, weft::in(y));
      },
      weft::out(x));
  weft::spawn([&] { x += 1; }, weft::inout(x));
  weft::taskwait();
  EXPECT_EQ(x, 2);
  EXPECT_EQ(seen, 1);
}

TEST(release, of_a_commutative_access_lets_the_next_one_have_it) {
  int x = 0, sum = 0;
  std::atomic<int> inside{0}, released{0};
  for (int i = 0; i != 6; ++i)
    weft::spawn(
        [&] {
          EXPECT_EQ(++inside, 1);
          weft::taskyield();
          ++sum;
          --inside;
          weft::release(weft::commutative(x));
          ++released;
          EXPECT_TRUE(test::eventually([&] { return released == 6; })) << "all bodies end together";
        },
        weft::commutative(x));
  int seen = 0;
  weft::spawn([&] { seen = sum; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 6);
}

TEST(release, of_a_reduction_combines_while_the_bodies_run) {
  int x = 1, seen = 0;
  std::atomic<int> other{0};
  test::gate read;
  weft::errc code{};
  for (int i = 0; i != 4; ++i)
    weft::spawn(
        [&, i] {
          weft::reduction_local(x) += 10;
          weft::release(weft::inout(x));
          if (i == 0)
            try {
              weft::reduction_local(x) += 1;
            } catch (const weft::error &e) {
              code = e.code();
            }
          weft::spawn([&] { ++other; },
                      weft::commutative(other)); // looks through the accesses of its parent
          EXPECT_TRUE(read.pass());
        },
        weft::reduction(x, weft::sum));
  weft::spawn([&] { seen = x, read.open(); }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 41);
  EXPECT_EQ(code, weft::errc::invalid_argument) << "what was released is reduced no more";
}

TEST(cost, is_told_to_the_task_and_added_up) {
  const auto before = weft::stats().cost;
  std::atomic<std::uint64_t> seen{0}, none{1};
  weft::spawn([&] { seen = weft::this_task::cost(); }, weft::cost(12), weft::label("costly"));
  weft::spawn([&] { none = weft::this_task::cost(); });
  weft::spawn([] {}, weft::cost(30), weft::priority(-1));
  weft::taskwait();
  EXPECT_EQ(seen, 12u);
  EXPECT_EQ(none, 0u);
  EXPECT_EQ(weft::stats().cost - before, 42u);
}

TEST(release, of_a_part_of_a_region_lets_those_start_who_need_no_more) {
  int v[10] = {};
  test::gate second, rest;
  std::atomic<bool> early{false};
  int seen = 0;
  weft::spawn(
      [&] {
        v[2] = 5;
        weft::release(weft::out(weft::region(v).range(0, 4)));
        EXPECT_TRUE(second.pass());
        test::dawdle();
        early = rest.is_open();
        v[7] = 6;
      },
      weft::out(weft::region(v)));
  weft::spawn(
      [&] {
        seen = v[2];
        second.open();
      },
      weft::in(weft::region(v).range(1, 3)));
  weft::spawn(
      [&] {
        rest.open();
        EXPECT_EQ(v[7], 6);
      },
      weft::in(weft::region(v).range(4, 8)));
  weft::taskwait();
  EXPECT_EQ(seen, 5);
  EXPECT_FALSE(early) << "it needs more than what was released";
}

TEST(release, of_a_region_is_known_to_those_who_come_later) {
  int v[10] = {};
  test::gate released, later;
  weft::spawn(
      [&] {
        v[2] = 5;
        weft::release(weft::out(weft::region(v).range(0, 4)));
        released.open();
        EXPECT_TRUE(later.pass());
      },
      weft::out(weft::region(v)));
  EXPECT_TRUE(released.pass());
  weft::spawn(
      [&] {
        EXPECT_EQ(v[2], 5);
        later.open();
      },
      weft::inout(weft::region(v).range(1, 3)));
  weft::taskwait();
  EXPECT_TRUE(later.is_open());
}

TEST(release, of_a_region_waits_for_children_that_hold_some_of_it) {
  int v[10] = {};
  test::gate child, others;
  std::atomic<bool> early{false};
  test::gate successor;
  weft::spawn(
      [&] {
        weft::spawn(
            [&] {
              EXPECT_TRUE(child.pass());
              v[1] = 7;
            },
            weft::inout(weft::region(v).range(0, 1)));
        weft::release(weft::inout(weft::region(v)));
        EXPECT_TRUE(others.pass()) << "no child holds the rest";
        test::dawdle();
        early = successor.is_open();
        child.open();
        EXPECT_TRUE(successor.pass()) << "the body need not end";
      },
      weft::inout(weft::region(v)));
  weft::spawn([&] { others.open(); }, weft::inout(weft::region(v).range(5, 9)));
  weft::spawn(
      [&] {
        EXPECT_EQ(v[1], 7);
        successor.open();
      },
      weft::in(weft::region(v).range(1, 3)));
  weft::taskwait();
  EXPECT_FALSE(early);
}

TEST(release, of_a_region_that_others_read_as_well) {
  int v[4] = {1, 2, 3, 4};
  test::gate reader, writer;
  weft::spawn(
      [&] {
        EXPECT_TRUE(reader.pass());
        EXPECT_EQ(v[3], 4);
      },
      weft::in(weft::region(v).range(2, 3)));
  weft::spawn(
      [&] {
        weft::release(weft::in(weft::region(v).range(0, 1)));
        weft::release(weft::in(weft::region(v).range(0, 1))); // again: harmless
        EXPECT_TRUE(writer.pass());
        reader.open();
      },
      weft::in(weft::region(v)));
  weft::spawn(
      [&] {
        v[0] = 9;
        writer.open();
      },
      weft::out(weft::region(v).range(0, 1)));
  weft::taskwait();
  EXPECT_EQ(v[0], 9);
}

TEST(release, of_a_weak_region_leaves_those_in_place_that_came_before) {
  int v[4] = {};
  test::gate first;
  weft::spawn(
      [&] {
        EXPECT_TRUE(first.pass());
        v[0] = 1;
      },
      weft::out(weft::region(v).range(0, 1)));
  weft::spawn(
      [&] {
        weft::release(weft::weak_inout(weft::region(v)));
        first.open();
      },
      weft::weak_inout(weft::region(v)));
  weft::spawn(
      [&] {
        EXPECT_EQ(v[0], 1);
        v[0] = 2;
      },
      weft::inout(weft::region(v)));
  weft::taskwait();
  EXPECT_EQ(v[0], 2);
}

TEST(release, of_bytes_that_were_not_declared_is_refused) {
  int v[10] = {};
  std::string complaint;
  weft::spawn(
      [&] {
        try {
          weft::release(weft::out(weft::region(v).range(2, 6)));
        } catch (const weft::error &e) {
          complaint = e.what();
        }
      },
      weft::out(weft::region(v).range(0, 4)), weft::label("half"));
  weft::taskwait();
  EXPECT_NE(complaint.find("task 'half' releases region 1, at "), std::string::npos) << complaint;
}

} // namespace
