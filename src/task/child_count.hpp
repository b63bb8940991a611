// SPDX-License-Identifier: Apache-2.0
// Counts an ended task where it is waited for: in its group, or in its parent.
#pragma once

#include "base/mutant.hpp"
#include "task/groups/group.hpp"
#include "task/hooks.hpp"
#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

/// Says which half of a counter a child is counted down in: the plain field of the owner, by a
/// frame below on this stack; or the word, by any thread.
enum class counted_by { owner, any_thread };

/// Lets the waiter go on: a frame, or a task whose body is a coroutine.
WEFT_NOINLINE inline void wake_waiter(runnable *&waiter) {
  runnable *const waiting = waiter;
  waiter = nullptr;
  if (waiting->base() == runnable::kind::frame) [[likely]]
    make_ready(*static_cast<frame *>(waiting));
  else
    enqueue_ready(*waiting);
}

WEFT_INLINE group_state *group_of(const task &self) noexcept {
  return self.group ? &self.group->internals() : nullptr;
}

/// Counts down after a task below `parent`, of `group` or of none, is complete, and wakes the
/// waiter of the last one. Returns the parent if that makes it complete.
WEFT_INLINE task *count_down(task *parent, group_state *group, counted_by who) {
  const bool owned_by_parent = !group || group->owner == parent;
  if (who == counted_by::owner && owned_by_parent) {
    --(group ? group->owned : parent->owned_children);
    return nullptr;
  }
  if (group && unless(bug::group_waiter_forgotten, group->word.remove()))
    wake_waiter(group->waiter);
  if ((group && owned_by_parent) || !parent->children.remove())
    return nullptr;
  if (!parent->next)
    return parent;
  unless(bug::parent_waiter_forgotten, [=] { wake_waiter(parent->next); });
  return nullptr;
}

/// Counts a child that ran on a loop of its own. The worker counts for one parent at a time, and
/// writes the parent's word when a task comes that is no child of it. If it wrote the word at each
/// child, the word of a parent with many children would go from cache to cache.
WEFT_INLINE bool count_later(thread_context &here, const task *parent,
                             const group_state *group) noexcept {
  if (group || here.counts_for != parent)
    return false;
  ++here.counted;
  return true;
}

} // namespace rt
} // namespace weft::inline v0
