// SPDX-License-Identifier: Apache-2.0
// The list of the states (promises, and futures of several) that hold tasks back. Perhaps no other
// structure that a report can walk refers to such a state, and so to the tasks behind it.
//
// Roles       Holder: enters a state before it attaches a node of a held task to it; if the state has
//             ended, the holder removes it again.
//             Ender: raises the done word; if there were waiters, it removes the state before it fires
//             them.
//             Observer: a report, while nothing runs.
// Invariants  I1  A state in the list has not been freed: its ender has a reference until it has fired
//                 the waiters, and a holder refers to it during the call.
//             I2  Links change under the lock of the part of the table, which the address chooses.
// Orders      The lock orders all that is plain.
//             O1  task::owned_children, for which a state has no other use, is 1 while it is listed. It
//                 is read relaxed without the lock, a hint. The ender has got the nodes by the done
//                 word, with what their holders did before, so it finds what they entered; a holder
//                 that comes later removes its entry itself.
// Progress    Blocking, by the lock, whose holders do a constant number of steps.
// Checked by  tests/stress/futures.cpp
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Is behind the storage of a state, where another task has its accesses; of a state in the list.
struct state_link {
  task *next;
  task **place; // what refers to the state
};
[[nodiscard]] inline bool is_listed(const task &state) noexcept {
  return __atomic_load_n(&state.owned_children, __ATOMIC_RELAXED) != 0; // O1
}

/// Says whether it is a promise, or a state of several futures: it has no body and no parent.
[[nodiscard]] inline bool is_state(const task &t) noexcept {
  return !t.parent && !t.ops->invoke && t.has(detail::k_tracked);
}

void enter_state(task &state) noexcept;
void remove_listed_state(task &state) noexcept;
inline void remove_state(task &state) noexcept {
  if (is_listed(state))
    remove_listed_state(state);
}
/// Calls `f` for each state of the list, while nothing runs.
void for_each_listed_state(void (*f)(task &, void *), void *context);
/// Keep the lists whole over a fork(); the child forgets what is in them.
void states_before_fork() noexcept;
void states_after_fork() noexcept;
void forget_states_in_child() noexcept; // in the place of states_after_fork()

} // namespace rt
} // namespace weft::inline v0
