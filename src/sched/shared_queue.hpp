// SPDX-License-Identifier: Apache-2.0
// A ready queue behind a lock, with a size that can be read without it.
#pragma once

#include "queue/spin_lock.hpp"
#include "sched/ready_queue.hpp"

#include <atomic>
#include <mutex>

namespace weft::inline v0 {
namespace rt {

/// Any thread calls anything. The size is a hint: an adder publishes it before it returns (release), so a thread that is woken
/// for the item sees it; a stale zero is caught by the sleeper's second look.
class alignas(k_line) shared_queue {
public:
  void add(runnable *r, unsigned adder = k_outside) {
    const std::lock_guard guard(m_lock);
    m_queue.add(r, adder);
    publish();
  }

  runnable *get() {
    return empty() ? nullptr : locked([](ready_queue &q) { return q.get(); });
  }

  runnable *take_newest(unsigned adder, const lineage &l) {
    return empty() ? nullptr : locked([&](ready_queue &q) { return q.take_newest(adder, l); });
  }

  [[nodiscard]] const std::atomic<std::size_t> &size() const noexcept { return m_size; }
  [[nodiscard]] bool empty() const noexcept {
    return m_size.load(std::memory_order_acquire) == 0; // O1: pairs with publish
  }

private:
  template <class F>
  runnable *locked(F take) {
    const std::lock_guard guard(m_lock);
    runnable *r = take(m_queue);
    publish();
    return r;
  }
  void publish() noexcept { m_size.store(m_queue.size(), std::memory_order_release); } // O1

  spin_lock<> m_lock;
  ready_queue m_queue;
  std::atomic<std::size_t> m_size{0};
};

} // namespace rt
} // namespace weft::inline v0
