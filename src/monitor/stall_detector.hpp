// SPDX-License-Identifier: Apache-2.0
// Decides from what the watcher reads of the workers which are stuck, and how many spares are to
// run. Only the watcher's thread runs this code. A worker is in one of these states:
//
//   going      since the last look it has passed a scheduling point, or has used CPU time, or waits
//              for a CPU
//   suspect    it has passed no scheduling point and used no CPU time, and sleeps in the kernel
//              while ready work waits
//   blocked    a suspect that still sleeps at the next look; one spare each, until it has used CPU
//              time, but see lock_queues.hpp
//   computing  it has passed no scheduling point for watch.compute while ready work waited; one
//              spare for all of these together
//
// A worker that has passed scheduling points, but hardly run, and sleeps at this moment is in
// doubt: the next look is soon.
//
// If a layer has supplied a way to ask, the watcher asks a worker to release its thread
// - once ready work has waited for a slice and the worker has passed no scheduling point for a
//   slice;
// - at once, if it waits in the kernel for a lock while the stack of the thread itself is ready,
//   because the code on that stack may hold the lock.
// A worker that was asked and passes a scheduling point is not stuck. What is asked may wait for
// any other work of its kind: each spare that computes itself and does not release its thread gets
// one more spare.
#pragma once

#include "monitor/lock_queues.hpp"
#include "monitor/watched.hpp"

#include <cstdint>
#include <vector>

namespace weft::inline v0 {
namespace rt {

// 5 ms: the time slice of an operating system's scheduler; a switch costs a thousandth of it.
inline constexpr std::uint64_t k_slice_ns = 5'000'000;

class stall_detector {
 public:
  stall_detector(watched &world, std::uint64_t compute_ns)
      : m_world(world), m_compute_ns(compute_ns), m_locks(world, compute_ns) {}

  struct assessment {
    unsigned blocked = 0;
    unsigned suspects = 0;
    bool computing = false;
    bool look_soon = false; // a worker is suspect or in doubt, or a spare was added
    bool slicing = false; // a worker keeps others waiting, and can be asked
    bool may_rest = false; // nothing can change for the worse unless a thread adds work
  };
  assessment look(std::uint64_t now);

 private:
  enum class worker_state : std::uint8_t { going, suspect, blocked, computing };
  struct record {
    worker_view::reading seen;
    std::uint64_t since = 0; // when it has last passed a scheduling point
    std::uint64_t cpu_ns = 0;
    std::uint64_t cpu_at = 0;
    worker_state is = worker_state::going;
    bool deaf = false; // the request could not reach it
    thread_wait sleep; // what it waits for, if it is blocked
  };
  struct circumstances {
    std::uint64_t now;
    bool waits; // one more worker would have something to do
    bool waits_for_long; // ready work has waited for watch.compute
  };
  void assess_one(record &history, const circumstances &conditions) const;
  [[nodiscard]] bool begin_anew(record &history, const worker_view::reading &seen,
                                const circumstances &conditions) const;
  [[nodiscard]] bool has_slept(record &history, std::uint64_t now) const;
  [[nodiscard]] bool slice(record &history, const circumstances &conditions);
  [[nodiscard]] unsigned helpers();
  [[nodiscard]] bool is_worker(int tid) const;
  [[nodiscard]] unsigned workers() const;
  [[nodiscard]] unsigned blocked_spares() const;
  [[nodiscard]] unsigned replaced(unsigned blocked);
  [[nodiscard]] unsigned needless(std::uint64_t now);
  [[nodiscard]] unsigned wanted(const assessment &result, std::uint64_t now);
  void settle(assessment &result, const circumstances &conditions);

  watched &m_world;
  const std::uint64_t m_compute_ns;
  std::uint64_t m_waits_since = 0; // 0: no ready work
  unsigned m_helpers = 0; // at the last look
  std::vector<record> m_records;
  lock_queues m_locks;
};

} // namespace rt
} // namespace weft::inline v0
