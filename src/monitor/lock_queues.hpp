// SPDX-License-Identifier: Apache-2.0
// Blocked workers that wait for the same lock of the kernel: one spare after the other would come to wait for it, too. As long as the lock is on its way from
// holder to holder, its waiters need as many spares as there are workers. A lock that has stood still may be one whose holder waits for ready
// work: then each waiter needs its own. Plain code of the watcher's thread.
#pragma once

#include "os/thread_state.hpp"

#include <cstdint>
#include <vector>

namespace weft::inline v0 {
namespace rt {

class watched;

class lock_queues {
 public:
  lock_queues(const watched &world, std::uint64_t patience_ns) : m_world(world), m_patience_ns(patience_ns) {}

  /// A round: begin, count each blocked worker, ask.
  void begin();
  void count(const thread_wait &w);
  /// Of those counted, how many need no spare, where `enough` waiters of each lock get one.
  [[nodiscard]] unsigned needless(unsigned enough, std::uint64_t now);

 private:
  struct queue {
    thread_wait lock;
    lock_holder held;
    thread_wait holder_waits;
    std::uint64_t holder_cpu_ns = 0;
    std::uint64_t since = 0; // nothing of that has changed
    unsigned waiters = 0;
  };
  void look_at(queue &q, std::uint64_t now);
  [[nodiscard]] queue *queue_of(std::uintptr_t lock);
  [[nodiscard]] bool passes_on(const queue &q, std::uint64_t now);

  const watched &m_world;
  const std::uint64_t m_patience_ns;
  std::vector<queue> m_queues;
};

} // namespace rt
} // namespace weft::inline v0
