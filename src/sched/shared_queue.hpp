// SPDX-License-Identifier: Apache-2.0
// A ready queue behind a lock, with a size that can be read without the lock.
// Checked by tests/model/composed_models.cpp: shared_queue_*
#pragma once

#include "base/mutant.hpp"
#include "queue/spin_lock.hpp"
#include "sched/ready_queue.hpp"

#include <mutex>
#include <utility>

namespace weft::inline v0 {
namespace rt {

/// Holds ready work that any thread may add or take. The size is a hint, but never zero for a
/// thread that knows of an item which no thread has taken: the thread was woken for the item, or
/// has announced that it sleeps and looks again. O1: the size is stored with release and loaded
/// with acquire, so a thread that sees a queue empty after move_to sees the size of the other
/// queue. O2: the largest priority is a hint, stored and loaded relaxed. The lock orders everything
/// else.
template <class Ready, class P = real_atomics>
class alignas(k_line) basic_shared_queue {
 public:
  template <class Item, class... Adder>
  void add(Item item, Adder... adder) {
    const std::lock_guard guard(m_lock);
    m_queue.add(item, adder...);
    publish();
  }

  auto get() {
    return take([](Ready &q) { return q.get(); });
  }

  template <class Lineage>
  auto take_newest(unsigned adder, const Lineage &waited_for) {
    return take([&](Ready &q) { return q.take_newest(adder, waited_for); });
  }

  /// Returns one item and moves up to `more` behind it to `to`. A thread that looks into this queue
  /// first, and then into `to`, misses none of them.
  template <class... Adder>
  auto move_to(basic_shared_queue &to, int more, Adder... adder) {
    return take([&](Ready &queue) {
      auto first = queue.get();
      const std::lock_guard guard(to.m_lock);
      for (auto item = more > 0 ? queue.get() : nullptr; item;
           item = --more > 0 ? queue.get() : nullptr)
        to.m_queue.add(item, adder...);
      unless(bug::shared_queue_moves_unseen,
             [&] { to.publish(); }); // O1: before this queue can be seen empty
      return first;
    });
  }

  [[nodiscard]] bool empty() const noexcept {
    return m_size.load(std::memory_order_acquire) == 0;
  } // O1
  [[nodiscard]] const typename P::template atomic<std::size_t> &size() const noexcept {
    return m_size;
  }
  /// Returns the largest priority in the queue, or 0.
  [[nodiscard]] std::int32_t top() const noexcept {
    return m_top.load(std::memory_order_relaxed);
  } // O2

 private:
  template <class F>
  auto take(F f) -> decltype(f(std::declval<Ready &>())) {
    if (empty())
      return {};
    const std::lock_guard guard(m_lock);
    auto item = f(m_queue);
    publish();
    return item;
  }
  void publish() noexcept {
    if constexpr (k_ranks)
      m_top.store(m_queue.top(), std::memory_order_relaxed); // O2
    m_size.store(m_queue.size(),
                 order_unless(bug::shared_queue_size_relaxed, std::memory_order_release)); // O1
  }
  static constexpr bool k_ranks = requires(const Ready &q) { q.top(); };

  // The lock and the hints are on different lines: threads that wait for the lock read all the
  // time, and so do threads that only look whether there is work.
  spin_lock<P> m_lock;
  alignas(k_line) Ready m_queue;
  alignas(k_line) typename P::template atomic<std::size_t> m_size{0};
  typename P::template atomic<std::int32_t> m_top{0};
};

using shared_queue = basic_shared_queue<ready_queue>;

inline std::size_t size_of(const shared_queue &queue) noexcept {
  return queue.size().load(std::memory_order_relaxed);
}

} // namespace rt
} // namespace weft::inline v0
