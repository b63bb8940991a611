// SPDX-License-Identifier: Apache-2.0
// Whether a member of a team looks on for those that are parked on its kernel thread: then who brings about what they wait for leaves their wake-up to it.
//
// Roles       Watchers: watch. Who brings about what they watch for: is_for, afterwards.
// Word        What is watched for: a number that never comes again; 0: nothing.
// Invariants  I1  Who sees what it watches for, at the last look too, wakes those parked on its kernel thread. Who brings that about wakes them unless the word tells of
//                 a watch for just that, which therefore sees it: one of the two does, and both may.
//             I2  Who leaves for any other reason ends its watch first, and looks once more.
// Orders      O1  store of 0 seq_cst, then a look at what is watched for; that is brought about, then the word is loaded: all seq_cst, one of the two sees the
//                 other.
// Progress    Wait-free.
// Checked by  tests/model/omp_barrier_models.cpp: omp_oversubscribed_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

template <class P = real_atomics>
class basic_leaf_watch {
 public:
  /// Looks for as long as `goes_on()` says. True: what is watched for is there, and the leaf is to be woken. False: others will, or the caller sees it when it is parked.
  template <class There, class GoesOn>
  [[nodiscard]] bool watch(std::uint64_t what, There is_there, GoesOn goes_on) noexcept {
    m_what.store(what, std::memory_order_relaxed); // who does not see it yet wakes the leaf: I1
    bool there = false;
    while (!(there = is_there()) && goes_on()) {
    }
    if (there || mutant(bug::omp_watch_left_open))
      return there;
    m_what.store(0, order_unless(bug::omp_watch_ends_unseen, std::memory_order_seq_cst)); // O1
    return is_there();
  }
  [[nodiscard]] bool is_for(std::uint64_t what) const noexcept { return m_what.load(std::memory_order_seq_cst) == what; } // O1

 private:
  typename P::template atomic<std::uint64_t> m_what{0};
};

} // namespace weft_omp
