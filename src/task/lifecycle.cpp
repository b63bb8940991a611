// SPDX-License-Identifier: Apache-2.0
#include "task/lifecycle.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"
#include "deps/access.hpp"
#include "deps/messages.hpp"
#include "task/failure.hpp"
#include "task/locals.hpp"
#include "task/pending.hpp"
#include "task/recorded.hpp"
#include "task/signal_word.hpp"
#include "task/stack_usage.hpp"
#include "task/tracing.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cxxabi.h>
#include <string>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

WEFT_COLD void delete_extra(const task &t, task_extra *x) noexcept {
  if (x->own_error)
    report_lost(label_of(t), x->own_error);
  if (x->children_error)
    report_lost(label_of(t), x->children_error);
  delete x;
}

void wake_waiter(runnable *&waiter) {
  auto *f = static_cast<frame *>(waiter);
  waiter = nullptr;
  make_ready(*f);
}

/// Counts down after a task below `parent`, of group `g` or of none, is complete, and wakes the
/// waiter of the last one. Returns the parent if that makes it complete. `by_owner`: the child is
/// counted in the owner's plain field, by a frame below on this stack.
WEFT_INLINE task *count_down(task *parent, group_state *g, bool by_owner) {
  const bool owned_by_parent = !g || g->owner == parent;
  if (by_owner && owned_by_parent) {
    --(g ? g->owned : parent->owned_children);
    return nullptr;
  }
  if (g && unless(bug::group_waiter_forgotten, g->word.remove()))
    wake_waiter(g->waiter);
  if ((g && owned_by_parent) || !parent->children.remove())
    return nullptr;
  if (!parent->next)
    return parent;
  unless(bug::parent_waiter_forgotten, [=] { wake_waiter(parent->next); });
  return nullptr;
}

WEFT_INLINE group_state *group_of(const task &t) noexcept {
  return t.group ? &t.group->internals() : nullptr;
}

/// Passes on what children of the body have thrown: a wait in the destructor must not rethrow it.
WEFT_COLD void hand_up_errors(task &t, task_extra &x) noexcept {
  if (!x.children_error)
    return;
  pass_on_children_error(t, x);
  x.failing.store(false, std::memory_order_relaxed); // nothing runs below the task
}

/// Runs the destructor of the callable as the task, on a thread of Weft: what the destructor spawns
/// are children of the task, and it may wait.
WEFT_NOINLINE void run_destructor(task &t) noexcept {
  thread_context *const before = this_thread_context();
  task *const outer = before ? std::exchange(before->current, &t) : nullptr;
  if (task_extra *x = peek_extra(t)) [[unlikely]]
    hand_up_errors(t, *x);
  t.children.reset();
  t.owned_children = 0;
  t.set(detail::k_implicit);
  t.ops->destroy(detail::storage(&t));
  if (task_extra *x = peek_extra(t)) [[unlikely]]
    end_locals(*x);
  if (before)
    this_thread_context()->current = outer; // the thread may have changed
}

/// Settles the children after the body or the destructor. Its frame calls it. True: nothing is left
/// below the task. False: the last child goes on, and `released_refs` are dropped.
bool settle_children(task &t, std::uint32_t released_refs) {
  t.next = nullptr; // nothing waits any more
  if (t.children.settle(t.owned_children))
    return true;
  if (released_refs)
    drop_references(t, released_refs);
  return false;
}

/// Says what completes a task: its own body ends here, or something else ends it, on top of an
/// unrelated frame that must not wait for a destructor.
enum class completed { by_its_body, by_others };

/// Lets a worker run the destructor, as if the task were ready once more. False: there is no memory
/// for that.
WEFT_COLD bool defer_destructor(task &t, std::uint32_t released_refs) {
  task_extra *const x = try_extra_of(t);
  if (!x)
    return false;
  x->only_destructor = true;
  t.set(detail::k_special);
  if (released_refs)
    drop_references(t, released_refs);
  enqueue_ready(t);
  return true;
}

WEFT_NOINLINE bool destroy_closure(task &t, std::uint32_t released_refs, completed how) {
  if ((how == completed::by_others || this_thread_context()->in_callback) &&
      defer_destructor(t, released_refs)) [[unlikely]]
    return false;
  run_destructor(t);
  return t.children.done(t.owned_children) || settle_children(t, released_refs);
}

/// Destroys the callable of a task below which everything is complete. False: what the destructor
/// spawned is not complete, or a worker runs the destructor later; the task is completed then, and
/// `released_refs` are dropped.
WEFT_INLINE bool end_closure(task &t, std::uint32_t released_refs, completed how) {
  return !t.ops->destroy || is_over(t) || destroy_closure(t, released_refs, how);
}

/// Drops a task below which everything is complete and whose closure is destroyed, and counts it
/// where it is waited for. Returns the parent if that makes it complete. `released_refs`:
/// references of the task's accesses that end here as well.
WEFT_INLINE task *drop(task &t, std::uint32_t released_refs, bool by_owner) {
  if (task_extra *x = peek_extra(t))
    pass_on_children_error(t, *x);
  task *const parent = t.parent;
  group_state *const g = group_of(t);
  drop_references(t, 1 + released_refs);
  return count_down(parent, g, by_owner);
}

/// Destroys and drops a task below which everything is complete, and so upwards.
void complete(task *t, completed how, std::uint32_t released_refs, bool by_owner,
              ready_list &ready) {
  for (;;) {
    if (!end_closure(*t, released_refs, how)) [[unlikely]]
      return;
    t = drop(*t, released_refs, by_owner);
    if (!t)
      return;
    if (is_recorded(*t))
      return recorded_is_complete(*t);
    released_refs = t->has(detail::k_wait) ? release_accesses(*t, ready) : 0;
    by_owner = false;
    how = completed::by_others;
  }
}

WEFT_COLD void complete_upwards(task &t) {
  if (is_recorded(t))
    return recorded_is_complete(t);
  ready_list ready;
  const std::uint32_t released_refs = t.has(detail::k_wait) ? release_accesses(t, ready) : 0;
  complete(&t, completed::by_others, released_refs, false, ready);
  enqueue_all(ready);
}

void signal_done(task &t) {
  void *waiter = raise_signal(t.done_word, k_done);
  if (unless(bug::done_not_signalled, waiter && waiter != k_runnable_now))
    make_ready(*static_cast<frame *>(waiter));
}

constexpr std::uint8_t k_waited_for =
    detail::k_tracked | detail::k_undeferred; // its end is signalled

/// Returns whether the end of `t` has to do with accesses, and no thread waits on the spot for its
/// effects.
WEFT_COLD bool may_post(task &t) noexcept {
  return !t.has(detail::k_undeferred) && (t.extent != 0 || t.children_domain) && !shares(t);
}

/// Destroys a callable with a destructor before the end is posted: managers run no destructors.
/// False: the task has children again.
bool destroy_early(task &t) noexcept {
  if (t.ops->destroy && !is_over(t))
    run_destructor(t);
  return t.children.done(t.owned_children);
}

/// Posts the end of `t`, if that is possible. If it returns false, `childless` may have become
/// false.
WEFT_COLD bool posts_end(task &t, completed how, bool &childless) {
  thread_context *const e = this_thread_context(); // null on a thread that only decreases events
  if (!e || e->in_callback || (how == completed::by_others && t.ops->destroy) || !may_post(t) ||
      acts_locally(*e))
    return false;
  const bool was_childless = childless;
  childless = was_childless && destroy_early(t);
  return childless == was_childless && post_end(t, childless);
}

/// Ends a task whose body and events are over: releases the accesses, settles the children.
void end_task(task &t, completed how, bool by_owner, ready_list &ready) {
  bool childless = t.children.done(t.owned_children);
  if (sends_messages() && (childless || !t.has(detail::k_wait)) && posts_end(t, how, childless))
      [[unlikely]]
    return;
  const bool release_now = childless || !t.has(detail::k_wait);
  const std::uint32_t released_refs = release_now ? release_accesses(t, ready) : 0;
  if (!childless && released_refs)
    drop_references(t, released_refs);
  if (t.has(k_waited_for))
    signal_done(t);
  if (childless)
    return complete(&t, how, released_refs, by_owner, ready);
  if (settle_children(t, 0))
    complete(&t, how, release_now ? 0 : release_accesses(t, ready), false, ready);
}

} // namespace

void release_ended(task &t, ready_list &ready) {
  if (const std::uint32_t released_refs = release_accesses(t, ready))
    drop_references(t, released_refs);
  if (t.has(k_waited_for))
    signal_done(t);
}

void drop_ended(task &t) {
  if (task *parent = drop(t, 0, false))
    complete_upwards(*parent);
}

void settle_ended(task &t, ready_list &ready) {
  if (settle_children(t, 0))
    complete(&t, completed::by_others, 0, false, ready);
}

void fail_unentered(task &t, ready_list &ready) {
  t.extent = 0;
  try {
    throw_error(errc::out_of_resources,
                "no memory for the accesses of task '%s', which is not run; name fewer of them",
                label_of(t));
  } catch (...) {
    fail(t, std::current_exception());
  }
  end_task(t, completed::by_others, false, ready);
}

namespace {

enum body_hook : std::uint8_t {
  k_measures_stacks = 1,
  k_traces_bodies = 2,
  k_safepoint = 4,
  k_traces_switches = 8 // with k_traces_bodies: the trace records nothing else of tasks
};
// Written before any task exists, except k_safepoint, which is a hint: a worker that misses it
// stops at its next body.
std::atomic<std::uint8_t> g_body_hooks{0};
WEFT_INLINE std::uint8_t hooks() noexcept { return g_body_hooks.load(std::memory_order_relaxed); }
bool g_traces_readiness = false; // also written before any task exists

/// Returns whether nothing about the end of `t` but its accesses is uncommon.
WEFT_INLINE bool ends_with_body(const task &t) noexcept {
  return !peek_extra(t) && t.children.done(t.owned_children) && !t.has(k_waited_for);
}

/// Counts a child that ran on a loop of its own. The worker counts for one parent at a time, and
/// writes the parent's word when a task comes that is no child of it. If it wrote the word at each
/// child, the word of a parent with many children would go from cache to cache.
WEFT_INLINE bool count_later(thread_context &here, const task *parent,
                             const group_state *g) noexcept {
  if (g || here.counts_for != parent)
    return false;
  ++here.counted;
  return true;
}

/// Frees a task whose accesses, `released_refs` of them, are released and whose closure is
/// destroyed, and counts it where it is waited for.
WEFT_INLINE void end_released(thread_context &now, task &t, std::uint32_t released_refs,
                              bool in_place, const task *outer) {
  task *const parent = t.parent;
  group_state *const g = group_of(t);
  if (take_away(t.references, 1 + released_refs))
    now.memory->deallocate(&t);
  if (!in_place && count_later(now, parent, g)) [[likely]]
    return;
  if (task *done = count_down(parent, g, in_place && parent == outer)) [[unlikely]]
    complete_upwards(*done);
}

/// Ends a task that has several accesses, regions, or had children with accesses.
WEFT_NOINLINE runnable *end_with_accesses(task &t, task *outer, bool in_place) {
  thread_context &now = *this_thread_context(); // the thread may have changed
  now.current = outer;
  ready_list ready;
  const std::uint32_t released_refs = release_accesses(t, ready);
  if (!t.ops->destroy) [[likely]]
    end_released(now, t, released_refs, in_place, outer);
  else if (end_closure(t, released_refs, completed::by_its_body)) { // the thread may have changed
    if (!peek_extra(t)) [[likely]]
      end_released(*this_thread_context(), t, released_refs, in_place, outer);
    else // the destructor has made the block: for values of its own, or for what its children have thrown
      complete(&t, completed::by_its_body, released_refs, in_place && t.parent == outer, ready);
  }
  return ready.empty() ? nullptr : first_of(ready);
}

WEFT_NOINLINE runnable *end_last_member(task &t, cohort &c, bool in_place, const task *outer) {
  serve_cohort(c.self());
  end_released(*this_thread_context(), t, 1, in_place, outer);
  return nullptr;
}

/// Ends a task that shares its only access, and whose closure needs no destructor.
WEFT_NOINLINE runnable *end_member(task &t, task *outer, bool in_place) {
  thread_context &now = *this_thread_context(); // the thread may have changed
  now.current = outer;
  data_access &a = t.accesses()[0];
  cohort &c = *a.joined;
  if (c.how == sharing::reduction)
    give_back_copy_of(a);
  if (c.members.leave()) [[unlikely]]
    return end_last_member(t, c, in_place, outer);
  end_released(now, t, 1, in_place, outer);
  return nullptr;
}

WEFT_NOINLINE runnable *end_general(task &t, task *outer, bool in_place);

/// Returns whether the end of `t` needs no more than to release at most one access, to free a block
/// and to count a child.
WEFT_INLINE bool
ends_fast(const task &t,
          bool (*needs_general_path)() noexcept = &mailbox::needs_general_path) noexcept {
  const bool bare = (reinterpret_cast<std::uintptr_t>(peek_extra(t)) |
                     reinterpret_cast<std::uintptr_t>(t.children_domain)) == 0;
  // The count of children is read last: destructors of what a taskiter has recorded may spawn below
  // the task on another thread meanwhile.
  return bare && !t.has(k_waited_for | detail::k_destroys | detail::k_special) &&
         (t.extent == 0 || (t.extent == 1 && !needs_general_path())) &&
         t.children.done(t.owned_children);
}

WEFT_INLINE runnable *end_fast(thread_context &now, task &t, bool in_place,
                               const task *outer) noexcept {
  const released r = t.extent != 0 ? release_common(t) : released{nullptr, 0};
  task *const parent = t.parent;
  group_state *const g = group_of(t);
  if (take_away(t.references, 1 + r.released_refs))
      [[likely]] // a common task needs no more of drop_references
    now.memory->deallocate(&t);
  if (!in_place && count_later(now, parent, g)) [[likely]]
    return r.next;
  if (task *done = count_down(parent, g, in_place && parent == outer)) [[unlikely]]
    complete_upwards(*done);
  return r.next;
}

WEFT_INLINE runnable *end_locally(task &t, task *outer, bool in_place) {
  if (!ends_with_body(t))
    return end_general(t, outer, in_place);
  return !t.children_domain && is_lone_member(t) && !t.has(detail::k_destroys)
             ? end_member(t, outer, in_place)
             : end_with_accesses(t, outer, in_place);
}

/// Ends a body by a message, or locally if this worker does not post.
WEFT_NOINLINE runnable *end_amid_messages(task &t, task *outer, bool in_place) {
  thread_context &now = *this_thread_context(); // the thread may have changed
  const bool posts = !acts_locally(now);
  if (!posts && ends_fast(t, &mailbox::needs_general_path_without_messages)) {
    now.current = outer;
    return end_fast(now, t, in_place, outer);
  }
  if (posts && ends_with_body(t) && may_post(t)) {
    now.current = outer;
    if (!now.in_callback && destroy_early(t) && post_end(t, true))
      return nullptr;
  }
  return end_locally(t, outer, in_place);
}

/// Ends a body that is not common: see execute().
WEFT_NOINLINE runnable *end_body(task &t, task *outer, bool in_place) {
  return sends_messages() ? end_amid_messages(t, outer, in_place) : end_locally(t, outer, in_place);
}

/// Ends a task whose deferred destructor has run. It came as a ready task, and is not counted as
/// one.
WEFT_COLD runnable *end_deferred_destructor(task &t, task *outer) {
  this_thread_context()->current = outer;
  count(this_thread_context()->counts->executed, ~std::uint64_t{0});
  ready_list ready;
  if (t.children.done(t.owned_children) || settle_children(t, 0))
    complete(&t, completed::by_its_body, 0, false, ready);
  return first_of(ready);
}

runnable *end_general(task &t, task *outer, bool in_place) {
  task_extra *const x = peek_extra(t);
  if (x && x->only_destructor)
    return end_deferred_destructor(t, outer);
  if (x && x->instead_of_end && !t.has(detail::k_cancelled)) {
    this_thread_context()->current = outer;
    count(this_thread_context()->counts->reruns);
    std::exchange(x->instead_of_end, nullptr)(t); // the last touch
    return nullptr;
  }
  if (x)
    end_locals(*x); // the values' destructors run as the task
  this_thread_context()->current = outer;
  if (x && x->events.used()) {
    note_pending(t, *x, pending_until::it_may_end);
    if (!x->events.end_body())
      return nullptr;
    forget_pending(*x);
  }
  ready_list ready;
  end_task(t, completed::by_its_body, in_place && t.parent == outer, ready);
  return first_of(ready);
}

WEFT_INLINE void invoke_body(task &t) noexcept {
  try {
    t.ops->invoke(detail::storage(&t));
  } catch (abi::__forced_unwind &) {
    fatal(
        "task '%s' was ended by pthread_exit() or pthread_cancel(); a task has to return or to throw",
        label_of(t));
  } catch (...) {
    fail(t, std::current_exception());
  }
}

void invoke_measured(task &t) noexcept {
  constexpr auto invoke = [](task &measured) noexcept { invoke_body(measured); };
  (hooks() & k_measures_stacks) != 0 ? run_measured(t, invoke) : invoke(t);
}

WEFT_NOINLINE void run_watched(task &t, std::uint8_t by) noexcept {
  if (by & k_safepoint) [[unlikely]]
    stop_at_safepoint();
  if (!(by & k_traces_bodies))
    return invoke_measured(t);
  const traced_body b = trace_begin(t);
  if (by & k_measures_stacks) [[unlikely]]
    invoke_measured(t);
  else
    invoke_body(t);
  trace_end(t, b);
}

WEFT_NOINLINE void run_hooked(task &t) noexcept {
  const std::uint8_t by = hooks();
  if (by != (k_traces_bodies | k_traces_switches) || !trace_lone_begin(t))
    return run_watched(t, by);
  invoke_body(t);
  trace_lone_end();
}

WEFT_INLINE void run_body(task &t) noexcept {
  if (hooks()) [[unlikely]]
    run_hooked(t);
  else
    invoke_body(t);
}

WEFT_COLD void run_with_extra(task &t) noexcept {
  task_extra *x = peek_extra(t);
  if (x && x->only_destructor)
    return run_destructor(t);
  if (!x || !x->stack_bytes)
    return run_body(t);
  try {
    run_on_own_stack(x->stack_bytes, [](void *p) { run_body(*static_cast<task *>(p)); }, &t);
  } catch (...) { // no such stack: the task fails
    fail(t, std::current_exception());
  }
}

} // namespace

void hook_bodies(bool measure, bool trace) noexcept {
  const int tracing = !trace                       ? 0
                      : traces(trace_level::tasks) ? k_traces_bodies
                                                   : k_traces_bodies | k_traces_switches;
  g_body_hooks.store(static_cast<std::uint8_t>((measure ? k_measures_stacks : 0) | tracing),
                     std::memory_order_relaxed);
  g_traces_readiness = trace && traces(trace_level::graph);
}

void arm_safepoint(bool on) noexcept {
  if (on)
    g_body_hooks.fetch_or(k_safepoint, std::memory_order_relaxed);
  else
    g_body_hooks.fetch_and(static_cast<std::uint8_t>(~k_safepoint), std::memory_order_relaxed);
}

void free_task(task &t, heap *mine) noexcept {
  // Only for a task with a handle: the module that holds `ops` may have been unloaded since the
  // task completed.
  if (t.has(detail::k_tracked) && t.ops->destroy_result)
    t.ops->destroy_result(detail::storage(&t));
  if (task_extra *x = t.extra.load(std::memory_order_relaxed))
    delete_extra(t, x);
  heap::deallocate(&t, mine);
}

namespace {

/// Skips the body of a task whose group was cancelled; its handle reports that.
WEFT_COLD void skip(task &t) noexcept {
  if (const task_extra *x = peek_extra(t); x && x->only_destructor)
    return run_destructor(t);
  t.set(detail::k_cancelled);
  if (hooks() & k_traces_bodies)
    trace_skipped(t);
  if (!t.has(detail::k_tracked))
    return;
  try {
    std::string what = "task '";
    what += label_of(t);
    what += "' was skipped: its group was cancelled before it ran";
    keep_own_error(t, std::make_exception_ptr(error(errc::cancelled, what)));
  } catch (...) {
    keep_own_error(t, std::current_exception());
  }
}

} // namespace

void flush_child_count(thread_context &here) {
  const std::int64_t n = std::exchange(here.counted, 0);
  task *const parent = std::exchange(here.counts_for, nullptr);
  if (n == 0 || !parent->children.remove(n))
    return;
  if (!parent->next)
    return complete_upwards(*parent);
  unless(bug::parent_waiter_forgotten, [=] { wake_waiter(parent->next); });
}

namespace {

WEFT_NOINLINE void count_for(thread_context &here, task *parent) {
  flush_child_count(here);
  here.counts_for = parent;
}

enum class place_of_body { own_loop, in_place };

template <place_of_body Where>
WEFT_INLINE runnable *execute_at(thread_context &here, task &t) noexcept {
  constexpr bool in_place = Where == place_of_body::in_place;
  if (!in_place && here.counts_for != t.parent &&
      unless(bug::parent_flushed_late, true, here.counted == 0)) [[unlikely]]
    count_for(here, t.parent);
  task *const outer = here.current;
  here.current = &t;
  if (!in_place && unless(bug::parent_flushed_late, t.group && here.counted != 0)) [[unlikely]]
    flush_child_count(here); // the waiter for the children does not have to wait for the group
  if (is_cancelled(t)) [[unlikely]]
    skip(t);
  else if (t.has(detail::k_special) && peek_extra(t)) [[unlikely]]
    run_with_extra(t);
  else
    run_body(t);
  if (!ends_fast(t)) [[unlikely]]
    return end_body(t, outer, in_place);
  thread_context &now = *this_thread_context(); // the thread may have changed
  now.current = outer;
  return end_fast(now, t, in_place, outer);
}

WEFT_NOINLINE runnable *execute_among_exceptions(thread_context &here, task &t) noexcept {
  const exception_state outer = std::exchange(*here.exceptions, {});
  runnable *successor = execute_at<place_of_body::in_place>(here, t);
  *this_thread_context()->exceptions = outer;
  return successor;
}

} // namespace

runnable *execute(thread_context &here, task &t) noexcept {
  return execute_at<place_of_body::own_loop>(here, t);
}

runnable *execute_in_place(thread_context &here, task &t) noexcept {
  if (here.exceptions->caught || here.exceptions->uncaught) [[unlikely]]
    return execute_among_exceptions(here, t);
  return execute_at<place_of_body::in_place>(here, t);
}

void run_whole(task &t) noexcept {
  if (t.has(detail::k_special)) [[unlikely]]
    run_with_extra(t);
  else
    run_body(t);
}

void events_are_over(task &t) {
  forget_pending(*peek_extra(t));
  if (is_recorded(t))
    return recorded_is_over(t);
  if (task_extra *x = peek_extra(t); x && std::exchange(x->again_when_over, false)) {
    x->events.begin_again();
    return enqueue_ready(t);
  }
  end_without_body(t);
}

void end_external_task(task &t, void (*notify)(void *receiver, void *context), void *receiver) {
  ready_list ready;
  thread_context *const now = this_thread_context();
  const bool alone = t.children.done(t.owned_children) && !t.children_domain && !peek_extra(t);
  if (!now || !alone || mailbox::needs_general_path()) [[unlikely]] {
    end_task(t, completed::by_others, false, ready);
  } else {
    const std::uint32_t released_refs = release_records(t, ready);
    task *const parent = t.parent;
    if (take_away(t.references, 1 + released_refs))
      now->memory->deallocate(&t);
    if (task *done = count_down(parent, nullptr, false)) [[unlikely]]
      complete_upwards(*done);
  }
  while (runnable *r = ready.pop_front()) {
    task &next = *static_cast<task *>(r);
    if (!notify || !is_external(next)) {
      if (announce_ready(next))
        enqueue_ready(next);
    } else if (!shares(next) || take_exclusions(next)) {
      notify(receiver, external_closure_of(next).context);
    }
  }
}

void end_without_body(task &t) {
  ready_list ready;
  end_task(t, completed::by_others, false, ready);
  enqueue_all(ready);
}

WEFT_COLD void call_onready(task &t) noexcept {
  task_extra *x = peek_extra(t);
  if (!x || !x->onready)
    return;
  thread_context *e = this_thread_context(); // null on a thread that only decreases events
  const callback self{"the onready function of task", label_of(t)};
  task *const outer = e ? std::exchange(e->current, &t) : nullptr;
  const callback *const outer_callback = e ? std::exchange(e->in_callback, &self) : nullptr;
  try {
    x->onready(x->onready_context);
  } catch (const std::exception &error) {
    fatal("%s '%s' threw: %s; let it catch what it throws: no caller waits for it", self.what,
          self.name, error.what());
  } catch (...) {
    fatal("%s '%s' threw; let it catch what it throws: no caller waits for it", self.what,
          self.name);
  }
  if (e) {
    e->current = outer;
    e->in_callback = outer_callback;
  }
}

bool announce_general(task &t) {
  if (is_cohort(t))
    return serve_cohort(t), false;
  if (t.has(detail::k_special)) {
    if (!take_exclusions(t)) // the task that releases them announces this one again
      return false;
    if (is_external(t)) {
      const detail::external_closure c = external_closure_of(t);
      c.onready(c.context); // the task may be gone
      return false;
    }
    if (g_traces_readiness)
      trace_ready(t);
    call_onready(t);
  }
  if (!t.has(detail::k_undeferred)) {
    if (t.priority >= 0)
      return true;
    enqueue_ready(t); // whatever else is ready goes first
    return false;
  }
  if (void *creator =
          unless(bug::undeferred_creator_forgotten, raise_signal(t.done_word, k_runnable_now)))
    make_ready(*static_cast<frame *>(creator));
  return false;
}

runnable *first_of(ready_list &ready) {
  runnable *first = ready.pop_front();
  if (ready.empty()) [[likely]]
    return first && announce_ready(*static_cast<task *>(first)) ? first : nullptr;
  if (!announce_ready(*static_cast<task *>(first)))
    first = nullptr;
  while (runnable *r = ready.pop_front()) {
    if (!announce_ready(*static_cast<task *>(r)))
      continue;
    if (!first || r->priority > first->priority)
      std::swap(r, first);
    if (r)
      enqueue_ready(*r);
  }
  return first;
}

void enqueue_all(ready_list &ready) {
  while (runnable *r = ready.pop_front())
    if (announce_ready(*static_cast<task *>(r)))
      enqueue_ready(*r);
}

} // namespace rt
} // namespace weft::inline v0
