// SPDX-License-Identifier: Apache-2.0
// Callers that wait for a barrier, a condition variable or a future.
#pragma once

#include "host.hpp"

#include <utility>

namespace weft_glt {

/// Describes a caller that waits; lives on its stack.
struct waiter {
  host::sleeper place;
  waiter *next = nullptr;
};

/// Holds waiters in the order of their arrival. The owner's lock guards it.
class waiters {
 public:
  [[nodiscard]] bool empty() const noexcept { return !m_first; }
  void add(waiter &waiting) noexcept {
    waiting.next = nullptr;
    (m_first ? m_last->next : m_first) = &waiting;
    m_last = &waiting;
  }
  /// Returns the first waiter, or null.
  [[nodiscard]] waiter *take() noexcept {
    waiter *const first = m_first;
    if (first)
      m_first = first->next;
    return first;
  }
  /// Returns the chain of all waiters.
  [[nodiscard]] waiter *take_all() noexcept { return std::exchange(m_first, nullptr); }

  /// Lets the waiters of a chain continue. The caller holds no lock.
  static void resume_all(waiter *waiting) {
    while (waiting) {
      waiter *const next = waiting->next; // the waiter's stack may go on at once
      host::wake(waiting->place);
      waiting = next;
    }
  }

 private:
  waiter *m_first = nullptr;
  waiter *m_last = nullptr;
};

/// Suspends the caller. `left(waiter)` runs once the caller may be resumed: it puts the waiter where a
/// waker finds it.
template <class Left>
void wait_until_resumed(Left &left) {
  waiter self;
  host::sleep(self.place, [&] { left(self); });
}

} // namespace weft_glt
