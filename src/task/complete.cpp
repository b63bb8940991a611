// SPDX-License-Identifier: Apache-2.0
#include "task/complete.hpp"

#include "base/error.hpp"
#include "base/mutant.hpp"
#include "deps/access.hpp"
#include "deps/hooks.hpp"
#include "deps/messages.hpp"
#include "deps/registration.hpp"
#include "task/failure.hpp"
#include "task/hooks.hpp"
#include "task/pending.hpp"
#include "task/ready.hpp"
#include "task/recorded.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/waiters.hpp"

#include <weft/error.hpp>

#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Drops a task below which everything is complete and whose closure is destroyed, and counts it
/// where it is waited for. Returns the parent if that makes it complete.
WEFT_INLINE task *drop(task &self, std::uint32_t released_refs, counted_by who) {
  if (task_extra *extra = peek_extra(self))
    pass_on_children_error(self, *extra);
  task *const parent = self.parent;
  group_state *const group = group_of(self);
  drop_references(self, 1 + released_refs);
  return count_down(parent, group, who);
}

/// Posts the end of the task, if that is possible. If it returns false, `childless` may have become
/// false.
WEFT_COLD bool posts_end(task &self, completed how, bool &childless) {
  thread_context *const here = this_thread_context(); // null on a thread that only decreases events
  if (!here || here->in_callback || (how == completed::by_others && holds_closure(self)) ||
      !may_post(self) || acts_locally(*here))
    return false;
  const bool was_childless = childless;
  childless = was_childless && destroy_early(self);
  return childless == was_childless &&
         post_end(self, childless ? posted_end::of_childless : posted_end::of_parent);
}

} // namespace

void complete(task &self, completed how, std::uint32_t released_refs, counted_by who,
              ready_list &ready) {
  task *done = &self;
  for (;;) {
    if (!destroy_closure(*done, released_refs, how)) [[unlikely]]
      return;
    done = drop(*done, released_refs, who);
    if (!done)
      return;
    if (is_recorded(*done))
      return recorded_is_complete(*done);
    released_refs = done->has(detail::k_wait) ? release_accesses(*done, ready) : 0;
    who = counted_by::any_thread;
    how = completed::by_others;
  }
}

void complete_upwards(task &self) {
  if (is_recorded(self))
    return recorded_is_complete(self);
  ready_list ready;
  const std::uint32_t released_refs = self.has(detail::k_wait) ? release_accesses(self, ready) : 0;
  complete(self, completed::by_others, released_refs, counted_by::any_thread, ready);
  enqueue_all(ready);
}

bool may_post(task &self) noexcept {
  // A posted end counts in the word that tells an entry left behind from others.
  const bool has_entry = self.has(detail::k_tracked) && is_left_behind(self.unsatisfied);
  return !self.has(detail::k_undeferred) && !has_entry &&
         (self.extent != 0 || self.children_domain) && !shares(self);
}

bool destroy_early(task &self) noexcept {
  if (holds_closure(self))
    run_destructor(self);
  return self.children.done(self.owned_children);
}

void end_task(task &self, completed how, counted_by who, ready_list &ready) {
  bool childless = self.children.done(self.owned_children);
  if (sends_messages() && (childless || !self.has(detail::k_wait)) &&
      posts_end(self, how, childless)) [[unlikely]]
    return;
  const bool release_now = childless || !self.has(detail::k_wait);
  const std::uint32_t released_refs = release_now ? release_accesses(self, ready) : 0;
  if (!childless && released_refs)
    drop_references(self, released_refs);
  if (self.has(k_waited_for))
    signal_done(self, ready);
  if (childless)
    return complete(self, how, released_refs, who, ready);
  if (settle_children(self, 0))
    complete(self, how, release_now ? 0 : release_accesses(self, ready), counted_by::any_thread,
             ready);
}

void release_ended(task &self, ready_list &ready) {
  if (const std::uint32_t released_refs = release_accesses(self, ready))
    drop_references(self, released_refs);
  if (self.has(k_waited_for))
    signal_done(self, ready);
}

void drop_ended(task &self) {
  if (task *parent = drop(self, 0, counted_by::any_thread))
    complete_upwards(*parent);
}

void settle_ended(task &self, ready_list &ready) {
  if (settle_children(self, 0))
    complete(self, completed::by_others, 0, counted_by::any_thread, ready);
}

void fail_unentered(task &self, ready_list &ready) {
  self.extent = 0;
  try {
    throw_error(errc::out_of_resources,
                "no memory for the accesses of task '%s', which is not run; name fewer of them",
                label_of(self));
  } catch (...) {
    fail(self, std::current_exception());
  }
  end_task(self, completed::by_others, counted_by::any_thread, ready);
}

void events_are_over(task &self) {
  forget_pending(*peek_extra(self));
  if (is_recorded(self))
    return recorded_is_over(self);
  if (task_extra *extra = peek_extra(self); extra && std::exchange(extra->again_when_over, false)) {
    extra->events.begin_again();
    return enqueue_ready(self);
  }
  end_without_body(self);
}

void end_external_task(task &self, void (*notify)(void *receiver, void *context), void *receiver) {
  ready_list ready;
  thread_context *const now = this_thread_context();
  const bool alone =
      self.children.done(self.owned_children) && !self.children_domain && !peek_extra(self);
  if (!now || !alone || mailbox::needs_general_path()) [[unlikely]]
    end_task(self, completed::by_others, counted_by::any_thread, ready);
  else
    finish(*now, self, nullptr, release_records(self, ready), body_on::frame, nullptr);
  while (runnable *next = ready.pop_front()) {
    task &after = *static_cast<task *>(next);
    if (!notify || !is_external(after)) {
      if (announce_ready(after))
        enqueue_ready(after);
    } else if (!shares(after) || take_exclusions(after)) {
      notify(receiver, external_closure_of(after).context);
    }
  }
}

void end_without_body(task &self) {
  ready_list ready;
  end_task(self, completed::by_others, counted_by::any_thread, ready);
  enqueue_all(ready);
}

} // namespace rt
} // namespace weft::inline v0
