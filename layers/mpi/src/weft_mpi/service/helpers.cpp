// SPDX-License-Identifier: Apache-2.0
#include "weft_mpi/service/helpers.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <csignal>
#include <pthread.h>
#include <sched.h>

namespace weft_mpi {
namespace {

struct pool {
  struct item {
    void (*run)(void *) noexcept;
    void *job;
  };
  std::mutex lock;
  std::condition_variable changed;
  std::deque<item> items;
  std::vector<std::thread> threads;
  std::size_t idle = 0;
  bool ends = false;
};

pool &all() {
  static pool *const p =
      new pool; // never destroyed: a thread may be inside of MPI as the process ends
  return *p;
}

/// Holds the processors of the process, as they were when the library was loaded: enough for any Linux.
cpu_set_t g_cpus[8192 / CPU_SETSIZE];
bool g_knows_cpus = false;
[[gnu::constructor]] void note_cpus() { g_knows_cpus = sched_getaffinity(0, sizeof g_cpus, g_cpus) == 0; }

void help() noexcept {
  // The thread that has made this one may be a worker, or an OpenMP thread, which is bound to a processor that it needs.
  if (g_knows_cpus)
    sched_setaffinity(0, sizeof g_cpus, g_cpus); // if that is not allowed, the call is as right and slower
  pool &p = all();
  std::unique_lock lock(p.lock);
  for (;;) {
    ++p.idle;
    p.changed.wait(lock, [&p] { return p.ends || !p.items.empty(); });
    --p.idle;
    if (p.items.empty())
      return;
    const pool::item now = p.items.front();
    p.items.pop_front();
    lock.unlock();
    now.run(now.job);
    lock.lock();
  }
}

/// Makes a thread that takes no signals of the program. The caller holds the lock.
void make_thread(pool &helpers) {
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_BLOCK, &every, &before);
  try {
    helpers.threads.emplace_back(&help);
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace

bool run_on_helper(void (*run)(void *) noexcept, void *job) noexcept {
  pool &p = all();
  const std::lock_guard lock(p.lock);
  try {
    if (p.items.size() >= p.idle)
      make_thread(p);
    p.items.push_back({run, job});
  } catch (...) {
    return false;
  }
  p.changed.notify_one();
  return true;
}

void end_helper_threads() noexcept {
  pool &p = all();
  std::vector<std::thread> ended;
  {
    const std::lock_guard lock(p.lock);
    p.ends = true;
    ended.swap(p.threads);
  }
  p.changed.notify_all();
  for (std::thread &t : ended)
    t.join();
  const std::lock_guard lock(p.lock);
  p.ends = false;
}

} // namespace weft_mpi
