// SPDX-License-Identifier: Apache-2.0
// Messages of one worker to the managers. In order, for one manager at a time; or a few at a time, for any number.
//
// Roles       The producer: push; it may manage as well. Managers: acquire, pop and release; or take. Anybody: empty, size.
// Word        The ring of spsc_queue.hpp; m_turn: the lock of who may pop.
// Invariants  I1  Only who has the turn pops. So between acquire and release the messages come in order, and whatever is done about them
//                 is done in order: who acquires next sees all of it.
//             I2  A message is popped once.
// Orders      Those of spin_lock.hpp (the turn) and spsc_queue.hpp (a message is written before it is seen).
//             m_turn is held while messages are applied, longer than is usual for a spin lock: so it is tried only; who must wait for it
//             (apply_below in posting.cpp) yields its cpu, and holds no other turn.
// Progress    push wait-free; take waits for other takes, of a few instructions each.
// Reclamation None: messages are copied.
// Source      Bosch Pons 2017, section 6.1: the queue of submissions and the queue of the others.
// Checked by  tests/model/manager_models.cpp: messages_*
#pragma once

#include "queue/spin_lock.hpp"
#include "queue/spsc_queue.hpp"

#include <cstddef>

namespace weft::inline v0 {
namespace rt {

template <class T, class P = real_atomics>
class message_queue {
 public:
  explicit message_queue(std::size_t capacity) : m_ring(capacity) {}

  /// Producer. False when full.
  [[nodiscard]] bool push(T message) noexcept { return m_ring.push(message); }

  /// True: the caller may pop, until it releases.
  [[nodiscard]] bool acquire() noexcept { return m_turn.try_lock() || mutant(bug::messages_two_in_turn); }
  [[nodiscard]] bool pop(T &message) noexcept { return m_ring.pop(message); }
  void release() noexcept { m_turn.unlock(); }

  /// Up to `most` messages, without keeping others from theirs. Returns how many.
  [[nodiscard]] std::size_t take(T *to, std::size_t most) noexcept {
    m_turn.lock();
    std::size_t n = 0;
    while (n < most && m_ring.pop(to[n]))
      ++n;
    m_turn.unlock();
    return n;
  }

  /// False: there was a message. True is exact for who has announced that it sleeps, and for the producer.
  [[nodiscard]] bool empty() const noexcept { return m_ring.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return m_ring.size(); }

 private:
  spsc_queue<T, P> m_ring;
  spin_lock<P> m_turn;
};

} // namespace rt
} // namespace weft::inline v0
