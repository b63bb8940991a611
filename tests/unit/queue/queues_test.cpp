// SPDX-License-Identifier: Apache-2.0
#include "queue/deque.hpp"
#include "queue/mpsc_stack.hpp"
#include "queue/spsc_queue.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace weft::rt;

TEST(SpscQueue, HoldsExactlyItsCapacityInOrder) {
  for (std::size_t capacity : {1u, 2u, 100u}) {
    spsc_queue<int> queue(capacity);
    EXPECT_EQ(queue.capacity(), capacity);
    EXPECT_TRUE(queue.empty());
    for (int round = 0; round < 3; ++round) { // over the end of the ring
      for (int i = 0; i < static_cast<int>(capacity); ++i)
        EXPECT_TRUE(queue.push(i));
      EXPECT_FALSE(queue.push(-1));
      EXPECT_FALSE(queue.empty());
      int item = -1;
      for (int i = 0; i < static_cast<int>(capacity); ++i) {
        EXPECT_TRUE(queue.pop(item));
        EXPECT_EQ(item, i);
      }
      EXPECT_FALSE(queue.pop(item));
    }
  }
}

TEST(SpscQueue, WithCapacityZeroHoldsOne) {
  spsc_queue<int> queue(0);
  EXPECT_TRUE(queue.push(1));
  EXPECT_FALSE(queue.push(2));
}

TEST(SpscQueue, ConsumeAllTakesWhatIsThereAndCounts) {
  spsc_queue<int> queue(3);
  std::vector<int> got;
  const auto note = [&](int item) { got.push_back(item); };
  EXPECT_EQ(queue.consume_all(note), 0u);
  for (int i : {1, 2, 3})
    EXPECT_TRUE(queue.push(i));
  EXPECT_EQ(queue.consume_all(note), 3u);
  EXPECT_EQ(got, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(queue.push(4));
  EXPECT_EQ(queue.consume_all(note), 1u);
  EXPECT_EQ(got.back(), 4);
}

TEST(SpscQueue, BetweenTwoThreadsKeepsEveryItemInOrder) {
  constexpr int items = test::scaled(200'000);
  spsc_queue<std::unique_ptr<int> *> queue(7);
  std::vector<std::unique_ptr<int>> made(items);
  std::thread producer([&] {
    for (int i = 0; i < items; ++i) {
      made[static_cast<std::size_t>(i)] = std::make_unique<int>(i);
      while (!queue.push(&made[static_cast<std::size_t>(i)]))
        std::this_thread::yield();
    }
  });
  int next = 0, wrong = 0;
  while (next < items) {
    const auto check = [&](std::unique_ptr<int> *item) { wrong += **item != next++; };
    std::unique_ptr<int> *item = nullptr;
    if (next % 3 == 0)
      queue.consume_all(check);
    else if (queue.pop(item))
      check(item);
    else
      std::this_thread::yield();
  }
  producer.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(queue.empty());
}

TEST(WorkDeque, OwnerTakesTheNewestAndThievesTheOldest) {
  int items[4];
  work_deque<int *> deque(4);
  EXPECT_EQ(deque.pop(), nullptr);
  EXPECT_EQ(deque.steal().outcome, steal_outcome::empty);
  for (int &item : items)
    deque.push(&item);
  EXPECT_EQ(deque.size(), 4u);
  EXPECT_EQ(deque.pop(), &items[3]);
  const auto first = deque.steal();
  EXPECT_TRUE(first);
  EXPECT_EQ(first.item, &items[0]);
  EXPECT_EQ(deque.pop(), &items[2]);
  EXPECT_EQ(deque.steal().item, &items[1]);
  EXPECT_TRUE(deque.empty());
  EXPECT_EQ(deque.pop(), nullptr);
  EXPECT_FALSE(deque.steal());
}

/// What lets a thief leave a lone item alone: an item that was there before must not pass for one that has just come.
TEST(WorkDeque, TellsALoneItemThatIsNewFromOneThatStays) {
  int a = 0, b = 0;
  work_deque<int *> deque(4);
  deque.push(&a);
  const auto one = deque.extent();
  EXPECT_FALSE(deque.extent().is_one_new_since(one));
  deque.push(&b);
  const auto two = deque.extent();
  EXPECT_FALSE(deque.extent().is_one_new_since(one)) << "there are two";
  deque.pop();
  EXPECT_FALSE(deque.extent().is_one_new_since(two)) << "the older one has stayed";
  EXPECT_FALSE(deque.extent().is_one_new_since(one));
  deque.pop();
  EXPECT_FALSE(deque.extent().is_one_new_since(one)) << "there is none";
  deque.push(&a);
  EXPECT_TRUE(deque.extent().is_one_new_since(one));
  EXPECT_FALSE(deque.extent().is_one_new_since(two))
      << "too careful: the number was b's, whom the owner took back";
}

TEST(WorkDeque, GrowsWithoutLosingItems) {
  std::vector<int> items(1000);
  work_deque<int *> deque(2);
  for (std::size_t i = 0; i < 10; ++i) { // so that the ring does not start at its beginning
    deque.push(&items[i]);
    ASSERT_TRUE(deque.steal());
  }
  for (int &item : items)
    deque.push(&item);
  EXPECT_EQ(deque.size(), items.size());
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_EQ(deque.steal().item, &items[i]);
    EXPECT_EQ(deque.pop(), &items[999 - i]);
  }
  EXPECT_TRUE(deque.empty());
}

TEST(WorkDeque, UnderThievesGivesOutEveryItemOnce) {
  constexpr int items = test::scaled(60'000);
  constexpr int thieves = 3;
  struct job {
    int plain = 0; // written before the push, changed by the taker: a race if two take it
  };
  std::vector<job> jobs(items);
  work_deque<job *> deque(2);
  std::atomic<int> taken{0};
  const auto run = [&](job *j) {
    ++j->plain;
    taken.fetch_add(1, std::memory_order_relaxed);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < thieves; ++t)
    threads.emplace_back([&] {
      while (taken.load(std::memory_order_relaxed) < items) {
        if (const auto s = deque.steal())
          run(s.item);
        else
          std::this_thread::yield();
      }
    });
  for (int i = 0; i < items; ++i) {
    jobs[static_cast<std::size_t>(i)].plain = 1;
    deque.push(&jobs[static_cast<std::size_t>(i)]);
    if (i % 3 == 0)
      if (job *j = deque.pop())
        run(j);
  }
  while (job *j = deque.pop())
    run(j);
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(taken.load(), items);
  for (const job &j : jobs)
    EXPECT_EQ(j.plain, 2);
}

struct node {
  real_atomics::var<node *> next;
  int payload = 0;
};

TEST(MpscStack, TellsWhichPushFoundItEmpty) {
  mpsc_stack<node> stack;
  node a, b, c;
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(stack.take_all(), nullptr);
  EXPECT_TRUE(stack.push(&a));
  EXPECT_FALSE(stack.push(&b));
  EXPECT_FALSE(stack.empty());
  EXPECT_EQ(stack.take_all(), &b);
  EXPECT_EQ(b.next.get(), &a);
  EXPECT_EQ(a.next.get(), nullptr);
  EXPECT_TRUE(stack.push(&c));
}

TEST(MpscStack, TakesChainsAndTurnsThemRound) {
  mpsc_stack<node> stack;
  node a, b, c;
  stack.push(&a);
  c.next.set(&b);
  EXPECT_FALSE(stack.push_chain(&c, &b));
  node *first = stack.take_all_in_order();
  EXPECT_EQ(first, &a);
  EXPECT_EQ(first->next.get(), &b);
  EXPECT_EQ(first->next.get()->next.get(), &c);
  EXPECT_EQ(c.next.get(), nullptr);
  EXPECT_TRUE(stack.empty());
}

TEST(MpscStack, UnderManyPushersLosesNothing) {
  constexpr int each = test::scaled(40'000);
  constexpr int pushers = 3;
  mpsc_stack<node> stack;
  std::vector<std::vector<node>> nodes(pushers);
  std::vector<std::thread> threads;
  for (auto &mine : nodes) {
    mine = std::vector<node>(each);
    threads.emplace_back([&] {
      for (node &n : mine) {
        n.payload = 1;
        stack.push(&n);
      }
    });
  }
  int taken = 0;
  while (taken < each * pushers) {
    node *n = stack.take_all_in_order();
    if (!n)
      std::this_thread::yield();
    for (; n; n = n->next.get(), ++taken)
      ++n->payload;
  }
  for (auto &t : threads)
    t.join();
  for (auto &mine : nodes)
    for (const node &n : mine)
      EXPECT_EQ(n.payload, 2);
  EXPECT_TRUE(stack.empty());
}

} // namespace
