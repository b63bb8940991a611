// SPDX-License-Identifier: Apache-2.0
// What becomes of a task that may run: from its last satisfied access to the scheduler.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Calls the onready function of a task that has one: a callback, with the task as the current one.
void call_onready(task &self) noexcept;

/// Readies a task whose accesses allow it to run: takes what the task must have for itself, calls
/// onready, wakes an undeferred task's creator. Returns true if the caller enqueues the task.
bool announce_general(task &self);
inline bool announce_ready(task &self) {
  return !self.has(detail::k_special | detail::k_undeferred | detail::k_tracked) ||
         announce_general(self);
}
/// Takes the first task of the highest priority, which the caller runs or enqueues, and enqueues
/// the others. Returns null if there is none for the caller to run.
[[nodiscard]] runnable *first_of(ready_list &ready);
/// Enqueues the whole list. No task of it is undeferred, unless it is announced to its creator.
void enqueue_all(ready_list &ready);

inline bool g_traces_readiness = false; // written by hook_bodies(), before any task exists

} // namespace rt
} // namespace weft::inline v0
