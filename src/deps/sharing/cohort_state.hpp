// SPDX-License-Identifier: Apache-2.0
// The members of a cohort: when each of them may go, and which one is the last to leave.
//
// Roles       The registrar (the parent's frame): admit, and once close. The opener, the thread
//             that satisfies the cohort's own access: open, once. A leaver, the last deliverer of a
//             member: leave, once per member.
// Word        m_left counts the members that left, in the way of task/wait/completion.hpp. The
//             registrar's half, m_admitted, is plain: members that come while others leave share no
//             line with them; it may wrap. m_lock guards m_open and the list of waiting members.
//             m_seen_open belongs to the registrar: once the registrar has found the cohort open, it
//             takes the lock no more.
// Invariants  I1  A member is satisfied once: by admit if the cohort is open, else by the opener.
//             I2  Exactly one of close() and the calls of leave() returns true: then no other
//                 thread will touch the cohort.
//             I3  A member leaves after it was satisfied, so the cohort is open when the last one
//                 leaves.
// Orders      Those of task/wait/completion.hpp: the thread that ends the cohort sees what all members
//             have written, and so does a thread that finds the cohort over.
// Progress    admit and open hold a spin lock for a few instructions, admit only as long as the
//             cohort may be closed. leave is wait-free.
// Reclamation The thread that gets true from leave frees the cohort when the cohort's own access is
//             dead.
// Checked by  tests/model/cohort_models.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"
#include "queue/spin_lock.hpp"
#include "task/wait/completion.hpp"
#include "weft/config.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Holds the members of a cohort. Waiting members are linked through their `successor`, which a
/// member does not use otherwise.
template <class P, class Access>
class cohort_state {
 public:
  cohort_state() = default;
  /// Makes a cohort that so many members have joined and left, for tests.
  explicit cohort_state(std::uint32_t gone) noexcept : m_admitted{gone} {
    static_cast<void>(m_left.remove(gone));
  }

  /// Admits a member. Returns true if the member may go at once: no other thread knows it then.
  /// After false the opener delivers what the member waits for.
  [[nodiscard]] bool admit(Access &a) noexcept { return admit_if_seen_open() || admit_slow(a); }
  /// Do the two halves of admit().
  [[nodiscard]] WEFT_INLINE bool admit_if_seen_open() noexcept {
    m_admitted.set(m_admitted.get() + 1);
    return m_seen_open.get();
  }
  [[nodiscard]] WEFT_NOINLINE bool admit_slow(Access &a) noexcept {
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
    m_seen_open.set(open);
    return open;
  }

  /// Returns the members that wait, oldest first, linked. The caller clears a link before it
  /// delivers anything to that member.
  [[nodiscard]] Access *open() noexcept {
    m_lock.lock();
    m_open.set(unless(bug::cohort_open_unpublished, true));
    Access *first = m_first.get();
    m_first.set(nullptr);
    m_last.set(nullptr);
    m_lock.unlock();
    return first;
  }

  /// Returns those members and leaves them as they are. Called while nothing runs.
  template <class F>
  void for_each_waiting(F f) {
    m_lock.lock();
    for (Access *a = m_first.get(); a; a = a->successor.get())
      f(*a);
    m_lock.unlock();
  }

  /// Counts a member that leaves. Returns true if the cohort is over: the caller must end it.
  [[nodiscard]] bool leave() noexcept { return m_left.remove(); }

  /// Closes the cohort: no member joins any more. Registrar only. Returns what leave() does.
  [[nodiscard]] bool close() noexcept {
    return unless(bug::cohort_end_missed, m_left.settle(m_admitted.get()));
  }

  /// Returns whether every member has left. Registrar only.
  [[nodiscard]] bool is_over() const noexcept { return m_left.done(m_admitted.get()); }

  /// Returns which of the two the caller must do: end the cohort, or open it.
  [[nodiscard]] bool was_opened() noexcept {
    m_lock.lock();
    const bool open = m_open.get();
    m_lock.unlock();
    return open;
  }

 private:
  typename P::template var<std::uint32_t>
      m_admitted{}; // used by the registrar only, as the next one
  typename P::template var<bool> m_seen_open{};
  char m_apart[k_line]; // parts what the registrar uses for each member from what leavers write
  completion_word<P> m_left;
  spin_lock<P> m_lock;
  typename P::template var<bool> m_open{};
  typename P::template var<Access *> m_first{};
  typename P::template var<Access *> m_last{};
};

} // namespace rt
} // namespace weft::inline v0
