// SPDX-License-Identifier: Apache-2.0
// A bounded queue between one producer and one consumer.
//
// Roles       The producer: push. The consumer: pop, consume_all. Either role may move between
//             threads if something else, such as a lock, orders the hand-over. Any thread: empty,
//             length, size. They guess, except that the consumer can rely on empty() == false.
// Word        m_tail: the slot that the next push fills. m_head: the slot that the next pop
//             empties. Both run through 0..capacity. One slot stays unused, so equal indices mean
//             empty.
// Invariants  I1  Only the producer writes m_tail and the slots [m_tail, m_head). Only the consumer
//                 writes m_head.
//             I2  m_seen_head, of the producer, is a past m_head; m_seen_tail, of the consumer, a
//                 past m_tail. The other side has moved on at most since, so there are at least as
//                 many free slots or items as the copies say.
// Orders      O1  m_tail store release, with O2: the producer writes the slot before it announces
//                 the slot. Relaxed: torn items.
//             O2  m_tail load acquire, with O1.
//             O3  m_head store release, with O4: the consumer reads the slot before it gives the
//                 slot back.
//             O4  m_head load acquire, with O3. Relaxed: the producer may overwrite an item while
//                 the consumer reads it.
//             O5  m_head load acquire in empty, with O3: a thread that knows of an item, and finds
//                 the queue empty, sees what the consumer did before it gave the slot back.
//                 Relaxed: the thread misses that item (delegated_queue.hpp, I4).
//             O6  m_tail load acquire in empty, with O1, before O5: the m_head that is read is at
//                 most `capacity` items behind the m_tail that was read, because the producer had
//                 seen such an m_head (O4). So equal indices mean that m_head has passed all items
//                 before that m_tail. In the other order, or relaxed, the ring may turn between the
//                 two loads: the indices are equal, and items are left.
// Progress    Wait-free. push and pop touch the other side's cache line only when their copy of its
//             index says full or empty.
// Reclamation None: items are copied in and out, and must be trivially copyable.
// Source      Lamport's ring with cached indices.
// Checked by  tests/model/queue_models.cpp: spsc_*
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class T, class P = real_atomics>
class spsc_queue {
  static_assert(std::is_trivially_copyable_v<T>,
                "spsc_queue holds pointers and small plain structs");

 public:
  /// Makes an empty queue with room for `capacity` items, at least one. Any number will do.
  explicit spsc_queue(std::size_t capacity)
      : m_slots(std::make_unique<slot[]>((capacity ? capacity : 1) + 1)),
        m_count((capacity ? capacity : 1) + 1) {}

  spsc_queue(const spsc_queue &) = delete;
  spsc_queue &operator=(const spsc_queue &) = delete;

  std::size_t capacity() const noexcept { return m_count - 1; }

  /// Adds an item. Producer only. Returns false if the queue is full.
  [[nodiscard]] bool push(T item) noexcept {
    const std::size_t tail = m_tail.load(std::memory_order_relaxed);
    const std::size_t next = after(tail);
    if (next == m_seen_head.get()) {
      m_seen_head.set(m_head.load(std::memory_order_acquire)); // O4
      if (next == m_seen_head.get())
        return false;
    }
    m_slots[tail].set(item);
    m_tail.store(next, order_unless(bug::spsc_publish_relaxed, std::memory_order_release)); // O1
    return true;
  }

  /// Takes the oldest item. Consumer only. Returns false if the queue is empty.
  [[nodiscard]] bool pop(T &item) noexcept {
    const std::size_t head = m_head.load(std::memory_order_relaxed);
    if (head == m_seen_tail.get()) {
      m_seen_tail.set(m_tail.load(std::memory_order_acquire)); // O2
      if (head == m_seen_tail.get())
        return false;
    }
    item = m_slots[head].get();
    m_head.store(after(head), std::memory_order_release); // O3
    return true;
  }

  /// Calls f(item) for each item that was in the queue at the call, and returns their number.
  /// Consumer only. f must not throw. The consumer gives the slots back together at the end.
  template <class F>
  std::size_t consume_all(F &&f) noexcept {
    std::size_t head = m_head.load(std::memory_order_relaxed);
    m_seen_tail.set(unless(bug::spsc_slots_given_back_early,
                           m_tail.load(std::memory_order_acquire), // O2
                           [&](std::size_t tail) {
                             m_head.store(tail, std::memory_order_release); // O3, too early
                             return tail;
                           }));
    std::size_t taken = 0;
    for (; head != m_seen_tail.get(); head = after(head), ++taken)
      f(m_slots[head].get());
    if (taken)
      m_head.store(head, std::memory_order_release); // O3
    return taken;
  }

  /// Returns whether the queue is empty. For the consumer, false is exact: pop will succeed. For
  /// any other thread the answer is a guess. But a thread that knows of an item and finds the queue
  /// empty sees what the consumer did before it took the item.
  bool empty() const noexcept {
    const std::size_t tail = m_tail.load(std::memory_order_acquire); // O6
    return m_head.load(std::memory_order_acquire) == tail; // O5
  }
  /// Guesses the number of items.
  std::size_t length() const noexcept {
    const std::size_t head = m_head.load(std::memory_order_relaxed),
                      tail = m_tail.load(std::memory_order_relaxed);
    return tail >= head ? tail - head : tail + m_count - head;
  }

  /// Guesses the number of items.
  std::size_t size() const noexcept {
    const std::size_t head = m_head.load(std::memory_order_relaxed);
    const std::size_t tail = m_tail.load(std::memory_order_relaxed);
    return tail >= head ? tail - head : tail + m_count - head;
  }

 private:
  using slot = typename P::template var<T>;
  using index = typename P::template atomic<std::size_t>;
  using plain_index = typename P::template var<std::size_t>;

  std::size_t after(std::size_t i) const noexcept { return i + 1 == m_count ? 0 : i + 1; }

  const std::unique_ptr<slot[]> m_slots;
  const std::size_t m_count;
  alignas(k_apart) index m_tail{0}; // written by the producer
  plain_index m_seen_head{0}; // producer only
  alignas(k_apart) index m_head{0}; // written by the consumer
  plain_index m_seen_tail{0}; // consumer only
};

} // namespace rt
} // namespace weft::inline v0
