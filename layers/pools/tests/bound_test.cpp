// SPDX-License-Identifier: Apache-2.0
// How many threads run beside a pool that computes: those of the pool, and as many workers as cpus
// are left, or pools.least_workers. Worker 0 is the first thread, which here looks and runs no task.
// The program runs with the library preloaded, four workers and no spares.
#include <weft/counters.hpp>
#include <weft/weft.hpp>

#include <gtest/gtest.h>

#include "one_pool/running.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int k_workers = 4;
const int g_cpus = static_cast<int>(std::thread::hardware_concurrency());

int least_workers() {
  const char *const asked = std::getenv("WEFT_POOLS_LEAST_WORKERS");
  return asked ? std::atoi(asked) : 1; // the default
}

int away() { return static_cast<int>(weft::counters::take().value("/threads/stepped-back")); }

template <class Holds>
bool soon(Holds holds) {
  for (int i = 0; i < 20'000; ++i) {
    if (holds())
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// Tasks that are always ready: each makes the next one.
class endless_tasks {
 public:
  endless_tasks() {
    for (int i = 0; i < 4 * k_workers; ++i)
      spawn_next();
  }
  ~endless_tasks() {
    m_ends = true;
    m_group.wait();
  }
  endless_tasks(const endless_tasks &) = delete;
  endless_tasks &operator=(const endless_tasks &) = delete;
  [[nodiscard]] long ran() const { return m_ran; }

 private:
  void spawn_next() {
    m_group.spawn([this] {
      for (int i = 0; i < 10'000; ++i)
        asm volatile(""); // a task that takes some time
      ++m_ran;
      if (!m_ends)
        spawn_next();
    });
  }
  std::atomic<bool> m_ends{false};
  std::atomic<long> m_ran{0};
  weft::task_group m_group;
};

/// Threads that compute, or wait for a condition.
class computing_pool {
 public:
  explicit computing_pool(int threads) {
    for (int i = 0; i < threads; ++i)
      m_threads.emplace_back([this] { run(); });
  }
  ~computing_pool() {
    set(false, true);
    for (auto &t : m_threads)
      t.join();
  }
  computing_pool(const computing_pool &) = delete;
  computing_pool &operator=(const computing_pool &) = delete;
  void compute() { set(true, false); }
  void wait() { set(false, false); }

 private:
  void set(bool computes, bool ends) {
    {
      const std::lock_guard lock(m_lock);
      m_computes = computes;
      m_ends = ends;
    }
    m_changed.notify_all();
  }
  void run() {
    while (!m_ends) {
      std::unique_lock lock(m_lock);
      m_changed.wait(lock, [&] { return m_computes || m_ends; });
      lock.unlock();
      while (m_computes) {
      }
    }
  }
  std::mutex m_lock;
  std::condition_variable m_changed;
  std::atomic<bool> m_computes{false}, m_ends{false};
  std::vector<std::thread> m_threads;
};

/// Workers that go on beside so many threads, and the threads of the kernel that these have: all
/// but the first one.
int workers_beside(int threads) {
  return std::clamp(std::max(g_cpus - threads, 0), std::min(least_workers(), k_workers), k_workers);
}
int kernel_threads_beside(int threads) { return std::max(workers_beside(threads), 1) - 1; }

void expect_bound_beside(int threads) {
  endless_tasks tasks;
  computing_pool pool(threads);
  const int stay = kernel_threads_beside(threads);
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(soon([] { return one_pool::look_at_threads().weft_running == k_workers - 1; }))
        << "all workers run while no thread of the pool does";
    pool.compute();
    ASSERT_TRUE(soon([&] { return away() == k_workers - 1 - stay; })) << away();
    const auto bounded = [&] {
      const one_pool::look now = one_pool::look_at_threads();
      return now.other_running == threads && now.weft_running <= stay;
    };
    ASSERT_TRUE(soon(bounded)) << "workers step back at the end of their tasks";
    for (int i = 0; i < 200; ++i) {
      const one_pool::look now = one_pool::look_at_threads();
      EXPECT_EQ(now.other_running, threads);
      EXPECT_LE(now.weft_running, stay);
      EXPECT_LE(now.weft_running + now.other_running, std::max(g_cpus, threads + least_workers()));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const long before = tasks.ran();
    if (stay != 0) {
      EXPECT_TRUE(soon([&] { return tasks.ran() > before + 10; })) << "these workers run tasks";
    }
    pool.wait();
    EXPECT_TRUE(soon([] { return away() == 0; }));
  }
}

TEST(running_threads, are_the_cpus_and_least_workers_beside_a_pool_on_all_cpus) {
  expect_bound_beside(g_cpus);
}

TEST(running_threads, are_the_cpus_beside_a_pool_on_some_cpus) { expect_bound_beside(1); }

TEST(running_threads, are_those_of_a_larger_pool_and_least_workers) {
  expect_bound_beside(g_cpus + 2);
}

} // namespace
