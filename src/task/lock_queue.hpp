// SPDX-License-Identifier: Apache-2.0
// The contended side of weft::mutex: a lock that is handed from its holder to the frame that has waited longest.
//
// Roles       Anyone: try_take, take_or_wait. The holder, who may move between threads: try_give_up, hand_over.
// Word        word: null free; odd (held()) taken, nobody new waits; else the newest waiter (taken), linked to older ones.
//             queue: waiters in order of arrival, plain, of the holder.
// Invariants  I1  A waiter's node is in the word's list or in the queue, once, until the lock is its own.
//             I2  hand_over leaves the word taken: nobody else can come between the old holder and the new one.
//             I3  The queue is older than the list: it is filled, in order, only when it is empty.
// Orders      O1  word compare-exchange to an odd value, acquire, with O2: what the last holder wrote, the queue included.
//             O2  word compare-exchange to null, release, with O1.
//             O3  word compare-exchange to a node, release, with O4: node and frame are written before they are known.
//             O4  word exchange of the holder, acquire, with O3 of every node in the list: each is a read-modify-write
//                 behind the older ones, so it continues their release sequences.
//             The hand-over itself is ordered by what makes the frame ready.
// Progress    Blocking; first come, first served. take_or_wait is lock-free, hand_over linear in the new waiters.
// Reclamation A node lies on its waiter's stack. hand_over reads it for the last time before it returns; the frame is touched
//             for the last time by whoever makes it ready.
// Source      The list that arrives in one word and is turned round by the holder is that of nsync and of Folly's coroutine mutex.
// Checked by  tests/model/mutex_models.cpp: mutex_*
#pragma once

#include "base/mutant.hpp"

#include <weft/detail/lock_word.hpp>

namespace weft::inline v0 {
namespace rt {

template <class Frame, class P = detail::std_atomics>
struct lock_waiter {
  typename P::template var<Frame *> suspended{};
  typename P::template var<lock_waiter *> next{};
  typename P::template var<void *> holder{}; // of the first to come, for reports: held()
};

/// For frame `f`, which is suspended. True: the lock was free and is now the frame's, which may go on. False: `node` waits.
template <class Frame, class P>
[[nodiscard]] bool take_or_wait(detail::lock_word<P> &lock, lock_waiter<Frame, P> &node, Frame &f) noexcept {
  node.suspended.set(&f);
  void *seen = lock.word.load(std::memory_order_relaxed);
  for (;;) {
    if (!seen) {
      if (lock.word.compare_exchange_weak(seen, lock.held(&f), std::memory_order_acquire, std::memory_order_relaxed)) // O1
        return true;
      continue;
    }
    node.next.set(lock.is_held(seen) ? nullptr : static_cast<lock_waiter<Frame, P> *>(seen));
    node.holder.set(lock.is_held(seen) ? seen : nullptr);
    if (lock.word.compare_exchange_weak(seen, &node, order_unless(bug::mutex_node_relaxed, std::memory_order_release), // O3
                                        std::memory_order_relaxed))
      return false;
  }
}

/// Notes who holds the lock now where reports look: at the first waiter in the queue, else in the word. A waiter that comes at this very
/// moment has noted nobody.
template <class Frame, class P>
void name_holder(detail::lock_word<P> &lock, lock_waiter<Frame, P> *first, Frame &f) noexcept {
  if (first)
    return first->holder.set(lock.held(&f));
  void *seen = lock.word.load(std::memory_order_relaxed);
  if (lock.is_held(seen))
    lock.word.compare_exchange_strong(seen, lock.held(&f), std::memory_order_relaxed, std::memory_order_relaxed); // I2: taken before and after
}

/// Holder, when try_give_up has failed: the frame that has the lock now, to be made ready. Null, and nothing has changed, when
/// the caller does not hold it: nobody can wait then.
template <class Frame, class P>
[[nodiscard]] Frame *hand_over(detail::lock_word<P> &lock) noexcept {
  using waiter = lock_waiter<Frame, P>;
  auto *oldest = static_cast<waiter *>(lock.queue.get());
  if (mutant(bug::mutex_reads_node_late) && oldest)
    oldest = oldest->next.get(); // of the one who was served last
  if (!oldest) {
    void *seen = lock.word.load(std::memory_order_relaxed);
    if (!seen || lock.is_held(seen))
      return nullptr;
    auto *w = static_cast<waiter *>(lock.word.exchange(lock.held(nullptr), std::memory_order_acquire)); // O4
    while (w) { // newest first: turn it round
      waiter *older = w->next.get();
      w->next.set(oldest);
      oldest = w;
      w = older;
    }
  }
  waiter *next = oldest->next.get();
  lock.queue.set(mutant(bug::mutex_forgets_waiters) ? nullptr : mutant(bug::mutex_reads_node_late) && next ? oldest : next);
  name_holder(lock, next, *oldest->suspended.get());
  if (mutant(bug::mutex_hands_over_and_frees))
    lock.word.store(nullptr, std::memory_order_release); // O2
  return oldest->suspended.get();
}

} // namespace rt
} // namespace weft::inline v0
