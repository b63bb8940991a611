// SPDX-License-Identifier: Apache-2.0
// A bounded queue of messages from one rank to another. Its free slots are the sender's credits: a
// message takes one, and the receiver gives it back when the message has been handled.
//
// Roles       The sender: has_credit, then push. The receiver: front, pop.
// Word        m_sent, m_handled: how many messages were sent and handled, ever.
// Invariants  I1  m_sent - m_handled is between 0 and the number of slots.
// Orders      O1  m_sent stored with release, with the receiver's acquire: the receiver sees the
//                 message, and what the sender wrote before it.
//             O2  m_handled stored with release, with the sender's acquire: a slot is written again
//                 after the receiver's last use of it.
// Progress    Wait-free.
// Reclamation Slots live as long as the ring.
// Source      Lamport, 1983.
// Checked by  tests/model/layers/net_models.cpp: net_ring_*
#pragma once

#include "weft_net/sync/atomics.hpp"
#include "weft_net/sync/mutant.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace weft_net {

template <class Message, class P = real_atomics>
class message_ring {
 public:
  explicit message_ring(std::size_t slots)
      : m_slots(std::make_unique<Message[]>(slots)), m_count(slots) {}

  /// Returns whether the sender has a credit, which it keeps until it uses it.
  [[nodiscard]] bool has_credit() const noexcept {
    return m_sent.load(std::memory_order_relaxed) -
               m_handled.load(std::memory_order_acquire) != // O2
           unless(bug::net_ring_over_credit, m_count, m_count + 1);
  }

  /// Calls `write(slot)` and announces the message. The sender has a credit. If `write` throws, the
  /// ring is as before.
  template <class Write>
  void push(Write &&write) {
    const std::uint64_t sent = m_sent.load(std::memory_order_relaxed);
    write(m_slots[sent % m_count]);
    m_sent.store(sent + 1,
                 order_unless(bug::net_ring_publish_relaxed, std::memory_order_release)); // O1
  }

  /// Returns the oldest message that was not popped; null if there is none.
  [[nodiscard]] Message *front() noexcept {
    const std::uint64_t handled = m_handled.load(std::memory_order_relaxed);
    if (m_sent.load(std::memory_order_acquire) == handled) // O1
      return nullptr;
    return &m_slots[handled % m_count];
  }
  /// Gives the slot of front(), which the receiver has handled, back to the sender.
  void pop() noexcept {
    m_handled.store(m_handled.load(std::memory_order_relaxed) + 1, std::memory_order_release); // O2
  }

 private:
  const std::unique_ptr<Message[]> m_slots;
  const std::size_t m_count;
  alignas(64) typename P::template atomic<std::uint64_t> m_sent{0};
  alignas(64) typename P::template atomic<std::uint64_t> m_handled{0};
};

} // namespace weft_net
