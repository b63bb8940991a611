// SPDX-License-Identifier: Apache-2.0
// Messages of one worker to the managers. One manager at a time takes them in order, or any number
// of managers take a few at a time.
//
// Roles       The producer, a worker: push; it may manage as well.
//             A manager: acquire, pop and release; or take.
//             An observer, any thread: empty, size.
// Word        The ring of spsc_queue.hpp. m_turn: the lock of the manager that may pop.
// Invariants  I1  Only the manager that holds m_turn pops. So between acquire and release it gets
//                 the messages in order, and applies them in order; the manager that acquires next
//                 sees all of its work.
//             I2  A message is popped once.
// Orders      Those of spin_lock.hpp (m_turn) and spsc_queue.hpp (a message is written before it is
//             seen). A manager holds m_turn while it applies messages, which is longer than usual
//             for a spin lock. So managers only try it. The one thread that must wait for it
//             (apply_below in posting.cpp) yields its cpu, and holds no m_turn of another queue.
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

  /// Appends a message; the producer only. Returns false if the queue is full.
  [[nodiscard]] bool push(T message) noexcept { return m_ring.push(message); }

  /// Tries to take m_turn. Returns true if the caller may pop until it releases.
  [[nodiscard]] bool acquire() noexcept {
    return unless(bug::messages_two_in_turn, m_turn.try_lock(), true);
  }
  [[nodiscard]] bool pop(T &message) noexcept { return m_ring.pop(message); }
  void release() noexcept { m_turn.unlock(); }

  /// Takes up to `most` messages, and holds m_turn only meanwhile. Returns how many.
  [[nodiscard]] std::size_t take(T *to, std::size_t most) noexcept {
    m_turn.lock();
    std::size_t n = 0;
    while (n < most && m_ring.pop(to[n]))
      ++n;
    m_turn.unlock();
    return n;
  }

  /// Says whether the queue was empty. False: there was a message. True is exact for the producer,
  /// and for a manager that has announced its sleep.
  [[nodiscard]] bool empty() const noexcept { return m_ring.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return m_ring.size(); }

 private:
  spsc_queue<T, P> m_ring;
  spin_lock<P> m_turn;
};

} // namespace rt
} // namespace weft::inline v0
