// SPDX-License-Identifier: Apache-2.0
// The callbacks of a stop source, and the removers that wait for one that runs.
//
// Roles       Registrar: constructs a callback, and registers its node.
//             Requester: the first that requests a stop. It takes one node after the other out of the
//             list, and calls each without the lock.
//             Remover: destroys a callback. Removers of different nodes may meet.
// Words       requested: false, then true for ever. running: the node whose callback runs, or null.
// Invariants  I1  The list, `runner` and `running` change under the lock of the source (see
//                 wait_list.hpp), `requested` too: so one caller is the requester, and a node is either
//                 in the list when the requester looks, or its registrar has seen the request.
//             I2  A node is out of the list before its callback is called. Either the requester or the
//                 remover takes it out, so a callback that was removed is not called.
//             I3  A remover that finds its node running waits until `running` has another value,
//                 unless it is the requester itself, below the callback.
//             I4  The requester does not touch a node after its callback has returned, but compares
//                 addresses. A node that is constructed where a running one was is never registered, by
//                 I1, and so its remover asks nothing.
//             I5  The requester touches the source last when it finds the list empty; by then all
//                 removers have gone on or are on its chain.
// Orders      The lock orders all that is plain.
//             O1  requested store, release, with loads of stop_requested(), acquire: what was done
//                 before the request is seen by those that see it.
//             O2  running store, release, with the load of a remover that cannot suspend, and looks at
//                 `running` without the lock, acquire: the callback has returned.
// Progress    Blocking: by the lock, and removers by the callback that they wait for.
// Reclamation A node is its callback's, the source that of its owner. Callbacks end before the source.
// Source      ISO C++26, [stopsource.inplace].
// Checked by  tests/model/stop_models.cpp: stop_*
#pragma once

#include "sync/wait_list.hpp"

#include <weft/detail/stop_words.hpp>

namespace weft::inline v0 {
namespace rt {

using detail::stop_node;
using detail::stop_runner;
using detail::stop_state;

// All of these are called under the lock of the source.

/// Notes the request. Returns whether the caller is the first, and so the requester.
template <class P>
[[nodiscard]] bool begin_request(stop_state<P> &state, const stop_runner &by) noexcept {
  if (state.requested.load(std::memory_order_relaxed)) // the lock orders it
    return false;
  state.runner.set(by);
  state.requested.store(true,
                        order_unless(bug::stop_request_relaxed, std::memory_order_release)); // O1
  return true;
}

/// Enters a node. Returns false if a stop was requested.
template <class P>
[[nodiscard]] bool enter_callback(stop_state<P> &state, stop_node<P> &node) noexcept {
  if (state.requested.load(std::memory_order_relaxed)) // the lock orders it
    return false;
  stop_node<P> *const second = state.newest.get();
  node.next.set(second);
  node.previous.set(nullptr);
  node.listed.set(true);
  if (second)
    second->previous.set(&node);
  state.newest.set(&node);
  return true;
}

template <class P>
void take_out(stop_state<P> &state, stop_node<P> &node) noexcept {
  stop_node<P> *const next = node.next.get(), *const previous = node.previous.get();
  if (next)
    next->previous.set(previous);
  if (previous)
    previous->next.set(next);
  else
    state.newest.set(next);
  node.listed.set(false);
}

/// Ends the callback that was called last, and takes the next node. Returns null if none is left.
template <class P>
[[nodiscard]] stop_node<P> *next_callback(stop_state<P> &state, wait_chain<P> &granted) noexcept {
  unless(bug::stop_forgets_removers, [&] { take_all(state.waiters, granted); }); // I3
  stop_node<P> *const n = state.newest.get();
  if (n)
    take_out(state, *n); // I2
  state.running.store(n, order_unless(bug::stop_end_relaxed, std::memory_order_release)); // O2
  return n;
}

/// Takes a registered node out. Returns false if its callback runs elsewhere.
template <class P>
[[nodiscard]] bool leave(stop_state<P> &state, stop_node<P> &node, const stop_runner &by) noexcept {
  if (node.listed.get()) {
    take_out(state, node);
    return true;
  }
  return unless(bug::stop_removes_running,
                state.running.load(std::memory_order_relaxed) != &node || // the lock orders it
                    state.runner.get().is(by),
                true); // I3
}

/// Does the same; on false `self` waits for the end of the callback.
template <class P>
[[nodiscard]] bool leave_or_enter(stop_state<P> &state, stop_node<P> &node, const stop_runner &by,
                                  wait_node<P> &self) noexcept {
  if (leave(state, node, by))
    return true;
  enter(state.waiters, self);
  return false;
}

} // namespace rt
} // namespace weft::inline v0
