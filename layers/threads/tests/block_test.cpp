// SPDX-License-Identifier: Apache-2.0
// Tests that a lightweight thread has a thread's own data, from its begin to its end.
#include "started.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace {

using namespace weft_threads;
using test::run_one;
using test::started;

thread_local int t_number = 17;

TEST(threads_block, each_thread_has_its_own_variables_over_every_switch) {
  constexpr int k_threads = 16, k_rounds = 200;
  std::atomic<int> kept{0}, fresh{0};
  std::mutex lock;
  std::set<pthread_t> identities{pthread_self()};
  t_number = -1;
  started all;
  for (int i = 1; i <= k_threads; ++i)
    all.start([&, i] {
      fresh += t_number == 17;
      t_number = i;
      errno = i;
      const pthread_t me = pthread_self();
      {
        std::lock_guard guard(lock);
        identities.insert(me);
      }
      bool same = true;
      for (int n = 0; n < k_rounds; ++n) {
        sched_yield();
        same = same && t_number == i && errno == i && pthread_self() == me;
      }
      kept += same;
    });
  all.join();
  EXPECT_EQ(fresh, k_threads);
  EXPECT_EQ(kept, k_threads);
  EXPECT_EQ(identities.size(), k_threads + 1u);
  EXPECT_EQ(t_number, -1);
}

TEST(threads_block, a_thread_knows_itself_and_its_stack) {
  EXPECT_EQ(this_light_thread(), nullptr);
  std::atomic<thread_record *> found{nullptr};
  std::atomic<bool> on_stack{false};
  std::atomic<std::size_t> all_of_it{0};
  started all;
  thread_record *const t = all.start([&] {
    found = this_light_thread();
    pthread_attr_t a;
    void *low = nullptr;
    std::size_t bytes = 0;
    EXPECT_EQ(pthread_getattr_np(pthread_self(), &a), 0);
    pthread_attr_getstack(&a, &low, &bytes);
    pthread_attr_destroy(&a);
    const char here = 0;
    on_stack = &here >= low && &here < static_cast<char *>(low) + bytes;
    all_of_it = bytes;
  });
  all.join();
  EXPECT_EQ(found, t);
  EXPECT_TRUE(on_stack);
  EXPECT_GT(all_of_it, (std::size_t{2} << 20) - 2 * 4096); // less a guard page
}

std::atomic<int> g_made{0}, g_destroyed{0}, g_ended_after{-1};

struct counted {
  counted() { ++g_made; }
  ~counted() { ++g_destroyed; }
  int value = 0;
};
thread_local counted t_counted;

TEST(threads_block, objects_are_destroyed_at_the_end_and_made_anew) {
  constexpr int k_threads = 100;
  g_made = g_destroyed = 0;
  for (int i = 0; i < k_threads; ++i) // one after the other: each gets what the one before left
    run_one([] {
      EXPECT_EQ(t_counted.value, 0);
      t_counted.value = 1;
    });
  EXPECT_EQ(g_made, k_threads);
  EXPECT_EQ(g_destroyed, k_threads);
}

TEST(threads_block, ended_comes_after_the_destructors) {
  g_destroyed = 0;
  g_ended_after = -1;
  ASSERT_NE(start_light_thread({[](void *) { t_counted.value = 1; }, nullptr,
                                [](void *) { g_ended_after = g_destroyed.load(); }}),
            nullptr);
  while (g_ended_after < 0)
    usleep(100);
  EXPECT_EQ(g_ended_after, 1);
}

std::atomic<long> g_of_keys{0};

TEST(threads_block, destructors_of_keys_run_with_their_values) {
  g_of_keys = 0;
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, [](void *p) { g_of_keys += reinterpret_cast<long>(p); }), 0);
  started all;
  for (long i = 1; i <= 10; ++i)
    all.start([key, i] {
      EXPECT_EQ(pthread_getspecific(key), nullptr);
      EXPECT_EQ(pthread_setspecific(key, reinterpret_cast<void *>(i)), 0);
      sched_yield();
      EXPECT_EQ(pthread_getspecific(key), reinterpret_cast<void *>(i));
    });
  all.join();
  EXPECT_EQ(g_of_keys, 55);
  EXPECT_EQ(pthread_getspecific(key), nullptr);
  pthread_key_delete(key);
}

/// Returns the bytes of the process that are in memory.
long resident() {
  long all = 0, in_memory = 0;
  std::FILE *const f = std::fopen("/proc/self/statm", "r");
  EXPECT_EQ(std::fscanf(f, "%ld %ld", &all, &in_memory), 2);
  std::fclose(f);
  return in_memory * sysconf(_SC_PAGESIZE);
}

TEST(threads_block, ten_thousand_threads_take_the_memory_of_a_few) {
  const auto run = [](int threads) {
    for (int i = 0; i < threads; i += 10) {
      started all;
      for (int j = 0; j < 10; ++j)
        all.start([] { t_counted.value = t_number; });
    }
  };
  run(1000);
  const long before = resident();
  run(10000);
  EXPECT_LT(resident() - before, 4l << 20); // 10,000 records alone are 10 MiB
}

TEST(threads_block, threads_are_counted_by_kind) {
  EXPECT_EQ(light_threads("counted"), 0u);
  {
    std::atomic<bool> may_end{false};
    started all("counted");
    for (int i = 0; i < 3; ++i)
      all.start([&] {
        while (!may_end)
          sched_yield();
      });
    EXPECT_EQ(light_threads("counted"), 3u);
    EXPECT_EQ(light_threads("other"), 0u);
    may_end = true;
  }
  EXPECT_EQ(light_threads("counted"), 0u);
}

} // namespace
