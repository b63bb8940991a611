// SPDX-License-Identifier: Apache-2.0
// Concurrent and commutative accesses, their weak forms, and how they behave among others.
#include "support/case_process.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <gtest/gtest.h>
#include <initializer_list>
#include <vector>

namespace {

using test::dawdle;

TEST(concurrent, tasks_run_at_once_and_others_wait_for_all_of_them) {
  int x = 0, seen = -1;
  std::atomic<int> sum{0};
  test::gate both[2];
  bool met[2] = {};
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  for (int i : {0, 1})
    weft::spawn(
        [&, i] {
          both[i].open();
          met[i] = both[1 - i].pass();
          sum += x;
        },
        weft::concurrent(x));
  weft::spawn([&] { seen = sum; }, weft::in(x));
  weft::taskwait();
  EXPECT_TRUE(met[0] && met[1]) << "one waited for the other";
  EXPECT_EQ(seen, 2);
}

TEST(concurrent, children_of_weak_tasks_run_at_once_too) {
  int x = 0, seen = -1;
  std::atomic<int> sum{0};
  test::gate both[2];
  bool met[2] = {};
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  for (int i : {0, 1})
    weft::spawn(
        [&, i] {
          weft::spawn(
              [&, i] {
                both[i].open();
                met[i] = both[1 - i].pass();
                sum += x;
              },
              weft::concurrent(x));
        },
        weft::weak_concurrent(x));
  weft::spawn([&] { seen = sum; }, weft::in(x));
  weft::taskwait();
  EXPECT_TRUE(met[0] && met[1]);
  EXPECT_EQ(seen, 2);
}

TEST(concurrent, runs_of_them_are_ordered_among_others) {
  const int rounds = test::scaled(200);
  int x = 0;
  std::atomic<int> sum{0}, wrong{0};
  for (int r = 0; r != rounds; ++r) {
    weft::spawn([&, r] { wrong += sum != 5 * r, x = r; }, weft::inout(x));
    for (int i = 0; i != 5; ++i)
      weft::spawn([&, r] { wrong += x != r, ++sum; }, weft::concurrent(x));
  }
  weft::taskwait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(sum, 5 * rounds);
}

/// Says when two are in it.
struct turnstile {
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  template <class F>
  void with(F f) {
    if (++inside != 1)
      overlapped = true;
    f();
    if (--inside != 0)
      overlapped = true;
  }
};

TEST(commutative, tasks_take_turns_in_any_order) {
  const int n = test::scaled(2000);
  int x = 0, seen = -1;
  turnstile t;
  for (int i = 0; i != n; ++i)
    weft::spawn([&] { t.with([&] { ++x; }); }, weft::commutative(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, n);
  EXPECT_FALSE(t.overlapped);
}

TEST(commutative, a_task_that_is_ready_overtakes_one_that_is_not) {
  int x = 0, y = 0;
  test::gate second;
  bool passed = false;
  weft::spawn([&] { passed = second.pass(), y = 1; }, weft::out(y));
  weft::spawn([&] { x *= 10; }, weft::commutative(x), weft::in(y));
  weft::spawn([&] { x += 1, second.open(); }, weft::commutative(x));
  weft::taskwait();
  EXPECT_TRUE(passed) << "the second waited for the first, which was not ready";
  EXPECT_EQ(x, 10);
}

TEST(commutative, tasks_that_need_several_never_wait_in_a_circle) {
  const int n = test::scaled(1000);
  constexpr int k_cells = 4;
  int cells[k_cells] = {};
  turnstile of[k_cells];
  for (int i = 0; i != n; ++i) {
    const int a = i % k_cells, b = (i * 7 + 1) % k_cells, c = (i / 3) % k_cells;
    std::vector<weft::access> all;
    for (int k : {a, b, c})
      all.push_back(weft::commutative(cells[k]));
    weft::spawn(
        [&, a, b, c] {
          int parts[k_cells] = {};
          for (int k : {a, b, c})
            parts[k] = 1;
          for (int k = 0; k != k_cells; ++k)
            if (parts[k])
              of[k].with([&] { ++cells[k]; });
        },
        weft::accesses(all));
  }
  weft::taskwait();
  int sum = 0;
  for (int k = 0; k != k_cells; ++k) {
    EXPECT_FALSE(of[k].overlapped) << k;
    sum += cells[k];
  }
  int expected = 0;
  for (int i = 0; i != n; ++i) {
    int parts[k_cells] = {};
    for (int k : {i % k_cells, (i * 7 + 1) % k_cells, (i / 3) % k_cells})
      parts[k] = 1;
    for (int part : parts)
      expected += part;
  }
  EXPECT_EQ(sum, expected);
}

TEST(commutative, independent_pairs_run_at_once_whatever_stands_between_them) {
  int a = 0, b = 0, c = 0, d = 0;
  test::gate first, last;
  bool met[2] = {};
  weft::spawn([&] { first.open(), met[0] = last.pass(), ++a, ++b; }, weft::commutative(a),
              weft::commutative(b));
  weft::spawn([&] { ++b, ++c; }, weft::commutative(b), weft::commutative(c));
  weft::spawn([&] { last.open(), met[1] = first.pass(), ++c, ++d; }, weft::commutative(c),
              weft::commutative(d));
  weft::taskwait();
  EXPECT_TRUE(met[0] && met[1]) << "the one in between kept what it did not have yet";
  EXPECT_EQ(a + b + c + d, 6);
}

TEST(commutative, a_child_of_the_same_address_does_not_wait_for_its_parent) {
  const int n = test::scaled(50);
  int x = 0;
  turnstile t;
  for (int i = 0; i != n; ++i)
    weft::spawn(
        [&] {
          for (int k = 0; k != 3; ++k)
            weft::spawn([&] { t.with([&] { ++x; }); }, weft::commutative(x));
          weft::taskwait();
          t.with([&] { ++x; });
        },
        weft::commutative(x));
  weft::taskwait();
  EXPECT_EQ(x, 4 * n);
  EXPECT_FALSE(t.overlapped);
}

TEST(commutative, a_turn_lasts_until_the_children_have_released) {
  const int n = test::scaled(50);
  int x = 0;
  turnstile t;
  for (int i = 0; i != n; ++i)
    weft::spawn(
        [&] {
          weft::spawn([&] { t.with([&] { dawdle(), ++x; }); }, weft::inout(x));
          weft::spawn([&] { t.with([&] { ++x; }); }, weft::inout(x));
        },
        weft::commutative(x));
  weft::taskwait();
  EXPECT_EQ(x, 2 * n);
  EXPECT_FALSE(t.overlapped) << "the next task had its turn while children were at it";
}

TEST(commutative, children_of_weak_tasks_take_turns_with_each_other) {
  const int n = test::scaled(40);
  int x = 0, y = 0, seen = -1;
  turnstile t;
  for (int i = 0; i != n; ++i) {
    weft::spawn(
        [&] {
          for (int k = 0; k != 5; ++k)
            weft::spawn([&] { t.with([&] { ++x; }); }, weft::commutative(x), weft::commutative(y));
        },
        weft::weak_commutative(x), weft::weak_commutative(y));
    weft::spawn([&] { t.with([&] { ++x; }); }, weft::commutative(y), weft::commutative(x));
  }
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 6 * n);
  EXPECT_FALSE(t.overlapped);
}

TEST(commutative, weak_over_several_levels_is_one_line_of_turns) {
  int x = 0;
  turnstile t;
  struct tree {
    int *x;
    turnstile *t;
    void grow(int depth) const {
      if (depth == 0) {
        t->with([this] { ++*x; });
        return;
      }
      for (int i = 0; i != 3; ++i)
        weft::spawn([*this, depth] { grow(depth - 1); },
                    depth == 1 ? weft::commutative(*x) : weft::weak_commutative(*x));
    }
  };
  tree{&x, &t}.grow(4);
  weft::taskwait();
  EXPECT_EQ(x, 81);
  EXPECT_FALSE(t.overlapped);
}

TEST(commutative, with_if_false_the_creator_waits_for_the_turn) {
  int x = 0;
  turnstile t;
  for (int i = 0; i != test::scaled(100); ++i) {
    weft::spawn([&] { t.with([&] { ++x; }); }, weft::commutative(x));
    weft::spawn([&] { t.with([&] { ++x; }); }, weft::commutative(x), weft::if_(false));
  }
  weft::taskwait();
  EXPECT_EQ(x, 2 * test::scaled(100));
  EXPECT_FALSE(t.overlapped);
}

TEST(commutative, events_and_wait_prolong_the_turn) {
  int x = 0;
  turnstile t;
  for (int i = 0; i != 20; ++i)
    weft::spawn(
        [&] {
          ++t.inside;
          weft::this_task::increase_events();
          weft::spawn([&, me = weft::this_task::self()] {
            ++x;
            if (--t.inside != 0)
              t.overlapped = true;
            weft::decrease_events(me);
          });
        },
        weft::commutative(x));
  weft::taskwait();
  EXPECT_EQ(x, 20);
  EXPECT_FALSE(t.overlapped);
}

TEST(commutative, onready_is_called_when_the_turn_has_come) {
  int x = 0;
  static turnstile t;
  for (int i = 0; i != 20; ++i)
    weft::spawn([&] { ++x, --t.inside; }, weft::commutative(x),
                weft::onready(
                    [](void *) {
                      if (++t.inside != 1)
                        t.overlapped = true;
                    },
                    nullptr));
  weft::taskwait();
  EXPECT_EQ(x, 20);
  EXPECT_FALSE(t.overlapped);
}

/// In each system of dependencies, with one worker and with four.
template <class F>
void in_each_system(F f) {
  for (const char *system : {"wait-free", "locks", "regions"})
    for (const char *workers : {"1", "4"}) {
      const auto end =
          test::in_process({{"WEFT_DEPS_SYSTEM", system}, {"WEFT_WORKERS", workers}}, f);
      EXPECT_TRUE(end.exited(0)) << system << ", " << workers << " workers: " << end;
    }
}

TEST(commutative, a_turn_beside_weak_data_is_not_waited_for_in_a_circle) {
  in_each_system([] {
    int x = 0, y = 0;
    test::gate spawned;
    weft::spawn([&] { y = spawned.pass() ? 1 : -1; }, weft::inout(y));
    weft::spawn([&] { x += 10, y *= 2; }, weft::inout(y), weft::commutative(x));
    weft::spawn([&] { weft::spawn([&] { x += 100, y += 3; }, weft::inout(x), weft::inout(y)); },
                weft::commutative(x), weft::weak_inout(y));
    spawned.open();
    weft::taskwait();
    EXPECT_EQ(x, 110);
    EXPECT_EQ(y, 5);
  });
}

TEST(commutative, turns_that_two_tasks_leave_to_their_children_are_not_waited_for_in_a_circle) {
  in_each_system([] {
    int x = 0, z = 0;
    std::atomic<int> begun{0};
    const auto one_way = [&](int &mine, int &below) {
      weft::spawn(
          [&] {
            ++begun;
            for (int i = 0; i != 1000 && begun != 2; ++i) // the other one has its chance
              weft::taskyield();
            weft::spawn([&] { mine += 1, below += 1; }, weft::commutative(mine),
                        weft::commutative(below));
          },
          weft::commutative(mine), weft::weak_commutative(below));
    };
    one_way(x, z);
    one_way(z, x);
    weft::taskwait();
    EXPECT_EQ(x, 2);
    EXPECT_EQ(z, 2);
  });
}

TEST(commutative, weak_data_alone_holds_nobody_back) {
  int x = 0, y = 0;
  test::gate begun;
  bool first = false;
  weft::spawn([&] { first = begun.pass(); }, weft::inout(y));
  weft::spawn([&] { begun.open(); }, weft::weak_commutative(x), weft::weak_inout(y));
  weft::taskwait();
  EXPECT_TRUE(first);
}

TEST(sharing, different_kinds_on_one_address_are_ordered_like_writers) {
  const int rounds = test::scaled(100);
  std::atomic<int> x{0}, wrong{0};
  for (int r = 0; r != rounds; ++r) {
    for (int i = 0; i != 3; ++i)
      weft::spawn([&, r] { wrong += x < 7 * r || x >= 7 * r + 3, ++x; }, weft::commutative(x));
    for (int i = 0; i != 3; ++i)
      weft::spawn([&, r] { wrong += x < 7 * r + 3 || x >= 7 * r + 6, x += 1; },
                  weft::concurrent(x));
    weft::spawn([&, r] { wrong += x++ != 7 * r + 6; }, weft::inout(x));
  }
  weft::taskwait();
  EXPECT_EQ(x, 7 * rounds);
  EXPECT_EQ(wrong, 0);
}

TEST(sharing, two_kinds_in_one_list_are_an_inout) {
  int x = 0, seen = -1;
  weft::spawn([&] { dawdle(), x = 1; }, weft::concurrent(x));
  weft::spawn([&] { seen = x; }, weft::concurrent(x), weft::commutative(x));
  weft::spawn([&] { x = 2; }, weft::concurrent(x));
  weft::taskwait();
  EXPECT_EQ(seen, 1) << "it ran beside a concurrent one";
}

TEST(sharing, a_cohort_alone_at_the_end_of_a_body_is_passed_on) {
  using maker = weft::access (*)(int &);
  for (const maker make : std::initializer_list<maker>{&weft::concurrent, &weft::commutative}) {
    int x = 0, seen = -1;
    weft::spawn([&] { weft::spawn([&] { dawdle(), x = 7; }, make(x)); }, weft::weak_inout(x));
    weft::spawn([&] { seen = x; }, weft::in(x));
    weft::taskwait();
    EXPECT_EQ(seen, 7);
  }
}

TEST(sharing, long_chains_of_empty_cohorts_do_not_recurse) {
  const int n = test::scaled(50'000);
  int x = 0, seen = -1;
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  for (int i = 0; i != n; ++i)
    weft::spawn([] {}, i % 2 ? weft::weak_concurrent(x) : weft::weak_commutative(x));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 1);
}

TEST(sharing, in_a_final_task_needs_no_turns) {
  int x = 0;
  weft::spawn(
      [&] {
        for (int i = 0; i != 10; ++i)
          weft::spawn([&] { ++x; }, i % 2 ? weft::commutative(x) : weft::concurrent(x));
      },
      weft::weak_commutative(x), weft::final());
  weft::spawn([&] { ++x; }, weft::commutative(x));
  weft::taskwait();
  EXPECT_EQ(x, 11);
}

TEST(sharing, a_cancelled_group_gives_its_turns_back) {
  int x = 0, after = 0;
  {
    weft::task_group g;
    for (int i = 0; i != 20; ++i)
      g.spawn([&, i] { ++x, i == 3 ? throw 1 : 0; }, weft::commutative(x));
    EXPECT_THROW(g.wait(), int);
  }
  weft::spawn([&] { after = 1; }, weft::commutative(x));
  weft::taskwait();
  EXPECT_EQ(after, 1);
}

TEST(sharing, taskwait_on_waits_for_all_members) {
  std::atomic<int> x{0};
  for (int i = 0; i != 10; ++i)
    weft::spawn([&] { dawdle(), ++x; }, weft::concurrent(x));
  weft::taskwait(weft::in(x));
  EXPECT_EQ(x, 10);
  weft::taskwait();
}

} // namespace
