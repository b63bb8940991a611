// SPDX-License-Identifier: Apache-2.0
// Decides how many blocked workers need no spare because they wait for the same lock of the kernel.
// Spares that run tasks in their place would come to wait for that lock one after the other.
// - As long as the lock passes from holder to holder, its waiters need as many spares as there are
//   workers.
// - The holder of a lock that has not moved may wait for ready work: then each waiter needs its own
//   spare.
// Only the watcher's thread runs this code.
#pragma once

#include "os/thread_state.hpp"

#include <cstdint>
#include <vector>

namespace weft::inline v0 {
namespace rt {

class thread_probe;

class lock_queues {
 public:
  lock_queues(const thread_probe &world, std::uint64_t patience_ns)
      : m_world(world), m_patience_ns(patience_ns) {}

  /// Begins a round: then count() each blocked worker, then needless().
  void begin();
  void count(const thread_wait &wait);
  /// Returns how many of the counted workers need no spare if `enough` waiters of each lock get
  /// one.
  [[nodiscard]] unsigned needless(unsigned enough, std::uint64_t now);

 private:
  struct queue {
    thread_wait lock;
    lock_holder held;
    thread_wait holder_waits;
    std::uint64_t holder_cpu_ns = 0;
    std::uint64_t since = 0; // since when lock, holder and its wait are unchanged
    unsigned waiters = 0;
  };
  void look_at(queue &line, std::uint64_t now);
  [[nodiscard]] queue *queue_of(std::uintptr_t lock);
  [[nodiscard]] bool passes_on(const queue &line, std::uint64_t now);

  const thread_probe &m_world;
  const std::uint64_t m_patience_ns;
  std::vector<queue> m_queues;
};

} // namespace rt
} // namespace weft::inline v0
