// SPDX-License-Identifier: Apache-2.0
// What the bodies of the synchronization objects share: a wait in the list of an object.
#pragma once

#include "sync/lock_table.hpp"
#include "sync/wait_list.hpp"
#include "ult/thread_context.hpp"

namespace weft::inline v0 {
namespace rt {

/// Says where a node waits.
struct wait_place {
  const void *object; // of the lock
  wait_list<> &list;
  void *state; // of settle
  void (*settle)(void *state, wait_chain<> &granted) noexcept; // after a node has left ungranted
  waits_for what; // for reports
};

template <class State>
[[nodiscard]] wait_place place_in(State &s, waits_for what) noexcept {
  return {&s, s.waiters, &s,
          [](void *state, wait_chain<> &granted) noexcept {
            if constexpr (requires { settle(*static_cast<State *>(state), granted); })
              settle(*static_cast<State *>(state), granted);
          },
          what};
}

/// Makes the caller the waiter of a node that it is about to enter. Throws weft::error where the
/// caller cannot be one.
void begin_wait(wait_node<> &self);
/// Waits for the grant of a node that was entered, until the limit. Throws weft::error, with the
/// node out of the list.
wait_end await_grant(wait_node<> &self, const wait_place &place, const detail::wait_limit &limit);
/// Lets the waiter of a node that was taken go on. It is the last touch of the node.
void grant(wait_node<> &n) noexcept;
void grant(wait_chain<> &granted) noexcept;

/// Waits in a list. `find_or_enter(node)` runs under the lock: it finds what the caller waits for,
/// or enters the node. Returns whether the caller has it.
template <class FindOrEnter>
bool wait_in_list(const wait_place &place, const detail::wait_limit &limit,
                  FindOrEnter find_or_enter) {
  wait_node<> self;
  begin_wait(self);
  {
    const sync_guard here(place.object);
    if (find_or_enter(self))
      return true;
  }
  return await_grant(self, place, limit) == wait_end::granted;
}

/// Runs `change(granted)` under the lock of the object, then lets the waiters that it took go on.
template <class Change>
void change_and_grant(const void *object, Change change) {
  wait_chain<> granted;
  {
    const sync_guard here(object);
    change(granted);
  }
  grant(granted);
}

} // namespace rt
} // namespace weft::inline v0
