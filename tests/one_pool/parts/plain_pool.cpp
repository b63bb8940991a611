// SPDX-License-Identifier: Apache-2.0
// links: Threads::Threads
// A pool as libraries have one: std::thread, a mutex and a condition variable. A caller takes part
// in its loop, and waits for those indices alone that a thread of the pool has taken.
#include "../part.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace {

class pool {
 public:
  explicit pool(int threads) {
    for (int i = 1; i < threads; ++i) // the caller is one
      m_threads.emplace_back([this] { serve(); });
  }
  pool(const pool &) = delete;
  pool &operator=(const pool &) = delete;
  ~pool() {
    {
      const std::lock_guard here(m_lock);
      m_ends = true;
    }
    m_changed.notify_all();
    for (std::thread &t : m_threads)
      t.join();
  }

  void run(int n, one_pool::body b, bool stops) {
    job j{n, b, stops};
    {
      const std::lock_guard here(m_lock);
      m_jobs.push_back(&j);
    }
    m_changed.notify_all();
    j.take_part();
    std::unique_lock here(m_lock);
    m_jobs.erase(std::find(m_jobs.begin(), m_jobs.end(), &j));
    m_left.wait(here, [&] { return j.helpers == 0; });
    here.unlock();
    j.kept.rethrow();
  }

 private:
  struct job {
    const int n;
    const one_pool::body b;
    const bool stops;
    std::atomic<int> next{0};
    int helpers = 0; // with the lock
    one_pool::kept_exception kept{};

    void take_part() noexcept {
      for (int i; (i = next.fetch_add(1)) < n;)
        kept.run([&] {
          if (b(i) && stops)
            next = n;
        });
    }
  };

  void serve() {
    std::unique_lock here(m_lock);
    for (;;) {
      job *found = nullptr;
      m_changed.wait(here, [&] {
        const auto at = std::find_if(m_jobs.rbegin(), m_jobs.rend(),
                                     [](const job *j) { return j->next < j->n; });
        found = at == m_jobs.rend() ? nullptr : *at;
        return found || m_ends;
      });
      if (!found)
        return;
      ++found->helpers;
      here.unlock();
      found->take_part();
      here.lock();
      --found->helpers;
      m_left.notify_all();
    }
  }

  std::mutex m_lock;
  std::condition_variable m_changed, m_left;
  std::vector<job *> m_jobs; // with the lock, as m_ends
  bool m_ends = false;
  std::vector<std::thread> m_threads;
};

std::unique_ptr<pool> g_pool;

void begin(int threads) { g_pool = std::make_unique<pool>(threads); }
void end() { g_pool.reset(); }

/// The threads are the parent's: their records stay, as the lock may be held for ever.
void begin_in_child(int threads) {
  (void)g_pool.release();
  begin(threads);
}

void loop(int n, one_pool::body b) { g_pool->run(n, b, false); }

/// A thread of its own per index.
void tasks(int n, one_pool::body b) {
  std::vector<std::future<void>> all;
  for (int i = 0; i < n; ++i)
    all.push_back(std::async(std::launch::async, [&b, i] { b(i); }));
  one_pool::kept_exception kept;
  for (std::future<void> &f : all)
    kept.run([&] { f.get(); });
  kept.rethrow();
}

void until(int n, one_pool::body b) { g_pool->run(n, b, true); }

} // namespace

ONE_POOL_PART one_pool_plain_pool{
    "a plain pool", one_pool::place::caller, &begin, &end, &begin_in_child, &loop, &tasks, &until};
