// SPDX-License-Identifier: Apache-2.0
// taskiter: what a recorded task may do, failures, the end.
#include "support/gate.hpp"
#include "support/refusal.hpp"

#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using test::dawdle;

using test::refusal;

TEST(taskiter, runs_a_chain_again_and_again) {
  std::uint64_t x = 1, recorded = 0;
  weft::taskiter(100, [&] {
    ++recorded;
    for (std::uint64_t i = 0; i != 10; ++i)
      weft::spawn([&x, i] { x = x * 31 + i; }, weft::inout(x));
  });
  weft::taskwait();
  std::uint64_t expected = 1;
  for (int n = 0; n != 100; ++n)
    for (std::uint64_t i = 0; i != 10; ++i)
      expected = expected * 31 + i;
  EXPECT_EQ(x, expected);
  EXPECT_EQ(recorded, 1u);
}

TEST(taskiter, spawns_once_and_executes_every_time) {
  weft::taskwait();
  const auto before = weft::stats();
  std::atomic<int> ran{0};
  weft::taskiter(50, [&] {
    for (int i = 0; i != 4; ++i)
      weft::spawn([&] { ++ran; });
  });
  weft::taskwait();
  EXPECT_EQ(ran, 200);
  EXPECT_EQ(weft::stats().spawned - before.spawned, 1u)
      << "the tasks of the iteration are recorded";
  EXPECT_EQ(weft::stats().executed - before.executed, 201u);
}

TEST(taskiter, without_iterations_or_tasks_ends) {
  int recorded = 0, x = 0;
  weft::taskiter(0, [&] { ++recorded; }, weft::inout(x));
  weft::taskiter(-3, [&] { ++recorded; }, weft::inout(x));
  weft::taskiter([] { return false; }, [&] { ++recorded; }, weft::inout(x));
  weft::taskiter(5, [&] { recorded += 10; }, weft::inout(x));
  weft::spawn([&] { x = recorded; }, weft::inout(x));
  weft::taskwait();
  EXPECT_EQ(x, 10);
}

TEST(taskiter, iterations_overlap_where_data_allow) {
  if (weft::worker_count() < 2)
    GTEST_SKIP() << "needs two workers";
  // The second task of the first iteration waits for the first task of the second one.
  std::atomic<int> first{0};
  int x = 0, y = 0;
  weft::taskiter(2, [&] {
    weft::spawn([&] { ++first; }, weft::inout(x));
    weft::spawn(
        [&] {
          while (first < 2)
            weft::taskyield();
        },
        weft::inout(y));
  });
  weft::taskwait();
  EXPECT_EQ(first, 2);
}

TEST(taskiter, orders_iterations_by_their_data) {
  constexpr int n = 40, steps = 60;
  std::array<std::uint64_t, n + 2> x{}, expected{};
  x[0] = expected[0] = 1;
  weft::taskiter(steps, [&] {
    for (std::size_t i = 1; i <= n; ++i)
      weft::spawn([&x, i] { x[i] = 3 * x[i - 1] + 5 * x[i] + 7 * x[i + 1] + 1; },
                  weft::in(x[i - 1]), weft::inout(x[i]), weft::in(x[i + 1]));
  });
  weft::taskwait();
  for (int s = 0; s != steps; ++s)
    for (std::size_t i = 1; i <= n; ++i)
      expected[i] = 3 * expected[i - 1] + 5 * expected[i] + 7 * expected[i + 1] + 1;
  EXPECT_EQ(x, expected);
}

TEST(taskiter, is_one_task_with_accesses) {
  int x = 0, seen = 0;
  weft::spawn([&] { dawdle(), x = 1; }, weft::out(x));
  weft::taskiter(
      3, [&] { weft::spawn([&] { dawdle(), x *= 2; }, weft::inout(x)); }, weft::weak_inout(x),
      weft::label("doubling"));
  weft::spawn([&] { seen = x; }, weft::in(x));
  weft::taskwait();
  EXPECT_EQ(seen, 8);
}

TEST(taskiter, asks_before_every_iteration) {
  std::atomic<int> running{0};
  int asked = 0, ran = 0, overlaps = 0;
  weft::taskiter(
      [&] {
        overlaps += running != 0;
        return ++asked <= 20;
      },
      [&] {
        for (int i = 0; i != 5; ++i)
          weft::spawn([&] { ++running, dawdle(), --running; });
        weft::spawn([&] { ++ran; }, weft::inout(ran));
      });
  weft::taskwait();
  EXPECT_EQ(ran, 20);
  EXPECT_EQ(asked, 21);
  EXPECT_EQ(overlaps, 0);
}

TEST(taskiter, converges) {
  double x = 100, residual = 1;
  weft::taskiter([&] { return residual > 1e-9; },
                 [&] {
                   weft::spawn(
                       [&] {
                         const double next = (x + 2 / x) / 2;
                         residual = next > x ? next - x : x - next;
                         x = next;
                       },
                       weft::inout(x), weft::out(residual));
                 });
  weft::taskwait();
  EXPECT_NEAR(x * x, 2, 1e-12);
}

TEST(taskiter, calls_a_move_only_closure_by_reference) {
  std::weak_ptr<int> alive;
  std::vector<int> seen;
  auto counter = std::make_shared<int>(0);
  alive = counter;
  weft::taskiter(4, [&seen, counter = std::move(counter)]() mutable {
    weft::spawn([&seen, own = std::make_unique<std::shared_ptr<int>>(
                            std::move(counter))] { seen.push_back(++**own); },
                weft::inout(weft::object(seen)));
  });
  weft::taskwait();
  EXPECT_EQ(seen, (std::vector{1, 2, 3, 4}));
  EXPECT_TRUE(alive.expired()) << "the closures are destroyed at the end";
}

TEST(taskiter, recorded_tasks_nest) {
  int x = 0;
  std::atomic<int> grandchildren{0};
  std::vector<int> seen;
  weft::taskiter(10, [&] {
    weft::spawn(
        [&] {
          for (int i = 0; i != 3; ++i)
            weft::spawn(
                [&] {
                  dawdle();
                  ++x;
                  weft::spawn([&] { ++grandchildren; });
                },
                weft::inout(x));
        },
        weft::inout(x));
    weft::spawn([&] { seen.push_back(x); }, weft::in(x), weft::inout(weft::object(seen)));
  });
  weft::taskwait();
  EXPECT_EQ(seen, (std::vector{3, 6, 9, 12, 15, 18, 21, 24, 27, 30}));
  EXPECT_EQ(grandchildren, 30);
}

TEST(taskiter, recorded_tasks_wait) {
  int x = 0;
  weft::taskiter(10, [&] {
    weft::spawn(
        [&] {
          int y = 0;
          weft::spawn([&] { dawdle(), ++y; });
          weft::taskwait();
          weft::taskyield();
          x += y;
        },
        weft::inout(x));
  });
  weft::taskwait();
  EXPECT_EQ(x, 10);
}

TEST(taskiter, recorded_tasks_have_events) {
  std::vector<std::thread> threads;
  int x = 0;
  std::atomic<int> early{0}, done{0};
  weft::taskiter(5, [&] {
    weft::spawn(
        [&] {
          weft::this_task::increase_events(1);
          threads.emplace_back([&, self = weft::this_task::self()] {
            dawdle();
            ++done;
            weft::decrease_events(self, 1);
          });
          ++x;
        },
        weft::inout(x));
    weft::spawn([&] { early += done != x; }, weft::in(x));
  });
  weft::taskwait();
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(x, 5);
  EXPECT_EQ(early, 0);
}

TEST(taskiter, recorded_tasks_block) {
  int x = 0;
  weft::task_ref blocked;
  std::atomic<bool> there{false};
  weft::taskiter(5, [&] {
    weft::spawn(
        [&] {
          blocked = weft::this_task::self();
          there = true;
          weft::this_task::block();
          ++x;
        },
        weft::inout(x));
    weft::spawn([&] {
      while (!there.exchange(false))
        weft::taskyield();
      weft::unblock(blocked);
    });
  });
  weft::taskwait();
  EXPECT_EQ(x, 5);
}

weft::task_local<int> rounds(0);

TEST(taskiter, task_local_values_are_those_of_one_run) {
  std::vector<int> seen;
  weft::taskiter(
      3, [&] { weft::spawn([&] { seen.push_back(++*rounds); }, weft::inout(weft::object(seen))); });
  weft::taskwait();
  EXPECT_EQ(seen, (std::vector{1, 1, 1}));
}

TEST(taskiter, keeps_labels_onready_and_stacks) {
  std::atomic<int> labelled{0}, ready{0};
  int x = 0;
  weft::taskiter(6, [&] {
    weft::spawn([&] { labelled += weft::this_task::label() == std::string("named"); },
                weft::label("named"), weft::priority(3), weft::stack_bytes(1 << 20),
                weft::inout(x));
    weft::spawn([] {},
                weft::onready([](void *p) { ++*static_cast<std::atomic<int> *>(p); }, &ready),
                weft::inout(x));
  });
  weft::taskwait();
  EXPECT_EQ(labelled, 6);
  EXPECT_EQ(ready, 6);
}

TEST(taskiter, onready_is_not_called_for_a_round_after_the_last_one) {
  std::atomic<int> ready{0}, ran{0};
  int x = 0, y = 0, asked = 0;
  const auto count = [](void *p) { ++*static_cast<std::atomic<int> *>(p); };
  weft::taskiter([&] { return asked++ < 5; },
                 [&] {
                   weft::spawn([&] { ++ran; }, weft::onready(count, &ready), weft::inout(x));
                   weft::spawn([&] { ++ran; }, weft::onready(count, &ready), weft::inout(y));
                   weft::spawn([&] { ++ran; }, weft::onready(count, &ready), weft::inout(x));
                 });
  weft::taskwait();
  EXPECT_EQ(ran, 15);
  EXPECT_EQ(ready, 15);
}

TEST(taskiter, events_of_onready_hold_each_run) {
  struct late {
    std::vector<std::thread> threads;
    std::atomic<int> done{0};
  } l;
  int x = 0;
  std::atomic<int> early{0};
  weft::taskiter(4, [&] {
    weft::spawn([] {},
                weft::onready(
                    [](void *p) {
                      auto *at = static_cast<late *>(p);
                      weft::this_task::increase_events(1);
                      at->threads.emplace_back([at, self = weft::this_task::self()] {
                        dawdle();
                        ++at->done;
                        weft::decrease_events(self, 1);
                      });
                    },
                    &l),
                weft::inout(x));
    weft::spawn([&] { early += l.done != ++x; }, weft::inout(x));
  });
  weft::taskwait();
  for (auto &t : l.threads)
    t.join();
  EXPECT_EQ(x, 4);
  EXPECT_EQ(early, 0);
}

TEST(taskiter, finality_is_that_of_the_tasks) {
  bool recording = true, recorded = true, final_one = false, inner = false;
  weft::taskiter(1, [&] {
    recording = weft::this_task::in_final();
    weft::spawn([&] { recorded = weft::this_task::in_final(); });
    weft::spawn([&] { final_one = weft::this_task::in_final(); }, weft::final());
  });
  weft::taskwait();
  EXPECT_FALSE(recording);
  EXPECT_FALSE(recorded);
  EXPECT_TRUE(final_one);
  bool done_at_once = false;
  weft::spawn(
      [&] {
        int runs = 0;
        weft::taskiter(3, [&] {
          weft::spawn([&] { inner = weft::this_task::in_final(), ++runs; }, weft::inout(runs));
        });
        done_at_once = runs == 3;
      },
      weft::final());
  weft::taskwait();
  EXPECT_TRUE(inner);
  EXPECT_TRUE(done_at_once);
}

TEST(taskiter, nests) {
  int x = 0;
  std::vector<int> seen;
  weft::taskiter(3, [&] {
    weft::taskiter(4, [&] { weft::spawn([&] { ++x; }, weft::inout(x)); }, weft::inout(x));
    weft::spawn([&] { seen.push_back(x); }, weft::in(x), weft::inout(weft::object(seen)));
  });
  weft::taskwait();
  EXPECT_EQ(seen, (std::vector{4, 8, 12}));
}

TEST(taskiter, records_loops) {
  constexpr int n = 100;
  std::array<int, n> x{};
  int sum = 0;
  weft::taskiter(5, [&] {
    weft::taskloop(
        weft::range(n), [&](int i) { ++x[static_cast<std::size_t>(i)]; }, weft::nogroup,
        weft::grain_size(10), weft::chunk_accesses([&](weft::range<int> c) {
          return weft::inout(x[static_cast<std::size_t>(c.first())]);
        }));
    weft::taskfor(
        weft::range(n), [&](int i) { x[static_cast<std::size_t>(i)] *= 2; }, weft::grain_size(1),
        weft::inout(sum), weft::inout(x[0]), weft::inout(x[10]), weft::inout(x[20]),
        weft::inout(x[30]), weft::inout(x[40]), weft::inout(x[50]), weft::inout(x[60]),
        weft::inout(x[70]), weft::inout(x[80]), weft::inout(x[90]));
  });
  weft::taskwait();
  for (int v : x)
    EXPECT_EQ(v, 62);
}

TEST(taskiter, without_accesses_waits_and_rethrows) {
  std::atomic<int> ran{0};
  weft::taskiter(7, [&] { weft::spawn([&] { weft::spawn([&] { dawdle(), ++ran; }); }); });
  EXPECT_EQ(ran, 7);
  EXPECT_THROW(weft::taskiter(7, [&] { weft::spawn([&] { throw std::runtime_error("first"); }); }),
               std::runtime_error);
  EXPECT_NO_THROW(weft::taskwait());
}

TEST(taskiter, does_not_wait_with_nogroup_or_accesses) {
  test::gate waited;
  int x = 0;
  std::atomic<int> passed{0};
  weft::taskiter(2, [&] { weft::spawn([&] { passed += waited.pass(); }); }, weft::nogroup);
  weft::taskiter(2, [&] { weft::spawn([&] { passed += waited.pass(); }); }, weft::inout(x));
  waited.open();
  weft::taskwait();
  EXPECT_EQ(passed, 4);
}

TEST(taskiter, records_loops_that_do_not_wait) {
  int x = 0;
  std::atomic<int> ran{0};
  weft::taskiter(3, [&] {
    weft::taskloop(weft::range(4), [&](int) { ++ran; }, weft::grain_size(1), weft::in(x));
    weft::taskfor(weft::range(5), [&](int) { ++ran; }, weft::nogroup);
    weft::taskiter(2, [&] { weft::spawn([&] { ++ran; }); }, weft::nogroup);
  });
  EXPECT_EQ(ran, 3 * (4 + 5 + 2));
}

TEST(taskiter, of_a_group_is_waited_for_by_the_group) {
  weft::task_group group;
  std::atomic<int> ran{0};
  weft::taskiter(7, [&] { weft::spawn([&] { dawdle(), ++ran; }); }, weft::in_group(group));
  group.wait();
  EXPECT_EQ(ran, 7);
}

TEST(taskiter, handle_waits_for_the_last_iteration) {
  std::atomic<int> ran{0};
  weft::handle<void> h =
      weft::taskiter(7, [&] { weft::spawn([&] { dawdle(), ++ran; }); }, weft::tracked);
  h.get();
  EXPECT_EQ(ran, 7);
  weft::handle<void> failing = weft::taskiter(
      7, [&] { weft::spawn([&] { throw std::runtime_error("seven"); }); }, weft::tracked);
  EXPECT_THROW(failing.get(), std::runtime_error);
}

TEST(taskiter, first_exception_ends_it) {
  int x = 0, after = 0;
  std::atomic<int> others{0};
  weft::taskiter(
      1'000'000'000,
      [&] {
        weft::spawn(
            [&] {
              if (++x == 5)
                throw std::runtime_error("fifth");
            },
            weft::inout(x));
        weft::spawn([&] { ++after; }, weft::in(x), weft::inout(after));
        weft::spawn([&] { ++others; });
      },
      weft::inout(x));
  bool released = false;
  weft::spawn([&] { released = x == 5 && after == 4; }, weft::in(x));
  try {
    weft::taskwait();
    FAIL();
  } catch (const std::runtime_error &e) {
    EXPECT_STREQ(e.what(), "fifth");
  }
  EXPECT_TRUE(released);
}

TEST(taskiter, exception_of_a_descendant_ends_it) {
  int x = 0;
  weft::task_group group;
  weft::taskiter(
      1'000'000'000,
      [&] {
        weft::spawn(
            [&] {
              ++x;
              weft::spawn([&] {
                if (x == 3)
                  throw std::runtime_error("deep");
              });
            },
            weft::inout(x));
      },
      weft::in_group(group));
  EXPECT_THROW(group.wait(), std::runtime_error);
  EXPECT_EQ(x, 3);
}

TEST(taskiter, exception_of_the_condition_or_the_recording_ends_it) {
  int x = 0;
  weft::taskiter([&]() -> bool { return x < 3 ? true : throw std::runtime_error("asked"); },
                 [&] { weft::spawn([&] { ++x; }, weft::inout(x)); }, weft::nogroup);
  EXPECT_THROW(weft::taskwait(), std::runtime_error);
  EXPECT_EQ(x, 3);
  weft::taskiter(
      3,
      [&] {
        weft::spawn([&] { x = 100; }, weft::inout(x));
        throw std::runtime_error("recording");
      },
      weft::nogroup);
  EXPECT_THROW(weft::taskwait(), std::runtime_error);
  EXPECT_EQ(x, 3) << "nothing of it is run";
}

TEST(taskiter, cancelled_group_ends_it) {
  std::atomic<int> x{0};
  weft::task_group group;
  weft::taskiter(
      1'000'000'000,
      [&] {
        weft::spawn(
            [&] {
              if (++x == 4)
                group.cancel();
            },
            weft::inout(x));
        for (int i = 0; i != 10; ++i)
          weft::spawn([] {}, weft::in(x));
      },
      weft::in_group(group));
  group.wait();
  EXPECT_EQ(x, 4);
}

TEST(taskiter, refuses_what_cannot_be_run_again) {
  weft::task_group group;
  std::array<std::string, 8> said;
  int x = 0, recorded = 0;
  weft::taskiter(
      2,
      [&] {
        said[0] = refusal([] { (void)weft::spawn([] { return 1; }, weft::label("asked")); });
        said[1] = refusal([] { weft::spawn([] {}, weft::if_(false), weft::label("waited")); });
        said[2] = refusal([&] { group.spawn([] {}, weft::label("grouped")); });
        said[3] = refusal([] { weft::taskwait(); });
        said[4] = refusal([&] { weft::taskwait(weft::in(x)); });
        said[5] = refusal([] { weft::taskloop(weft::range(2), [](int) {}); });
        said[6] = refusal([] { weft::taskfor(weft::range(2), [](int) {}); });
        said[7] = refusal([] { weft::taskiter(2, [] {}); });
        weft::spawn([&] { ++recorded; }, weft::inout(recorded));
      },
      weft::label("loop"));
  weft::taskwait();
  EXPECT_EQ(recorded, 2);
  const std::string begin = "task 'asked' cannot be recorded by taskiter 'loop': ";
  EXPECT_EQ(said[0], begin + "has a handle: let it return nothing, and leave tracked out");
  EXPECT_NE(said[1].find("'waited'"), std::string::npos) << said[1];
  EXPECT_NE(said[2].find("belongs to a group"), std::string::npos) << said[2];
  EXPECT_EQ(
      said[3],
      "taskwait() while taskiter 'loop' records: its tasks have not begun; wait in a task, or after the loop");
  EXPECT_NE(said[4].find("the recording would wait for it"), std::string::npos) << said[4];
  for (const std::string &of_a_loop : {said[5], said[6], said[7]})
    EXPECT_NE(of_a_loop.find("of a loop that waits: with nogroup"), std::string::npos) << of_a_loop;
}

TEST(taskiter, takes_null_and_repeated_addresses) {
  int x = 0;
  weft::taskiter(10, [&] {
    const std::vector<weft::access> list(20, weft::access{&x, weft::access_mode::in});
    weft::spawn([&] { ++x; }, weft::accesses(list), weft::out(x), weft::access{});
    weft::spawn([&] { ++x; }, weft::access{}, weft::inout(x), weft::in(x));
  });
  weft::taskwait();
  EXPECT_EQ(x, 20);
}

TEST(taskiter, concurrent_tasks_are_ordered_with_others_only) {
  if (weft::worker_count() < 2)
    GTEST_SKIP() << "needs two workers";
  std::atomic<int> inside{0};
  int x = 0, wrong = 0;
  weft::taskiter(10, [&] {
    for (int i = 0; i != 2; ++i)
      weft::spawn(
          [&] {
            ++inside;
            while (inside % 2 != 0)
              weft::taskyield();
          },
          weft::concurrent(x));
    weft::spawn([&] { wrong += inside != 2 * ++x; }, weft::inout(x));
  });
  weft::taskwait();
  EXPECT_EQ(x, 10);
  EXPECT_EQ(wrong, 0);
}

TEST(taskiter, commutative_tasks_take_turns) {
  int x = 0;
  std::vector<int> seen;
  weft::taskiter(
      10,
      [&] {
        for (int i = 0; i != 4; ++i)
          weft::spawn([&] { ++x; }, weft::commutative(x), weft::in(x));
        weft::spawn([&] { seen.push_back(x); }, weft::in(x), weft::inout(weft::object(seen)));
      },
      weft::commutative(weft::object(seen)));
  weft::taskwait();
  EXPECT_EQ(seen, (std::vector{4, 8, 12, 16, 20, 24, 28, 32, 36, 40}));
}

TEST(taskiter, lets_other_work_run) {
  std::atomic<bool> stop{false};
  std::uint64_t rounds_run = 0;
  weft::taskiter([&] { return !stop; },
                 [&] { weft::spawn([&] { ++rounds_run; }, weft::inout(rounds_run)); },
                 weft::nogroup);
  weft::spawn([&] { stop = true; });
  weft::taskwait();
  EXPECT_TRUE(stop);
}

/// A random iteration against the same tasks run one after the other.
TEST(taskiter, random_graphs_give_what_a_serial_run_gives) {
  std::uint64_t state = 20240229;
  const auto draw = [&state](std::uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  };
  for (int program = 0; program != 60; ++program) {
    struct spec {
      std::vector<std::size_t> reads;
      std::size_t writes;
      bool nests;
    };
    const std::size_t cells = 1 + draw(8), tasks = 1 + draw(24), steps = draw(30);
    std::vector<spec> specs(tasks);
    for (spec &s : specs) {
      for (std::uint64_t r = draw(4); r != 0; --r)
        s.reads.push_back(draw(cells));
      s.writes = draw(3) ? draw(cells) : cells; // or none
      s.nests = draw(8) == 0;
    }
    const auto run = [](std::vector<std::uint64_t> &cell, const spec &s, std::uint64_t salt) {
      std::uint64_t v = salt;
      for (std::size_t r : s.reads)
        v = v * 31 + cell[r];
      if (s.writes < cell.size())
        cell[s.writes] = cell[s.writes] * 33 + v;
      return v;
    };
    std::vector<std::uint64_t> cell(cells, 1), expected(cells, 1), seen(tasks),
        expected_seen(tasks);
    const bool conditional = draw(3) == 0;
    std::size_t step = 0;
    const auto record = [&] {
      for (std::size_t t = 0; t != tasks; ++t) {
        std::vector<weft::access> list;
        for (std::size_t r : specs[t].reads)
          list.push_back(weft::in(cell[r]));
        if (specs[t].writes < cells)
          list.push_back(weft::inout(cell[specs[t].writes]));
        weft::spawn(
            [&, t] {
              const auto work = [&, t] { seen[t] = seen[t] * 7 + run(cell, specs[t], t); };
              if (specs[t].nests)
                weft::spawn(work);
              else
                work();
            },
            weft::accesses(list), weft::priority(static_cast<int>(t % 5) / 4));
      }
    };
    if (conditional)
      weft::taskiter([&] { return step++ < steps; }, record);
    else
      weft::taskiter(steps, record);
    weft::taskwait();
    for (std::size_t s = 0; s != steps; ++s)
      for (std::size_t t = 0; t != tasks; ++t)
        expected_seen[t] = expected_seen[t] * 7 + run(expected, specs[t], t);
    ASSERT_EQ(cell, expected) << "program " << program;
    ASSERT_EQ(seen, expected_seen) << "program " << program;
  }
}

} // namespace
