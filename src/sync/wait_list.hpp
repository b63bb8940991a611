// SPDX-License-Identifier: Apache-2.0
// The list of those that wait for a synchronization object, and how a wait ends: by a grant, at its
// deadline, or by a stop request.
//
// Roles       Waiter: enters its node under the lock of the object, releases the lock, and waits for
//             the signal of the node. It may suspend a frame, or be resumed by a function.
//             Granter: takes nodes from the list under the lock, releases the lock, then grants each.
//             Canceller: the timer, a stop request, or the waiter itself if it cannot suspend. Under
//             the lock it removes the node if the node is still in the list; then it grants it.
// Word        oldest: the first node of a circle, or null. A node is in a list, in the chain of one
//             granter or canceller, or neither.
// Invariants  I1  Nodes and `oldest` change under the lock of the object only. The lock is in a table
//                 of the process, by the address of the object: a canceller may take it although the
//                 object is gone.
//             I2  `listed` is true exactly while the node is in a list. Under the lock, exactly one
//                 granter or canceller makes it false; that one writes `end`, and raises the signal.
//             I3  A canceller touches the object only if the node was in its list: then the waiter
//                 has no grant, and the object exists. A granter does not touch the object after it
//                 has released the lock: the granted waiter may destroy it.
//             I4  First come, first served.
//             I5  A granter that cannot keep its grant puts the node back, unless a canceller came
//                 meanwhile, which notes that in `overdue`: then it ends the wait as the canceller
//                 would have.
// Orders      The lock orders all that is plain. signal: src/task/wait/signal_word.hpp.
//             O1  `oldest` is read relaxed without the lock by is_empty, a hint: a caller that relies on it
//                 says why.
// Progress    Blocking, by the lock, whose holders do a constant number of steps for each node.
// Reclamation A node is its waiter's. The signal is the last touch of it by a granter or canceller;
//             a waiter with a deadline or a token ends these before it returns.
// Source      The wait queues of futexes and of WebKit's parking lot, which keep their locks in such a
//             table; here the queues themselves are in the objects, so that none is searched.
// Checked by  tests/model/sync_models.cpp: wait_list_*
#pragma once

#include "base/mutant.hpp"
#include "sync/hooks.hpp"

#include <weft/detail/wait_list.hpp>

namespace weft::inline v0 {
namespace rt {

using detail::wait_end;
using detail::wait_list;
using detail::wait_node;

/// Holds nodes that were taken from a list and are not granted yet, in order.
template <class P = detail::std_atomics>
struct wait_chain {
  wait_node<P> *first = nullptr, *last = nullptr;
  void add(wait_node<P> &node) noexcept {
    node.next.set(nullptr);
    (last ? last->next.set(&node) : void(first = &node));
    last = &node;
  }
  /// Takes the first node out. Its `next` is not read after that.
  [[nodiscard]] wait_node<P> *take() noexcept {
    wait_node<P> *n = first;
    if (n)
      first = n->next.get();
    return n;
  }
};

template <class P>
[[nodiscard]] bool is_lost(const wait_node<P> &) noexcept {
  return false;
}

// All of these but is_empty are called under the lock of the object.

template <class P>
[[nodiscard]] bool is_empty(const wait_list<P> &list) noexcept {
  return !list.oldest.load(std::memory_order_relaxed); // O1
}

template <class P>
void enter(wait_list<P> &list, wait_node<P> &node) noexcept {
  node.listed.set(true);
  wait_node<P> *oldest = list.oldest.load(std::memory_order_relaxed); // O1
  if (!oldest) {
    node.next.set(&node);
    node.previous.set(&node);
    return list.oldest.store(&node, std::memory_order_relaxed); // O1
  }
  node.next.set(oldest);
  node.previous.set(oldest->previous.get());
  oldest->previous.get()->next.set(&node);
  oldest->previous.set(&node);
}

/// Enters a node that was taken a moment ago where it was: before all others. Returns false if its
/// wait is over: then the caller grants it.
template <class P>
[[nodiscard]] bool put_back(wait_list<P> &list, wait_node<P> &node) noexcept {
  if (node.overdue.get() != wait_end::granted) { // I5
    node.end.set(node.overdue.get());
    return false;
  }
  enter(list, node);
  list.oldest.store(&node, std::memory_order_relaxed); // O1
  return true;
}

template <class P>
void take_out(wait_list<P> &list, wait_node<P> &node) noexcept {
  wait_node<P> *next = node.next.get();
  if (next == &node) {
    list.oldest.store(nullptr, std::memory_order_relaxed); // O1
  } else {
    next->previous.set(node.previous.get());
    node.previous.get()->next.set(next);
    if (list.oldest.load(std::memory_order_relaxed) == &node) // O1
      list.oldest.store(next, std::memory_order_relaxed); // O1
  }
  node.listed.set(false);
}

/// Returns the oldest node, or null if none waits. Forgets those that are lost.
template <class P>
[[nodiscard]] wait_node<P> *oldest_of(wait_list<P> &list) noexcept {
  for (;;) {
    wait_node<P> *n = list.oldest.load(std::memory_order_relaxed); // O1
    if (!n || !is_lost(*n))
      return n;
    take_out(list, *n);
  }
}

/// Takes the oldest node out, for a grant. Returns null if none waits.
template <class P>
[[nodiscard]] wait_node<P> *take(wait_list<P> &list) noexcept {
  wait_node<P> *n = oldest_of(list);
  if (n) {
    take_out(list, *n);
    n->end.set(wait_end::granted);
  }
  return n;
}

/// Takes all nodes, for grants.
template <class P>
void take_all(wait_list<P> &list, wait_chain<P> &granted) noexcept {
  while (wait_node<P> *n = take(list))
    granted.add(*n);
}

/// Removes a node that was not granted. Returns false, and changes nothing, if it was.
template <class P>
[[nodiscard]] bool cancel(wait_list<P> &list, wait_node<P> &node, wait_end why) noexcept {
  if (unless(bug::sync_cancels_granted, !node.listed.get())) { // I2
    node.overdue.set(why);
    return false;
  }
  take_out(list, node);
  node.end.set(why);
  return true;
}

} // namespace rt
} // namespace weft::inline v0
