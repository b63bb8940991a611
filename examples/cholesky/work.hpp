// SPDX-License-Identifier: Apache-2.0
// Tasks whose bodies are timed, so that the program can tell work from overhead.
#pragma once

#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace demo {

class stopwatch {
 public:
  [[nodiscard]] std::int64_t nanoseconds() const {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - m_start).count();
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(nanoseconds()) * 1e-9; }

 private:
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

/// Counts task bodies and their time, per worker. Read it when no task runs.
class tally {
 public:
  void add(std::int64_t ns) {
    cell &mine = m_cells[static_cast<std::size_t>(weft::worker_id()) % m_cells.size()];
    ++mine.tasks;
    mine.ns += ns;
  }
  [[nodiscard]] std::int64_t tasks() const {
    std::int64_t sum = 0;
    for (const cell &c : m_cells)
      sum += c.tasks;
    return sum;
  }
  [[nodiscard]] double seconds() const {
    double sum = 0;
    for (const cell &c : m_cells)
      sum += static_cast<double>(c.ns) * 1e-9;
    return sum;
  }

 private:
  // Atomic for the day when two threads share a cell; a cache line each, so that they cost nothing until
  // then.
  struct alignas(64) cell {
    std::atomic<std::int64_t> tasks = 0;
    std::atomic<std::int64_t> ns = 0;
  };
  std::vector<cell> m_cells = std::vector<cell>(static_cast<std::size_t>(weft::worker_count()));
};

/// Collects tasks, so that the program can wait for them together. The first exception cancels
/// those that have not started; wait() rethrows it.
class work {
 public:
  explicit work(tally &t) : m_tally(t) {}

  template <class F, class... Accesses>
  void spawn(const char *name, F f, const Accesses &...accesses) {
    m_tasks.spawn(
        [f, &t = m_tally] {
          const stopwatch watch;
          f();
          t.add(watch.nanoseconds());
        },
        weft::label(name), accesses...);
  }
  void wait() { m_tasks.wait(); }

 private:
  tally &m_tally;
  weft::task_group m_tasks{weft::exception_policy::first_cancels};
};

} // namespace demo
