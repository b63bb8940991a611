// SPDX-License-Identifier: Apache-2.0
// Destroys the callable of a task below which everything is complete. The destructor runs as the
// task: it may spawn children and wait.
#pragma once

#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Returns whether the body and the accesses of the task are over: its callable is gone, or is
/// being destroyed by a destructor that runs as the task. No other task has both flags.
[[nodiscard]] inline bool is_over(const task &self) noexcept {
  constexpr std::uint8_t both = detail::k_implicit | detail::k_destroys;
  return (self.flags & both) == both;
}

/// Returns whether a callable is left that has a destructor.
[[nodiscard]] WEFT_INLINE bool holds_closure(const task &self) noexcept {
  return self.has(detail::k_destroys) && self.ops->destroy && !is_over(self);
}

/// Says what completes a task: its own body ends here, or something else ends it, on top of an
/// unrelated frame that must not wait for a destructor.
enum class completed { by_its_body, by_others };

/// Runs the destructor of the callable as the task, on a thread of Weft: what the destructor spawns
/// are children of the task, and it may wait.
WEFT_NOINLINE void run_destructor(task &self) noexcept;

/// Settles the children after the body or the destructor. Its frame calls it. True: nothing is left
/// below the task. False: the last child goes on, and `released_refs` are dropped.
bool settle_children(task &self, std::uint32_t released_refs);

WEFT_NOINLINE bool destroy_closure_of(task &self, std::uint32_t released_refs, completed how);
/// Destroys the callable, if it has a destructor. False: what the destructor spawned is not
/// complete, or a worker runs the destructor later; the task is completed then, and `released_refs`
/// are dropped.
WEFT_INLINE bool destroy_closure(task &self, std::uint32_t released_refs, completed how) {
  return !holds_closure(self) || destroy_closure_of(self, released_refs, how);
}

} // namespace rt
} // namespace weft::inline v0
