// SPDX-License-Identifier: Apache-2.0
// Callers that wait for a barrier, a condition variable or a future.
#pragma once

#include <weft/layer/function.hpp>
#include <weft/layer/thread.hpp>

#include <utility>

namespace weft_glt {

/// Describes a caller that waits; lives on its stack.
struct waiter {
  weft::detail::runnable *frame = nullptr;
  waiter *next = nullptr;
};

/// Holds waiters in the order of their arrival. The owner's lock guards it.
class waiters {
 public:
  [[nodiscard]] bool empty() const noexcept { return !m_first; }
  void add(waiter &w) noexcept {
    w.next = nullptr;
    (m_first ? m_last->next : m_first) = &w;
    m_last = &w;
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
  static void resume_all(waiter *w) {
    while (w) {
      waiter *const next = w->next; // the waiter's stack may go on at once
      weft::layer::unpark(*w->frame);
      w = next;
    }
  }

 private:
  waiter *m_first = nullptr;
  waiter *m_last = nullptr;
};

/// Suspends the caller. `left(waiter)` runs on another stack once the caller may be resumed: it puts
/// the waiter where a waker finds it.
template <class Left>
void wait_until_resumed(Left &left) {
  struct call {
    Left &left;
    waiter self;
  } c{left, {}};
  weft::layer::park_blocked(
      [](weft::detail::runnable &frame, void *p) {
        auto &c = *static_cast<call *>(p);
        c.self.frame = &frame;
        c.left(c.self);
      },
      &c);
}

} // namespace weft_glt
