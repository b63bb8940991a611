// SPDX-License-Identifier: Apache-2.0
// Shows pool_thread_policy the workers, and has them step back. A worker that steps back continues its
// thread's own stack and parks there, as a spare does that is not needed (spare_seat.hpp). The
// others steal what is in its queue.
//
// Roles       Watcher: step_back, call_back. The worker parks itself. Any thread reads the number.
//             Stopper: wakes the workers that are parked, when the watcher has ended.
// Words       seat of each started worker, see spare_seat.hpp; m_away, which the watcher writes.
// Orders      m_away is a count, and orders nothing.
// Progress    The worker parks at its next scheduling point.
// Reclamation None.
// Checked by  tests/unit/worker/step_back_test.cpp; the seat by tests/model/spare_models.cpp.
#pragma once

#include "monitor/pool_threads.hpp"

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

struct settings;
struct worker;
class runtime;

/// Returns the program's threads that layers have made known as pool.
[[nodiscard]] external_list<layer::pool_thread> &known_pool_threads() noexcept;

class worker_room final : public pool_thread_world {
 public:
  worker_room(runtime &rt, const settings &chosen) : m_runtime(rt) { take(chosen); }

  external_list<layer::pool_thread> &pool_threads() override { return known_pool_threads(); }
  unsigned shared_cpus() const override;
  std::uint64_t cpu_ns_of(int tid) const override;
  bool sleeps(int tid) const override;
  bool has_worker(int tid) const override;
  unsigned all_workers() const override;
  unsigned least_workers() const override { return m_least.load(std::memory_order_relaxed); }
  unsigned most_workers() const override;
  unsigned stepped_back() const override { return m_away.load(std::memory_order_relaxed); }
  bool step_back() override;
  bool call_back() override;
  /// Returns how many of those that have stepped back did so for threads of other pools.
  [[nodiscard]] unsigned in_pools() const;

  /// Takes the values of sched.workers and pools.least_workers; the watcher acts on them at its next
  /// look. Any thread.
  void take(const settings &chosen) noexcept;

  /// Parks the thread of a worker that has stepped back. Returns false if the runtime stops. The
  /// worker's own thread calls it.
  [[nodiscard]] bool park(worker &w) noexcept;
  /// Wakes all workers that have stepped back, so that their threads end. Called when the watcher
  /// has ended.
  void stop() noexcept;

 private:
  [[nodiscard]] bool may_step_back(const worker &w) const;

  runtime &m_runtime;
  std::atomic<unsigned> m_away{0};
  std::atomic<unsigned> m_least{0}, m_most{0}; // knobs, hints for the watcher; m_most 0: all
};

} // namespace rt
} // namespace weft::inline v0
