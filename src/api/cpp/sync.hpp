// SPDX-License-Identifier: Apache-2.0
// What the bodies of the synchronization objects share: a wait in the list of an object.
#pragma once

#include "services/timer.hpp"
#include "sync/lock_table.hpp"
#include "sync/wait_list.hpp"
#include "ult/thread_context.hpp"

#include <weft/detail/wait_list.hpp>

#include <stop_token>

namespace weft::inline v0 {
namespace rt {

/// Says whether a stop request may end a wait with this limit.
[[nodiscard]] inline bool may_be_stopped(const detail::wait_limit &limit) noexcept {
  return limit.stop && limit.stop->stop_possible();
}

/// Says where a node waits.
struct wait_place {
  const void *object; // of the lock
  wait_list<> &list;
  void *state; // of settle
  void (*settle)(void *state, wait_chain<> &granted) noexcept; // after a node has left ungranted
  waits_for what; // for reports
};

template <class State>
[[nodiscard]] wait_place place_in(State &of, waits_for what) noexcept {
  return {&of, of.waiters, &of,
          [](void *state, wait_chain<> &granted) noexcept {
            if constexpr (requires { settle(*static_cast<State *>(state), granted); })
              settle(*static_cast<State *>(state), granted);
          },
          what};
}

/// Is what may end a wait before the grant.
struct cancellable {
  wait_node<> &self;
  const wait_place &place;

  /// Returns whether the wait is over by this call. It is the last touch of the object.
  bool end(wait_end why) noexcept;
};

/// Ends the wait at the deadline.
class deadline_call {
 public:
  /// Prepares the call. Throws weft::error or std::bad_alloc.
  explicit deadline_call(cancellable &wait);
  ~deadline_call();
  deadline_call(const deadline_call &) = delete;
  deadline_call &operator=(const deadline_call &) = delete;
  void at(std::uint64_t deadline_ns) noexcept;

 private:
  timer::call m_call;
};

/// Ends the wait on a stop request, in the thread of the request.
struct stop_call {
  cancellable &wait;
  void operator()() const noexcept;
};

/// Returns the places of waits in a channel and for a notification.
[[nodiscard]] wait_place place_in_list(const void *object, wait_list<> &list,
                                       waits_for what) noexcept;

/// Makes the caller the waiter of a node that it is about to enter. Throws weft::error where the
/// caller cannot be one.
void begin_wait(wait_node<> &self);
/// Waits for the grant of a node that was entered, until the limit. Throws weft::error, with the
/// node out of the list.
wait_end await_grant(wait_node<> &self, const wait_place &place, const detail::wait_limit &limit);
/// Takes a node out whose waiter does not wait. If it is being granted, that is over afterwards: the
/// node may go.
void withdraw(const void *object, wait_list<> &list, wait_node<> &self) noexcept;
/// Lets the waiter of a node that was taken go on. It is the last touch of the node.
void grant(wait_node<> &node) noexcept;
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
