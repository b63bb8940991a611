// SPDX-License-Identifier: Apache-2.0
// The general end of a task, from the end of its body and events until it and its ancestors are
// complete; and the tail of every end, finish().
#pragma once

#include "task/child_count.hpp"
#include "task/destructor.hpp"
#include "task/execute.hpp"
#include "task/wait/waiters.hpp"

namespace weft::inline v0 {
namespace rt {

inline constexpr std::uint8_t k_waited_for =
    detail::k_tracked | detail::k_undeferred; // its end is signalled

/// Ends a task whose body and events are over: releases the accesses, settles the children.
void end_task(task &self, completed how, counted_by who, ready_list &ready);
/// Destroys and drops a task below which everything is complete, and so upwards. `released_refs`:
/// references of the task's accesses that end here as well.
void complete(task &self, completed how, std::uint32_t released_refs, counted_by who,
              ready_list &ready);
/// Completes a task whose last child another task's end has counted down.
WEFT_COLD void complete_upwards(task &self);

/// Returns whether the end of the task has to do with accesses, and no thread waits on the spot for
/// its effects.
WEFT_COLD bool may_post(task &self) noexcept;
/// Destroys a callable with a destructor before the end is posted: managers run no destructors.
/// False: the task has children again.
bool destroy_early(task &self) noexcept;

/// Wakes the waiters for the end of the task. Appends tasks that may run now to `ready`.
WEFT_INLINE void signal_done(task &self, ready_list &ready) noexcept {
  unless(bug::done_not_signalled, [&] {
    if (detail::waiter *const first = task_waiters::raise(self.done_word, k_done)) [[unlikely]]
      fire_list(first, ready);
  });
}

// The parts of an end, for the manager that applies it.

/// Releases the accesses, and wakes the waiters for the end.
void release_ended(task &self, ready_list &ready);
/// Does the rest for a task that has no children left and no callable to destroy.
void drop_ended(task &self);
/// Does the rest for a task that has some.
void settle_ended(task &self, ready_list &ready);
/// Fails a task, instead of running it, because there was no memory to enter its accesses.
void fail_unentered(task &self, ready_list &ready);

// Ends that do not follow from the end of a body.

/// Ends a task whose body has ended and whose last external event is gone.
void events_are_over(task &self);
/// Ends the task of a layer. Calls `notify`, if given, for each task that the end makes ready: see
/// <weft/layer/external_task.hpp>. Any thread.
void end_external_task(task &self, void (*notify)(void *receiver, void *context), void *receiver);
/// Ends a task that a thread outside of the workers has run. Any thread.
void end_without_body(task &self);

/// Returns how to count down a child of `parent` whose body ran on `where`. `outer`: the task of the
/// frame there; null if the child has no body.
WEFT_INLINE counted_by counter_of(const task *parent, const task *outer, body_on where) noexcept {
  return where == body_on::frame && parent == outer ? counted_by::owner : counted_by::any_thread;
}

/// Finishes a task of `group`, or of none, without extra block, whose closure is destroyed, whose end
/// is signalled if it has a handle, and whose accesses, `released_refs` of them, are released. `where`
/// and `outer`: see counter_of().
template <bool HasHandle = false>
WEFT_INLINE void finish(thread_context &now, task &self, group_state *group,
                        std::uint32_t released_refs, body_on where, const task *outer) {
  task *const parent = self.parent;
  if (HasHandle)
    drop_references(self, 1 + released_refs);
  else if (take_away(self.references, 1 + released_refs)) [[likely]] // no more of drop_references
    now.memory->deallocate(&self);
  if (where == body_on::loop && count_later(now, parent, group)) [[likely]]
    return;
  if (task *done = count_down(parent, group, counter_of(parent, outer, where))) [[unlikely]]
    complete_upwards(*done);
}

} // namespace rt
} // namespace weft::inline v0
