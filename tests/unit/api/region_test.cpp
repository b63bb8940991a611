// SPDX-License-Identifier: Apache-2.0
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace {

using weft::region;

/// Holds tasks back until it is opened; the test fails when no thread opens it.
class gate {
 public:
  void pass() const { EXPECT_TRUE(m_gate.pass()); }
  void open() { m_gate.open(); }

 private:
  test::gate m_gate;
};

/// Tasks that must be at work at once: each waits for all, so one that waits for another's end lets the test fail.
class meeting {
 public:
  explicit meeting(int of) : m_of(of) {}
  void join() {
    ++m_here;
    EXPECT_TRUE(test::eventually([this] { return m_here == m_of; }))
        << m_here << " of " << m_of << " tasks run";
  }
  [[nodiscard]] bool has_been() const { return m_here == m_of; }

 private:
  const int m_of;
  std::atomic<int> m_here{0};
};

TEST(region, overlapping_writers_run_in_the_order_of_their_creation) {
  std::vector<int> v(100, 0);
  for (int i = 0; i < 50; ++i)
    weft::spawn(
        [&v, i] { std::iota(v.begin() + i, v.begin() + 2 * i, v[static_cast<std::size_t>(i)]); },
        weft::inout(region(v).span(i, i)), weft::in(region(v).span(i, 1)));
  weft::taskwait();
  std::vector<int> expected(100, 0);
  for (int i = 0; i < 50; ++i)
    std::iota(expected.begin() + i, expected.begin() + 2 * i,
              expected[static_cast<std::size_t>(i)]);
  EXPECT_EQ(v, expected);
}

TEST(region, a_reader_waits_for_all_writers_of_its_parts_and_a_writer_for_all_readers) {
  std::vector<int> v(64, 1);
  for (int round = 1; round <= 20; ++round) {
    for (int i = 0; i < 8; ++i)
      weft::spawn(
          [&v, i] {
            for (int k = 8 * i; k < 8 * i + 8; ++k)
              v[static_cast<std::size_t>(k)] += 1;
          },
          weft::inout(region(v).span(8 * i, 8)));
    int sums[3];
    for (int i = 0; i < 3; ++i)
      weft::spawn([&v, &sums, i] { sums[i] = std::accumulate(v.begin() + i, v.end() - i, 0); },
                  weft::in(region(v).range(i, 63 - i)), weft::out(sums[i]));
    for (int i = 0; i < 3; ++i)
      weft::taskwait(weft::in(sums[i]));
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(sums[i], (64 - 2 * i) * (round + 1));
  }
  weft::taskwait();
}

TEST(region, the_same_one_again_and_again_keeps_its_place_when_others_overlap_it) {
  unsigned v[8] = {};
  unsigned expected[8] = {};
  std::vector<unsigned> seen, wanted;
  seen.reserve(100);
  const auto step = [](unsigned *at, int first, int last, unsigned by) {
    for (int i = first; i <= last; ++i)
      at[i] = at[i] * 3 + by + at[first];
  };
  for (unsigned n = 0; n < 500; ++n) {
    const int first = n % 7 == 3 ? 2 : n % 11 == 5 ? 6 : 0;
    const int last = n % 7 == 3 ? 5 : n % 11 == 5 ? 6 : 3;
    if (n % 5 == 4) {
      seen.push_back(0), wanted.push_back(expected[1]);
      weft::spawn([&v, at = &seen.back()] { *at = v[1]; }, weft::in(region(v).range(0, 1)));
    }
    step(expected, first, last, n);
    weft::spawn([&v, step, first, last, n] { step(v, first, last, n); },
                weft::inout(region(v).range(first, last)));
  }
  weft::taskwait();
  EXPECT_EQ(seen, wanted);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(v[i], expected[i]) << i;
}

TEST(region, disjoint_blocks_of_a_matrix_do_not_wait_for_each_other) {
  static double m[8][8];
  meeting all(4);
  for (int row : {0, 4})
    for (int column : {0, 4})
      weft::spawn([&] { all.join(); },
                  weft::inout(region(m).range(row, row + 3).range(column, column + 3)));
  weft::taskwait();
  EXPECT_TRUE(all.has_been());
}

TEST(region, readers_run_together) {
  std::vector<int> v(10);
  meeting both(2);
  weft::spawn([&] { both.join(); }, weft::in(region(v).range(0, 7)));
  weft::spawn([&] { both.join(); }, weft::in(region(v).range(3, 9)));
  weft::taskwait();
  EXPECT_TRUE(both.has_been());
}

TEST(region, concurrent_tasks_run_together_and_in_order_with_all_others) {
  int v[10] = {};
  std::atomic<int> sum{0};
  gate first, second;
  int seen = -1, after = -1;
  weft::spawn([&] { v[0] = 1; }, weft::inout(region(v)));
  weft::spawn([&] { first.pass(), sum += v[0], second.open(); },
              weft::concurrent(region(v).range(0, 5)));
  weft::spawn([&] { first.open(), second.pass(), sum += v[0]; },
              weft::concurrent(region(v).range(3, 9)));
  weft::spawn([&] { seen = sum; }, weft::in(region(v).range(4, 4)));
  weft::spawn([&] { after = seen; }, weft::commutative(region(v).range(0, 4)));
  weft::taskwait();
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(after, 2);
}

TEST(region, children_of_weakly_sharing_parents_share_as_well) {
  int v[10] = {};
  gate met[2];
  bool together[2] = {};
  std::vector<int> order;
  int seen = 0;
  weft::spawn([&] { weft::taskyield(), v[0] = 1; }, weft::out(region(v).span(0, 2)));
  for (int i : {0, 1})
    weft::spawn(
        [&, i] {
          weft::spawn(
              [&, i] {
                met[i].open(), met[1 - i].pass();
                together[i] = v[0] == 1;
              },
              weft::concurrent(region(v).span(i, 5)));
        },
        weft::weak_concurrent(region(v)));
  for (int i = 0; i != 4; ++i)
    weft::spawn(
        [&, i] {
          for (int k : {0, 1})
            weft::spawn([&, i, k] { weft::taskyield(), ++v[4], order.push_back(2 * i + k); },
                        weft::commutative(region(v).span(4 - k, 3)));
        },
        weft::weak_commutative(region(v).range(3, 8)));
  weft::spawn([&] { seen = together[0] && together[1] ? v[4] : -1; },
              weft::in(region(v).span(4, 1)));
  weft::taskwait();
  EXPECT_EQ(seen, 8);
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6, 7}))
      << "one at a time, in the order of their creation";
}

TEST(region, reductions_among_regions_are_done_in_place) {
  int v[10] = {};
  int sum = 1, seen = 0;
  for (int i = 0; i < 10; ++i) {
    weft::spawn([&v, i] { v[i] = i; }, weft::out(region(v).span(i, 1)));
    weft::spawn([&v, &sum, i] { weft::reduction_local(sum) += v[i]; },
                weft::in(region(v).span(i, 1)), weft::reduction(sum, weft::sum));
  }
  weft::spawn([&] { seen = sum; }, weft::in(sum), weft::out(region(v)));
  weft::taskwait();
  EXPECT_EQ(seen, 46);
}

TEST(region, a_weak_parent_delays_only_the_children_whose_parts_are_busy) {
  std::vector<int> v(10, 0);
  gate g;
  int seen = 0;
  weft::spawn([&] { g.pass(), v[0] = 1; }, weft::inout(region(v).range(0, 4)));
  weft::spawn(
      [&] {
        weft::spawn([&] { g.open(), v[5] = 1; }, weft::inout(region(v).range(5, 9)));
        weft::spawn([&] { seen = v[0]; }, weft::in(region(v).span(0, 2)), weft::out(seen));
      },
      weft::weak_inout(region(v)), weft::weak_out(seen));
  weft::taskwait(weft::in(seen));
  EXPECT_EQ(seen, 1);
  weft::taskwait();
}

TEST(region, a_child_that_ends_releases_its_part_of_its_parents_region) {
  std::vector<int> v(10, 0);
  gate g;
  int early = 0, late = 0;
  weft::spawn(
      [&] {
        weft::spawn([&] { v[0] = 1; }, weft::inout(region(v).range(0, 4)));
        weft::spawn([&] { g.pass(), v[9] = 2; }, weft::inout(region(v).range(5, 9)));
      },
      weft::inout(region(v)));
  weft::spawn([&] { early = v[0], g.open(); }, weft::in(region(v).range(0, 3)));
  weft::spawn([&] { late = v[9]; }, weft::in(region(v).range(4, 9)));
  weft::taskwait();
  EXPECT_EQ(early, 1);
  EXPECT_EQ(late, 2);
}

TEST(region, a_reader_inside_of_a_writer_holds_up_writers_only) {
  std::vector<int> v(10, 0);
  gate g;
  int seen = 0;
  weft::spawn(
      [&] {
        v[3] = 7;
        weft::spawn([&] { g.pass(), seen = v[3]; }, weft::in(region(v).range(2, 5)));
      },
      weft::inout(region(v)), weft::if_(false)); // it has ended, its children have not
  weft::taskwait(weft::in(region(v).range(3, 4)));
  EXPECT_EQ(v[3], 7);
  EXPECT_EQ(seen, 0); // the reader still is at the gate
  weft::spawn([&] { v[3] = 8; }, weft::inout(region(v).range(3, 3)));
  g.open();
  weft::taskwait(weft::inout(region(v).range(3, 3)));
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(v[3], 8);
  weft::taskwait();
}

TEST(region, the_wait_clause_holds_all_parts_until_the_children_are_complete) {
  std::vector<int> v(10, 0);
  int sum = 0;
  std::atomic<int> done{0};
  weft::spawn(
      [&] {
        for (int i = 0; i < 5; ++i)
          weft::spawn(
              [&v, &done, i] { weft::taskyield(), v[static_cast<std::size_t>(2 * i)] = 1, ++done; },
              weft::inout(region(v).span(2 * i, 2)));
      },
      weft::inout(region(v)), weft::wait);
  weft::spawn([&] { sum = done; }, weft::in(region(v).span(0, 1)));
  weft::taskwait();
  EXPECT_EQ(sum, 5);
}

TEST(region, weak_tasks_without_children_pass_on_what_they_waited_for) {
  std::vector<int> v(4, 0);
  gate g;
  int seen = 0;
  weft::spawn([&] { g.pass(), v[2] = 7; }, weft::out(region(v)));
  for (int i = 0; i < 100; ++i) {
    weft::spawn([] {}, weft::weak_inout(region(v).span(i % 3, 2)));
    weft::spawn([] {}, weft::weak_in(region(v)));
  }
  weft::spawn([&] { seen = v[2]; }, weft::inout(region(v).span(2, 1)));
  weft::spawn([&] { g.open(); });
  weft::taskwait();
  EXPECT_EQ(seen, 7);
}

TEST(region, lists_are_read_at_run_time) {
  std::vector<int> v(100, 1);
  std::vector<weft::region_access> odd;
  for (int i = 1; i < 100; i += 2)
    odd.push_back(weft::inout(region(v).span(i, 1)));
  for (int k = 0; k < 10; ++k) {
    weft::spawn(
        [&v] {
          for (std::size_t i = 1; i < 100; i += 2)
            v[i] *= 2;
        },
        weft::regions(odd), weft::label("double"));
    weft::spawn([&v] { v[49] += 1; }, weft::inout(region(v).span(49, 1)));
  }
  weft::taskwait(std::span<const weft::region_access>(odd));
  EXPECT_EQ(v[49], 1024 + 1023);
  EXPECT_EQ(v[51], 1024);
  EXPECT_EQ(v[50], 1);
  weft::taskwait();
}

TEST(region, final_tasks_and_tasks_with_if_false_keep_the_order) {
  std::vector<int> v(10, 0);
  weft::spawn([&] { weft::taskyield(), v[1] = 1; }, weft::inout(region(v).range(0, 4)));
  weft::spawn([&] { v[1] = v[1] * 3; }, weft::inout(region(v).range(1, 1)), weft::if_(false));
  EXPECT_EQ(v[1], 3);
  weft::spawn([&] { weft::taskyield(), v[7] = 5; }, weft::inout(region(v).range(5, 9)));
  weft::spawn(
      [&] {
        weft::spawn([&] { v[7] += v[1]; }, weft::inout(region(v).range(7, 7)),
                    weft::in(region(v).range(1, 1)));
        v[7] *= 2;
      },
      weft::weak_inout(region(v)), weft::final());
  weft::taskwait();
  EXPECT_EQ(v[7], 16);
}

TEST(region, regions_and_objects_of_one_task_are_ordered_together) {
  int v[10] = {};
  int x = 0;
  for (int i = 0; i < 100; ++i) {
    weft::spawn([&] { v[3] = x + 1; }, weft::inout(region(v).range(2, 5)), weft::in(x));
    weft::spawn([&] { x = v[3]; }, weft::in(v[3]), weft::out(x));
  }
  weft::taskwait();
  EXPECT_EQ(x, 100);
}

TEST(region, come_after_objects_that_were_named_before) {
  int v[10] = {};
  gate g;
  weft::spawn([&] { g.pass(), v[3] = 1; }, weft::inout(v[3]));
  weft::spawn([&] { v[3] = v[3] * 10 + 2; }, weft::inout(region(v)));
  weft::spawn([&] { v[3] = v[3] * 10 + 3; }, weft::inout(v[3]));
  weft::spawn([&] { g.open(); });
  weft::taskwait();
  EXPECT_EQ(v[3], 123);
}

TEST(region, of_children_stay_inside_of_the_objects_that_their_parent_names) {
  int v[10] = {};
  for (int i = 0; i < 20; ++i) {
    weft::spawn(
        [&v] { // the array is named by its first element
          weft::spawn([&v] { weft::taskyield(), v[3] += 1; }, weft::inout(region(v).range(0, 5)));
          weft::spawn([&v] { v[4] = v[3]; }, weft::in(region(v).range(3, 3)),
                      weft::inout(region(v).range(4, 9)));
        },
        weft::weak_inout(v[0]));
    weft::spawn(
        [&v] {
          v[3] = static_cast<int>(2u * static_cast<unsigned>(v[3]) + static_cast<unsigned>(v[4]));
        },
        weft::inout(v[0]));
  }
  weft::taskwait();
  unsigned three = 0;
  for (int i = 0; i < 20; ++i) {
    const unsigned four = ++three;
    three = 2u * three + four;
  }
  EXPECT_EQ(v[3], static_cast<int>(three));
}

TEST(region, groups_and_handles_take_them) {
  std::vector<int> v(10, 0);
  weft::task_group group;
  group.spawn([&] { v[2] = 1; }, weft::out(region(v).range(0, 5)));
  auto h = weft::spawn([&] { return v[2] + 1; }, weft::in(region(v).range(2, 2)));
  group.wait();
  EXPECT_EQ(h.get(), 2);
}

TEST(region, that_is_none_is_refused_and_the_task_is_gone) {
  std::vector<int> v(10, 0);
  auto kept = std::make_shared<int>(0);
  try {
    weft::spawn([kept, &v] { v[0] = 1; }, weft::inout(region(v).range(5, 10)),
                weft::label("stencil"));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("task 'stencil': region 0 (inout [5;6] of [10] at 0x"),
              std::string::npos)
        << e.what();
  }
  EXPECT_EQ(kept.use_count(), 1);
  weft::spawn([&] { v[0] = 2; }, weft::inout(region(v)),
              weft::in(region(static_cast<int *>(nullptr), -5)));
  weft::taskwait();
  EXPECT_EQ(v[0], 2);
}

} // namespace
