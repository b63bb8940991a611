// SPDX-License-Identifier: Apache-2.0
// Runs a task, and chooses how its body ends. The first row that applies:
//
//   case                                                            path
//   ends_fast(): no access or one in a chain, and nothing else      end_fast
//   a handle, and nothing else; the parent ran it and waits         end_below_parent
//   a handle, and nothing else                                      end_signalled
//   dependency work is posted to managers, this end as well         post_end
//   dependency work is posted to managers, but ends_fast()          end_fast
//   an extra block, children that live, or a signal at the end      end_general
//   one access, which shares; no destructor                         end_member
//   more accesses, regions, children's accesses, or a destructor    end_with_accesses
//
// Each path ends in finish(), or in the general end_task() of complete.cpp.
#include "task/execute.hpp"

#include "arch/exception_state.hpp"
#include "base/mutant.hpp"
#include "deps/access.hpp"
#include "deps/hooks.hpp"
#include "deps/messages.hpp"
#include "task/child_count.hpp"
#include "task/complete.hpp"
#include "task/destructor.hpp"
#include "task/end_paths.hpp"
#include "task/ready.hpp"
#include "task/run_body.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/coroutine.hpp"
#include "task/wait/run_in_place.hpp"

#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Returns whether the end of the task needs no more than to release at most one access, to free a
/// block and to count a child.
WEFT_INLINE bool
ends_fast(const task &self,
          bool (*needs_general_path)() noexcept = &mailbox::needs_general_path) noexcept {
  const bool bare = (reinterpret_cast<std::uintptr_t>(peek_extra(self)) |
                     reinterpret_cast<std::uintptr_t>(self.children_domain)) == 0;
  // The count of children is read last: destructors of what a taskiter has recorded may spawn below
  // the task on another thread meanwhile.
  return bare && !self.has(k_waited_for | detail::k_destroys | detail::k_special) &&
         (self.extent == 0 || (self.extent == 1 && !needs_general_path())) &&
         self.children.done(self.owned_children);
}

WEFT_INLINE runnable *end_fast(thread_context &now, task &self, task *outer,
                               body_on where) noexcept {
  now.current = outer;
  const released access = self.extent != 0 ? release_common(self) : released{nullptr, 0};
  finish(now, self, group_of(self), access.released_refs, where, outer);
  return access.next;
}

/// Returns whether nothing but accesses and the destructor is left to end.
WEFT_INLINE bool has_only_accesses(const task &self) noexcept {
  return !peek_extra(self) && self.children.done(self.owned_children) && !self.has(k_waited_for);
}

WEFT_INLINE runnable *end_locally(task &self, task *outer, body_on where) {
  if (!has_only_accesses(self))
    return end_general(self, outer, where);
  return !self.children_domain && is_lone_member(self) && !self.has(detail::k_destroys)
             ? end_member(self, outer, where)
             : end_with_accesses(self, outer, where);
}

/// Ends a body while dependency work is posted: by a message, or locally if this worker does not
/// post.
WEFT_NOINLINE runnable *end_or_post(task &self, task *outer, body_on where) {
  thread_context &now = *this_thread_context(); // the thread may have changed
  const bool posts = !acts_locally(now);
  if (!posts && ends_fast(self, &mailbox::needs_general_path_without_messages))
    return end_fast(now, self, outer, where);
  if (posts && has_only_accesses(self) && may_post(self)) {
    now.current = outer;
    if (!now.in_callback && destroy_early(self) && post_end(self, posted_end::of_childless))
      return nullptr;
  }
  return end_locally(self, outer, where);
}

/// Ends a body that does not end fast.
WEFT_NOINLINE runnable *end_body(task &self, task *outer, body_on where) {
  return sends_messages() ? end_or_post(self, outer, where) : end_locally(self, outer, where);
}

/// Returns whether the end of a task with a handle needs no more than a signal, a destructor and to
/// count a child.
WEFT_INLINE bool has_lean_end(const task &self) noexcept {
  const bool bare = (reinterpret_cast<std::uintptr_t>(peek_extra(self)) |
                     reinterpret_cast<std::uintptr_t>(self.children_domain)) == 0;
  return bare && !self.has(detail::k_undeferred) && self.extent == 0 &&
         self.children.done(self.owned_children);
}

/// Ends the body of a task with a handle.
WEFT_INLINE runnable *end_with_handle(task &self, task *outer, body_on where) {
  if (has_lean_end(self)) [[likely]]
    return end_signalled(self, outer, where);
  return end_body(self, outer, where);
}

WEFT_NOINLINE void count_for(thread_context &here, task *parent) {
  flush_child_count(here);
  here.counts_for = parent;
}

/// Drops the entry of a task that a waiter has begun. It came as a ready task, and is not counted as
/// one.
WEFT_COLD runnable *drop_entry(thread_context &here, task &self, task *outer) noexcept {
  here.current = outer;
  count(here.counts->executed, ~std::uint64_t{0});
  drop_references(self, 1);
  return nullptr;
}

/// Flushes the count before a task of a group runs: the waiter for the children does not have to wait
/// for the group.
template <body_on Where>
WEFT_INLINE void flush_before_group(thread_context &here) {
  if (Where == body_on::loop && unless(bug::parent_flushed_late, here.counted != 0)) [[unlikely]]
    flush_child_count(here);
}

/// Runs a task that has a handle, or that needs a look before it runs.
template <body_on Where>
WEFT_NOINLINE void run_marked(thread_context &here, task &self) noexcept {
  if (self.group)
    flush_before_group<Where>(here);
  if ((is_cancelled(self) || is_asked_to_stop(self)) && !is_coroutine_begun(self))
    skip_body(self);
  else if (self.has(detail::k_special) && peek_extra(self))
    run_with_extra(self);
  else
    run_body(self);
}

/// Returns whether the task has neither a group nor an extra block. The common path
/// keeps no address for that: the compiler does not know that it is the same task.
WEFT_INLINE bool is_bare(const task &self) noexcept {
  const task *same = &self;
  asm("" : "+r"(same));
  return (reinterpret_cast<std::uintptr_t>(same->group) |
          reinterpret_cast<std::uintptr_t>(peek_extra(*same))) == 0;
}

/// Makes the task the current one of a worker that counts for its parent. Returns the task that was it.
template <body_on Where>
WEFT_INLINE task *enter(thread_context &here, task &self) noexcept {
  if (Where == body_on::loop && here.counts_for != self.parent &&
      unless(bug::parent_flushed_late, true, here.counted == 0)) [[unlikely]]
    count_for(here, self.parent);
  return std::exchange(here.current, &self);
}

/// Returns whether the task is a coroutine that goes on after a wait, and needs no look of a first run.
WEFT_INLINE bool needs_only_to_run(const task &self) noexcept {
  return is_coroutine_begun(self) && !self.group && !peek_extra(self)->stack_bytes;
}

/// Executes a task with a handle, or drops the entry that its waiter has left behind.
template <body_on Where>
WEFT_INLINE runnable *execute_with_handle(thread_context &here, task &self) noexcept {
  task *const outer = enter<Where>(here, self);
  if (!take_entry(self.unsatisfied)) [[unlikely]]
    return drop_entry(here, self, outer);
  if (is_bare(self)) [[likely]] {
    run_body(self);
    return end_with_handle(self, outer, Where);
  }
  if (needs_only_to_run(self))
    run_body(self);
  else
    run_marked<Where>(here, self);
  task_extra *const extra = peek_extra(self);
  if (extra && goes_again(self, *extra)) // a coroutine that waits
    return begin_again(self, *extra, outer);
  return end_body(self, outer, Where);
}

/// Prepares the body of a task that is not marked. Returns false if the task was skipped.
template <body_on Where>
WEFT_INLINE bool prepare_body(thread_context &here, task &self) noexcept {
  if (!self.group)
    return true;
  flush_before_group<Where>(here);
  if (!is_cancelled(self)) [[likely]]
    return true;
  skip_body(self);
  return false;
}

template <body_on Where>
WEFT_INLINE runnable *execute_without_handle(thread_context &here, task &self) noexcept {
  task *const outer = enter<Where>(here, self);
  if (self.has_meanwhile(detail::k_special)) [[unlikely]] {
    if (is_bare(self)) [[likely]]
      run_body(self);
    else
      run_marked<Where>(here, self);
  } else if (prepare_body<Where>(here, self)) [[likely]] {
    run_body(self);
  }
  if (!ends_fast(self)) [[unlikely]]
    return end_body(self, outer, Where);
  return end_fast(*this_thread_context(), self, outer, Where); // the thread may have changed
}

WEFT_NOINLINE runnable *execute_with_handle_on_frame(thread_context &here, task &self) noexcept {
  return execute_with_handle<body_on::frame>(here, self);
}

WEFT_INLINE runnable *execute_on_frame(thread_context &here, task &self) noexcept {
  if (self.has_meanwhile(detail::k_tracked)) [[unlikely]] // as in execute()
    return execute_with_handle_on_frame(here, self);
  return execute_without_handle<body_on::frame>(here, self);
}

WEFT_NOINLINE runnable *execute_among_exceptions(thread_context &here, task &self) noexcept {
  const exception_state outer = std::exchange(*here.exceptions, {});
  runnable *successor = execute_on_frame(here, self);
  *this_thread_context()->exceptions = outer;
  return successor;
}

/// Gives completion a reference of its own if that of the task has stayed with an entry that was left
/// behind. The waiter, which is below on this stack, has one meanwhile.
template <awaited_entry Entry>
WEFT_INLINE void keep_for_completion(task &self) noexcept {
  if (Entry == awaited_entry::left_behind)
    self.references.fetch_add(1, std::memory_order_relaxed); // O2 of countdown.hpp
}

/// Ends a bare task that its parent has run while it waited for it. Returns false, and has changed
/// nothing, if more has to be done than to signal the end and to drop a reference.
template <awaited_entry Entry>
WEFT_INLINE bool end_below_parent(task &self, task &outer, runnable *&successor) noexcept {
  if (self.parent != &outer || self.group || holds_closure(self)) [[unlikely]]
    return false;
  this_thread_context()->current = &outer; // the thread may have changed
  ready_list ready;
  signal_done(self, ready);
  if (!peek_extra(self)) [[likely]] { // a thread that asks the task to stop makes it
    if (Entry == awaited_entry::taken)
      drop_references(self, 1); // else it is the entry's
    static_cast<void>(count_down(&outer, nullptr, counted_by::owner));
  } else {
    keep_for_completion<Entry>(self);
    complete(self, completed::by_its_body, 0, counted_by::owner, ready);
  }
  successor = ready.empty() ? nullptr : first_of(ready);
  return true;
}

/// Ends the body of a task that a frame of `outer` has run.
template <awaited_entry Entry>
WEFT_INLINE runnable *end_below(task &self, task &outer) noexcept {
  runnable *successor = nullptr;
  if (has_lean_end(self) && end_below_parent<Entry>(self, outer, successor)) [[likely]]
    return successor;
  keep_for_completion<Entry>(self);
  return end_with_handle(self, &outer, body_on::frame);
}

template <awaited_entry Entry>
WEFT_INLINE runnable *execute_awaited_here(thread_context &here, task &self) noexcept {
  task *const outer = std::exchange(here.current, &self);
  outer->next = &self; // for reports; it waits for no children meanwhile
  if (!is_bare(self) && (is_cancelled(self) || is_asked_to_stop(self))) [[unlikely]]
    skip_body(self);
  else
    run_body(self); // here is as much stack as the task asks for
  outer->next = nullptr;
  return end_below<Entry>(self, *outer);
}

template <awaited_entry Entry>
WEFT_COLD runnable *execute_awaited_among_exceptions(thread_context &here, task &self) noexcept {
  const exception_state outer = std::exchange(*here.exceptions, {});
  runnable *const successor = execute_awaited_here<Entry>(here, self);
  *this_thread_context()->exceptions = outer;
  return successor;
}

template <awaited_entry Entry>
WEFT_INLINE runnable *execute_awaited_on_frame(thread_context &here, task &self) noexcept {
  if (here.exceptions->caught || here.exceptions->uncaught) [[unlikely]]
    return execute_awaited_among_exceptions<Entry>(here, self);
  return execute_awaited_here<Entry>(here, self);
}

/// Runs a task on the frame of one that is not its parent, and notes that. The frame is on a pool stack.
template <awaited_entry Entry>
WEFT_NOINLINE runnable *execute_for_other(thread_context &here, task &self) noexcept {
  const run_in_place noted(*root_of(*here.pool_stack), *here.current);
  return execute_awaited_on_frame<Entry>(here, self);
}

template <awaited_entry Entry>
WEFT_INLINE runnable *execute_for_waiter(thread_context &here, task &self) noexcept {
  if (self.parent != here.current) [[unlikely]]
    return execute_for_other<Entry>(here, self);
  return execute_awaited_on_frame<Entry>(here, self);
}

} // namespace

runnable *execute_untracked(thread_context &here, task &self) noexcept {
  return execute_without_handle<body_on::loop>(here, self);
}

runnable *execute_tracked(thread_context &here, task &self) noexcept {
  return execute_with_handle<body_on::loop>(here, self);
}

runnable *execute_in_place(thread_context &here, task &self) noexcept {
  if (here.exceptions->caught || here.exceptions->uncaught) [[unlikely]]
    return execute_among_exceptions(here, self);
  return execute_on_frame(here, self);
}

runnable *execute_awaited(thread_context &here, task &self) noexcept {
  return execute_for_waiter<awaited_entry::taken>(here, self);
}

runnable *execute_claimed(thread_context &here, task &self) noexcept {
  return execute_for_waiter<awaited_entry::left_behind>(here, self);
}

runnable *end_awaited(task &self, task &outer) noexcept {
  return end_below<awaited_entry::taken>(self, outer);
}

void flush_child_count(thread_context &here) {
  const std::int64_t ended = std::exchange(here.counted, 0);
  task *const parent = std::exchange(here.counts_for, nullptr);
  if (ended == 0 || !parent->children.remove(ended))
    return;
  if (!parent->next)
    return complete_upwards(*parent);
  unless(bug::parent_waiter_forgotten, [=] { wake_waiter(parent->next); });
}

} // namespace rt
} // namespace weft::inline v0
