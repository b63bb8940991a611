// SPDX-License-Identifier: Apache-2.0
// A count that several threads take from; who takes the last of it acts for all. The references of a task, and its unsatisfied accesses.
//
// Roles       Holders: each takes away once what it holds of the count.
// Word        What all holders that have not called yet hold together.
// Invariants  I1  A caller's share is in the count until its call. So a count equal to it is the caller's alone: nobody else can
//                 still change it, and it need not be written.
//             I2  Exactly one call returns true.
// Orders      O1  load acquire, with O2: the others are gone, and what they did is seen.
//             O2  fetch_sub release, with O1 and with itself: what was done before is passed on; acquire, for the one who takes the last.
// Progress    Wait-free.
// Reclamation A caller that got false must not touch what the count guards.
// Checked by  tests/model/completion_models.cpp: countdown_*
#pragma once

#include "weft/config.hpp"

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// True: nobody else holds anything.
template <class Word>
[[nodiscard]] WEFT_INLINE bool take_away(Word &count, std::uint32_t n) noexcept {
  return count.load(std::memory_order_acquire) == n ||               // O1
         count.fetch_sub(n, std::memory_order_acq_rel) == n;         // O2
}

} // namespace rt
} // namespace weft::inline v0
