// SPDX-License-Identifier: Apache-2.0
// A list of unused objects, and the count that decides when a team may enter it.
// The objects are never freed, because late readers may still read them (team.hpp). The next thread
// that needs one takes the newest.
//
// Roles       basic_free_list: any thread puts and takes. basic_leaving_count: the dismisser begins
//             and leaves; the members that it dismisses leave. Late reader: a thread that still
//             reads an object after its last use.
// Words       m_newest, under the lock, and next_free of each object. m_left: the members that have
//             not left, plus the dismisser.
// Invariants  I1  Exactly one of the threads that leave is the last, and it alone puts the team
//                 into the list.
//             I2  The dismisser is counted, so no thread puts the team into the list while the
//                 dismisser goes through the members.
// Orders      O1  fetch_sub acq_rel: the next user of the team comes after everything that the
//                 dismisser and the members did with it.
//             O2  store relaxed: the message that dismisses a member is sent after it
//                 (fork_mailbox.hpp).
// Progress    Wait-free, but for the lock.
// Reclamation None: a late reader may read an object that another thread uses by now.
// Checked by  tests/model/layers/omp_team_models.cpp: omp_leaving_*
#pragma once

#include "sync/mutant.hpp"
#include "sync/spin.hpp"

#include <mutex>
#include <new>

namespace weft_omp {

/// Holds unused objects, linked by `next_free`.
template <class T, class P = real_atomics>
class basic_free_list {
 public:
  void put(T &item) noexcept {
    std::lock_guard lock(m_lock);
    item.next_free = static_cast<T *>(m_newest);
    m_newest = &item;
  }
  /// Takes the newest object. Null: the list is empty.
  [[nodiscard]] T *take() noexcept {
    std::lock_guard lock(m_lock);
    T *const found = m_newest;
    if (found)
      m_newest = static_cast<T *>(found->next_free);
    return found;
  }
  /// Forgets all objects, in the child of a fork(): another thread may have held the lock at the
  /// fork.
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
  /// Sets the count. The dismisser calls it before it dismisses any member.
  void begin(unsigned members) noexcept {
    m_left.store(members + unless(bug::omp_leaving_uncounted, 1u), std::memory_order_relaxed);
  } // I2, O2
  /// Counts the caller as gone. True: the caller is the last one.
  [[nodiscard]] bool leave() noexcept {
    return m_left.fetch_sub(1, order_unless(bug::omp_leaving_relaxed, std::memory_order_acq_rel)) ==
           1;
  } // O1

 private:
  typename P::template atomic<unsigned> m_left{0};
};

} // namespace weft_omp
