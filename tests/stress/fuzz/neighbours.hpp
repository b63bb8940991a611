// SPDX-License-Identifier: Apache-2.0
// What goes on beside a program: bursts of tasks that sleep in the kernel, of which a process has many, and threads of the user that come, work and go.
#pragma once

#include "stress/fuzz/facts.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace fuzz {

/// Tasks that block in the kernel until all of them do, or until they have waited for long enough. One after the other in a process, with pauses that are drawn.
class burst {
 public:
  explicit burst(std::minstd_rand &chance)
      : m_size(2 + chance() % 12), m_limit(200 + chance() % 3000) {
    static std::atomic<std::uint64_t> bursts{0};
    note(bursts++ == 0 ? fact::burst : fact::later_burst);
    if (chance() % 3 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(chance() % 5000));
    for (unsigned i = 0; i != m_size; ++i)
      m_tasks.spawn([this] { stand(); });
  }
  burst(const burst &) = delete;
  burst &operator=(const burst &) = delete;
  /// False when a task was lost.
  [[nodiscard]] bool ends() {
    m_tasks.wait();
    return m_here == m_size;
  }

 private:
  void stand() {
    std::unique_lock lock(m_mutex);
    if (++m_here == m_size) {
      note(fact::asleep_at_once);
      m_all.notify_all();
    } else {
      m_all.wait_for(lock, m_limit, [this] { return m_here == m_size; });
    }
  }
  const unsigned m_size;
  const std::chrono::microseconds m_limit;
  std::mutex m_mutex;
  std::condition_variable m_all;
  unsigned m_here = 0;
  weft::task_group m_tasks;
};

/// Threads that Weft adopts, each for a few tasks.
class external_threads {
 public:
  explicit external_threads(std::minstd_rand &chance) {
    for (unsigned i = 0, n = 1 + chance() % 4; i != n; ++i)
      m_threads.emplace_back([this, rounds = 1 + chance() % 3, sleeps = chance() % 2 == 0] {
        note(fact::adopted_thread);
        for (unsigned r = 0; r != rounds; ++r) {
          std::uint64_t x = 0;
          for (int k = 0; k != 8; ++k)
            weft::spawn([&x] { ++x; }, weft::inout(x));
          if (sleeps)
            weft::spawn([] { std::this_thread::sleep_for(std::chrono::microseconds(50)); });
          weft::taskwait();
          m_wrong += x != 8;
        }
      });
  }
  external_threads(const external_threads &) = delete;
  external_threads &operator=(const external_threads &) = delete;
  [[nodiscard]] bool end_well() {
    for (std::thread &t : m_threads)
      t.join();
    m_threads.clear();
    return m_wrong == 0;
  }

 private:
  std::vector<std::thread> m_threads;
  std::atomic<int> m_wrong{0};
};

/// Draws what runs beside `program`, and says whether all of it came to its end.
template <class F>
bool beside_neighbours(std::uint64_t seed, F program) {
  std::minstd_rand chance(static_cast<std::uint32_t>(seed % 2147483563 + 1));
  std::unique_ptr<external_threads> others;
  bool good = true;
  if (seed % 16 == 3)
    others = std::make_unique<external_threads>(chance);
  if (seed % 16 == 7) {
    for (unsigned before = chance() % 3; before != 0; --before)
      good = burst(chance).ends() && good;
    burst last(chance);
    good = program() && good;
    good = last.ends() && good;
  } else {
    good = program();
  }
  if (others && !others->end_well())
    good = false;
  return good;
}

} // namespace fuzz
