// SPDX-License-Identifier: Apache-2.0
// The groups that threads have made outside of tasks. No task waits for these: the thread that ends
// Weft waits for its own, because exit() leaves them as they are.
//
// Roles       Maker: enters a group, and looks for those of its own. Any thread: removes a group.
// Invariants  I1  Links change under the lock of the part of the table, which the maker chooses.
//             I2  A group that is in the list has a place, whichever; one that is not has none. Only
//                 the maker and the child of a fork change that.
// Orders      O1  relaxed: a look at whether there is a place at all, by I2. The lock orders all else.
// Progress    Blocking, by the lock, whose holders only walk over the groups of some threads.
// Reclamation None: a group leaves the list before its memory goes.
// Checked by  tests/unit/api/group_test.cpp: thread_groups
#pragma once

#include "task/groups/group.hpp"

#include <atomic>

namespace weft::inline v0 {
namespace rt {

/// Is the state of every group. The links are of one that a thread has made outside of tasks.
struct listed_group : group_state {
  listed_group *next = nullptr;
  std::atomic<listed_group **> place{nullptr}; // what refers to the group; null: not in the list
};

/// Enters a group of the caller, whose owner is set.
void enter_group(listed_group &group) noexcept;
void remove_listed_group(listed_group &group) noexcept;
inline void remove_group(listed_group &group) noexcept {
  if (group.place.load(std::memory_order_relaxed)) [[unlikely]] // O1
    remove_listed_group(group);
}
/// Returns a group of the caller, which `root` represents, whose tasks are not complete; or null.
[[nodiscard]] group_state *open_group_of(const task &root) noexcept;
/// Reports what the groups of the caller keep, whose tasks are complete. Returns whether there is
/// anything.
bool report_kept_of(const task &root) noexcept;
/// Keep the list whole over a fork(). The child has none of the groups in it: their tasks are the
/// parent's, and the stacks that they may be on are given to other threads.
void groups_before_fork() noexcept;
void groups_after_fork() noexcept;
void forget_groups_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
