// SPDX-License-Identifier: Apache-2.0
// What programs of ranks are promised (weft/net.hpp), with and without faults of the network.
#include "ranks.hpp"

#include <weft/net.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

std::atomic<std::int64_t> g_objects{0}; // that the process, its libraries included, has allocated

[[gnu::noinline]] void *operator new(std::size_t bytes) {
  void *const made = std::malloc(bytes);
  if (!made)
    throw std::bad_alloc();
  g_objects.fetch_add(1, std::memory_order_relaxed);
  return made;
}
[[gnu::noinline]] void operator delete(void *at) noexcept {
  if (at)
    g_objects.fetch_sub(1, std::memory_order_relaxed);
  std::free(at);
}
[[gnu::noinline]] void operator delete(void *at, std::size_t) noexcept { operator delete(at); }

namespace {

namespace net = weft::net;
using net::run_ranks;
using net::team;
using net_test::with;

/// Says what a failure says, and which rank it names.
struct seen_failure {
  int rank = -2;
  weft::errc code{};
  std::string text;
};

template <class F>
seen_failure failure_of(F &&f) {
  try {
    f();
  } catch (const net::lost_rank &e) {
    return {e.rank(), e.code(), e.what()};
  } catch (const weft::error &e) {
    return {-1, e.code(), e.what()};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

bool has(const seen_failure &f, const std::string &part) {
  return f.text.find(part) != std::string::npos;
}

/// Is run with each behaviour of the network.
class net_team : public testing::TestWithParam<net::inproc_options> {
 protected:
  [[nodiscard]] static net::inproc_world world(int ranks) {
    return net::inproc_world(ranks, GetParam());
  }
};

TEST_P(net_team, ranks_know_their_number) {
  std::array<std::atomic<int>, 5> runs{};
  run_ranks(world(5), [&](team &t) {
    EXPECT_EQ(t.size(), 5);
    EXPECT_STREQ(t.caps().name, "inproc");
    EXPECT_FALSE(t.is_lost(4));
    ++runs[static_cast<std::size_t>(t.rank())];
  });
  for (auto &n : runs)
    EXPECT_EQ(n, 1);
}

TEST_P(net_team, each_rank_writes_to_its_neighbour) {
  run_ranks(world(4), [](team &t) {
    auto cells = t.allocate<int>(100);
    ASSERT_EQ(cells.local().size(), 100U);
    EXPECT_EQ(std::ranges::count(cells.local(), 0), 100);
    t.barrier();
    const int right = (t.rank() + 1) % t.size(), left = (t.rank() + t.size() - 1) % t.size();
    std::vector<int> mine(50);
    std::iota(mine.begin(), mine.end(), 1000 * t.rank());
    t.async_put(cells.on(right).subspan(25, 50), mine).get();
    t.async_flush(right).get();
    t.barrier();
    EXPECT_EQ(cells.local()[24], 0);
    EXPECT_EQ(cells.local()[25], 1000 * left);
    EXPECT_EQ(cells.local()[74], 1000 * left + 49);
    EXPECT_EQ(cells.local()[75], 0);
    std::vector<int> back(2);
    t.async_get(cells.on(right).subspan(74, 2), back).get();
    EXPECT_EQ(back, (std::vector<int>{1000 * t.rank() + 49, 0}));
    t.barrier();
  });
}

TEST_P(net_team, ranks_share_arrays_of_their_own) {
  run_ranks(world(3), [](team &t) {
    std::vector<double> own(static_cast<std::size_t>(t.rank()) * 10, t.rank());
    auto shared = t.share(std::span(own));
    EXPECT_EQ(shared.local().data(), own.data());
    for (int r = 0; r < 3; ++r)
      EXPECT_EQ(shared.on(r).size(), static_cast<std::size_t>(r) * 10);
    double seen = 0;
    t.async_get(shared.on(2).at(19), std::span(&seen, 1)).get();
    EXPECT_EQ(seen, 2);
    t.barrier();
  });
}

TEST_P(net_team, a_task_holds_its_accesses_until_the_data_are_there) {
  run_ranks(world(2), [](team &t) {
    constexpr int k_rounds = 50;
    auto cells = t.allocate<int>(k_rounds);
    for (int i = 0; i < k_rounds; ++i)
      cells.local()[static_cast<std::size_t>(i)] = 100 * (t.rank() + 1) + i;
    t.barrier();
    int buffer = 0, wrong = 0, runs = 0;
    for (int i = 0; i < k_rounds; ++i) {
      weft::spawn(
          [&, i] {
            t.get(cells.on(1 - t.rank()).at(static_cast<std::size_t>(i)), std::span(&buffer, 1));
          },
          weft::out(buffer));
      weft::spawn(
          [&, i] {
            ++runs;
            wrong += buffer != 100 * (2 - t.rank()) + i;
            buffer = -1;
          },
          weft::inout(buffer), weft::inout(runs));
    }
    weft::taskwait();
    EXPECT_EQ(runs, k_rounds);
    EXPECT_EQ(wrong, 0);
    t.barrier();
  });
}

TEST_P(net_team, a_task_sends_from_its_data_until_the_put_has_ended) {
  run_ranks(world(2), [](team &t) {
    constexpr std::size_t k_rounds = 40;
    auto cells = t.allocate<std::uint64_t>(k_rounds);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < k_rounds; ++i) {
      weft::spawn([&, i] { value = 10 * i + static_cast<std::uint64_t>(t.rank()); },
                  weft::out(value));
      weft::spawn([&, i] { t.put(cells.on(1 - t.rank()).at(i), std::span(&value, 1)); },
                  weft::in(value));
    }
    weft::taskwait();
    t.async_flush(1 - t.rank()).get();
    t.barrier();
    for (std::size_t i = 0; i < k_rounds; ++i)
      EXPECT_EQ(cells.local()[i], 10 * i + static_cast<std::uint64_t>(1 - t.rank()));
    t.barrier();
  });
}

TEST_P(net_team, atomic_operations_give_each_number_once) {
  constexpr int k_each = 100;
  std::array<std::atomic<int>, 3 * k_each> given{};
  run_ranks(world(3), [&](team &t) {
    auto counter = t.allocate<std::int64_t>(2);
    std::vector<std::int64_t> before(k_each / 2, -1);
    for (auto &b : before)
      weft::spawn([&t, &b, &counter] { t.fetch_add(counter.on(0).at(1), 1, &b); });
    for (int i = 0; i < k_each / 2; ++i)
      ++given[t.async_fetch_add(counter.on(0).at(1), 1).get()];
    weft::taskwait();
    for (const auto b : before)
      ++given[static_cast<std::size_t>(b)];
    t.barrier();
    if (t.rank() == 0) {
      EXPECT_EQ(counter.local()[1], 3 * k_each);
    }
    // A lock of one word: the rank that swaps has it.
    for (int i = 0; i < 20; ++i) {
      while (t.async_compare_swap(counter.on(0), 0, 1).get() != 0)
        weft::taskyield();
      std::int64_t seen = 0;
      t.async_get(counter.on(1).at(1), std::span(&seen, 1)).get();
      ++seen;
      t.async_put(counter.on(1).at(1), std::span(&seen, 1)).get();
      t.async_flush(1).get();
      std::int64_t was = -1;
      weft::spawn([&] { t.compare_swap(counter.on(0), 1, 0, &was); });
      weft::taskwait();
      EXPECT_EQ(was, 1);
    }
    t.barrier();
    if (t.rank() == 1) {
      EXPECT_EQ(counter.local()[1], 60);
    }
    t.barrier();
  });
  for (auto &n : given)
    EXPECT_EQ(n, 1);
}

TEST_P(net_team, data_are_there_when_their_notification_is) {
  run_ranks(world(2), [](team &t) {
    constexpr std::uint32_t k_rounds = 100;
    auto cells = t.allocate<std::uint32_t>(k_rounds);
    const int other = 1 - t.rank();
    std::vector<std::uint32_t> mine(k_rounds);
    std::iota(mine.begin(), mine.end(), 1U);
    for (std::uint32_t i = 0; i < k_rounds; ++i)
      weft::spawn([&, i] { t.put_notify(cells.on(other).at(i), std::span(&mine[i], 1), i); });
    std::atomic<std::uint32_t> right{0};
    for (std::uint32_t i = 0; i < k_rounds; i += 2) {
      weft::spawn([&, i] { t.expect(i); }, weft::out(cells.local()[i]));
      weft::spawn([&, i] { right += cells.local()[i] == i + 1; }, weft::in(cells.local()[i]));
    }
    for (std::uint32_t i = 1; i < k_rounds; i += 2) {
      t.wait_notified(i, 1, other);
      right += cells.local()[i] == i + 1;
    }
    weft::taskwait();
    EXPECT_EQ(right, k_rounds);
    t.barrier();
  });
}

TEST_P(net_team, notifications_are_counted_and_taken_in_order) {
  run_ranks(world(2), [](team &t) {
    if (t.rank() == 0) {
      t.async_notify(1, 7, 2).get();
      t.wait_notified(9);
      t.async_notify(1, 7, 4).get();
      std::uint64_t nothing = 0;
      t.async_put_notify(net::remote_span<std::uint64_t>(1, {}, 0, 0), std::span(&nothing, 0), 7, 1)
          .get();
    } else {
      auto three = t.async_expect(7, 3);
      auto one = t.async_expect(7, 1);
      t.async_notify(0, 9).get();
      three.get();
      one.get();
      t.wait_notified(7, 3);
      auto eighth = t.async_expect(7, 1);
      EXPECT_FALSE(eighth.is_ready()) << "all seven are taken";
      t.async_notify(1, 7).get();
      eighth.get();
    }
    t.barrier();
  });
}

TEST_P(net_team, long_transfers_have_parts) {
  run_ranks(world(2), [](team &t) {
    constexpr std::size_t k_count = (3U << 20) + 5; // more than three times net.chunk
    auto cells = t.allocate<char>(k_count);
    std::vector<char> mine(k_count), back(k_count);
    for (std::size_t i = 0; i < k_count; ++i)
      mine[i] = static_cast<char>(i * 7 + static_cast<std::size_t>(t.rank()));
    const int other = 1 - t.rank();
    const auto is_from = [](std::span<const char> data, int rank) {
      for (std::size_t i = 0; i < data.size(); ++i)
        if (data[i] != static_cast<char>(i * 7 + static_cast<std::size_t>(rank)))
          return false;
      return true;
    };
    auto sent = t.async_put_notify(cells.on(other), mine, 1);
    t.wait_notified(1);
    EXPECT_TRUE(is_from(cells.local(), other));
    sent.get();
    t.async_get(cells.on(other), back).get();
    EXPECT_TRUE(is_from(back, t.rank()));
    t.barrier();
    std::ranges::fill(cells.local(), 0);
    t.barrier();
    t.async_put(cells.on(other), mine).get();
    t.async_flush(other).get();
    t.barrier();
    EXPECT_TRUE(is_from(cells.local(), other));
    t.barrier();
  });
}

TEST_P(net_team, no_rank_leaves_a_barrier_before_all_have_come) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    std::atomic<int> come{0};
    run_ranks(world(ranks), [&](team &t) {
      for (int i = 1; i <= 30; ++i) {
        ++come;
        t.barrier();
        EXPECT_GE(come, i * ranks);
        t.barrier();
      }
    });
    EXPECT_EQ(come, 30 * ranks);
  }
}

/// Is a function x -> a x + b: composition is associative, and not commutative.
struct affine {
  std::int64_t a, b;
  bool operator==(const affine &) const = default;
};
affine then(const affine &first, const affine &second) {
  return {(first.a * second.a) % 1009, (first.b * second.a + second.b) % 1009};
}

TEST_P(net_team, an_allreduce_combines_in_the_order_of_the_ranks) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    std::vector<affine> expected(1000);
    const auto value_of = [](int rank, std::size_t i) {
      return affine{rank + 2, static_cast<std::int64_t>(i % 100) + rank};
    };
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] = value_of(0, i);
      for (int r = 1; r < ranks; ++r)
        expected[i] = then(expected[i], value_of(r, i));
    }
    run_ranks(world(ranks), [&](team &t) {
      std::vector<affine> mine(expected.size()); // 16 KB: several messages
      for (std::size_t i = 0; i < mine.size(); ++i)
        mine[i] = value_of(t.rank(), i);
      t.allreduce(std::span(mine), &then);
      EXPECT_EQ(mine, expected);
      EXPECT_EQ(t.allreduce(t.rank() + 1), ranks * (ranks + 1) / 2);
      EXPECT_EQ(t.allreduce(t.rank(), [](int a, int b) { return std::max(a, b); }), ranks - 1);
      t.allreduce(std::span<int>());
    });
  }
}

/// Is an element that needs several messages: two and a part of one.
struct long_element {
  std::array<affine, 625> values; // 10000 bytes
  bool operator==(const long_element &) const = default;
};
long_element long_value(int rank, std::int64_t element) {
  long_element made{};
  for (std::size_t i = 0; i != made.values.size(); ++i)
    made.values[i] = {rank + 2, static_cast<std::int64_t>(i) + element};
  return made;
}
long_element then_long(const long_element &first, const long_element &second) {
  long_element made{};
  for (std::size_t i = 0; i != made.values.size(); ++i)
    made.values[i] = then(first.values[i], second.values[i]);
  return made;
}

TEST_P(net_team, elements_longer_than_a_message_are_combined) {
  for (const int ranks : {1, 2, 5}) {
    std::vector<long_element> expected = {long_value(0, 0), long_value(0, 1)};
    for (int r = 1; r < ranks; ++r)
      for (std::int64_t e = 0; e != 2; ++e) {
        auto &sum = expected[static_cast<std::size_t>(e)];
        sum = then_long(sum, long_value(r, e));
      }
    run_ranks(world(ranks), [&](team &t) {
      std::vector<long_element> mine = {long_value(t.rank(), 0), long_value(t.rank(), 1)};
      t.allreduce(std::span(mine), &then_long);
      EXPECT_TRUE(mine == expected);
      EXPECT_EQ(t.allreduce(1), ranks);
    });
  }
}

TEST_P(net_team, a_broadcast_comes_from_any_root) {
  run_ranks(world(5), [](team &t) {
    for (int root = 0; root < 5; ++root) {
      std::vector<int> values(3000, t.rank());
      t.broadcast(std::span(values), root);
      EXPECT_EQ(values, std::vector<int>(3000, root));
    }
    t.broadcast(std::span<int>(), 4);
  });
}

TEST_P(net_team, started_collective_calls_run_in_their_order) {
  for (const int ranks : {1, 2, 3, 5}) {
    std::atomic<int> come{0};
    run_ranks(world(ranks), [&](team &t) {
      std::vector<int> sums(3000, t.rank() + 1), given(3000, t.rank());
      std::vector<affine> composed(1000, affine{t.rank() + 2, t.rank()});
      affine all{2, 0};
      for (int r = 1; r < ranks; ++r)
        all = then(all, {r + 2, r});
      for (int round = 0; round < 20; ++round) {
        std::ranges::fill(sums, t.rank() + 1);
        auto summed = t.async_allreduce(std::span(sums));
        auto sent = t.async_broadcast(std::span(given), round % ranks);
        ++come;
        auto met = t.async_barrier();
        EXPECT_EQ(t.allreduce(t.rank() + 1), ranks * (ranks + 1) / 2) << "behind those before";
        EXPECT_TRUE(summed.is_ready() && sent.is_ready() && met.is_ready());
        EXPECT_GE(come, (round + 1) * ranks);
        EXPECT_EQ(sums, std::vector<int>(3000, ranks * (ranks + 1) / 2));
        EXPECT_EQ(given, std::vector<int>(3000, round % ranks));
        std::ranges::fill(given, t.rank());
        summed.get();
        sent.get();
        met.get();
        t.barrier();
      }
      std::shared_ptr<int> kept = std::make_shared<int>(7);
      auto composes = t.async_allreduce(std::span(composed), [kept](affine a, affine b) {
        EXPECT_EQ(*kept, 7);
        return then(a, b);
      });
      auto array = t.allocate<int>(4); // is collective, too
      EXPECT_TRUE(composes.is_ready());
      composes.get();
      EXPECT_EQ(composed, std::vector<affine>(1000, all));
      EXPECT_EQ(kept.use_count(), 1) << "the function is the team's no more";
      auto last = t.async_broadcast(std::span<int>(), ranks - 1);
      std::thread([&] { last.get(); }).join();
    });
  }
}

// A call that suspended its caller would never end: the other rank comes when the caller goes on.
TEST_P(net_team, a_rank_goes_on_while_a_collective_call_is_under_way) {
  run_ranks(world(2), [](team &t) {
    for (int i = 0; i < 20; ++i) {
      int sum = t.rank() + 1;
      if (t.rank() == 0) {
        auto met = t.async_barrier();
        auto summed = t.async_allreduce(std::span(&sum, 1));
        EXPECT_FALSE(met.is_ready());
        t.async_notify(1, 1).get();
        summed.get();
        met.get();
      } else {
        t.wait_notified(1);
        t.barrier();
        sum = t.allreduce(sum);
      }
      EXPECT_EQ(sum, 3);
    }
  });
}

TEST_P(net_team, started_collective_calls_of_a_lost_rank_fail) {
  const net::inproc_world here = world(3);
  run_ranks(here, [&](team &t) {
    if (t.rank() == 2) {
      EXPECT_EQ(failure_of([&] { t.wait_notified(99); }).rank, 2) << "its own waits end";
      return;
    }
    int value = 1;
    auto met = t.async_barrier();
    auto summed = t.async_allreduce(std::span(&value, 1));
    if (t.rank() == 1)
      here.lose(2);
    const auto first = failure_of([&] { met.get(); });
    EXPECT_EQ(first.rank, 2);
    EXPECT_TRUE(has(first, "rank 2 is lost: barrier of rank")) << first.text;
    const auto second = failure_of([&] { summed.get(); });
    EXPECT_EQ(second.rank, 2);
    EXPECT_TRUE(has(second, "rank 2 is lost: allreduce of rank")) << second.text;
    EXPECT_EQ(failure_of([&] { t.async_barrier().get(); }).rank, 2);
    EXPECT_EQ(failure_of([&] { t.barrier(); }).rank, 2);
    const auto no_root = failure_of([&] { (void)t.async_broadcast(std::span(&value, 1), 3); });
    EXPECT_TRUE(has(no_root, "no rank 3")) << no_root.text;
  });
}

TEST_P(net_team, a_slow_rank_bounds_what_is_started) {
  const net::inproc_world here = world(2);
  run_ranks(here, [&](team &t) {
    t.barrier();
    constexpr std::uint64_t k_flood = 3000;
    if (t.rank() == 0) {
      here.hold(1, true);
      std::atomic<std::uint64_t> started{0};
      weft::spawn([&] {
        for (std::uint64_t i = 0; i < k_flood; ++i) {
          t.notify(1, 5);
          ++started;
        }
      });
      for (int i = 0; i < 500; ++i) // it goes as far as it gets
        weft::taskyield();
      constexpr std::uint64_t k_batches = 2 * 32; // polls of rank 1 under way at hold() go on
      const std::uint64_t bound = (GetParam().queue ? GetParam().queue : 256U) + 256U + k_batches;
      EXPECT_LE(started, bound) << "the sender is suspended";
      here.hold(1, false);
      weft::taskwait();
      EXPECT_EQ(started, k_flood);
    } else {
      t.wait_notified(5, k_flood);
    }
    t.barrier();
  });
}

TEST_P(net_team, threads_of_the_program_use_a_team) {
  run_ranks(world(2), [](team &t) {
    auto cells = t.allocate<int>(1);
    std::atomic<bool> done{false};
    seen_failure refused;
    std::thread other([&] {
      const int value = 40 + t.rank();
      t.async_put(cells.on(1 - t.rank()), std::span(&value, 1)).get();
      t.async_flush(1 - t.rank()).get();
      refused = failure_of([&] { t.flush(0); });
      done = true;
    });
    while (!done)
      weft::taskyield();
    other.join();
    EXPECT_EQ(refused.code, weft::errc::not_a_task);
    EXPECT_TRUE(has(refused, "async_flush()")) << refused.text;
    t.barrier();
    EXPECT_EQ(cells.local()[0], 41 - t.rank());
    t.barrier();
  });
}

TEST_P(net_team, what_waits_for_a_lost_rank_fails_and_names_it) {
  const net::inproc_world here = world(3);
  run_ranks(here, [&](team &t) {
    auto cells = t.allocate<std::uint64_t>(4);
    t.barrier();
    if (t.rank() == 2) {
      t.wait_notified(2);
      t.async_notify(0, 1).get();
      here.hold(2, true); // it receives nothing more
      const auto own = failure_of([&] { t.wait_notified(99); });
      EXPECT_EQ(own.rank, 2) << "the lost rank's own waits end";
      return;
    }
    if (t.rank() == 1) {
      t.async_notify(2, 2).get(); // nothing of the first barrier is under way any more
      auto from_alive = t.async_expect(3, 1, 0);
      const auto barrier = failure_of([&] { t.barrier(); });
      EXPECT_EQ(barrier.rank, 2);
      EXPECT_EQ(barrier.code, weft::errc::rank_lost);
      EXPECT_TRUE(has(barrier, "rank 2 is lost: barrier of rank 1 cannot end")) << barrier.text;
      from_alive.get(); // what rank 2 is not needed for goes on
      return;
    }
    t.wait_notified(1);
    std::vector<weft::handle<void>> flood;
    for (int i = 0; i < 200; ++i)
      flood.push_back(weft::spawn([&] { t.notify(2, 8); }, weft::tracked));
    auto from_lost = t.async_expect(4, 1, 2), from_any = t.async_expect(5);
    auto held = weft::spawn([&] { t.expect(6, 1, 2); }, weft::tracked);
    weft::task_group all;
    all.spawn([&] { t.expect(6, 1, 2); });
    here.lose(2);
    EXPECT_EQ(failure_of([&] { from_lost.get(); }).rank, 2);
    const auto any = failure_of([&] { from_any.get(); });
    EXPECT_EQ(any.rank, 2);
    EXPECT_TRUE(has(any, "notification 5 that rank 0 waits for")) << any.text;
    EXPECT_EQ(failure_of([&] { held.get(); }).rank, 2) << "the task fails";
    EXPECT_EQ(failure_of([&] { all.wait(); }).rank, 2) << "its group does";
    for (auto &f : flood)
      try {
        f.get(); // or it had come into the queue
      } catch (const net::lost_rank &e) {
        EXPECT_EQ(e.rank(), 2);
      }
    std::uint64_t value = 1;
    const auto put =
        failure_of([&] { t.async_put(cells.on(2), std::array<std::uint64_t, 4>{}).get(); });
    EXPECT_EQ(put.rank, 2);
    EXPECT_TRUE(has(put, "put of 32 bytes from rank 0 to rank 2")) << put.text;
    EXPECT_EQ(failure_of([&] { t.async_fetch_add(cells.on(2), 1).get(); }).rank, 2);
    EXPECT_EQ(failure_of([&] { t.wait_notified(99); }).rank, 2);
    auto failed =
        weft::spawn([&] { t.get(cells.on(2).at(0), std::span(&value, 1)); }, weft::tracked);
    EXPECT_EQ(failure_of([&] { failed.get(); }).rank, 2);
    EXPECT_EQ(value, 1U);
    EXPECT_EQ(failure_of([&] { t.barrier(); }).rank, 2);
    EXPECT_TRUE(t.is_lost(2));
    EXPECT_FALSE(t.is_lost(1));
    t.async_put(cells.on(1).at(0), std::span(&value, 1)).get();
    t.async_notify(1, 3).get();
  });
}

TEST_P(net_team, a_rank_that_throws_ends_the_waits_of_the_others) {
  std::atomic<int> failed{0};
  try {
    run_ranks(world(4), [&](team &t) {
      if (t.rank() == 3)
        throw std::runtime_error("rank 3 has a problem");
      const auto seen = failure_of([&] {
        for (;;)
          t.barrier();
      });
      failed += seen.rank == 3;
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error &e) {
    EXPECT_STREQ(e.what(), "rank 3 has a problem");
  }
  EXPECT_EQ(failed, 3);
  EXPECT_THROW(run_ranks(world(2),
                         [](team &t) {
                           weft::spawn([&t] {
                             if (t.rank() == 0)
                               throw 17;
                           });
                           weft::task_group none;
                           none.wait();
                         }),
               int);
}

TEST_P(net_team, a_failed_operation_of_the_ranks_own_task_is_reported) {
  const net::inproc_world here = world(2);
  const auto seen = failure_of([&] {
    run_ranks(here, [&](team &t) {
      if (t.rank() == 0) {
        t.barrier();
        t.expect(1, 1, 1); // rank 1 is lost after the body has ended
      } else {
        t.barrier();
        here.lose(1);
      }
    });
  });
  EXPECT_EQ(seen.rank, 1);
}

TEST_P(net_team, wrong_calls_are_refused) {
  run_ranks(world(2), [](team &t) {
    auto cells = t.allocate<std::uint64_t>(4);
    std::array<std::uint64_t, 3> three{};
    const auto code_of = [](const seen_failure &f) { return f.code; };
    const auto sizes = failure_of([&] { t.put(cells.on(0), three); });
    EXPECT_EQ(sizes.code, weft::errc::invalid_argument);
    EXPECT_TRUE(has(sizes, "4 elements, and the own one 3")) << sizes.text;
    EXPECT_TRUE(has(failure_of([&] { (void)cells.on(2); }), "no rank 2"));
    EXPECT_TRUE(has(failure_of([&] { (void)cells.on(0).subspan(3, 2); }), "2 from 3"));
    EXPECT_EQ(code_of(failure_of([&] { (void)cells.on(0).at(4); })), weft::errc::invalid_argument);
    EXPECT_TRUE(has(failure_of([&] { t.notify(2, 1); }), "no rank 2"));
    EXPECT_TRUE(has(failure_of([&] { (void)t.async_notify(-1, 1); }), "no rank -1"));
    EXPECT_TRUE(has(failure_of([&] { t.wait_notified(1, 1, 2); }), "no rank 2"));
    EXPECT_TRUE(has(failure_of([&] { t.expect(1, 1, -2); }), "no rank -2"));
    EXPECT_TRUE(has(failure_of([&] { t.broadcast(std::span(three), 2); }), "no rank 2"));
    EXPECT_TRUE(has(failure_of([&] { (void)net::shared_array<int>().on(0); }), "empty"));
    EXPECT_TRUE(net::shared_array<int>().local().empty());
    EXPECT_EQ(code_of(failure_of([&] { (void)t.is_lost(7); })), weft::errc::invalid_argument);
    // A task that was refused has no event left.
    weft::spawn([&] { (void)failure_of([&] { t.flush(9); }); });
    weft::taskwait();
    // Memory that is no longer shared.
    const auto there = cells.on(1 - t.rank()).subspan(0, 3);
    t.barrier();
    cells = {};
    t.barrier();
    const auto gone = failure_of([&] { t.async_put(there, three).get(); });
    EXPECT_EQ(gone.code, weft::errc::invalid_argument);
    EXPECT_TRUE(has(gone, "put of 24 bytes")) << gone.text;
    t.barrier();
  });
}

TEST_P(net_team, two_collective_calls_of_a_rank_at_once_are_refused) {
  run_ranks(world(2), [](team &t) {
    if (t.rank() == 0) {
      std::atomic<int> refused{0};
      seen_failure second; // whichever comes second, while rank 1 keeps the first one in
      for (int i = 0; i < 2; ++i)
        weft::spawn([&] {
          try {
            t.barrier();
          } catch (const weft::error &e) {
            ++refused;
            second = {-1, e.code(), e.what()};
            t.async_notify(1, 1).get();
          }
        });
      weft::taskwait();
      EXPECT_EQ(refused, 1);
      EXPECT_TRUE(has(second, "barrier: another task of rank 0")) << second.text;
    } else {
      t.wait_notified(1);
      t.barrier();
    }
  });
}

TEST_P(net_team, arrays_that_do_not_match_are_refused) {
  const auto seen = failure_of([&] {
    run_ranks(world(2), [](team &t) {
      std::vector<int> values(t.rank() == 0 ? 3 : 4);
      t.allreduce(std::span(values));
    });
  });
  EXPECT_TRUE(has(seen, "all ranks give the same number of values")) << seen.text;
}

/// Returns what two ranks say whose arrays have other sizes, or numbers, of elements. The ranks would wait for each
/// other, or for messages that never come, where they found no difference.
template <std::size_t Own, std::size_t Of_other, std::size_t Own_count = 1,
          std::size_t Count_of_other = 1>
auto failure_of_sizes(const net::inproc_world &on) {
  return failure_of([&] {
    run_ranks(on, [](team &t) {
      const auto first = [](auto &a, auto &) { return a; };
      if (t.rank() == 0) {
        std::array<std::array<char, Own>, Own_count> all{};
        t.allreduce(std::span(all), first);
      } else {
        std::array<std::array<char, Of_other>, Count_of_other> all{};
        t.allreduce(std::span(all), first);
      }
    });
  });
}

TEST_P(net_team, long_elements_of_other_sizes_are_refused) {
  const auto seen = failure_of_sizes<9000, 9001>(world(2));
  EXPECT_TRUE(has(seen, "allreduce: rank 1 has 9001 bytes, and rank 0 9000")) << seen.text;
  // The shorter one is as long as messages that are full.
  const auto one = failure_of_sizes<4080, 8160>(world(2));
  EXPECT_TRUE(has(one, "allreduce: rank 1 has 8160 bytes, and rank 0 4080")) << one.text;
  const auto two = failure_of_sizes<10000, 8160>(world(2));
  EXPECT_TRUE(has(two, "allreduce: rank 1 has 8160 bytes, and rank 0 10000")) << two.text;
  const auto parts = failure_of_sizes<4080, 4080, 1, 2>(world(2));
  EXPECT_TRUE(has(parts, "allreduce: rank 1 has 8160 bytes, and rank 0 4080")) << parts.text;
  const auto same = failure_of_sizes<6000, 12000, 2, 1>(world(2));
  EXPECT_TRUE(has(same, "rank 1 has 12000 bytes, and rank 0 12000, in values of different sizes"))
      << same.text;
}

/// Is an engine that counts its registrations, and may refuse them, and messages.
class counting_engine final : public net::engine {
 public:
  struct counts {
    std::atomic<int> registered{0};
    std::atomic<bool> refuses{false}, refuses_messages{false};
  };
  counting_engine(std::unique_ptr<net::engine> below, counts &all)
      : m_below(std::move(below)), m_counts(all) {}
  const net::capabilities &caps() const noexcept override { return m_below->caps(); }
  int rank() const noexcept override { return m_below->rank(); }
  int size() const noexcept override { return m_below->size(); }
  void attach(net::engine_events *to) noexcept override {
    m_events = to;
    m_below->attach(to);
  }
  net::memory_key add_memory(void *begin, std::size_t bytes) override {
    if (m_counts.refuses)
      throw weft::error(weft::errc::out_of_resources, "no more memory can be registered");
    ++m_counts.registered;
    return m_below->add_memory(begin, bytes);
  }
  void remove_memory(const net::memory_key &key) noexcept override {
    m_counts.registered -= key == net::memory_key{} ? 0 : 1;
    m_below->remove_memory(key);
  }
  bool begin(net::operation &op) noexcept override {
    if (op.what != net::action::message || !m_counts.refuses_messages)
      return m_below->begin(op);
    m_events->end(op, net::outcome::too_long);
    return true;
  }
  std::size_t progress(std::size_t budget) noexcept override { return m_below->progress(budget); }

 private:
  net::engine_events *m_events = nullptr;
  std::unique_ptr<net::engine> m_below;
  counts &m_counts;
};

TEST(net_world, an_array_that_one_rank_cannot_share_fails_at_all) {
  constexpr int k_ranks = 3;
  const net::inproc_world world(k_ranks);
  std::array<counting_engine::counts, k_ranks> counts;
  std::vector<std::unique_ptr<team>> teams;
  for (int r = 0; r != k_ranks; ++r)
    teams.push_back(std::make_unique<team>(std::make_unique<counting_engine>(
        world.make_engine(r), counts[static_cast<std::size_t>(r)])));
  const auto run = [&](team &t) {
    counting_engine::counts &own = counts[static_cast<std::size_t>(t.rank())];
    own.refuses = t.rank() == 1;
    std::vector<int> mine(static_cast<std::size_t>(t.rank()) + 4);
    const auto refused = failure_of([&] { (void)t.share(std::span(mine)); });
    EXPECT_EQ(refused.code, weft::errc::out_of_resources);
    EXPECT_TRUE(has(refused, t.rank() == 1 ? "no more memory can be registered"
                                           : "rank 1 cannot share an array of 20 bytes"))
        << refused.text;
    EXPECT_EQ(own.registered, 0);
    own.refuses = false;
    // Without memory at one rank, the last.
    const auto full = failure_of([&] { (void)t.allocate<char>(t.rank() == 2 ? SIZE_MAX : 8); });
    EXPECT_EQ(full.code, weft::errc::out_of_resources);
    EXPECT_TRUE(has(full, t.rank() == 2 ? "rank 2 has no memory for an array of 1844"
                                        : "rank 2 cannot share an array of 1844"))
        << full.text;
    EXPECT_EQ(own.registered, 0);
    // The team is as before.
    const auto cells = t.share(std::span(mine));
    EXPECT_EQ(own.registered, 1);
    const int value = 7 + t.rank(), next = (t.rank() + 1) % k_ranks;
    t.async_put(cells.on(next).at(3), std::span(&value, 1)).get();
    t.async_flush(next).get();
    t.barrier();
    EXPECT_EQ(mine[3], 7 + (t.rank() + k_ranks - 1) % k_ranks);
    t.barrier();
  };
  std::vector<weft::handle<void>> all;
  for (const auto &one : teams)
    all.push_back(weft::spawn([&run, &one] { run(*one); }, weft::tracked));
  for (auto &h : all)
    h.get();
  for (const auto &c : counts)
    EXPECT_EQ(c.registered, 0);
}

TEST(net_world, a_collective_call_whose_message_is_refused_fails) {
  const net::inproc_world world(2);
  counting_engine::counts counts;
  team refused(std::make_unique<counting_engine>(world.make_engine(0), counts));
  team other(world.make_engine(1));
  counts.refuses_messages = true;
  const auto seen = failure_of([&] { refused.barrier(); });
  EXPECT_EQ(seen.code, weft::errc::not_supported);
  EXPECT_TRUE(has(seen, "barrier of rank 0 cannot end: the engine inproc has refused a message"))
      << seen.text;
  counts.refuses_messages = false;
  EXPECT_EQ(failure_of([&] { refused.barrier(); }).code, weft::errc::not_supported);
}

TEST(net_world, collective_calls_under_way_fail_as_their_team_ends) {
  const net::inproc_world world(2);
  auto first = std::make_unique<team>(world.make_engine(0));
  team other(world.make_engine(1));
  int value = 1;
  auto met = first->async_barrier();
  auto summed = first->async_allreduce(std::span(&value, 1));
  first.reset();
  const auto seen = failure_of([&] { met.get(); });
  EXPECT_EQ(seen.code, weft::errc::invalid_argument);
  EXPECT_TRUE(has(seen, "barrier of rank 0 was in flight when its team ended")) << seen.text;
  EXPECT_TRUE(has(failure_of([&] { summed.get(); }), "allreduce of rank 0 was in flight"));
}

// Some 0.6 KB in three objects for each number would stay.
TEST(net_world, numbers_of_notifications_that_are_used_once_are_forgotten) {
  run_ranks(net::inproc_world(1), [](team &t) {
    constexpr std::uint32_t k_kept = 300, k_used = 20'000;
    const std::int64_t empty = g_objects;
    for (std::uint32_t id = 0; id != k_kept; ++id)
      t.async_notify(0, id, 2).get();
    std::vector<weft::future<void>> expected;
    for (std::uint32_t id = k_kept; id != 2 * k_kept; ++id)
      expected.push_back(t.async_expect(id));
    t.wait_notified(0); // one of two
    const std::int64_t before = g_objects;
    EXPECT_GE(before, empty + 2 * k_kept) << "allocations of the library are counted";
    for (std::uint32_t id = 1000; id != 1000 + k_used; ++id) {
      auto early = id % 2 == 0 ? t.async_expect(id) : weft::future<void>();
      t.async_notify(0, id).get();
      if (id % 2 != 0)
        early = t.async_expect(id);
      early.get();
    }
    EXPECT_LT(g_objects, before + k_used / 4);
    // What has come, or is waited for, is kept.
    t.wait_notified(0);
    for (std::uint32_t id = 1; id != k_kept; ++id)
      t.wait_notified(id, 2);
    for (std::uint32_t id = k_kept; id != 2 * k_kept; ++id)
      t.async_notify(0, id).get();
    for (auto &one : expected)
      one.get();
  });
}

TEST(net_world, wrong_worlds_are_refused) {
  EXPECT_TRUE(has(failure_of([] { net::inproc_world world(0); }), "0 ranks"));
  const net::inproc_world world(2);
  EXPECT_TRUE(has(failure_of([&] { (void)world.make_engine(2); }), "no rank 2"));
  EXPECT_TRUE(has(failure_of([&] { world.lose(-1); }), "no rank -1"));
  const auto one = world.make_engine(0);
  EXPECT_TRUE(
      has(failure_of([&] { (void)world.make_engine(0); }), "rank 0 of this world has an engine"));
}

INSTANTIATE_TEST_SUITE_P(networks, net_team,
                         testing::Values(with(0, 0, false), with(2, 0, false), with(16, 3, false),
                                         with(16, 3, true)),
                         [](const auto &info) {
                           return std::string(info.param.reorder ? "reordered"
                                              : info.param.delay ? "delayed"
                                              : info.param.queue ? "narrow"
                                                                 : "plain");
                         });

} // namespace
