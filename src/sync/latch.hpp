// SPDX-License-Identifier: Apache-2.0
// The contended side of a latch.
//
// Roles       Counter: count_down; if that returns false, the last one calls open under the lock.
//             Waiter: is_down; if that fails, find_down_or_enter under the lock.
// Word        Twice the count, plus 1 if there may be waiters. 0: down, for good.
// Invariants  I1  Only a counter of the last units makes the word 0. If there are waiters it does so
//                 under the lock, after it has taken all of them.
//             I2  The counter's last touch of the object is the write of 0: from then on a waiter may
//                 destroy it.
// Orders      O1  word compare-exchange to less, release, with O2; all changes of the word but the
//                 last are read-modify-writes, so O2 meets each of them. open loads the word acquire,
//                 with O1 of the others, and stores 0 release.
//             O2  word load acquire: the waiter sees what all counters did before.
// Progress    Lock-free but for the last counter and for waiters.
// Checked by  tests/model/sync_models.cpp: latch_*
#pragma once

#include "sync/wait_list.hpp"

#include <weft/detail/sync_words.hpp>

namespace weft::inline v0 {
namespace rt {

using detail::latch_state;

enum class counted { some_left, last, too_many };

/// Counts down by `count`. `last`: nothing was counted, and the caller is to call open.
template <class P>
[[nodiscard]] counted count_down(latch_state<P> &state, std::int64_t count) noexcept {
  std::int64_t seen = state.word.load(std::memory_order_relaxed);
  for (;;) {
    if (count > seen / 2)
      return counted::too_many;
    if (seen == 2 * count + 1)
      return counted::last;
    if (state.word.compare_exchange_weak(
            seen, seen - 2 * count,
            order_unless(bug::sync_latch_relaxed, std::memory_order_release),
            std::memory_order_relaxed)) // O1
      return counted::some_left;
  }
}

/// Takes all waiters and makes the latch down.
template <class P>
void open(latch_state<P> &state, wait_chain<P> &granted) noexcept {
  (void)state.word.load(std::memory_order_acquire); // O1
  take_all(state.waiters, granted);
  state.word.store(0, std::memory_order_release); // O1, I2
}

/// Returns whether the latch is down; if not, enters `node`.
template <class P>
[[nodiscard]] bool find_down_or_enter(latch_state<P> &state, wait_node<P> &node) noexcept {
  std::int64_t seen = state.word.load(std::memory_order_acquire); // O2
  while (seen != 0)
    if (state.word.compare_exchange_weak(seen, seen | 1, std::memory_order_relaxed,
                                         std::memory_order_acquire)) { // O2
      enter(state.waiters, node);
      return false;
    }
  return true;
}

} // namespace rt
} // namespace weft::inline v0
