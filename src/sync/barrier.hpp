// SPDX-License-Identifier: Apache-2.0
// A barrier for tasks, used any number of times.
//
// Roles       Arriver: arrive. The last one of a phase calls the completion function, then turn under
//             the lock.
//             Waiter: an arriver that waits for the end of its phase: is_over; if that fails,
//             find_over_or_enter under the lock.
// Word        word: the phase, and how many are still to arrive in it. expected: how many arrive in
//             the next phase.
// Invariants  I1  The phase changes by turn only, under the lock, after all waiters were taken.
//             I2  The releaser's last touch of the object is the store of the word.
// Orders      O1  word compare-exchange of an arriver, acq_rel: the last one sees what all others did
//                 before they arrived.
//             O2  word store of turn, release, with the load acquire of is_over and
//                 find_over_or_enter: a waiter that leaves sees what all did before, and what the
//                 completion function did.
//             expected is changed before the arrival of the one that drops out, so O1 orders it.
// Progress    Arrivals are lock-free, but for the last one of a phase.
// Checked by  tests/model/sync_models.cpp: barrier_*
#pragma once

#include "sync/latch.hpp"

namespace weft::inline v0 {
namespace rt {

using detail::barrier_state;

/// Arrives `count` times, and stores the phase. Nothing has changed with `too_many`.
template <class P>
[[nodiscard]] counted arrive(barrier_state<P> &state, std::uint32_t count,
                             std::uint32_t &phase) noexcept {
  std::uint64_t seen = state.word.load(std::memory_order_relaxed);
  for (;;) {
    const auto left = static_cast<std::uint32_t>(seen);
    if (count > left)
      return counted::too_many;
    phase = state.phase_of(seen);
    if (state.word.compare_exchange_weak(
            seen, seen - count, order_unless(bug::sync_arrival_relaxed, std::memory_order_acq_rel),
            std::memory_order_relaxed)) // O1
      return left == count ? counted::last : counted::some_left;
  }
}

/// Ends the phase and takes all waiters.
template <class P>
void turn(barrier_state<P> &state, std::uint32_t phase, wait_chain<P> &granted) noexcept {
  take_all(state.waiters, granted);
  const std::uint64_t next = std::uint64_t{phase + 1u} << 32; // wraps
  state.word.store(next | state.expected.load(std::memory_order_relaxed),
                   std::memory_order_release); // O2
}

/// Returns whether the phase is over; if not, enters `node`.
template <class P>
[[nodiscard]] bool find_over_or_enter(barrier_state<P> &state, std::uint32_t phase,
                                      wait_node<P> &node) noexcept {
  if (state.is_over(phase))
    return true;
  enter(state.waiters, node);
  return false;
}

} // namespace rt
} // namespace weft::inline v0
