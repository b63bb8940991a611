// SPDX-License-Identifier: Apache-2.0
// The contended side of weft::mutex: a lock that is handed from its holder to the frame that has
// waited longest.
//
// Roles       Any task: try_take. A task that waits for the lock suspends.
//             The thread that has left the task's frame: take_or_wait, for the frame. If the lock
//             is free by then, the frame has it and is made ready.
//             Holder: the task that has the lock; it calls try_give_up and, if that fails,
//             hand_over, and may move between threads. In the child of a fork() it does both again
//             while it gets a frame of the parent process, which only the parent continues.
//             Waiter: a suspended frame with a node.
// Words       word: null (free); odd, held() (taken, and no waiter in the word, though there may
//             be some in the queue; the other bits name the holder for reports); else the newest
//             waiter (taken), linked to older ones.
//             queue: waiters in order of arrival, plain, of the holder. try_give_up fails unless
//             both the word and the queue are without waiters.
// Invariants  I1  A waiter's node is in the word's list or in the queue, once, until the waiter has
//                 the lock.
//             I2  hand_over leaves the word taken: no other task can get the lock between the old
//                 holder and the new one.
//             I3  Waiters in the queue are older than those in the list: the holder moves the
//                 whole list to the queue, in order, only when the queue is empty.
// Orders      O1  word compare-exchange from null to an odd value, acquire, with O2: the new holder
//                 sees what the last holder wrote, the queue included.
//             O2  word compare-exchange to null, release, with O1.
//             O3  word compare-exchange to a node, release, with O4: the waiter writes node and
//                 frame before the holder can find them.
//             O4  word exchange of the holder, acquire, with O3 of every node in the list: each O3
//                 is a read-modify-write after the older ones, so it continues their release
//                 sequences.
//             The call that makes the new holder's frame ready orders the hand-over itself: the old
//             holder then writes neither the word nor the queue any more. The compare-exchange of
//             name_holder from odd to odd is relaxed: only reports read what it changes.
// Progress    Blocking; first come, first served. take_or_wait is lock-free, hand_over linear in
//             the new waiters.
// Reclamation A node is on its waiter's stack. hand_over touches the node for the last time before
//             it returns. The old holder touches the frame for the last time when it makes the
//             frame ready: the frame may then end.
// Source      nsync and Folly's coroutine mutex also have a list that arrives in one word and that
//             the holder reverses.
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
  typename P::template var<void *> holder{}; // of the oldest waiter, for reports: held()
};

/// Takes the lock for the frame `suspended`, or enters `node`. True: the lock was free; the frame
/// has it now, and may go on. False: `node` waits.
template <class Frame, class P>
[[nodiscard]] bool take_or_wait(detail::lock_word<P> &lock, lock_waiter<Frame, P> &node,
                                Frame &suspended) noexcept {
  node.suspended.set(&suspended);
  void *seen = lock.word.load(std::memory_order_relaxed);
  for (;;) {
    if (!seen) {
      if (lock.word.compare_exchange_weak(seen, lock.held(&suspended), std::memory_order_acquire,
                                          std::memory_order_relaxed)) // O1
        return true;
      continue;
    }
    node.next.set(lock.is_held(seen) ? nullptr : static_cast<lock_waiter<Frame, P> *>(seen));
    node.holder.set(lock.is_held(seen) ? seen : nullptr);
    if (lock.word.compare_exchange_weak(
            seen, &node, order_unless(bug::mutex_node_relaxed, std::memory_order_release), // O3
            std::memory_order_relaxed))
      return false;
  }
}

/// Notes the new holder where reports read it: at the first waiter in the queue, else in the word.
/// A waiter that arrives at this moment has no holder noted.
template <class Frame, class P>
void name_holder(detail::lock_word<P> &lock, lock_waiter<Frame, P> *first,
                 Frame &suspended) noexcept {
  if (first)
    return first->holder.set(lock.held(&suspended));
  void *seen = lock.word.load(std::memory_order_relaxed);
  if (lock.is_held(seen))
    lock.word.compare_exchange_strong(seen, lock.held(&suspended), std::memory_order_relaxed,
                                      std::memory_order_relaxed); // I2: taken before and after
}

/// Hands the lock over and returns the frame that has it now, which the caller makes ready. The
/// holder calls it when try_give_up has failed. Returns null, and changes nothing, if the caller
/// does not hold the lock: then there is no waiter.
template <class Frame, class P>
[[nodiscard]] Frame *hand_over(detail::lock_word<P> &lock) noexcept {
  using waiter = lock_waiter<Frame, P>;
  auto *oldest = unless(bug::mutex_reads_node_late, static_cast<waiter *>(lock.queue.get()),
                        [](waiter *holder) { return holder ? holder->next.get() : nullptr; });
  if (!oldest) {
    void *seen = lock.word.load(std::memory_order_relaxed);
    if (!seen || lock.is_held(seen))
      return nullptr;
    auto *w = static_cast<waiter *>(
        lock.word.exchange(lock.held(nullptr), std::memory_order_acquire)); // O4
    while (w) { // newest first: reverse the list
      waiter *older = w->next.get();
      w->next.set(oldest);
      oldest = w;
      w = older;
    }
  }
  waiter *next = oldest->next.get();
  lock.queue.set(unless(bug::mutex_forgets_waiters,
                        unless(bug::mutex_reads_node_late, next, next ? oldest : nullptr)));
  name_holder(lock, next, *oldest->suspended.get());
  return unless(bug::mutex_hands_over_and_frees, oldest->suspended.get(), [&](Frame *suspended) {
    lock.word.store(nullptr, std::memory_order_release); // O2
    return suspended;
  });
}

} // namespace rt
} // namespace weft::inline v0
