// SPDX-License-Identifier: Apache-2.0
// The number of queued children, whose accesses managers will enter. While there are any, the
// domain of the children belongs to the managers.
//
// Roles       The parent's frame: add, take_back. A waiter, the thread that needs the domain (the
//             frame, or the thread that ends it): none. Managers: applied, once per child that was
//             added and not taken back; the turn of the queue orders the managers among themselves.
// Word        Children added, plain. Children applied.
// Invariants  I1  Only the parent's frame adds. So once the frame has seen none, there are none
//                 until it adds again.
//             I2  A manager's increase is its last touch of the domain, and of the parent.
//             I3  All children that are queued at one time are in one queue, and the turn of the
//                 queue orders the managers. So the manager that applies is the only writer, and
//                 sees what was written before.
// Orders      O1  applied: store release, with O2: the waiter sees what the manager has done to the
//                 domain, and by the turn also what earlier managers have done.
//             O2  none: acquire load, with O1.
//             add publishes nothing: the message does that.
// Progress    Wait-free. A waiter helps until there are none (managers.cpp).
// Reclamation The domain may be freed once there are none.
// Checked by  tests/model/manager_models.cpp: registrations_*
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class pending_registrations {
 public:
  void add() noexcept { m_added.set(m_added.get() + 1); }
  void take_back() noexcept { m_added.set(m_added.get() - 1); }
  void applied() noexcept {
    m_applied.store(
        m_applied.load(std::memory_order_relaxed) + 1,
        order_unless(bug::registration_applied_relaxed, std::memory_order_release)); // O1
  }
  [[nodiscard]] bool none() const noexcept {
    return m_applied.load(std::memory_order_acquire) == m_added.get();
  } // O2

 private:
  typename P::template var<std::uint32_t> m_added{0};
  typename P::template atomic<std::uint32_t> m_applied{0};
};

} // namespace rt
} // namespace weft::inline v0
