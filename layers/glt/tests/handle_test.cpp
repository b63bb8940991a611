// SPDX-License-Identifier: Apache-2.0
// Handles: that stale and invented ones are recognized, and that slots are used again.
#include "handle_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using weft_glt::handle;
using weft_glt::handle_table;

struct thing {
  int value = 0;
};

TEST(handle_table, finds_what_was_taken_until_it_is_released) {
  static handle_table<thing> table;
  const auto [object, h] = table.take();
  object->value = 7;
  ASSERT_EQ(table.find(h), object);
  EXPECT_NE(h, 0u);
  table.release(h);
  EXPECT_EQ(table.find(h), nullptr);
}

TEST(handle_table, a_slot_has_another_handle_for_each_use) {
  struct once {};
  static handle_table<once> table;
  std::set<handle> seen;
  for (int i = 0; i < 1000; ++i) {
    const handle h = table.take().second;
    EXPECT_TRUE(seen.insert(h).second);
    table.release(h);
  }
  for (const handle h : seen)
    EXPECT_EQ(table.find(h), nullptr);
  EXPECT_EQ(table.slots(), 1024u); // one block
}

TEST(handle_table, refuses_numbers_that_are_no_handles) {
  struct unused {};
  static handle_table<unused> table;
  EXPECT_EQ(table.find(0), nullptr); // before there is a slot
  const handle h = table.take().second;
  const handle generation = h >> 32 << 32;
  EXPECT_EQ(table.find(0), nullptr);
  EXPECT_EQ(table.find(generation), nullptr);
  EXPECT_EQ(table.find(generation | 1025), nullptr); // one more than there are slots
  EXPECT_EQ(table.find(h & 0xffffffff), nullptr);    // never used
  EXPECT_EQ(table.find(h + (handle{1} << 32)), nullptr);
  EXPECT_EQ(table.find(h + (handle{2} << 32)), nullptr);
  for (handle index = 1; index <= 1024; ++index)
    EXPECT_EQ(table.find(index) == nullptr, true);
  EXPECT_NE(table.find(h), nullptr);
  table.release(h);
}

TEST(handle_table, visits_what_is_in_use) {
  struct visited {};
  static handle_table<visited> table;
  std::set<handle> in_use, seen;
  std::vector<handle> all;
  for (int i = 0; i < 3000; ++i)
    all.push_back(table.take().second);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % 3 == 0)
      table.release(all[i]);
    else
      in_use.insert(all[i]);
  table.for_each([&](visited &, handle h) { seen.insert(h); });
  EXPECT_EQ(seen, in_use);
}

TEST(handle_table, threads_take_and_release_in_bounded_memory) {
  struct shared {
    std::atomic<int> users{0};
  };
  static handle_table<shared> table;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int round = 0; round < 200; ++round) {
        std::vector<handle> mine;
        for (int i = 0; i < 100; ++i) {
          const auto [object, h] = table.take();
          EXPECT_EQ(object->users.fetch_add(1), 0); // no other thread has it
          mine.push_back(h);
        }
        for (const handle h : mine) {
          table.find(h)->users.fetch_sub(1);
          table.release(h);
        }
      }
    });
  for (std::thread &t : threads)
    t.join();
  EXPECT_LE(table.slots(), 1024u); // 4 x (100 + a magazine)
  std::size_t left = 0;
  table.for_each([&](shared &, handle) { ++left; });
  EXPECT_EQ(left, 0u);
}

TEST(handle_table, a_child_of_fork_has_all_slots_but_those_in_use) {
#if defined(TEST_SANITIZER)
  GTEST_SKIP() << "a sanitizer ends a child that was forked beside threads, or lets it hang";
#endif
  struct forked {};
  auto &table = weft_glt::table_of<forked>();
  constexpr std::size_t k_kept = 100;
  std::set<handle> kept;
  while (kept.size() < k_kept)
    kept.insert(table.take().second);
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) // they hold the lock for much of their time
    threads.emplace_back([&] {
      std::vector<handle> mine;
      while (!ends) {
        for (std::uint32_t i = 0; i < 2 * table.k_batch; ++i)
          mine.push_back(table.take().second);
        for (; !mine.empty(); mine.pop_back())
          table.release(mine.back());
      }
    });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60); // ends a child that hangs
      weft_glt::put_tables_in_order_in_child();
      std::size_t in_use = 0;
      table.for_each([&](forked &, handle) { ++in_use; });
      std::set<handle> seen = kept;
      while (seen.size() + in_use - k_kept < 1024)
        if (!seen.insert(table.take().second).second)
          _exit(2); // two have one slot
      _exit(table.slots() == 1024 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  ends = true;
  for (std::thread &t : threads)
    t.join();
}

// A thread that ends gives its magazine back: 1,000 threads that each take one slot share a block.
TEST(handle_table, a_thread_that_ends_leaves_its_free_slots) {
  struct left_behind {};
  static handle_table<left_behind> table;
  std::vector<handle> all;
  for (int i = 0; i < 1000; ++i)
    std::thread([&] { all.push_back(table.take().second); }).join();
  EXPECT_EQ(table.slots(), 1024u);
  EXPECT_EQ(std::set<handle>(all.begin(), all.end()).size(), 1000u);
}

struct of_key {};
handle_table<of_key> &table_of_keys() {
  static handle_table<of_key> table;
  return table;
}

// Destructors of keys run after those of thread_local variables, of which the table has one.
TEST(handle_table, loses_no_slot_of_threads_that_end_with_an_object) {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    EXPECT_EQ(pthread_key_create(&made,
                                 [](void *p) {
                                   table_of_keys().release(
                                       static_cast<handle>(reinterpret_cast<std::uintptr_t>(p)));
                                   table_of_keys().release(table_of_keys().take().second);
                                 }),
              0);
    return made;
  }();
  for (int i = 0; i < 1500; ++i) // more than there are slots in a block
    std::thread([] {
      const handle h = table_of_keys().take().second;
      pthread_setspecific(key, reinterpret_cast<void *>(static_cast<std::uintptr_t>(h)));
    }).join();
  EXPECT_EQ(table_of_keys().slots(), 1024u);
  std::vector<handle> all;
  for (int i = 0; i < 1024; ++i)
    all.push_back(table_of_keys().take().second);
  EXPECT_EQ(table_of_keys().slots(), 1024u) << "each slot is still there";
  for (const handle h : all)
    table_of_keys().release(h);
}

TEST(handle_table, a_thread_takes_an_object_when_its_variables_are_gone) {
  struct late {};
  static handle_table<late> table;
  static std::vector<handle> taken;
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    EXPECT_EQ(pthread_key_create(&made, [](void *) { taken.push_back(table.take().second); }), 0);
    return made;
  }();
  for (int i = 0; i < 1024; ++i)
    std::thread([] {
      table.release(table.take().second);
      pthread_setspecific(key, &table);
    }).join();
  EXPECT_EQ(table.slots(), 1024u);
  const std::set<handle> different(taken.begin(), taken.end());
  EXPECT_EQ(different.size(), 1024u);
  for (const handle h : taken)
    EXPECT_NE(table.find(h), nullptr);
}

// The first use of the table by a thread is in the destructor of a key: by release() of another thread's object, and
// by take().
TEST(handle_table, loses_no_slot_of_threads_that_use_it_in_the_destructor_of_a_key_alone) {
  struct last {};
  static handle_table<last> table;
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    EXPECT_EQ(pthread_key_create(&made,
                                 [](void *p) {
                                   table.release(
                                       static_cast<handle>(reinterpret_cast<std::uintptr_t>(p)));
                                   table.release(table.take().second);
                                 }),
              0);
    return made;
  }();
  for (int i = 0; i < 1500; ++i) { // more than there are slots in a block
    const handle h = table.take().second;
    std::thread([h] {
      pthread_setspecific(key, reinterpret_cast<void *>(static_cast<std::uintptr_t>(h)));
    }).join();
  }
  EXPECT_EQ(table.slots(), 1024u);
  std::set<handle> all;
  for (int i = 0; i < 1024; ++i)
    all.insert(table.take().second);
  EXPECT_EQ(table.slots(), 1024u) << "each slot is still there";
  EXPECT_EQ(all.size(), 1024u);
}

TEST(handle_table, loses_no_slot_where_the_process_has_no_key_left) {
  struct keyless {};
  std::vector<pthread_key_t> keys;
  for (pthread_key_t made{}; pthread_key_create(&made, nullptr) == 0;)
    keys.push_back(made);
  static handle_table<keyless> table;
  for (const pthread_key_t made : keys)
    pthread_key_delete(made);
  for (int i = 0; i < 100; ++i)
    std::thread([] { table.release(table.take().second); }).join();
  EXPECT_EQ(table.slots(), 1024u);
}

} // namespace
