// SPDX-License-Identifier: Apache-2.0
// Who belongs to a cohort: when its members may go, and who is the last to leave.
//
// Roles       The registrar (the parent's frame): admit, and once leave. Whoever satisfies the cohort's own access: open, once. Each
//             member's last deliverer: leave, once.
// Word        m_alive, one for the registrar and one for each member that has not left. m_open and the list of those who wait are
//             guarded by m_lock.
// Invariants  I1  A member is satisfied once: by admit when the cohort is open, else by who opens it.
//             I2  Exactly one leave() returns true, after the registrar's: then nobody else will touch the cohort.
//             I3  A member leaves after it was satisfied, so the cohort is open when the last one leaves.
// Orders      O1  leave takes away with the orders of countdown.hpp: the last one sees what all members have written.
//             O2  admit adds relaxed: the registrar's own share keeps the count above zero, and the member's leave comes later.
//             O3  is_over load acquire, pairs with O1: the registrar sees what the members have written.
// Progress    admit and open hold a spin lock for a few instructions; leave is wait-free.
// Reclamation By who gets true from leave, when the cohort's own access is dead.
// Checked by  tests/model/cohort_models.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"
#include "queue/spin_lock.hpp"
#include "task/countdown.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Members wait in a list through their `successor`, which a member has no other use for.
template <class P, class Access>
class cohort_state {
public:
  /// True: the member may go at once, and nobody else knows it. False: it is delivered what it waits for.
  [[nodiscard]] bool admit(Access &a) noexcept {
    m_alive.fetch_add(1, std::memory_order_relaxed); // O2
    m_lock.lock();
    const bool open = m_open.get();
    if (!open) {
      if (Access *last = m_last.get())
        last->successor.set(&a);
      else
        m_first.set(&a);
      m_last.set(&a);
    }
    m_lock.unlock();
    return open;
  }

  /// The members that wait, oldest first, linked; their links are to be cleared before they are delivered anything.
  [[nodiscard]] Access *open() noexcept {
    m_lock.lock();
    m_open.set(true);
    Access *first = m_first.get();
    m_first.set(nullptr);
    m_last.set(nullptr);
    m_lock.unlock();
    return first;
  }

  /// Those members, left as they are, while nothing runs.
  template <class F>
  void for_each_waiting(F f) {
    m_lock.lock();
    for (Access *a = m_first.get(); a; a = a->successor.get())
      f(*a);
    m_lock.unlock();
  }

  /// True: the cohort is over, for the caller to end.
  [[nodiscard]] bool leave() noexcept { return take_away(m_alive, 1); } // O1

  /// Registrar: every member has left.
  [[nodiscard]] bool is_over() const noexcept { return m_alive.load(std::memory_order_acquire) == 1; } // O3

  /// For who got true from leave(), or is to open it: which of the two.
  [[nodiscard]] bool was_opened() noexcept {
    m_lock.lock();
    const bool open = m_open.get();
    m_lock.unlock();
    return open;
  }

private:
  typename P::template atomic<std::uint32_t> m_alive{1};
  spin_lock<P> m_lock;
  typename P::template var<bool> m_open{};
  typename P::template var<Access *> m_first{};
  typename P::template var<Access *> m_last{};
};

} // namespace rt
} // namespace weft::inline v0
