// SPDX-License-Identifier: Apache-2.0
// taskfor: one task, its iterations shared.
#include "support/gate.hpp"

#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using test::dawdle;

TEST(taskfor, calls_the_body_once_for_each_index) {
  std::vector<std::atomic<int>> seen(10'000);
  weft::taskfor(
      weft::range<std::size_t>(10'000), [&](std::size_t i) { ++seen[i]; }, weft::grain_size(1));
  weft::taskwait();
  for (auto &n : seen)
    EXPECT_EQ(n, 1);
}

TEST(taskfor, is_one_task) {
  weft::taskwait();
  const auto before = weft::stats();
  weft::taskfor(weft::range(1000), [](int) {}, weft::grain_size(1));
  weft::taskwait();
  EXPECT_EQ(weft::stats().spawned - before.spawned, 1u);
  EXPECT_EQ(weft::stats().executed - before.executed, 1u);
}

TEST(taskfor, holds_its_accesses_until_the_last_iteration) {
  constexpr int n = 200;
  std::vector<int> x(n, 1);
  for (int s = 0; s != 4; ++s) {
    weft::taskfor(
        weft::range(n), [&](int i) { x[static_cast<std::size_t>(i)] *= 2; },
        weft::inout(weft::object(x)), weft::grain_size(3));
    weft::taskfor(
        weft::range(n - 1, -1, -1), [&](int i) { x[static_cast<std::size_t>(i)] += 1; },
        weft::inout(weft::object(x)), weft::grain_size(7));
  }
  int sum = 0;
  weft::spawn([&] { sum = std::count(x.begin(), x.end(), 31); }, weft::in(weft::object(x)));
  weft::taskwait();
  EXPECT_EQ(sum, n);
}

TEST(taskfor, does_nothing_for_an_empty_range) {
  bool released = false;
  weft::taskfor(weft::range(0), [](int) { FAIL(); }, weft::inout(released));
  weft::spawn([&] { released = true; }, weft::inout(released));
  weft::taskwait();
  EXPECT_TRUE(released);
}

TEST(taskfor, gives_chunks_of_the_grain) {
  std::mutex lock;
  std::vector<std::uint64_t> sizes;
  weft::taskfor(
      weft::range(10),
      [&](weft::range<int> part) {
        const std::lock_guard guard(lock);
        sizes.push_back(part.size());
      },
      weft::grain_size(4));
  weft::taskwait();
  std::sort(sizes.begin(), sizes.end());
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{2, 4, 4}));
}

TEST(taskfor, covers_ranges_beyond_two_to_the_sixty_third) {
  std::atomic<std::uint64_t> covered{0};
  weft::taskfor(weft::range(UINT64_MAX),
                [&](weft::range<std::uint64_t> part) { covered += part.size(); });
  weft::taskwait();
  EXPECT_EQ(covered, UINT64_MAX);
  std::atomic<int> chunks{0};
  weft::taskfor(
      weft::range(UINT64_MAX),
      [&](weft::range<std::uint64_t> part) {
        EXPECT_EQ(part.size(), 2u) << "the number of chunks is at most 2^63";
        if (++chunks == 10)
          throw std::runtime_error("enough");
      },
      weft::grain_size(1), weft::nogroup);
  EXPECT_THROW(weft::taskwait(), std::runtime_error);
}

TEST(taskfor, has_a_label_and_regions_as_any_task) {
  std::vector<int> v(100, 0);
  std::atomic<int> labelled{0};
  int seen = 0;
  weft::spawn([&] { dawdle(), v[10] = 5; }, weft::out(weft::region(v).span(8, 4)));
  weft::taskfor(
      weft::range(10, 20),
      [&](int i) {
        labelled += weft::this_task::label() == std::string("shared");
        v[static_cast<std::size_t>(i)] += 1;
      },
      weft::grain_size(10), weft::inout(weft::region(v).range(10, 19)), weft::label("shared"));
  weft::spawn([&] { seen = v[10] + v[19]; }, weft::in(weft::region(v).range(5, 19)));
  weft::taskwait();
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(labelled, 10);
}

TEST(taskfor, without_accesses_waits_for_all_that_it_spawns) {
  std::atomic<int> done{0};
  weft::taskfor(
      weft::range(20), [&](int) { weft::spawn([&] { dawdle(), ++done; }); }, weft::grain_size(1));
  EXPECT_EQ(done, 20);
  weft::taskfor(weft::blocks(weft::range(4), 1, weft::range(5), 1),
                [&](weft::range<int>, weft::range<int>) { dawdle(), ++done; });
  EXPECT_EQ(done, 40);
  EXPECT_THROW(weft::taskfor(weft::range(1), [](int) { throw std::runtime_error("at once"); }),
               std::runtime_error);
  EXPECT_NO_THROW(weft::taskwait());
}

TEST(taskfor, does_not_wait_with_nogroup_or_accesses) {
  test::gate waited;
  int x = 0;
  std::atomic<int> passed{0};
  weft::taskfor(weft::range(1), [&](int) { passed += waited.pass(); }, weft::nogroup);
  weft::taskfor(weft::range(1), [&](int) { passed += waited.pass(); }, weft::inout(x));
  weft::taskfor(
      weft::range(1), [&](int) { passed += waited.pass(); }, weft::inout(weft::region(&x, 1)));
  waited.open();
  weft::taskwait();
  EXPECT_EQ(passed, 3);
}

/// Runs a loop whose iterations spawn a task each, and returns whether these came in the order of the iterations, one at a time.
template <class Child, class... Clauses>
bool spawns_in_order(const Child &child, const Clauses &...clauses) {
  constexpr int n = 40;
  int next = 0; // of the tasks inside
  std::atomic<int> inside{0}, wrong{0};
  weft::taskfor(
      weft::range(n),
      [&](int i) {
        dawdle(); // another worker would take the next iteration meanwhile
        weft::spawn(
            [&, i] {
              wrong += inside++ != 0;
              wrong += next++ != i;
              dawdle();
              --inside;
            },
            child);
      },
      clauses...);
  weft::taskwait();
  return wrong == 0 && next == n;
}

TEST(taskfor, with_weak_accesses_orders_what_it_spawns) {
  int x = 0;
  const weft::access list[] = {weft::weak_inout(x)};
  const weft::region_access part = weft::inout(weft::region(&x, 1));
  const std::vector<weft::region_access> parts{weft::weak_inout(weft::region(&x, 1))};
  EXPECT_TRUE(spawns_in_order(weft::inout(x), weft::weak_inout(x), weft::grain_size(1)));
  EXPECT_TRUE(spawns_in_order(weft::inout(x), weft::weak_out(x)));
  EXPECT_TRUE(spawns_in_order(weft::inout(x), weft::accesses(list), weft::grain_size(2)));
  EXPECT_TRUE(
      spawns_in_order(part, weft::weak_inout(weft::region(&x, 1)), weft::grain_size(1)));
  EXPECT_TRUE(spawns_in_order(part, weft::regions(parts), weft::grain_size(1)));
}

TEST(taskfor, knows_the_modes_that_are_weak) {
  using enum weft::access_mode;
  for (const auto mode : {weak_in, weak_out, weak_inout, weak_concurrent, weak_commutative,
                          weak_reduction})
    EXPECT_TRUE(weft::detail::is_weak(mode)) << static_cast<int>(mode);
  for (const auto mode : {in, out, inout, concurrent, commutative, reduction})
    EXPECT_FALSE(weft::detail::is_weak(mode)) << static_cast<int>(mode);
}

TEST(taskfor, refuses_a_grain_of_zero) {
  EXPECT_THROW(weft::taskfor(weft::range(3), [](int) {}, weft::grain_size(0)), weft::error);
}

/// Each iteration waits until another worker, or another stack, has come to one as well.
TEST(taskfor, is_shared_while_an_iteration_waits) {
  weft::task_ref first;
  std::atomic<bool> blocked{false};
  std::atomic<int> ran{0};
  weft::taskfor(
      weft::range(2),
      [&](int i) {
        ++ran;
        if (i == 0) {
          first = weft::this_task::self();
          blocked = true;
          weft::this_task::block();
        } else {
          while (!blocked)
            weft::taskyield();
          weft::unblock(first);
        }
      },
      weft::grain_size(1));
  weft::taskwait();
  EXPECT_EQ(ran, 2);
}

TEST(taskfor, that_is_short_each_time_becomes_one_block) {
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  std::atomic<long> sum{0};
  std::atomic<int> blocks{0};
  const auto once = [&] {
    blocks = 0;
    weft::taskfor(weft::range(4), [&](const weft::range<int> &part) {
      ++blocks;
      for (const int i : part)
        sum += i;
    });
  };
  std::uint64_t least = UINT64_MAX;
  for (int i = 0; i != 20; ++i) {
    const std::uint64_t before = weft::detail::loop_clock();
    least = std::min(least, weft::detail::loop_clock() - before);
  }
  if (least > 150)
    GTEST_SKIP() << "to look at the clock takes as long as the loop";
  int calls = 0;
  do // a call that was preempted counts as long, for a while
    once(), ++calls;
  while (blocks != 1 && calls != 100'000);
  EXPECT_EQ(blocks, 1);
  EXPECT_EQ(sum, calls * 6L);
}

TEST(taskfor, that_was_short_before_is_cut_again_when_it_is_long) {
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  weft::detail::loop_site site{1.0F};
  std::atomic<int> blocks{0};
  weft::detail::loop_request request;
  request.size = 8;
  request.site = &site;
  request.body = weft::detail::loop_body::may_wait;
  request.context = &blocks;
  request.participate = [](void *p, weft::detail::loop_blocks &mine) {
    for (std::uint64_t first = 0, count = 0; mine.next(first, count);) {
      ++*static_cast<std::atomic<int> *>(p);
      dawdle();
    }
  };
  weft::spawn([&] { weft::detail::run_loop(request); });
  weft::taskwait();
  EXPECT_EQ(blocks, 8);
}

/// Is the body of a loop that is short, or whose iterations take 50 us and wait, but for the first one,
/// until two workers take part.
struct short_or_long {
  bool is_long = false;
  std::atomic<std::uint64_t> *workers = nullptr; // a bit for each that has taken part
  std::chrono::steady_clock::time_point limit{};

  void operator()(int i) const {
    if (!is_long)
      return;
    using clock = std::chrono::steady_clock;
    for (const auto until = clock::now() + std::chrono::microseconds(50); clock::now() < until;) {
    }
    *workers |= std::uint64_t{1} << weft::worker_id() % 64;
    while (i != 0 && std::popcount(workers->load()) < 2 && clock::now() < limit)
      std::this_thread::yield();
  }
};

/// Returns how many workers take part in a long loop after many short ones of the same callable type.
template <class Body>
int workers_of_a_long_loop_after_short_ones() {
  for (int i = 0; i != 100; ++i)
    weft::taskfor(weft::range(16), Body(short_or_long()));
  std::atomic<std::uint64_t> workers{0};
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  weft::taskfor(weft::range(16), Body(short_or_long{true, &workers, limit}));
  return std::popcount(workers.load());
}

TEST(taskfor, that_was_short_before_is_shared_when_its_iterations_are_long) {
  if (weft::worker_count() < 2)
    GTEST_SKIP() << "needs two workers";
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  for (int i = 0; i != 5 && !HasFailure(); ++i) { // one call in eight is timed by chance
    EXPECT_GE(workers_of_a_long_loop_after_short_ones<short_or_long>(), 2);
    EXPECT_GE(workers_of_a_long_loop_after_short_ones<std::function<void(int)>>(), 2)
        << "all loops over functions of this type have one site";
  }
}

/// Is the body of a loop that is short, or whose iterations take 50 us but for the first one.
struct long_behind_the_first {
  bool is_long = false;
  void operator()(int i) const {
    if (!is_long || i == 0)
      return;
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    while (std::chrono::steady_clock::now() < until) {
    }
  }
};

TEST(taskfor, that_is_long_behind_a_short_first_iteration_is_no_short_one) {
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  using weft::detail::taskfor_body;
  constexpr int n = 16;
  const auto runs_as_one_block = [] {
    const float ns = weft::detail::site_of<taskfor_body<long_behind_the_first, int>>.ns;
    return ns > 0 && ns * n < weft::detail::k_blind_ns;
  };
  for (int i = 0; i != 5; ++i) { // one call in eight is timed by chance
    int calls = 0;
    do // a call that was preempted counts as long, for a while
      weft::taskfor(weft::range(n), long_behind_the_first());
    while (!runs_as_one_block() && ++calls != 100'000);
    ASSERT_TRUE(runs_as_one_block());
    weft::taskfor(weft::range(n), long_behind_the_first{true});
    EXPECT_FALSE(runs_as_one_block());
  }
}

TEST(taskfor, of_chunks_that_was_long_once_is_no_short_one) {
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  std::atomic<int> blocks{0};
  const auto call = [&](bool is_long) {
    blocks = 0;
    weft::taskfor(weft::range(64), [&blocks, is_long](const weft::range<int> &part) {
      ++blocks;
      const auto until = std::chrono::steady_clock::now() + part.size() * std::chrono::microseconds(50);
      while (is_long && std::chrono::steady_clock::now() < until) {
      }
    });
  };
  for (int i = 0; i != 5; ++i) {
    for (int k = 0; k != 100; ++k)
      call(false);
    call(true);
    call(true);
    EXPECT_GT(blocks, 1);
  }
}

TEST(taskfor, whose_first_iteration_is_short_is_no_short_one) {
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  std::atomic<std::uint64_t> longest{0};
  weft::taskfor(weft::range(16), [&](const weft::range<int> &part) {
    std::uint64_t seen = longest;
    while (seen < part.size() && !longest.compare_exchange_weak(seen, part.size())) {
    }
    if (part.first() != 0)
      dawdle();
  });
  EXPECT_LE(longest, 4u);
}

TEST(taskfor, whose_iterations_suspend_is_no_short_one) {
  if (weft::worker_count() > 1)
    GTEST_SKIP() << "with more workers an iteration need not suspend";
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  weft::detail::loop_site site{5.0F}; // it was short before
  weft::detail::loop_request request;
  request.size = 3;
  request.site = &site;
  request.body = weft::detail::loop_body::may_wait;
  request.participate = [](void *, weft::detail::loop_blocks &blocks) {
    for (std::uint64_t first = 0, count = 0; blocks.next(first, count);) {
      weft::event over; // of a task that runs when this one has left the worker
      weft::spawn([&over] { over.set(); });
      over.wait();
    }
  };
  weft::spawn([&] { weft::detail::run_loop(request); });
  weft::taskwait();
  EXPECT_GE(static_cast<double>(site.ns), weft::detail::k_blind_ns);
}

TEST(taskfor, is_shared_by_workers_with_nothing_else_to_do) {
  if (weft::worker_count() < 2)
    GTEST_SKIP() << "needs two workers";
  std::atomic<int> inside{0};
  weft::taskfor(
      weft::range(2),
      [&](int) {
        ++inside;
        while (inside < 2)
          std::this_thread::yield();
      },
      weft::grain_size(1));
  weft::taskwait();
  EXPECT_EQ(inside, 2);
}

/// A worker that joins in is the task, too: a child of a final one has run when its spawn returns.
TEST(taskfor, each_participant_has_the_label_the_cost_and_the_finality_of_the_task) {
  for (const bool is_final : {false, true}) {
    std::atomic<int> inside{0}, misnamed{0}, late{0}, not_final{0};
    weft::taskfor(
        weft::range(2),
        [&](int) {
          for (++inside; inside < 2;)
            weft::taskyield();
          misnamed +=
              std::string(weft::this_task::label()) != "shared" || weft::this_task::cost() != 7;
          not_final += !weft::this_task::in_final();
          bool ran = false;
          weft::spawn([&ran] { ran = true; }, weft::inout(ran));
          late += is_final && !ran;
          weft::taskwait();
        },
        weft::grain_size(1), weft::label("shared"), weft::cost(7), weft::final(is_final));
    EXPECT_EQ(inside, 2);
    EXPECT_EQ(misnamed, 0);
    EXPECT_EQ(late, 0);
    EXPECT_EQ(not_final, is_final ? 0 : 2);
  }
}

TEST(taskfor, body_may_suspend_and_spawn) {
  std::atomic<int> children{0};
  bool all_there = false;
  weft::taskfor(
      weft::range(50),
      [&](int) {
        weft::taskyield();
        weft::spawn([&] { dawdle(), ++children; });
      },
      weft::grain_size(1), weft::out(all_there), weft::wait);
  weft::spawn([&] { all_there = children == 50; }, weft::inout(all_there));
  weft::taskwait();
  EXPECT_TRUE(all_there);
}

TEST(taskfor, nests) {
  std::atomic<int> ran{0};
  weft::taskfor(
      weft::range(20),
      [&](int) {
        weft::taskfor(weft::range(20), [&](int) { ++ran; }, weft::grain_size(1));
        weft::taskwait();
      },
      weft::grain_size(1));
  weft::taskwait();
  EXPECT_EQ(ran, 400);
}

TEST(taskfor, keeps_the_first_exception_and_skips_the_rest) {
  std::atomic<int> ran{0};
  weft::handle<void> h = weft::taskfor(
      weft::range(1'000'000'000),
      [&](int) {
        ++ran;
        throw std::runtime_error("once");
      },
      weft::grain_size(1), weft::tracked);
  EXPECT_THROW(h.get(), std::runtime_error);
  EXPECT_LE(ran, weft::worker_count() + 1);
}

TEST(taskfor, stops_when_its_group_is_cancelled) {
  std::atomic<int> ran{0};
  weft::task_group group;
  weft::taskfor(
      weft::range(1'000'000'000),
      [&](int) {
        if (++ran == 3)
          group.cancel();
      },
      weft::grain_size(1), weft::in_group(group), weft::label("long"));
  group.wait();
  EXPECT_GE(ran, 3);
  EXPECT_LT(ran, 1'000'000'000);
}

TEST(taskfor, moves_its_body) {
  auto value = std::make_unique<int>(3);
  std::atomic<int> sum{0};
  weft::taskfor(weft::range(10), [&sum, value = std::move(value)](int) { sum += *value; });
  weft::taskwait();
  EXPECT_EQ(sum, 30);
}

TEST(taskfor, over_blocks_covers_the_rectangle) {
  std::atomic<int> cells{0}, blocks{0};
  weft::taskfor(weft::blocks(weft::range(20), 8, weft::range(30), 7),
                [&](weft::range<int> r, weft::range<int> c) {
                  cells += static_cast<int>(r.size() * c.size());
                  ++blocks;
                });
  weft::taskwait();
  EXPECT_EQ(cells, 600);
  EXPECT_EQ(blocks, 15);
}

TEST(taskfor, runs_in_place_in_a_final_task) {
  bool done_at_once = false;
  weft::spawn(
      [&] {
        std::atomic<int> ran{0};
        weft::taskfor(weft::range(100), [&](int) { ++ran; });
        done_at_once = ran == 100;
      },
      weft::final());
  weft::taskwait();
  EXPECT_TRUE(done_at_once);
}

/// Runs a loop of 1000 iterations alone, at a site that remembers 10 ns of each; body(block) says
/// whether the loop goes on. Returns the sizes of the blocks.
template <class Body>
std::vector<std::uint64_t> blocks_alone(weft::detail::loop_site &site, Body body) {
  struct context {
    Body body;
    std::vector<std::uint64_t> blocks;
  } of{body, {}};
  weft::detail::loop_request request;
  request.size = 1000;
  request.site = &site;
  request.context = &of;
  request.participants = 1;
  request.participate = [](void *p, weft::detail::loop_blocks &blocks) {
    auto &mine = *static_cast<context *>(p);
    for (std::uint64_t first = 0, count = 0; blocks.next(first, count);) {
      mine.blocks.push_back(count);
      if (!mine.body(mine.blocks.size()))
        blocks.skip();
    }
  };
  site.ns = 10.0F;
  EXPECT_EQ(weft::detail::run_alone(request), 1000u);
  return of.blocks;
}

TEST(loop_alone, has_two_blocks_where_the_first_one_takes_what_is_known) {
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  weft::detail::loop_site site;
  std::vector<std::uint64_t> blocks;
  for (int i = 0; i != 1000 && blocks.size() != 2; ++i) // a first block that is preempted counts as long
    blocks = blocks_alone(site, [](std::size_t) { return true; });
  EXPECT_EQ(blocks, (std::vector<std::uint64_t>{50, 950}));
  EXPECT_GT(site.least_ns, 0);
}

TEST(loop_alone, remembers_a_long_last_block) {
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  weft::detail::loop_site site;
  for (int i = 0; i != 20; ++i) {
    blocks_alone(site, [](std::size_t block) {
      if (block != 1)
        dawdle();
      return true;
    });
    EXPECT_GT(site.ns, 11) << "at least 10 us more in 1000 iterations, of which a quarter counts";
  }
}

TEST(loop_alone, that_ends_within_a_block_remembers_the_others) {
  if (weft::detail::blocks_ignore_time())
    GTEST_SKIP() << "blocks depend on no clock";
  weft::detail::loop_site site;
  for (int i = 0; i != 20; ++i) {
    blocks_alone(site, [](std::size_t) {
      dawdle();
      return false;
    });
    EXPECT_EQ(site.ns, 10) << "which iterations have run is unknown";
  }
}

TEST(sampled_call, times_some_calls) {
  weft::detail::loop_site site;
  for (int i = 0; i != 100'000 && site.ns == 0; ++i) {
    weft::detail::sampled_call timed(site);
    dawdle();
    timed.ends(1);
  }
  EXPECT_GT(site.ns, 1000) << "nanoseconds of an iteration";
}

} // namespace
