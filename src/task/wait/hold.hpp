// SPDX-License-Identifier: Apache-2.0
// Holds a task back until other tasks, or promises, have ended: clause `after`. A task without
// accesses counts them in `unsatisfied`, one with accesses in the gate of its extra block, which
// counts its accesses as one more.
#pragma once

#include "task/countdown.hpp"
#include "task/task.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/waiters.hpp"

namespace weft::inline v0 {
namespace rt {

/// Attaches the nodes of a task. Returns how many of the awaited tasks have ended.
std::uint32_t attach_all(task &held, detail::after_node *nodes, std::size_t count,
                         std::atomic<std::uint32_t> &left) noexcept;
/// Returns the task that the node holds back; null for a waiter that is no such node. For reports.
[[nodiscard]] task *held_by(const waiter &waiting) noexcept;
/// Says how much is known of what holds a task back. For reports, while nothing changes.
enum class holding { nothing, known, unknown };
/// Calls `f` for each task or state that holds the task back, if none of those that it was spawned
/// after has ended: one that has may be gone.
holding for_each_holder(task &held, void (*f)(task &before, void *), void *context);
/// Returns whether the gate lets the task pass, whose accesses are granted.
[[nodiscard]] inline bool passes_gate(task &t) noexcept {
  task_extra *const extra = peek_extra(t);
  if (!extra || !extra->gated)
    return true;
  if (!take_away(extra->gate, 1))
    return false;
  extra->gated = false; // all others have passed
  return true;
}

} // namespace rt
} // namespace weft::inline v0
