// SPDX-License-Identifier: Apache-2.0
#include "task/end_paths.hpp"

#include "deps/access.hpp"
#include "deps/registration.hpp"
#include "task/complete.hpp"
#include "task/locals.hpp"
#include "task/pending.hpp"
#include "task/ready.hpp"
#include "task/wait/hold.hpp"

#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

WEFT_NOINLINE runnable *end_last_member(task &self, cohort &joined, const task *outer,
                                        body_on where) {
  serve_cohort(joined.self());
  finish(*this_thread_context(), self, group_of(self), 1, where, outer);
  return nullptr;
}

/// Finishes a task whose closure has a destructor, which may change the thread.
WEFT_NOINLINE void finish_with_destructor(task &self, const task *outer, body_on where,
                                          std::uint32_t released_refs, ready_list &ready) {
  if (!destroy_closure(self, released_refs, completed::by_its_body))
    return;
  if (!peek_extra(self)) [[likely]]
    finish(*this_thread_context(), self, group_of(self), released_refs, where, outer);
  else // the destructor has made the block: for values of its own, or for what its children have thrown
    complete(self, completed::by_its_body, released_refs, counter_of(self.parent, outer, where),
             ready);
}

/// Ends a task whose deferred destructor has run. It came as a ready task, and is not counted as
/// one.
WEFT_COLD runnable *end_deferred_destructor(task &self, task *outer) {
  this_thread_context()->current = outer;
  count(this_thread_context()->counts->executed, ~std::uint64_t{0});
  ready_list ready;
  if (self.children.done(self.owned_children) || settle_children(self, 0))
    complete(self, completed::by_its_body, 0, counted_by::any_thread, ready);
  return first_of(ready);
}

} // namespace

runnable *end_member(task &self, task *outer, body_on where) {
  thread_context &now = *this_thread_context(); // the thread may have changed
  now.current = outer;
  data_access &only = self.accesses()[0];
  cohort &joined = *only.joined;
  if (joined.how == sharing::reduction)
    give_back_copy_of(only);
  if (joined.members.leave()) [[unlikely]]
    return end_last_member(self, joined, outer, where);
  finish(now, self, group_of(self), 1, where, outer);
  return nullptr;
}

runnable *end_with_accesses(task &self, task *outer, body_on where) {
  thread_context &now = *this_thread_context(); // the thread may have changed
  now.current = outer;
  ready_list ready;
  const std::uint32_t released_refs = release_accesses(self, ready);
  if (!self.ops->destroy) [[likely]]
    finish(now, self, group_of(self), released_refs, where, outer);
  else
    finish_with_destructor(self, outer, where, released_refs, ready);
  return ready.empty() ? nullptr : first_of(ready);
}

namespace {

/// Returns a task for the caller to run: `next`, or the first of the list; the others are enqueued.
WEFT_INLINE runnable *next_of(runnable *next, ready_list &ready) {
  if (ready.empty()) [[likely]]
    return next;
  if (next)
    ready.push_back(next);
  return first_of(ready);
}

} // namespace

runnable *end_signalled(task &self, task *outer, body_on where) noexcept {
  this_thread_context()->current = outer; // the thread may have changed
  ready_list ready;
  runnable *next = nullptr; // or `ready` has what may run now
  unless(bug::done_not_signalled, [&] {
    waiter *const first = task_waiters::raise(self.done_word, k_done);
    if (first && !(next = release_only_waiter(*first)))
      fire_list(first, ready);
  });
  if (!destroy_closure(self, 0, completed::by_its_body)) [[unlikely]]
    return next_of(next, ready);
  thread_context &now = *this_thread_context(); // likewise
  if (peek_extra(self))
      [[unlikely]] // made by the destructor, or by a thread that asks the task to stop
    complete(self, completed::by_its_body, 0, counter_of(self.parent, outer, where), ready);
  else
    finish<true>(now, self, group_of(self), 0, where, outer);
  return next_of(next, ready);
}

runnable *end_general(task &self, task *outer, body_on where) {
  task_extra *const extra = peek_extra(self);
  if (extra && extra->only_destructor)
    return end_deferred_destructor(self, outer);
  if (extra && goes_again(self, *extra))
    return begin_again(self, *extra, outer);
  if (extra)
    end_locals(*extra); // the values' destructors run as the task
  this_thread_context()->current = outer;
  if (extra && extra->events.used()) {
    note_pending(self, *extra, pending_until::it_may_end);
    if (!extra->events.end_body())
      return nullptr;
    forget_pending(*extra);
  }
  ready_list ready;
  end_task(self, completed::by_its_body, counter_of(self.parent, outer, where), ready);
  return first_of(ready);
}

} // namespace rt
} // namespace weft::inline v0
