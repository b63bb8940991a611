// SPDX-License-Identifier: Apache-2.0
// How the graph of a dump grows with the number of tasks: its edges and the steps that it takes are
// counted.
#include "diagnose/task_dump.hpp"
#include "support/case_process.hpp"
#include "support/soon.hpp"
#include "support/text.hpp"
#include "worker/runtime.hpp"
#include "worker/safepoint.hpp"

#include <weft/coro.hpp>
#include <weft/layer/external_report.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <gtest/gtest.h>
#include <initializer_list>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

namespace {

using namespace weft::rt;

constexpr std::size_t k_many = 60;

/// Counts the edges whose text has all those parts, in that order.
std::size_t edges_with(const wait_graph &graph, std::initializer_list<const char *> parts) {
  return static_cast<std::size_t>(
      std::count_if(graph.edges().begin(), graph.edges().end(), [&](const wait_graph::edge &e) {
        const std::string text = graph.text(e);
        std::size_t at = 0;
        return std::all_of(parts.begin(), parts.end(), [&](const std::string &part) {
          at = text.find(part, at);
          return at != std::string::npos;
        });
      }));
}

bool all_want_the_lock(const wait_graph &graph) {
  return edges_with(graph, {" waits for mutex "}) == k_many;
}

/// Runs `spawn_tasks(go, group)`, whose tasks wait until `go` is set, and returns the first
/// dump that is whole.
template <class Spawn>
running_dump seen_while(Spawn spawn_tasks, bool (*is_whole)(const wait_graph &) = [](const wait_graph &) { return true; },
                        const std::function<void()> &when_seen = [] {}) {
  weft::event go;
  std::atomic<bool> are_there{false};
  running_dump seen;
  std::thread other([&] {
    runtime &rt = the_runtime();
    EXPECT_TRUE(test::soon([&] {
      if (!are_there || !try_stop_workers(rt, 1'000'000'000))
        return false;
      seen = take_running_dump(rt, {});
      resume_workers(rt);
      return is_whole(seen.graph);
    }));
    when_seen();
    go.set();
  });
  weft::task_group group;
  spawn_tasks(go, group);
  are_there = true;
  group.wait();
  weft::taskwait();
  other.join();
  return seen;
}

/// `body` runs where nothing else takes dumps.
template <class Body>
void check(Body body) {
  const auto end = test::in_process({{"WEFT_WORKERS", "2"}, {"WEFT_WATCH_HANG", "off"}}, [&] {
    weft::start();
    body();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(dump_graph, what_waits_for_a_cohort_waits_for_one_node) {
  check([] {
    static int x;
    const running_dump seen = seen_while([](weft::event &go, weft::task_group &) {
      weft::spawn([&go] { go.wait(); }, weft::inout(x), weft::label("first"));
      for (std::size_t i = 0; i != k_many; ++i)
        weft::spawn([] {}, weft::concurrent(x), weft::label("shares"));
      for (std::size_t i = 0; i != k_many; ++i)
        weft::spawn([] {}, weft::commutative(x), weft::label("takes turns"));
      for (std::size_t i = 0; i != k_many; ++i)
        weft::spawn([] {}, weft::in(x), weft::label("reads"));
    });
    const wait_graph &g = seen.graph;
    EXPECT_EQ(edges_with(g, {"task 'reads' waits, with in(0x", "), for the tasks with commutative(0x"}),
              k_many);
    EXPECT_EQ(edges_with(g, {"task 'takes turns' waits, with commutative(0x",
                             "), for the tasks with concurrent(0x"}),
              k_many);
    EXPECT_EQ(edges_with(g, {"task 'shares' waits, with concurrent(0x", "), for task 'first'"}), k_many);
    EXPECT_EQ(edges_with(g, {"the tasks with commutative(0x", ") are over only after task 'takes turns'"}),
              k_many);
    EXPECT_EQ(edges_with(g, {"the tasks with commutative(0x",
                             ") are over only after the tasks with concurrent(0x"}),
              1u);
    EXPECT_EQ(edges_with(g, {"the tasks with concurrent(0x", ") are over only after task 'shares'"}),
              k_many);
    EXPECT_EQ(edges_with(g, {"the tasks with concurrent(0x", ") are over only after task 'first'"}), 1u);
    EXPECT_EQ(edges_with(g, {"task 'reads' waits, with", "for task '"}), 0u);
    EXPECT_LE(g.edges().size(), 9 * k_many); // with those of the task that waits for its children
  });
}

TEST(dump_graph, a_member_that_has_ended_is_not_over_before_what_is_below_it) {
  check([] {
    static int x;
    const running_dump seen = seen_while([](weft::event &go, weft::task_group &) {
      std::atomic<bool> ends{false};
      weft::spawn(
          [&go, &ends] {
            weft::spawn([&go] { go.wait(); }, weft::inout(x), weft::label("below"));
            ends = true;
          },
          weft::concurrent(x), weft::label("shares"));
      EXPECT_TRUE(test::soon([&ends] { return ends.load(); }));
      weft::spawn([] {}, weft::in(x), weft::label("reads"));
    });
    EXPECT_EQ(edges_with(seen.graph, {"the tasks with concurrent(0x", ") are over only after task 'below'"}), 1u);
    EXPECT_EQ(edges_with(seen.graph, {"only after task 'shares'"}), 0u);
  });
}

TEST(dump_graph, who_walks_behind_one_chain_walks_it_once) {
  check([] {
    static int x;
    const running_dump seen = seen_while([](weft::event &go, weft::task_group &) {
      weft::spawn([&go] { go.wait(); }, weft::inout(x), weft::label("first"));
      std::atomic<std::size_t> ended{0};
      for (std::size_t i = 0; i != k_many; ++i) // they have ended, and what they had is not free yet
        weft::spawn([&ended] { ++ended; }, weft::weak_inout(x));
      EXPECT_TRUE(test::soon([&] { return ended == k_many; }));
      for (std::size_t i = 0; i != k_many; ++i)
        weft::spawn([] {}, weft::in(x), weft::label("reads"));
    });
    EXPECT_EQ(edges_with(seen.graph, {"task 'reads' waits, with in(0x", "), for task 'first'"}), k_many);
    EXPECT_LE(seen.steps, 10 * k_many);
  });
}

std::atomic<bool> g_is_held{false};

weft::task<void> holds(weft::mutex &m, weft::event &go) {
  co_await m.async_lock();
  g_is_held = true;
  co_await go.async_wait();
  m.unlock();
}
weft::task<void> wants(weft::mutex &m) {
  co_await m.async_lock();
  m.unlock();
}

TEST(dump_graph, who_has_a_lock_is_found_once_for_all_its_waiters) {
  check([] {
    static weft::mutex m;
    const running_dump seen = seen_while([](weft::event &go, weft::task_group &group) {
      group.spawn(holds(m, go));
      EXPECT_TRUE(test::soon([] { return g_is_held.load(); }));
      for (std::size_t i = 0; i != k_many; ++i)
        group.spawn(wants(m));
    }, &all_want_the_lock);
    EXPECT_EQ(edges_with(seen.graph, {"mutex ", " is held by task "}), 1u);
    EXPECT_LE(seen.steps, 10 * k_many);
  });
}

TEST(dump_graph, who_has_a_lock_is_looked_for_once_where_nobody_is_found) {
  check([] {
    static weft::mutex m;
    std::atomic<bool> is_over{false};
    std::thread owner([&] {
      const std::lock_guard held(m);
      g_is_held = true;
      EXPECT_TRUE(test::soon([&] { return is_over.load(); }));
    });
    const running_dump seen = seen_while([](weft::event &, weft::task_group &group) {
      EXPECT_TRUE(test::soon([] { return g_is_held.load(); }));
      for (std::size_t i = 0; i != k_many; ++i)
        group.spawn(wants(m));
    }, &all_want_the_lock, [&] { is_over = true; });
    owner.join();
    EXPECT_EQ(edges_with(seen.graph, {"mutex ", " is not held by a task that waits, so only to be unlocked by a thread outside of Weft"}), 1u);
    EXPECT_LE(seen.steps, 10 * k_many);
  });
}

TEST(dump_graph, a_lock_held_on_a_stack_is_looked_at_once) {
  check([] {
    static weft::mutex m;
    const running_dump seen = seen_while([](weft::event &go, weft::task_group &) {
      weft::spawn(
          [&go] {
            const std::lock_guard held(m);
            g_is_held = true;
            go.wait();
          },
          weft::label("holds"));
      EXPECT_TRUE(test::soon([] { return g_is_held.load(); }));
      for (std::size_t i = 0; i != k_many; ++i)
        weft::spawn([] { const std::lock_guard wanted(m); });
    }, &all_want_the_lock);
    EXPECT_EQ(edges_with(seen.graph, {"mutex ", " is held by task 'holds'"}), 1u);
    EXPECT_LE(seen.steps, 10 * k_many);
  });
}

TEST(dump_graph, readers_of_all_shared_mutexes_are_found_by_one_walk) {
  check([] {
    static weft::shared_mutex mutexes[k_many];
    const running_dump seen = seen_while(
        [](weft::event &go, weft::task_group &) {
          std::atomic<std::size_t> reading{0};
          for (weft::shared_mutex &m : mutexes)
            weft::spawn(
                [&m, &go, &reading] {
                  const std::shared_lock held(m);
                  ++reading;
                  go.wait();
                },
                weft::label("reads"));
          EXPECT_TRUE(test::soon([&] { return reading == k_many; }));
          for (weft::shared_mutex &m : mutexes)
            weft::spawn([&m] { const std::lock_guard wanted(m); }, weft::label("writes"));
        },
        [](const wait_graph &g) { return edges_with(g, {"task 'writes' waits for mutex "}) == k_many; });
    EXPECT_EQ(edges_with(seen.graph, {"is held for reading, 1 time, perhaps by task 'reads'"}), k_many);
    EXPECT_EQ(edges_with(seen.graph, {"by tasks that are not known"}), 0u);
    EXPECT_LE(seen.steps, 10 * k_many);
  });
}

} // namespace
