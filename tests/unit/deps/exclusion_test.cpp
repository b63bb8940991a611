// SPDX-License-Identifier: Apache-2.0
// How long the arbiter of commutative tasks looks for the next: no longer where more tasks wait, as long as they need the same.
#include "deps/sharing/exclusion.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace {

using namespace weft::rt;

struct waiter;
using turn = exclusion<real_atomics, waiter>;

struct waiter {
  std::vector<turn *> needs;
  waiter *next = nullptr, *behind = nullptr, *last = nullptr;
  std::uint32_t age = 0;
};

long g_steps = 0; // of searches
const turn *g_turns = nullptr;

struct counting_traits {
  static constexpr std::size_t k_sets = 64, k_ways = 4;
  template <class F>
  static void for_each(waiter &t, F f) {
    ++g_steps;
    for (turn *e : t.needs)
      if (!f(*e))
        return;
  }
  static bool need_same(const waiter &t, const waiter &u) {
    ++g_steps;
    return t.needs == u.needs;
  }
  static std::size_t hash(const waiter &t) {
    std::uint64_t h = 0;
    for (const turn *e : t.needs)
      h = (h ^ static_cast<std::uint64_t>(e - g_turns)) * 0x9E3779B97F4A7C15u;
    return h >> 32;
  }
  static waiter *next(const waiter &t) {
    ++g_steps;
    return t.next;
  }
  static void set_next(waiter &t, waiter *next) { t.next = next; }
  static waiter *behind(const waiter &t) { return t.behind; }
  static void set_behind(waiter &t, waiter *behind) { t.behind = behind; }
  static waiter *last(const waiter &t) { return t.last; }
  static void set_last(waiter &t, waiter *last) { t.last = last; }
  static std::uint32_t age(const waiter &t) { return t.age; }
  static void set_age(waiter &t, std::uint32_t age) { t.age = age; }
};

constexpr std::size_t k_turns = 64;

/// `n` tasks of which each needs what `needs` tells come before the first ends; then each that runs, newest first, ends. Steps per task.
template <class F>
double steps_per_task(std::size_t n, F needs) {
  const auto guard = std::make_unique<arbiter<real_atomics, waiter, counting_traits>>();
  std::vector<turn> turns(k_turns);
  std::vector<waiter> tasks(n);
  std::vector<waiter *> running;
  std::vector<std::size_t> last_of(k_turns, 0); // the number of the task that had it last, and 1
  g_steps = 0;
  g_turns = turns.data();
  for (std::size_t i = 0; i < n; ++i) {
    needs(i, [&](std::size_t t) { tasks[i].needs.push_back(&turns[t % k_turns]); });
    if (guard->take(tasks[i]))
      running.push_back(&tasks[i]);
  }
  std::size_t ended = 0;
  while (!running.empty()) {
    waiter &t = *running.back();
    running.pop_back();
    ++ended;
    EXPECT_TRUE(!t.behind && !t.last);
    for (turn *e : t.needs) {
      EXPECT_EQ(e->holder.load(), &t);
      if (t.needs.size() == 1) {
        std::size_t &before = last_of[static_cast<std::size_t>(e - turns.data())];
        const auto number = static_cast<std::size_t>(&t - tasks.data()) + 1;
        EXPECT_LT(before, number) << "in the order in which they came";
        before = number;
      }
      guard->give_up(*e, [&](waiter &ready) { running.push_back(&ready); });
    }
  }
  EXPECT_EQ(ended, n);
  for (turn &e : turns) {
    EXPECT_FALSE(e.waiting.get());
    EXPECT_FALSE(e.holder.load());
  }
  return static_cast<double>(g_steps) / static_cast<double>(n);
}

constexpr auto k_pairs = [](std::size_t i, auto need) { need(i), need(7 * i + 3); };
constexpr auto k_singles = [](std::size_t i, auto need) { need(i); };
constexpr auto k_mixed = [](std::size_t i, auto need) {
  need(i);
  if (i % 3 == 0)
    need(i + 1);
  if (i % 5 == 0)
    need(i + 2);
};

TEST(exclusion, tasks_that_need_the_same_are_looked_at_as_one) {
  EXPECT_LE(steps_per_task(32'000, k_singles), 8);
  EXPECT_LE(steps_per_task(32'000, k_pairs), 20);
  EXPECT_LE(steps_per_task(32'000, k_mixed), 40);
}

} // namespace
