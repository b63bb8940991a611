// SPDX-License-Identifier: Apache-2.0
// taskloop: chunks, accesses per chunk, waits, failures.
#include "support/gate.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using test::dawdle;

struct sizes {
  std::mutex lock;
  std::vector<std::uint64_t> seen;
  void add(std::uint64_t n) {
    const std::lock_guard guard(lock);
    seen.push_back(n);
  }
};

TEST(taskloop, calls_the_body_once_for_each_index) {
  std::vector<std::atomic<int>> seen(1000);
  weft::taskloop(weft::range<std::size_t>(1000), [&](std::size_t i) { ++seen[i]; });
  for (auto &n : seen)
    EXPECT_EQ(n, 1);
}

TEST(taskloop, counts_down_with_a_negative_step) {
  std::atomic<long> sum{0}, calls{0};
  weft::taskloop(weft::range(100, 0, -7), [&](int i) { sum += i, ++calls; }, weft::grain_size(4));
  EXPECT_EQ(calls, 15);
  EXPECT_EQ(sum, 15 * (100 + 2) / 2);
}

TEST(taskloop, does_nothing_for_an_empty_range) {
  const auto before = weft::stats().spawned;
  weft::taskloop(weft::range(5, 5), [](int) { FAIL(); });
  weft::taskloop(weft::range(5, 0), [](int) { FAIL(); }, weft::grain_size(3), weft::nogroup);
  EXPECT_EQ(weft::stats().spawned, before);
}

TEST(taskloop, works_at_the_ends_of_the_index_type) {
  std::atomic<int> calls{0};
  std::atomic<bool> last{false};
  constexpr auto least = INT64_MIN, most = INT64_MAX;
  weft::taskloop(weft::range(least, most, most), [&](std::int64_t i) {
    ++calls;
    if (i == most - 1)
      last = true;
  });
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(last);
  calls = 0;
  weft::taskloop(
      weft::range(least, most),
      [&](weft::range<std::int64_t> part) { calls += part.size() == UINT64_MAX / 2; },
      weft::grain_size(UINT64_MAX / 2));
  EXPECT_EQ(calls, 2) << "and a chunk of one";
  weft::taskloop(
      weft::range(least, most), [&](weft::range<std::int64_t>) { ++calls; },
      weft::grain_size(UINT64_MAX));
  EXPECT_EQ(calls, 3);
}

TEST(taskloop, cuts_chunks_of_the_grain) {
  sizes chunks;
  weft::taskloop(
      weft::range(10), [&](weft::range<int> part) { chunks.add(part.size()); },
      weft::grain_size(4));
  std::sort(chunks.seen.begin(), chunks.seen.end());
  EXPECT_EQ(chunks.seen, (std::vector<std::uint64_t>{2, 4, 4}));
}

TEST(taskloop, makes_the_number_of_tasks_that_is_asked_for) {
  sizes chunks, few;
  weft::taskloop(
      weft::range(10), [&](weft::range<int> part) { chunks.add(part.size()); }, weft::num_tasks(4));
  std::sort(chunks.seen.begin(), chunks.seen.end());
  EXPECT_EQ(chunks.seen, (std::vector<std::uint64_t>{2, 2, 3, 3}));
  weft::taskloop(
      weft::range(2), [&](weft::range<int> part) { few.add(part.size()); },
      weft::num_tasks(UINT64_MAX));
  EXPECT_EQ(few.seen, (std::vector<std::uint64_t>{1, 1}));
}

TEST(taskloop, makes_eight_tasks_per_worker_where_each_is_told_something) {
  const unsigned most = 8u * static_cast<unsigned>(weft::worker_count());
  int x = 0;
  const auto spawned = [](const auto &...clauses) {
    const auto before = weft::stats().spawned;
    weft::taskloop(weft::range(100'000), [](weft::range<int>) {}, clauses...);
    weft::taskwait();
    return weft::stats().spawned - before;
  };
  EXPECT_EQ(spawned(weft::wait), most);
  EXPECT_EQ(spawned(weft::in(x)), most);
  EXPECT_EQ(spawned(weft::label("part"), weft::stack_bytes(1 << 20)), most);
}

TEST(taskloop, without_clauses_is_one_task) {
  const auto before = weft::stats().spawned;
  std::vector<std::atomic<int>> seen(100'000);
  weft::taskloop(weft::range<std::size_t>(100'000), [&](std::size_t i) { ++seen[i]; });
  EXPECT_EQ(weft::stats().spawned - before, 1u);
  for (auto &n : seen)
    EXPECT_EQ(n, 1);
}

TEST(taskloop, with_clauses_that_one_task_keeps_is_one_task) {
  constexpr std::size_t n = 100'000;
  std::vector<std::atomic<int>> seen(n);
  std::atomic<std::size_t> kept{0};
  const auto look = [&](const weft::range<std::size_t> &part) {
    for (const std::size_t i : part)
      ++seen[i];
    if (weft::this_task::label() == std::string("part") && weft::this_task::cost() == 7)
      kept += part.size();
  };
  weft::task_group group;
  const weft::label named("part");
  const weft::cost work(7);
  const auto before = weft::stats().spawned;
  weft::taskloop(weft::range(n), look, named, work);
  EXPECT_EQ(kept, n) << "it has waited";
  weft::taskloop(weft::range(n), look, named, work, weft::priority(2));
  EXPECT_EQ(kept, 2 * n);
  weft::taskloop(weft::range(n), look, weft::nogroup, named, work, weft::priority(-2));
  weft::taskwait();
  EXPECT_EQ(kept, 3 * n);
  weft::taskloop(weft::range(n), look, weft::in_group(group), named, work);
  group.wait();
  EXPECT_EQ(kept, 4 * n);
  EXPECT_EQ(weft::stats().spawned - before, 4u);
  for (auto &times : seen)
    EXPECT_EQ(times, 4);
}

TEST(taskloop, of_one_task_runs_in_each_round_of_a_taskiter) {
  std::vector<std::atomic<int>> seen(1000);
  std::atomic<int> named{0};
  weft::taskiter(5, [&] {
    weft::taskloop(
        weft::range<std::size_t>(1000),
        [&](std::size_t i) {
          ++seen[i];
          named += weft::this_task::label() == std::string("round");
        },
        weft::nogroup, weft::label("round"));
  });
  EXPECT_EQ(named, 5000);
  for (auto &times : seen)
    EXPECT_EQ(times, 5);
}

/// Work of no priority that never runs out while it exists, as much of it as there are workers.
class flood {
 public:
  flood() {
    for (int i = 0; i != 2 * weft::worker_count(); ++i)
      more();
  }
  ~flood() {
    m_over = true;
    m_group.wait();
  }
  flood(const flood &) = delete;
  flood &operator=(const flood &) = delete;

 private:
  void more() {
    m_group.spawn([this] {
      if (!m_over)
        more();
    });
  }
  std::atomic<bool> m_over{false};
  weft::task_group m_group;
};

/// A loop of a priority is shared before other ready tasks are taken, as its tasks would be.
TEST(taskloop, of_a_priority_is_shared_before_other_ready_tasks) {
  if (weft::worker_count() < 2)
    GTEST_SKIP() << "one worker shares nothing";
  using clock = std::chrono::steady_clock;
  constexpr int n = 1'000'000;
  const auto limit = clock::now() + std::chrono::seconds(60);
  std::atomic<int> first{-1}, begun{0};
  std::atomic<bool> shared{false};
  {
    const flood others;
    weft::taskloop(
        weft::range(n),
        [&](int) {
          const int here = weft::worker_id();
          int none = -1;
          if (!first.compare_exchange_strong(none, here) && none != here)
            shared = true;
          for (int k = 0; k != 1000 && !shared.load(std::memory_order_acquire); ++k) {
          }
          // The other one may be without a processor for longer than all that takes.
          const bool is_late = ++begun > n / 2;
          while (is_late && !shared && clock::now() < limit)
            std::this_thread::yield();
        },
        weft::priority(1));
  }
  EXPECT_TRUE(shared);
}

/// Iterations that wait hold up no others: as many as there were tasks wait at once.
TEST(taskloop, goes_on_while_iterations_wait) {
  const auto waiting_together = [](const auto &...clauses) {
    std::atomic<int> inside{0}, together{0};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60); // of all
    weft::taskloop(
        weft::range(9),
        [&](int) {
          ++inside;
          static_cast<void>(test::eventually(
              [&] { return inside >= 7 || std::chrono::steady_clock::now() > end; }));
          together += inside >= 7;
        },
        clauses...);
    weft::taskwait();
    return together.load();
  };
  EXPECT_EQ(waiting_together(), 9);
  EXPECT_EQ(waiting_together(weft::label("part"), weft::priority(3), weft::nogroup), 9);
}

/// So it is where they ask with taskyield(), which lets the rest of the loop run.
TEST(taskloop, goes_on_while_iterations_yield) {
  const auto yielding_together = [](const auto &...clauses) {
    std::atomic<int> inside{0}, together{0};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    weft::taskloop(
        weft::range(9),
        [&](int) {
          ++inside;
          while (inside < 7 && std::chrono::steady_clock::now() < end)
            weft::taskyield();
          together += inside >= 7;
        },
        clauses...);
    weft::taskwait();
    return together.load();
  };
  EXPECT_EQ(yielding_together(), 9);
  EXPECT_EQ(yielding_together(weft::label("part"), weft::nogroup), 9);
}

TEST(taskloop, refuses_a_grain_and_a_number_of_zero) {
  EXPECT_THROW(weft::taskloop(weft::range(3), [](int) {}, weft::grain_size(0)), weft::error);
  EXPECT_THROW(weft::taskloop(weft::range(3), [](int) {}, weft::num_tasks(0)), weft::error);
}

TEST(taskloop, waits_for_descendants) {
  std::atomic<int> done{0};
  weft::taskloop(weft::range(4), [&](int) { weft::spawn([&] { dawdle(), ++done; }); });
  EXPECT_EQ(done, 4);
}

TEST(taskloop, does_not_wait_with_nogroup) {
  test::gate waited;
  std::atomic<int> passed{0};
  weft::taskloop(weft::range(3), [&](int) { passed += waited.pass(); }, weft::nogroup);
  waited.open();
  weft::taskwait();
  EXPECT_EQ(passed, 3);
}

TEST(taskloop, with_accesses_does_not_wait) {
  test::gate waited;
  int x = 0;
  std::atomic<int> passed{0};
  weft::taskloop(weft::range(3), [&](int) { passed += waited.pass(); }, weft::in(x));
  weft::taskloop(
      weft::range(3), [&](int) { passed += waited.pass(); },
      weft::chunk_accesses([&](weft::range<int>) { return weft::in(x); }));
  waited.open();
  weft::taskwait();
  EXPECT_EQ(passed, 6);
}

TEST(taskloop, of_a_group_is_waited_for_by_the_group) {
  test::gate waited;
  std::atomic<int> passed{0};
  weft::task_group group;
  weft::taskloop(weft::range(3), [&](int) { passed += waited.pass(); }, weft::in_group(group));
  waited.open();
  group.wait();
  EXPECT_EQ(passed, 3);
}

TEST(taskloop, keeps_a_body_that_cannot_be_copied_until_its_tasks_are_complete) {
  auto value = std::make_shared<int>(7);
  std::weak_ptr<int> alive = value;
  std::atomic<int> sum{0};
  auto only = std::make_unique<std::shared_ptr<int>>(std::move(value));
  weft::taskloop(
      weft::range(10), [&sum, only = std::move(only)](int) { sum += **only; }, weft::nogroup,
      weft::num_tasks(5));
  weft::taskwait();
  EXPECT_EQ(sum, 70);
  EXPECT_TRUE(alive.expired());
}

TEST(taskloop, orders_chunks_by_their_accesses) {
  constexpr int n = 64, sweeps = 5;
  std::array<int, n> x{};
  for (int s = 0; s != sweeps; ++s)
    weft::taskloop(
        weft::range(1, n), [&](int i) { x[i] += x[i - 1] + 1; }, weft::grain_size(1), weft::nogroup,
        weft::chunk_accesses([&](weft::range<int> c) {
          return std::array{weft::in(x[c.first() - 1]), weft::inout(x[c.first()])};
        }),
        weft::label("sweep"), weft::priority(1));
  weft::taskwait();
  std::array<int, n> expected{};
  for (int s = 0; s != sweeps; ++s)
    for (int i = 1; i != n; ++i)
      expected[i] += expected[i - 1] + 1;
  EXPECT_EQ(x, expected);
}

TEST(taskloop, gives_every_chunk_the_accesses_of_the_loop) {
  int order = 0, first = 0;
  std::atomic<int> late{0};
  weft::spawn([&] { dawdle(), first = ++order; }, weft::out(order));
  weft::taskloop(
      weft::range(4), [&](int) { late += order == 1; }, weft::in(order), weft::nogroup,
      weft::chunk_accesses([](weft::range<int>) { return weft::access{}; }));
  weft::taskwait();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(late, 4);
}

TEST(taskloop, orders_chunks_by_their_regions) {
  constexpr int n = 60, sweeps = 4;
  std::array<int, n> x{};
  for (int s = 0; s != sweeps; ++s)
    weft::taskloop(
        weft::range(1, n - 1), [&](int i) { x[i] += x[i - 1] + x[i + 1] + 1; }, weft::grain_size(7),
        weft::nogroup,
        weft::chunk_accesses([&](weft::range<int> c) { // neighbouring chunks overlap
          return weft::inout(weft::region(x).range(c.first() - 1, c.limit()));
        }));
  weft::taskloop(
      weft::range(2), [&](int k) { x[k * (n - 1)] = x[1 + k * (n - 3)]; }, weft::grain_size(1),
      weft::nogroup, weft::chunk_accesses([&](weft::range<int> c) {
        const int k = c.first() * (n - 2);
        return std::vector{weft::inout(weft::region(x).span(k, 2))};
      }));
  weft::taskwait();
  std::array<int, n> expected{};
  for (int s = 0; s != sweeps; ++s)
    for (int i = 1; i != n - 1; ++i)
      expected[i] += expected[i - 1] + expected[i + 1] + 1;
  expected[0] = expected[1];
  expected[n - 1] = expected[n - 2];
  EXPECT_EQ(x, expected);
}

TEST(taskloop, gives_every_chunk_the_lists_and_regions_of_the_loop) {
  int v[4] = {}, other = 0, first = 0;
  std::atomic<int> late{0};
  const weft::access list[] = {weft::in(other)};
  weft::spawn([&] { dawdle(), v[1] = 1; }, weft::out(weft::region(v).range(1, 2)));
  weft::spawn([&] { dawdle(), other = 1; }, weft::out(other));
  weft::taskloop(
      weft::range(4), [&](int) { late += v[1] + other == 2; }, weft::in(weft::region(v)),
      weft::accesses(list), weft::nogroup);
  weft::spawn([&] { first = late; }, weft::out(weft::region(v).span(0, 2)));
  weft::taskwait();
  EXPECT_EQ(late, 4);
  EXPECT_EQ(first, 4);
}

TEST(taskloop, labels_its_tasks) {
  std::atomic<int> right{0};
  weft::taskloop(
      weft::range(3), [&](int) { right += weft::this_task::label() == std::string("mine"); },
      weft::label("mine"));
  EXPECT_EQ(right, 3);
}

TEST(taskloop, rethrows_and_skips_the_rest) {
  std::atomic<int> ran{0};
  try {
    weft::taskloop(
        weft::range(10'000),
        [&](int i) {
          if (i == 0)
            throw std::runtime_error("first");
          ++ran;
        },
        weft::grain_size(1));
    FAIL();
  } catch (const std::runtime_error &e) {
    EXPECT_STREQ(e.what(), "first");
  }
  EXPECT_LE(ran, 9'999);
}

TEST(taskloop, throws_at_the_taskwait_with_nogroup) {
  weft::taskloop(weft::range(1), [](int) { throw std::runtime_error("late"); }, weft::nogroup);
  EXPECT_THROW(weft::taskwait(), std::runtime_error);
}

TEST(taskloop, stops_with_the_group_that_the_caller_belongs_to) {
  std::atomic<int> ran{0};
  weft::task_group group;
  group.spawn([&] {
    weft::taskloop(
        weft::range(100),
        [&](int) {
          ++ran;
          group.cancel();
        },
        weft::num_tasks(100),
        weft::chunk_accesses([&](weft::range<int>) { return weft::inout(group); }));
  });
  group.wait();
  EXPECT_EQ(ran, 1);
}

TEST(taskloop, over_blocks_covers_the_rectangle_in_order) {
  constexpr int rows = 20, columns = 30;
  static int cell[rows][columns];
  std::fill_n(&cell[0][0], rows * columns, 0);
  const weft::blocks space{weft::range(rows), 8, weft::range(columns), 7};
  for (int s = 0; s != 3; ++s)
    weft::taskloop(
        space,
        [](weft::range<int> r, weft::range<int> c) {
          for (int i : r)
            for (int j : c)
              cell[i][j] = 3 * cell[i][j] + i + j;
        },
        weft::nogroup, weft::chunk_accesses([](weft::range<int> r, weft::range<int> c) {
          return weft::inout(cell[r.first()][c.first()]);
        }));
  weft::taskwait();
  std::atomic<int> blocks{0};
  weft::taskloop(space, [&](weft::range<int>, weft::range<int>) { ++blocks; });
  EXPECT_EQ(blocks, 3 * 5);
  for (int i = 0; i != rows; ++i)
    for (int j = 0; j != columns; ++j)
      EXPECT_EQ(cell[i][j], 13 * (i + j));
}

TEST(taskloop, nests) {
  std::atomic<int> ran{0};
  weft::taskloop(weft::range(5), [&](int) { weft::taskloop(weft::range(5), [&](int) { ++ran; }); });
  EXPECT_EQ(ran, 25);
}

TEST(taskloop, runs_in_place_in_a_final_task) {
  std::vector<int> order;
  weft::spawn(
      [&] {
        weft::taskloop(weft::range(6), [&](int i) { order.push_back(i); }, weft::grain_size(2));
      },
      weft::final());
  weft::taskwait();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5}));
}

} // namespace
