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

/// Is what a node does that holds a task back.
void fire_after(waiter *self, firing &all) noexcept;
/// Attaches a node that is not the first one, or attaches to a task without a parent.
WEFT_NOINLINE bool attach_further(detail::after_node &node) noexcept;
/// Attaches one node of a task. Returns false if the awaited task has ended.
[[nodiscard]] WEFT_INLINE bool attach_after(detail::after_node &node, task &held,
                                            std::atomic<std::uint32_t> &left) noexcept {
  task &before = *node.before;
  node.fire = &fire_after;
  node.held = &held;
  node.left = &left;
  return (before.parent && task_waiters::attach_first(before.done_word, node)) || attach_further(node);
}
/// Returns the task that the waiter holds back, if it is the only waiter, and all that the task waits for; and if no
/// more than that is to be done before the task may run. Else null, and nothing has happened.
[[nodiscard]] WEFT_INLINE task *release_only_waiter(waiter &only) noexcept {
  if (only.next || only.fire != &fire_after)
    return nullptr;
  auto &node = static_cast<detail::after_node &>(only);
  task &held = *node.held;
  if (node.left != &held.unsatisfied || !held.is_plain(detail::k_special | detail::k_undeferred) ||
      !has_all(held.unsatisfied, 1))
    return nullptr;
  open_to_waiters(held.unsatisfied); // O1 of claim_word.hpp
  return &held;
}

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
