// SPDX-License-Identifier: Apache-2.0
// The contended side of semaphores, and of the mutexes that time or a stop request may end the wait
// for.
//
// Roles       Taker: try_take; if that fails, take_or_enter under the lock of the object.
//             Giver: try_give; if that fails, give under the lock.
//             Canceller: removes a node from the list, then calls settle, under the lock.
// Word        Twice the count, which is k_most_count at most; or 1: the count is 0 and there may be
//             waiters.
// Invariants  I1  While there are waiters the word is 1: no taker overtakes them, and each giver
//                 comes to the lock.
//             I2  give hands over to waiters first, so a waiter that is granted need not look again.
//             I3  The giver's last touch of the object is its write of the word, or the release of
//                 the lock, which is not in the object.
// Orders      O1  word compare-exchange to less, acquire, with O2: the taker sees what the giver of
//                 its unit did before. Each change but those from and to 1 is a read-modify-write,
//                 and at 1 no unit is left whose giver a later taker must see.
//             O2  word compare-exchange to more, or store of what is left over, release, with O1.
//             A granted waiter sees what the giver did by the signal of its node.
// Progress    Lock-free where no waiter is; else as src/sync/wait_list.hpp.
// Checked by  tests/model/sync_models.cpp: semaphore_*
#pragma once

#include "sync/wait_list.hpp"

#include <weft/detail/sync_words.hpp>

namespace weft::inline v0 {
namespace rt {

using detail::semaphore_state;

/// Takes a unit, or enters `node`. Returns whether it has taken one.
template <class P>
[[nodiscard]] bool take_or_enter(semaphore_state<P> &state, wait_node<P> &node) noexcept {
  std::int64_t seen = state.word.load(std::memory_order_relaxed);
  for (;;) {
    const bool takes = seen >= 2;
    if (state.word.compare_exchange_weak(seen, takes ? seen - 2 : 1, std::memory_order_acquire,
                                         std::memory_order_relaxed)) { // O1
      if (!takes)
        enter(state.waiters, node);
      return takes;
    }
  }
}

/// Gives `count` units: to waiters, then to the count. Returns false, and gives none, where the count
/// would be above the largest one.
template <class P>
[[nodiscard]] bool give(semaphore_state<P> &state, std::int64_t count,
                        wait_chain<P> &granted) noexcept {
  if (state.try_give(count))
    return true;
  if ((state.word.load(std::memory_order_relaxed) & 1) == 0) // it changes from and to 1 under the lock only
    return false;
  while (count > 0) { // I1
    wait_node<P> *n = take(state.waiters);
    if (!n)
      break;
    granted.add(*n);
    --count;
  }
  if (is_empty(state.waiters))
    state.word.store(unless(bug::sync_semaphore_loses_rest, 2 * count, std::int64_t{0}),
                     std::memory_order_release); // O2
  return true;
}

/// Notes that a waiter has gone.
template <class P>
void settle(semaphore_state<P> &state, wait_chain<P> &) noexcept {
  if (is_empty(state.waiters))
    state.word.store(0, std::memory_order_relaxed); // it was 1, by I1
}

} // namespace rt
} // namespace weft::inline v0
