// SPDX-License-Identifier: Apache-2.0
// Who belongs to a cohort: when its members may go, and who is the last to leave.
//
// Roles       The registrar (the parent's frame): admit, and once close. Whoever satisfies the cohort's own access: open, once. Each
//             member's last deliverer: leave, once.
// Word        m_left counts those who left, in the way of task/completion.hpp; the registrar's half, m_admitted, is plain: members that
//             come while others leave share no line with them. m_open and the list of those who wait are guarded by m_lock; m_seen_open is
//             the registrar's, so that it asks for the lock no more once it has found the cohort open.
// Invariants  I1  A member is satisfied once: by admit when the cohort is open, else by who opens it.
//             I2  Exactly one of close() and the calls of leave() returns true: then nobody else will touch the cohort.
//             I3  A member leaves after it was satisfied, so the cohort is open when the last one leaves.
// Orders      Those of task/completion.hpp: who ends the cohort sees what all members have written, and so does who finds it over.
// Progress    admit and open hold a spin lock for a few instructions, admit only as long as it may be closed; leave is wait-free.
// Reclamation By who gets true from leave, when the cohort's own access is dead.
// Checked by  tests/model/cohort_models.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"
#include "queue/spin_lock.hpp"
#include "task/completion.hpp"
#include "weft/config.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Members wait in a list through their `successor`, which a member has no other use for.
template <class P, class Access>
class cohort_state {
 public:
  /// True: the member may go at once, and nobody else knows it. False: it is delivered what it waits for.
  [[nodiscard]] bool admit(Access &a) noexcept { return admit_if_seen_open() || admit_slow(a); }
  /// The two halves of admit().
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

  /// The members that wait, oldest first, linked; their links are to be cleared before they are delivered anything.
  [[nodiscard]] Access *open() noexcept {
    m_lock.lock();
    m_open.set(!mutant(bug::cohort_open_unpublished));
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

  /// A member. True: the cohort is over, for the caller to end.
  [[nodiscard]] bool leave() noexcept { return m_left.remove(); }

  /// Registrar: nobody joins any more. True: as from leave().
  [[nodiscard]] bool close() noexcept { return m_left.settle(m_admitted.get()) && !mutant(bug::cohort_end_missed); }

  /// Registrar: every member has left.
  [[nodiscard]] bool is_over() const noexcept { return m_left.done(m_admitted.get()); }

  /// For who is to end the cohort, or to open it: which of the two.
  [[nodiscard]] bool was_opened() noexcept {
    m_lock.lock();
    const bool open = m_open.get();
    m_lock.unlock();
    return open;
  }

 private:
  typename P::template var<std::uint32_t> m_admitted{}; // of the registrar, as the next
  typename P::template var<bool> m_seen_open{};
  char m_apart[k_line]; // what the registrar uses for each member from what those who leave write
  completion_word<P> m_left;
  spin_lock<P> m_lock;
  typename P::template var<bool> m_open{};
  typename P::template var<Access *> m_first{};
  typename P::template var<Access *> m_last{};
};

} // namespace rt
} // namespace weft::inline v0
