// SPDX-License-Identifier: Apache-2.0
#include "arch/thread_pointer.hpp"

#include "arch/sanitizer.hpp"
#include "arch/tls_block.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

// The sanitizers keep their own picture of each thread in thread-local memory, and it would wander too.
#if !defined(WEFT_TSAN) && !defined(WEFT_ASAN)

namespace {

using weft::rt::context;
using weft::rt::context_switch_with_tp;
using weft::rt::make_context;
using weft::rt::tls_block;

std::atomic<int> g_destroyed{0};

struct counted {
  std::string text;
  ~counted() { g_destroyed += !text.empty(); }
};

thread_local int t_number = 0;
thread_local counted t_text;

/// Is a stack with a thread-local block of its own. The thread that resumes it lends it only a
/// kernel thread.
struct wanderer {
  explicit wanderer(int number) : id(number), memory(std::make_unique<char[]>(k_bytes)) {
    opened = block.open() == 0;
    there = make_context(memory.get(), k_bytes, entry);
  }

  void resume() {
    thread_here = weft::rt::thread_pointer();
    context_switch_with_tp(&here, there, this, block.thread_pointer());
  }
  void yield() { context_switch_with_tp(&there, here, nullptr, thread_here); }

  static void entry(void *p);
  void walk();

  static constexpr std::size_t k_bytes = 256 << 10;
  const int id;
  std::unique_ptr<char[]> memory;
  tls_block block;
  bool opened = false;
  context here, there;
  void *thread_here = nullptr;
  bool done = false;
  int wrong = 0;
  int turns = 0;
};

constexpr int k_turns = 4000;
std::mutex g_mutex;
int g_entered = 0; // guarded by the mutex

void wanderer::entry(void *p) {
  auto &w = *static_cast<wanderer *>(p);
  w.walk();
  w.done = true;
  for (;;)
    w.yield();
}

void wanderer::walk() {
  t_number = id * 100'000;
  t_text.text = "wanderer " + std::to_string(id);
  const pthread_t self = pthread_self();
  const int *address = &t_number;
  for (; turns < k_turns; ++turns) {
    errno = id;
    const int before = t_number++;
    std::vector<int> allocated(static_cast<std::size_t>(50 + turns % 300),
                               id); // malloc's own cache is per block
    yield();
    wrong += errno != id;
    wrong += t_number != before + 1;
    wrong += &t_number != address;
    wrong += !pthread_equal(self, pthread_self());
    wrong += t_text.text != "wanderer " + std::to_string(id);
    for (int n : allocated)
      wrong += n != id;
    if (turns % 50 == 0) {
      try {
        throw std::runtime_error(std::to_string(id * 1000 + turns));
      } catch (const std::exception &e) {
        yield(); // the exception globals go along
        wrong += e.what() != std::to_string(id * 1000 + turns);
        wrong += !std::current_exception();
      }
    }
    std::lock_guard lock(g_mutex);
    ++g_entered;
  }
}

/// Two threads take turns at all wanderers, so that each wanders between them.
void carry(std::deque<wanderer> &all) {
  std::mutex guard;
  std::deque<wanderer *> waiting;
  for (wanderer &w : all)
    waiting.push_back(&w);
  std::atomic<std::size_t> left{all.size()};
  auto work = [&] {
    t_number = -7;
    while (left != 0) {
      wanderer *w = nullptr;
      {
        std::lock_guard lock(guard);
        if (!waiting.empty()) {
          w = waiting.front();
          waiting.pop_front();
        }
      }
      if (!w) {
        sched_yield();
        continue;
      }
      w->resume();
      w->wrong += t_number != -7;
      if (w->done) {
        --left;
        continue;
      }
      std::lock_guard lock(guard);
      waiting.push_back(w);
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
}

TEST(thread_pointer, thread_locals_wander_with_a_stack_that_has_its_own_block) {
  if (!weft::rt::can_switch_thread_pointer())
    GTEST_SKIP() << "not written for this processor";
  g_destroyed = g_entered = 0;
  {
    std::deque<wanderer> all;
    for (int id = 1; id <= 5; ++id)
      ASSERT_TRUE(all.emplace_back(id).opened);
    carry(all);
    for (const wanderer &w : all) {
      EXPECT_EQ(w.wrong, 0) << w.id;
      EXPECT_EQ(w.turns, k_turns);
    }
    EXPECT_EQ(g_destroyed, 0) << "the blocks are still in use";
  }
  EXPECT_EQ(g_entered, 5 * k_turns);
  EXPECT_EQ(g_destroyed, 5) << "each block destroys its thread_locals when it is given back";
}

TEST(thread_pointer, a_stack_with_a_block_of_its_own_knows_which_cpu_it_runs_on) {
  if (!weft::rt::can_switch_thread_pointer())
    GTEST_SKIP() << "not written for this processor";
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before))
      cpus.push_back(cpu);
  struct asker {
    context here, there;
    void *tp = nullptr;
    int cpu = -1;
  } a;
  tls_block block;
  ASSERT_EQ(block.open(), 0);
  auto memory = std::make_unique<char[]>(64 << 10);
  a.there = make_context(memory.get(), 64 << 10, [](void *p) {
    auto &mine = *static_cast<asker *>(p);
    for (;;) {
      mine.cpu = sched_getcpu();
      context_switch_with_tp(&mine.there, mine.here, nullptr, mine.tp);
    }
  });
  a.tp = weft::rt::thread_pointer();
  for (int cpu : cpus) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    context_switch_with_tp(&a.here, a.there, &a, block.thread_pointer());
    EXPECT_EQ(a.cpu, cpu);
  }
  sched_setaffinity(0, sizeof before, &before);
}

TEST(tls_block, is_opened_and_closed_many_times) {
  tls_block block;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(block.open(), 0);
    EXPECT_NE(block.thread_pointer(), nullptr);
    EXPECT_NE(block.thread_pointer(), weft::rt::thread_pointer());
    block.close();
    EXPECT_EQ(block.thread_pointer(), nullptr);
  }
}

TEST(tls_block, blocks_are_distinct) {
  tls_block a, b;
  ASSERT_EQ(a.open(), 0);
  ASSERT_EQ(b.open(), 0);
  EXPECT_NE(a.thread_pointer(), b.thread_pointer());
}

} // namespace

#endif
