// SPDX-License-Identifier: Apache-2.0
// The regions that a member of a team is sent to, one after the other.
//
// Roles       One sender at a time. The member, which asks, and sleeps without orders.
// Words       m_sent: orders so far. m_order: the last one, in the same cache line.
// Invariants  I0  The next one is sent when the member is done with the last.
//             I1  Who sleeps is parked before it looks for orders, who sends them looks for who is parked afterwards: one of the two sees the other (parker_word.hpp).
// Orders      O1  m_sent store seq_cst; load acquire: where the member is sent to; load seq_cst: I1.
// Progress    Wait-free.
// Checked by  tests/model/omp_wait_models.cpp: omp_orders_*
#pragma once

#include "atomics.hpp"
#include "mutant.hpp"

#include <cstdint>

namespace weft_omp {

template <class Order, class P = real_atomics>
class basic_orders {
 public:
  /// Then the member is to be woken.
  void send(const Order &o) noexcept {
    m_order = o; // I0
    m_sent.store(m_sent.load(std::memory_order_relaxed) + 1, order_unless(bug::omp_orders_unseen, std::memory_order_seq_cst)); // O1
  }
  [[nodiscard]] bool are_more_than(std::uint32_t served) const noexcept { return m_sent.load(std::memory_order_acquire) != served; } // O1
  /// Of who has seen that there is one more.
  [[nodiscard]] Order last() const noexcept { return m_order; }
  /// Of who is parked, before it sleeps.
  [[nodiscard]] bool are_just(std::uint32_t served) const noexcept { return m_sent.load(std::memory_order_seq_cst) == served; } // O1

 private:
  typename P::template atomic<std::uint32_t> m_sent{0};
  typename P::template plain<Order> m_order{};
};

} // namespace weft_omp
