// SPDX-License-Identifier: Apache-2.0
// The contended side of an event that stays set until it is cleared.
//
// Roles       Setter: try_set; if that fails, set under the lock.
//             Waiter: is_set; if that fails, find_set_or_enter under the lock.
//             Clearer: clear.
//             Canceller: removes a node, then calls settle, under the lock.
// Word        k_clear; k_set; k_awaited: clear, and there may be waiters.
// Invariants  I1  While there are waiters the word is k_awaited, which changes under the lock only.
//             I2  The setter's last touch of the object is the write of k_set.
// Orders      O1  word compare-exchange or store of k_set, release, with O2.
//             O2  word load, or compare-exchange from k_set to k_clear, acquire: the waiter sees what
//                 the setter did before; what a clearer does later comes after it.
// Progress    Lock-free where no waiter is.
// Checked by  tests/model/sync_models.cpp: event_*
#pragma once

#include "sync/wait_list.hpp"

#include <weft/detail/sync_words.hpp>

namespace weft::inline v0 {
namespace rt {

using detail::event_state;

/// Sets the event and takes all waiters.
template <class P>
void set(event_state<P> &state, wait_chain<P> &granted) noexcept {
  while (!state.try_set()) { // I1
    take_all(state.waiters, granted);
    return state.word.store(state.k_set, std::memory_order_release); // O1
  }
}

/// Returns whether the event is set; if not, enters `node`.
template <class P>
[[nodiscard]] bool find_set_or_enter(event_state<P> &state, wait_node<P> &node) noexcept {
  std::uint32_t seen = state.word.load(std::memory_order_acquire); // O2
  while (seen != state.k_set)
    if (state.word.compare_exchange_weak(seen, state.k_awaited, std::memory_order_relaxed,
                                         std::memory_order_acquire)) { // O2
      enter(state.waiters, node);
      return false;
    }
  return true;
}

/// Notes that a waiter has gone.
template <class P>
void settle(event_state<P> &state, wait_chain<P> &) noexcept {
  if (is_empty(state.waiters))
    state.word.store(state.k_clear, std::memory_order_relaxed); // it was k_awaited, by I1
}

} // namespace rt
} // namespace weft::inline v0
