// SPDX-License-Identifier: Apache-2.0
// The regions that a member of a team is sent to, one after the other, and those that it has left.
//
// Roles       One sender at a time. The member, which asks, sleeps without orders, and says which it has served.
// Words       m_sent: orders so far. m_served: those whose region the member has left for good.
// Invariants  I1  Who sleeps is parked before it looks for orders, who sends them looks for who is parked afterwards: one of the two sees the other (parker_word.hpp).
//             I2  When all orders are served the member uses nothing of the region any more.
// Orders      O1  m_sent store seq_cst; load acquire: where the member is sent to; load seq_cst: I1.
//             O2  m_served store release, load acquire: I2.
// Progress    Wait-free.
// Checked by  tests/model/omp_wait_models.cpp: omp_orders_*
#pragma once

#include "atomics.hpp"
#include "mutant.hpp"

#include <cstdint>

namespace weft_omp {

template <class P = real_atomics>
class basic_orders {
 public:
  /// Then the member is to be woken.
  void send() noexcept {
    m_sent.store(m_sent.load(std::memory_order_relaxed) + 1, order_unless(bug::omp_orders_unseen, std::memory_order_seq_cst)); // O1
  }
  [[nodiscard]] bool are_more_than(std::uint32_t served) const noexcept { return m_sent.load(std::memory_order_acquire) != served; } // O1
  /// Of who is parked, before it sleeps.
  [[nodiscard]] bool are_just(std::uint32_t served) const noexcept { return m_sent.load(std::memory_order_seq_cst) == served; } // O1
  void serve(std::uint32_t number) noexcept { m_served.store(number, std::memory_order_release); } // O2
  /// Of the sender.
  [[nodiscard]] bool are_served() const noexcept { return m_served.load(std::memory_order_acquire) == m_sent.load(std::memory_order_relaxed); } // O2

 private:
  typename P::template atomic<std::uint32_t> m_sent{0}, m_served{0};
};

} // namespace weft_omp
