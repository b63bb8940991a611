// SPDX-License-Identifier: Apache-2.0
// Makes room for pool threads: the threads of other libraries' pools. While they compute, the
// watcher has workers step back until workers and pool threads together are no more than the cpus.
// It calls workers back when pool threads wait. Workers beyond the setting sched.workers step back,
// too, whatever pool threads do. Only the watcher's thread runs this code.
//
// A pool thread computes if the layer does not know it to wait, and one of these holds:
// - it has used an eighth of the time since the last look;
// - it does not sleep in the kernel: it waits for a cpu;
// - the watcher sees it for the first time since it waited.
// A pool thread that has used an eighth and sleeps may have begun to wait just now: the watcher looks
// again soon.
// A pool thread that has called sched_yield() once or more in each 100 us of its cpu time spins: it
// gives its cpu to any thread that wants it, and does not count.
#pragma once

#include "monitor/external_list.hpp"

#include <weft/layer/pool_thread.hpp>

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Declares what pool_thread_policy reads and does. The module worker implements it; tests have
/// their own.
class pool_thread_world {
 public:
  virtual ~pool_thread_world() = default;
  virtual external_list<layer::pool_thread> &pool_threads() = 0;
  [[nodiscard]] virtual unsigned shared_cpus() const = 0; // that pool threads and workers share
  [[nodiscard]] virtual std::uint64_t cpu_ns_of(int tid) const = 0; // 0: the thread has ended
  [[nodiscard]] virtual bool sleeps(int tid) const = 0;
  /// Returns whether a worker has the thread: then it is no other.
  [[nodiscard]] virtual bool has_worker(int tid) const = 0;
  [[nodiscard]] virtual unsigned all_workers() const = 0;
  [[nodiscard]] virtual unsigned least_workers() const = 0;
  /// Returns how many workers may work when no pool thread computes: setting sched.workers.
  [[nodiscard]] virtual unsigned most_workers() const { return all_workers(); }
  /// Returns how many workers step back at their next scheduling point, or have done so.
  [[nodiscard]] virtual unsigned stepped_back() const = 0;
  /// Has one more worker step back, at its next scheduling point. Returns false if no worker can.
  virtual bool step_back() = 0;
  /// Calls one worker back. Returns false if none could be called for now.
  virtual bool call_back() = 0;
};

class pool_thread_policy {
 public:
  explicit pool_thread_policy(pool_thread_world &world) : m_world(world) {}

  struct assessment {
    bool watches = false; // pool threads may compute, or workers have stepped back for them, or are
        // to step back or come back: look again soon
    bool doubt = false; // a pool thread that has computed sleeps: look again sooner
    unsigned computing = 0;
  };
  assessment look(std::uint64_t now);

  // The longest time between two looks while pool threads may compute.
  static constexpr std::uint64_t k_look_ns = 6'000'000;
  // The same while there is a doubt. With the time above it is less than 10 ms.
  static constexpr std::uint64_t k_doubt_ns = 1'000'000;
  // Looks after which a number of workers that cannot be had is not waited for: others manage, or
  // belong to sets of workers.
  static constexpr unsigned k_most_tries = 200;

 private:
  [[nodiscard]] bool computes(layer::pool_thread &other, std::uint64_t since);

  pool_thread_world &m_world;
  std::uint64_t m_at = 0; // of the last look
  bool m_doubt = false; // at this look
  unsigned m_wanted = 0; // how many workers were to be away at the last look
  unsigned m_tries = 0; // looks since, at which not so many were
};

} // namespace rt
} // namespace weft::inline v0
