// SPDX-License-Identifier: Apache-2.0
// What is no longer used and never freed, since late readers may still look at it (team.hpp): the next thread that needs one takes the newest. And when a team may go there.
//
// Roles       free_list: any thread puts and takes. leaving_count: the dismisser, which begins and leaves; the members that it dismisses, which leave.
// Words       m_newest, with the lock, and next_free of each. m_left: members that have not left, and the dismisser.
// Invariants  I1  One of those that leave is the last, and it alone puts the team away.
//             I2  The dismisser counts, so the team is not put away while it still goes through the members.
// Orders      O1  fetch_sub acq_rel: the next user of the team comes after everything that the dismisser and the members did with it.
//             O2  store relaxed: the order that dismisses a member comes after it (fork_mailbox.hpp).
// Progress    Wait-free, but for the lock.
// Reclamation None: a late reader may look at what another thread uses by now.
// Checked by  tests/model/omp_team_models.cpp: omp_leaving_*
#pragma once

#include "sync/mutant.hpp"
#include "sync/spin.hpp"

#include <mutex>
#include <new>

namespace weft_omp {

/// Linked by `next_free`.
template <class T, class P = real_atomics>
class basic_free_list {
 public:
  void put(T &x) noexcept {
    std::lock_guard lock(m_lock);
    x.next_free = static_cast<T *>(m_newest);
    m_newest = &x;
  }
  /// Null: there is none.
  [[nodiscard]] T *take() noexcept {
    std::lock_guard lock(m_lock);
    T *const found = m_newest;
    if (found)
      m_newest = static_cast<T *>(found->next_free);
    return found;
  }
  /// In the child of a fork: the list may have been in somebody's hands.
  void forget() noexcept { new (this) basic_free_list; }

 private:
  basic_spin_lock<P> m_lock;
  typename P::template plain<T *> m_newest = nullptr;
};
template <class T>
using free_list = basic_free_list<T>;

template <class P = real_atomics>
class basic_leaving_count {
 public:
  /// Of the dismisser, before any member is sent away.
  void begin(unsigned members) noexcept { m_left.store(members + !mutant(bug::omp_leaving_uncounted), std::memory_order_relaxed); } // I2, O2
  /// True: the caller is the last.
  [[nodiscard]] bool leave() noexcept { return m_left.fetch_sub(1, order_unless(bug::omp_leaving_relaxed, std::memory_order_acq_rel)) == 1; } // O1

 private:
  typename P::template atomic<unsigned> m_left{0};
};

} // namespace weft_omp
