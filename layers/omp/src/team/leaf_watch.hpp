// SPDX-License-Identifier: Apache-2.0
// Whether a member watches a condition in place of the parked members of its worker's leaf. The
// notifier then leaves their wake-up to that member.
//
// Roles       The watching member, on the leaf's worker: watch. The notifier: makes the condition
//             true, then calls is_for.
// Word        The condition that is watched, as a number that is never used again. 0: none.
// Invariants  I1  A watching member that sees that the condition is true, even at its last look,
//                 wakes the leaf's parked members. A notifier wakes them unless the word names its
//                 condition: then the watching member will see that it is true. So one of the two
//                 wakes them, and both may.
//             I2  A watching member that stops for another reason ends its watch first, and looks
//                 once more.
// Orders      O1  store of 0 seq_cst, then a look at the condition; the write that makes it true,
//                 then a load of the word: all seq_cst, so one of the two threads sees the other's
//                 write.
// Progress    Wait-free.
// Checked by  tests/model/layers/omp_barrier_models.cpp: omp_oversubscribed_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

template <class P = real_atomics>
class basic_leaf_watch {
 public:
  /// Watches the condition `what` while `goes_on()` returns true. Returns true if the condition is
  /// true: the caller then wakes the leaf. False: the notifier will wake the leaf, or the caller
  /// sees that the condition is true when it parks.
  template <class There, class GoesOn>
  [[nodiscard]] bool watch(std::uint64_t what, There is_there, GoesOn goes_on) noexcept {
    m_what.store(
        what, std::memory_order_relaxed); // a notifier that does not see it yet wakes the leaf: I1
    bool there = false;
    while (!(there = is_there()) && goes_on()) {
    }
    if (unless(bug::omp_watch_left_open, there, true))
      return there;
    m_what.store(0, order_unless(bug::omp_watch_ends_unseen, std::memory_order_seq_cst)); // O1
    return is_there();
  }
  [[nodiscard]] bool is_for(std::uint64_t what) const noexcept {
    return m_what.load(std::memory_order_seq_cst) == what;
  } // O1

 private:
  typename P::template atomic<std::uint64_t> m_what{0};
};

} // namespace weft_omp
