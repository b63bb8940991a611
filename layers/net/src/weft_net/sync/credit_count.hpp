// SPDX-License-Identifier: Apache-2.0
// Credits for what may be in flight at once, with a queue of those that wait for one. Taking and
// giving back is one atomic operation while there are enough.
//
// Roles       A taker: take, after which it waits when that returns false; try_take. A giver: give; it lets the waiter go
//             on that give returns, and that waiter has the giver's credit.
// Word        m_credits: credits that are left; below 0, as many takers wait or are about to.
// Invariants  I1  No more credits are taken than there are.
//             I2  A giver that finds the count below 0 passes its credit on: to the first waiter, or
//                 in m_kept to a taker that is about to wait.
//             I3  Waiters get credits in the order in which they entered the queue, which m_lock
//                 guards with m_kept.
// Orders      None of the count: a credit carries no data. The lock orders the queue.
// Progress    Wait-free while there are credits; else blocking, over a few instructions.
// Reclamation The waiter's: no thread touches it after give() has returned it, but its receiver.
// Source      The benaphore (Schillings, 1996), with a queue in the place of the semaphore.
// Checked by  tests/model/layers/net_models.cpp: net_credits_*
#pragma once

#include "weft_net/sync/submissions.hpp"

#include <weft_common/spin_lock.hpp>

#include <cstdint>

namespace weft_net {

template <class Waiter, class Link = plain_link<Waiter>, class P = real_atomics>
class credit_count {
 public:
  explicit credit_count(std::int64_t credits) : m_credits(credits) {}

  /// Takes a credit. Returns false if there is none: give() will return `w` to a giver.
  [[nodiscard]] bool take(Waiter &waiter) noexcept {
    if (m_credits.fetch_sub(1, std::memory_order_relaxed) > 0)
      return true;
    m_lock.lock();
    const std::int64_t kept = m_kept.get();
    if (kept > 0) {
      m_kept.set(kept - 1);
    } else {
      Link::set_next(waiter, nullptr);
      if (Waiter *const last = m_last.get())
        Link::set_next(*last, &waiter);
      else
        m_first.set(&waiter);
      m_last.set(&waiter);
    }
    m_lock.unlock();
    return kept > 0;
  }

  /// Takes a credit if there is one, and never waits.
  [[nodiscard]] bool try_take() noexcept {
    std::int64_t left = m_credits.load(std::memory_order_relaxed);
    while (left > 0)
      if (m_credits.compare_exchange_weak(left, left - 1, std::memory_order_relaxed,
                                          std::memory_order_relaxed))
        return true;
    return false;
  }

  /// Returns how many credits are left; below 0, as many takers wait. For people.
  [[nodiscard]] std::int64_t left() const noexcept {
    return m_credits.load(std::memory_order_relaxed);
  }

  /// Calls `visit(waiter)` for those that wait, the oldest first. Returns false, and has called nothing, while the
  /// queue is being changed.
  template <class Visit>
  [[nodiscard]] bool try_visit(Visit &&visit) noexcept {
    if (!m_lock.try_lock())
      return false;
    for (Waiter *one = m_first.get(); one; one = Link::next(*one))
      visit(*one);
    m_lock.unlock();
    return true;
  }

  /// Gives a credit back. Returns the waiter that has it now, or null.
  [[nodiscard]] Waiter *give() noexcept {
    if (m_credits.fetch_add(1, std::memory_order_relaxed) >= 0)
      return nullptr;
    m_lock.lock();
    Waiter *const first = m_first.get();
    if (first) {
      m_first.set(Link::next(*first));
      if (!m_first.get())
        m_last.set(nullptr);
    } else {
      m_kept.set(m_kept.get() + unless(bug::net_credit_lost, std::int64_t{1}));
    }
    m_lock.unlock();
    return first;
  }

 private:
  typename P::template atomic<std::int64_t> m_credits;
  weft_common::spin_lock<P> m_lock;
  typename P::template var<std::int64_t> m_kept{0};
  typename P::template var<Waiter *> m_first{nullptr};
  typename P::template var<Waiter *> m_last{nullptr};
};

} // namespace weft_net
