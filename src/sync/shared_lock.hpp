// SPDX-License-Identifier: Apache-2.0
// The contended side of a lock that one writer or many readers hold.
//
// Roles       Taker, reader or writer: try_take or try_take_shared; if that fails, take_or_enter
//             under the lock of the object.
//             Holder: try_give_up or try_give_up_shared; if that fails, give_up under the lock.
//             Canceller: removes a node, then calls settle, under the lock.
// Word        k_exclusive: a writer holds it. k_waiters: there may be waiters. Above: the number of
//             readers that hold it, or an address that names the writer, which only reports read.
// Invariants  I1  k_waiters is set under the lock, while a taker enters, and cleared under it. While
//                 it is set, no taker takes the lock but by a grant.
//             I2  k_waiters without a holder lasts only while a thread has the lock of the object.
//             I3  The oldest waiter goes first; if it is a reader, so do the readers behind it, up to
//                 the next writer. So neither side starves.
//             I4  The last touch of the object by a holder that gives up is the write of the word.
// Orders      O1  word compare-exchange of a taker, acquire, with O2: it sees what the holders before
//                 it did. A reader's O2 is a read-modify-write, so the writer after many readers meets
//                 each of them.
//             O2  word compare-exchange of a holder, release. give_up loads the word acquire, with O2
//                 of the other readers, before the signal of the node lets the next holder in.
//             A reader that joins when a writer has gone sees what the last writer did by the lock,
//             under which that writer handed over. So settle changes the word relaxed.
// Progress    Lock-free where no waiter is.
// Checked by  tests/model/sync_models.cpp: shared_*
#pragma once

#include "sync/wait_list.hpp"

#include <weft/detail/sync_words.hpp>

namespace weft::inline v0 {
namespace rt {

using detail::shared_lock_state;

/// Takes the lock as `node.shared` says, or enters `node`. Returns whether it has taken it.
template <class P>
[[nodiscard]] bool take_or_enter(shared_lock_state<P> &state, wait_node<P> &node) noexcept {
  std::uint64_t seen = state.word.load(std::memory_order_relaxed);
  for (;;) {
    const bool takes =
        node.shared ? (seen & (state.k_exclusive | state.k_waiters)) == 0 : seen == 0;
    const std::uint64_t then = !takes        ? seen | state.k_waiters
                               : node.shared ? seen + state.k_one_shared
                                             : state.exclusive(node.waiter);
    if (state.word.compare_exchange_weak(seen, then, std::memory_order_acquire,
                                         std::memory_order_relaxed)) { // O1
      if (!takes)
        enter(state.waiters, node);
      return takes;
    }
  }
}

/// Takes the readers at the head of the list, and returns their number.
template <class P>
[[nodiscard]] std::uint64_t take_readers(wait_list<P> &list, wait_chain<P> &granted) noexcept {
  std::uint64_t readers = 0;
  for (wait_node<P> *n; (n = oldest_of(list)) && n->shared; ++readers)
    granted.add(*take(list));
  return readers;
}

/// Hands the lock over: no one holds it, and k_waiters is set.
template <class P>
void hand_over(shared_lock_state<P> &state, wait_chain<P> &granted) noexcept {
  std::uint64_t now = take_readers(state.waiters, granted) * state.k_one_shared;
  if (now == 0)
    if (wait_node<P> *writer = take(state.waiters)) {
      granted.add(*writer);
      now = state.exclusive(writer->waiter);
    }
  if (!is_empty(state.waiters))
    now |= state.k_waiters;
  state.word.store(now, std::memory_order_release); // O2
}

/// Gives up what the caller holds; hands it over if the caller is the last holder. Returns false,
/// and changes nothing, if the lock is not taken so.
template <class P>
[[nodiscard]] bool give_up(shared_lock_state<P> &state, bool shared,
                           wait_chain<P> &granted) noexcept {
  for (;;) {
    std::uint64_t seen = state.word.load(std::memory_order_acquire); // O2
    const bool exclusive = (seen & state.k_exclusive) != 0;
    if (shared ? exclusive || seen < state.k_one_shared : !exclusive)
      return false;
    if (shared ? seen == (state.k_one_shared | state.k_waiters) : (seen & state.k_waiters) != 0) {
      hand_over(state, granted);
      return true;
    }
    if (state.word.compare_exchange_weak(seen, shared ? seen - state.k_one_shared : 0,
                                         std::memory_order_release,
                                         std::memory_order_relaxed)) // O2
      return true;
  }
}

/// Notes that a waiter has gone: readers behind a writer that has gone join those that hold the
/// lock.
template <class P>
void settle(shared_lock_state<P> &state, wait_chain<P> &granted) noexcept {
  std::uint64_t seen = state.word.load(std::memory_order_relaxed), joined = 0;
  if ((seen & state.k_exclusive) == 0)
    joined = unless(bug::sync_readers_stay_behind,
                    take_readers(state.waiters, granted) * state.k_one_shared, std::uint64_t{0});
  const std::uint64_t clears = is_empty(state.waiters) ? state.k_waiters : 0;
  while (!state.word.compare_exchange_weak(seen, (seen + joined) & ~clears,
                                           std::memory_order_relaxed, std::memory_order_relaxed)) {
  }
}

} // namespace rt
} // namespace weft::inline v0
