// SPDX-License-Identifier: Apache-2.0
#include "sched/ready_queue.hpp"

#include "unit/sched/family.hpp"

#include "task/wait/claim_word.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <random>

namespace {
thread_local bool g_no_memory = false;
}

// Not inlined: GCC 12 takes a free() of memory from operator new for a mistake.
__attribute__((noinline)) void *operator new(std::size_t bytes) {
  void *const p = g_no_memory ? nullptr : std::malloc(bytes);
  if (!p)
    throw std::bad_alloc();
  return p;
}
__attribute__((noinline)) void operator delete(void *p) noexcept { std::free(p); }
__attribute__((noinline)) void operator delete(void *p, std::size_t) noexcept { std::free(p); }

namespace {

using weft::rt::lineage;
using weft::rt::ready_queue;
using weft::rt::runnable;

class ready_queue_of_a_family : public testing::Test {
 protected:
  test::family family;
  ready_queue queue;
  lineage all{&family.root(), nullptr};
};
using ready = ready_queue_of_a_family;

TEST_F(ready, is_first_in_first_out_among_equals) {
  for (int i = 0; i < 5; ++i)
    queue.add(&family.child());
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(queue.get(), &family[i]);
  EXPECT_EQ(queue.get(), nullptr);
  EXPECT_EQ(queue.size(), 0u);
}

TEST_F(ready, gives_larger_priorities_first) {
  for (int p : {0, -32768, 7, 32767, -1, 7, 0})
    queue.add(&family.child(p));
  for (int i : {3, 2, 5, 0, 6, 4, 1})
    EXPECT_EQ(queue.get(), &family[i]) << i;
}

TEST_F(ready, gives_each_adder_back_its_newest) {
  for (int i = 0; i < 6; ++i)
    queue.add(&family.child(), static_cast<unsigned>(i % 2));
  EXPECT_EQ(queue.take_newest(0, all), &family[4]);
  EXPECT_EQ(queue.take_newest(1, all), &family[5]);
  EXPECT_EQ(queue.take_newest(0, all), &family[2]);
  EXPECT_EQ(queue.get(), &family[0]); // the others' end has not moved
  EXPECT_EQ(queue.take_newest(0, all), nullptr);
  EXPECT_EQ(queue.get(), &family[1]);
  EXPECT_EQ(queue.take_newest(1, all), &family[3]);
  EXPECT_EQ(queue.size(), 0u);
}

TEST_F(ready, leaves_an_unrelated_task_where_it_is) {
  queue.add(&family.child(), 0);
  queue.add(&family.unrelated(), 0);
  queue.add(&family.child(), 1);
  EXPECT_EQ(queue.take_newest(0, all), nullptr);
  for (int i : {0, 1, 2})
    EXPECT_EQ(queue.get(), &family[i]);
}

TEST_F(ready, does_not_give_back_what_came_from_outside_or_is_no_task) {
  runnable frame;
  frame.what = runnable::kind::frame;
  queue.add(&family.child());
  queue.add(&frame, 0);
  EXPECT_EQ(queue.take_newest(0, all), nullptr);
  EXPECT_EQ(queue.size(), 2u);
}

TEST_F(ready, gives_nothing_back_while_larger_priorities_wait) {
  queue.add(&family.child(-1), 0);
  queue.add(&family.child(), 1);
  queue.add(&family.child(4), 1);
  queue.add(&family.child(), 2);
  EXPECT_EQ(queue.take_newest(0, all), nullptr);
  EXPECT_EQ(queue.take_newest(2, all), nullptr);
  EXPECT_EQ(queue.take_newest(1, all), &family[2]);
  EXPECT_EQ(queue.take_newest(2, all), &family[3]);
  EXPECT_EQ(queue.take_newest(0, all), nullptr);
  EXPECT_EQ(queue.take_newest(1, all), &family[1]);
  EXPECT_EQ(queue.take_newest(0, all), &family[0]);
}

TEST_F(ready, knows_grandchildren_and_members_of_a_group) {
  weft::task_group group;
  queue.add(&family.child(), 0);
  queue.add(&family.child_of(family[0]), 0);
  family[1].group = &group;
  queue.add(&family.child_of(family[1]), 0);
  const lineage members{nullptr, &group.internals()};
  EXPECT_EQ(queue.take_newest(0, members), &family[2]);
  EXPECT_EQ(queue.take_newest(0, members), &family[1]);
  EXPECT_EQ(queue.take_newest(0, members), nullptr);
  EXPECT_EQ(queue.take_newest(0, all), &family[0]);
}

/// The same operations on plain lists.
TEST_F(ready, agrees_with_a_slow_model_on_random_operations) {
  const std::uint64_t seed = test::seed();
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  struct entry {
    runnable *item;
    int priority;
    unsigned adder;
  };
  std::vector<entry> model; // by age
  for (int step = 0; step < 20000; ++step) {
    if (below(2) == 0) {
      const int priority = below(10) != 0 ? 0 : below(2) == 0 ? below(5) - 2 : below(65536) - 32768;
      const entry e{nullptr, priority, static_cast<unsigned>(below(3))};
      model.push_back(e);
      model.back().item = &family.child(e.priority);
      queue.add(model.back().item, e.adder);
      continue;
    }
    auto found = model.end();
    runnable *got = nullptr;
    if (below(2) == 0) {
      got = queue.get();
      for (auto e = model.begin(); e != model.end(); ++e)
        if (found == model.end() || e->priority > found->priority)
          found = e;
    } else {
      const auto adder = static_cast<unsigned>(below(3));
      got = queue.take_newest(adder, all);
      int most = -40000;
      for (auto e = model.begin(); e != model.end(); ++e) {
        most = std::max(most, e->priority);
        if (e->adder == adder)
          found = e;
      }
      if (found != model.end() && found->priority < most)
        found = model.end();
    }
    ASSERT_EQ(got, found == model.end() ? nullptr : found->item)
        << "step " << step << ", seed " << seed;
    if (got)
      model.erase(found);
    ASSERT_EQ(queue.size(), model.size());
  }
}

/// A queue without memory for places, and tasks with a handle.
class no_memory_for_a_place : public ready_queue_of_a_family {
 protected:
  test::family::task &tracked(std::uint32_t word) {
    test::family::task &t = family.child();
    t.set(weft::detail::k_tracked);
    t.unsatisfied = word;
    return t;
  }
  void add(runnable &r) {
    g_no_memory = true;
    queue.add(&r);
    g_no_memory = false;
  }
};

TEST_F(no_memory_for_a_place, keeps_waiters_from_a_task) {
  auto &first = tracked(weft::rt::k_open), &second = tracked(weft::rt::k_open);
  add(first);
  add(second);
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_FALSE(weft::rt::claim(first.unsatisfied)); // its link is in use
  EXPECT_EQ(queue.get(), &first);
  EXPECT_EQ(queue.get(), &second);
  EXPECT_TRUE(weft::rt::take_entry(second.unsatisfied));
}

TEST_F(no_memory_for_a_place, runs_the_later_entry_of_a_task_whose_first_is_dropped) {
  auto &begun = tracked(weft::rt::k_claimed); // by a waiter, which left the entry behind
  add(begun);
  EXPECT_EQ(queue.get(), nullptr);
  add(begun); // once more, to destroy its closure
  EXPECT_EQ(queue.get(), &begun);
  EXPECT_TRUE(weft::rt::take_entry(begun.unsatisfied));
}

} // namespace
