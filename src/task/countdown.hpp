// SPDX-License-Identifier: Apache-2.0
// A count that several holders take away from; the one that takes the last of it acts for all.
// Used for the references of a task, and for its unsatisfied accesses.
//
// Roles       Holder: a thread that holds a share of the count, and takes the share away once.
// Word        The sum of the shares of all holders that have not called yet.
// Invariants  I1  A holder's share is in the count until its call. So a count equal to the share
//                 belongs to the caller alone: no other thread can still change it, and the caller
//                 need not write it.
//             I2  Exactly one call returns true.
// Orders      O1  load acquire, with O2: the other holders are gone, and the caller sees what they
//                 did.
//             O2  fetch_sub release, with O1 and with itself: passes on what the holder did before.
//                 Acquire, needed by the last holder.
// Progress    Wait-free.
// Reclamation A holder that got false does not touch what the count guards.
// Checked by  tests/model/completion_models.cpp: countdown_*
#pragma once

#include "base/mutant.hpp"
#include "weft/config.hpp"

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Takes the caller's share `n` away. True: no other holder is left.
template <class Word>
[[nodiscard]] WEFT_INLINE bool take_away(Word &count, std::uint32_t n) noexcept {
  return count.load(std::memory_order_acquire) == n || // O1
         count.fetch_sub(n, std::memory_order_acq_rel) == n; // O2
}

/// Returns whether the caller has all shares, `n` of them. Then no other thread changes the count until the caller
/// hands a share over.
template <class Word>
[[nodiscard]] WEFT_INLINE bool has_all(const Word &count, std::uint32_t n) noexcept {
  return count.load(order_unless(bug::countdown_alone_relaxed, std::memory_order_acquire)) == n; // O1
}
/// Takes shares away, so that `n` are left, for a caller that has all of them.
template <class Word>
WEFT_INLINE void keep(Word &count, std::uint32_t n) noexcept {
  count.store(n, std::memory_order_relaxed); // I1
}

} // namespace rt
} // namespace weft::inline v0
