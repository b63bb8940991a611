// SPDX-License-Identifier: Apache-2.0
#include "task/lifecycle.hpp"

#include "base/log.hpp"
#include "base/mutant.hpp"
#include "deps/domain.hpp"
#include "mem/watermark.hpp"
#include "task/signal_word.hpp"
#include "task/locals.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cxxabi.h>
#include <string>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

task_hooks g_hooks{};

void free_task(task &t) noexcept {
  // Only for a task with a handle: the module that holds `ops` may have been unloaded since the task was complete.
  if (t.has(detail::k_tracked) && t.ops->destroy_result)
    t.ops->destroy_result(detail::storage(&t));
  if (task_extra *x = t.extra.load(std::memory_order_relaxed)) {
    if (x->own_error)
      report_lost(label_of(t), x->own_error);
    if (x->children_error)
      report_lost(label_of(t), x->children_error);
    delete x;
  }
  g_hooks.deallocate(&t);
}

void wake_waiter(runnable *&waiter) {
  auto *f = static_cast<frame *>(waiter);
  waiter = nullptr;
  make_ready(*f);
}

void pass_on_children_error(task &t) noexcept;

/// Everything below the task is complete. Tells the group and the parent, and goes on with the parent when that completes it.
/// `deaths`: references of the task's accesses that end here as well. `plainly`: the child is counted in the plain field of a frame below on this stack.
void complete(task *t, std::uint32_t deaths, bool plainly, ready_list &ready) {
  for (;;) {
    if (t->ops->destroy)
      t->ops->destroy(detail::storage(t));
    pass_on_children_error(*t);
    task *const parent = t->parent;
    group_state *const g = t->group ? &t->group->internals() : nullptr;
    const bool owned_by_parent = !g || g->owner == parent;
    drop_references(*t, 1 + deaths);
    if (plainly && owned_by_parent) {
      --(g ? g->owned : parent->owned_children);
      return;
    }
    if (g && g->word.remove() && !mutant(bug::group_waiter_forgotten))
      wake_waiter(g->waiter);
    if (g && owned_by_parent)
      return;
    if (!parent->children.remove())
      return;
    if (parent->next && mutant(bug::parent_waiter_forgotten))
      return;
    if (parent->next)
      return wake_waiter(parent->next);
    deaths = parent->has(detail::k_wait) ? release_accesses(*parent, ready) : 0;
    plainly = false;
    t = parent;
  }
}

void signal_done(task &t) {
  void *waiter = raise_signal(t.done_word, k_done);
  if (waiter && waiter != k_runnable_now && !mutant(bug::done_not_signalled))
    make_ready(*static_cast<frame *>(waiter));
}

/// Body and events are over: releases the accesses, settles the children.
void end_task(task &t, bool plainly, ready_list &ready) {
  const bool childless = t.children.done(t.owned_children);
  const bool release_now = childless || !t.has(detail::k_wait);
  const std::uint32_t deaths = release_now ? release_accesses(t, ready) : 0;
  const bool tracked = (t.flags & (detail::k_tracked | detail::k_undeferred)) != 0;
  if (childless) {
    if (tracked)
      signal_done(t);
    return complete(&t, deaths, plainly, ready);
  }
  if (deaths)
    drop_references(t, deaths);
  if (tracked)
    signal_done(t);
  t.next = nullptr; // the body has ended, nobody waits
  if (t.children.settle(t.owned_children))
    complete(&t, release_now ? 0 : release_accesses(t, ready), false, ready);
}

bool g_measures_stacks = false; // written before any task

void invoke_body(task &t) noexcept {
  try {
    t.ops->invoke(detail::storage(&t));
  } catch (abi::__forced_unwind &) {
    fatal("task '%s' was ended by pthread_exit() or pthread_cancel(); a task has to return or to throw", label_of(t));
  } catch (...) {
    fail(t, std::current_exception());
  }
}

/// Of the stack that the caller stands on, whichever thread runs it.
watermark *&innermost_watermark() noexcept {
  executor &e = *this_executor();
  return e.standing_on ? e.standing_on->innermost : e.thread_innermost;
}

/// On a thread's own stack, which may be large, no more is looked at than a stack of Weft's has.
const char *measured_low(const executor &e) noexcept {
  constexpr std::size_t k_end = 128; // a canary stands there
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto low = reinterpret_cast<std::uintptr_t>(e.stack_low) + k_end;
  const std::uintptr_t near = here - configured_stack_bytes();
  return reinterpret_cast<const char *>(e.standing_on ? low : std::max(low, near));
}

WEFT_COLD void run_measured(task &t) noexcept {
  watermark mark;
  mark.begin(measured_low(*this_executor()), innermost_watermark());
  invoke_body(t);
  const std::size_t bytes = mark.end(innermost_watermark()); // the stack is the same, the thread may have changed
  const std::string_view closure = t.label ? std::string_view{} : closure_of(t);
  note_watermark(closure.empty() ? label_of(t) : closure, bytes);
  if (const stack *s = this_executor()->standing_on)
    note_stack_depth(static_cast<std::size_t>(reinterpret_cast<const char *>(s) - mark.deepest()), s->bytes);
}

void run_body(void *p) noexcept {
  task &t = *static_cast<task *>(p);
  if (g_measures_stacks) [[unlikely]]
    return run_measured(t);
  invoke_body(t);
}

void start_body(task &t) noexcept {
  task_extra *x = t.has(detail::k_special) ? peek_extra(t) : nullptr;
  if (!x || !x->stack_bytes)
    return run_body(&t);
  try {
    run_on_own_stack(x->stack_bytes, [](void *p) { run_body(p); }, &t);
  } catch (...) { // no such stack: the task fails
    fail(t, std::current_exception());
  }
}

} // namespace

void report_lost(const char *label, const std::exception_ptr &error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const weft::error &e) {
    if (e.code() != errc::cancelled) // a task that was skipped is not a failure
      warn("task '%s' threw, and nobody asked for it: %s; call taskwait(), group.wait() or handle.get()", label, e.what());
  } catch (const std::exception &e) {
    warn("task '%s' threw, and nobody asked for it: %s; call taskwait(), group.wait() or handle.get()", label, e.what());
  } catch (...) {
    warn("task '%s' threw, and nobody asked for it; call taskwait(), group.wait() or handle.get()", label);
  }
}

void measure_stacks(bool on) noexcept { g_measures_stacks = on; }
void set_task_hooks(const task_hooks &hooks) noexcept { g_hooks = hooks; }
const task_hooks &the_task_hooks() noexcept { return g_hooks; }

void drop_references(task &t, std::uint32_t n) noexcept {
  const std::uint32_t all = n + (mutant(bug::task_freed_early) ? 1 : 0);
  // O3: acquire: all other references are gone, and what their holders wrote is visible; then no atomic write is needed
  if (t.references.load(std::memory_order_acquire) == n ||
      t.references.fetch_sub(all, std::memory_order_acq_rel) == all) // O3
    free_task(t);
}

namespace {

[[noreturn]] WEFT_COLD void no_room_for(const task &t) noexcept {
  fatal("task '%s' threw, and there is no memory to keep its exception for who waits for it", label_of(t));
}

void keep_own_error(task &t, std::exception_ptr error) noexcept {
  task_extra *x = try_extra_of(t);
  if (!x)
    no_room_for(t);
  x->own_error = std::move(error);
}

} // namespace

bool is_cancelled(const task &t) noexcept {
  return t.group && t.group->internals().cancelled.load(std::memory_order_relaxed);
}

namespace {

/// The body of a task whose group was cancelled is not run; its handle says so.
WEFT_COLD void skip(task &t) noexcept {
  t.set(detail::k_cancelled);
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

runnable *execute(task &t, bool in_place) noexcept {
  executor *e = this_executor();
  task *const outer = e->current;
  e->current = &t;
  if (is_cancelled(t)) [[unlikely]]
    skip(t);
  else
    start_body(t);
  task_extra *x = peek_extra(t);
  if (x) [[unlikely]]
    end_locals(*x); // still as the task
  e = this_executor(); // the thread may have changed
  e->current = outer;
  if (x && !x->events.end_body()) [[unlikely]]
    return nullptr;
  ready_list ready;
  end_task(t, in_place && t.parent == outer, ready);
  runnable *successor = nullptr;
  while (runnable *r = ready.pop_front())
    if (announce_ready(*static_cast<task *>(r))) {
      if (!successor)
        successor = r;
      else
        g_hooks.enqueue(*r);
    }
  return successor;
}

runnable *execute_in_place(task &t) noexcept {
  const exception_state outer = copy_exception_state();
  if (!outer.caught && !outer.uncaught) [[likely]]
    return execute(t, true);
  put_exception_state({});
  runnable *successor = execute(t, true);
  put_exception_state(outer);
  return successor;
}

void events_are_over(task &t) {
  ready_list ready;
  end_task(t, false, ready);
  enqueue_all(ready);
}

WEFT_COLD void call_onready(task &t) noexcept {
  task_extra *x = peek_extra(t);
  if (!x || !x->onready)
    return;
  executor *e = this_executor(); // null on a thread that only takes events back
  const callback self{"the onready function of task", label_of(t)};
  task *const outer = e ? std::exchange(e->current, &t) : nullptr;
  const callback *const outer_callback = e ? std::exchange(e->in_callback, &self) : nullptr;
  try {
    x->onready(x->onready_context);
  } catch (const std::exception &error) {
    fatal("%s '%s' threw: %s; let it catch what it throws, nobody waits for it", self.what, self.name, error.what());
  } catch (...) {
    fatal("%s '%s' threw; let it catch what it throws, nobody waits for it", self.what, self.name);
  }
  if (e) {
    e->current = outer;
    e->in_callback = outer_callback;
  }
}

bool announce_ready(task &t) {
  if (!(t.flags & (detail::k_special | detail::k_undeferred))) [[likely]]
    return true;
  if (t.has(detail::k_special))
    call_onready(t);
  if (!t.has(detail::k_undeferred))
    return true;
  if (void *creator = raise_signal(t.done_word, k_runnable_now); creator && !mutant(bug::undeferred_creator_forgotten))
    make_ready(*static_cast<frame *>(creator));
  return false;
}

void enqueue_all(ready_list &ready) {
  while (runnable *r = ready.pop_front())
    if (announce_ready(*static_cast<task *>(r)))
      g_hooks.enqueue(*r);
}

namespace {

exceptions_kind g_default_policy = exceptions_kind::first_cancels;

/// A child outside of groups failed: its parent's taskwait will throw. Its siblings run on: only a group cancels.
void parent_failed(task &parent, const task &t, std::exception_ptr error) {
  task_extra *x = try_extra_of(parent);
  if (!x || x->failing.exchange(true, std::memory_order_acq_rel)) // O4: one failure is kept; taskwait opens the gate again
    return report_lost(label_of(t), error);
  x->children_error = std::move(error);
}

/// Nobody has waited for the children of `t` since one of them failed: now it is a failure of `t`, for who waits for it.
void pass_on_children_error(task &t) noexcept {
  task_extra *x = peek_extra(t);
  if (!x || !x->children_error) [[likely]]
    return;
  std::exception_ptr error = std::exchange(x->children_error, nullptr);
  if (t.group)
    group_failed(t.group->internals(), t, std::move(error));
  else
    parent_failed(*t.parent, t, std::move(error));
}

[[noreturn]] void terminate_for(const task &t, const std::exception_ptr &error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception &e) {
    fatal("task '%s' threw and its policy is terminate: %s", label_of(t), e.what());
  } catch (...) {
    fatal("task '%s' threw and its policy is terminate", label_of(t));
  }
}

} // namespace

void set_default_exception_policy(exceptions_kind kind) noexcept { g_default_policy = kind; }
exception_policy default_exception_policy() noexcept {
  switch (g_default_policy) {
  case exceptions_kind::collect_all:
    return exception_policy::collect_all;
  case exceptions_kind::terminate:
    return exception_policy::terminate;
  case exceptions_kind::first_cancels:
    break;
  }
  return exception_policy::first_cancels;
}

void fail(task &t, std::exception_ptr error) noexcept {
  t.set(detail::k_cancelled);
  if (t.has(detail::k_tracked)) {
    keep_own_error(t, std::move(error));
  } else if (t.group) {
    if (t.group->internals().policy == exception_policy::terminate)
      terminate_for(t, error);
    group_failed(t.group->internals(), t, std::move(error));
  } else if (g_default_policy == exceptions_kind::terminate) {
    terminate_for(t, error);
  } else {
    parent_failed(*t.parent, t, std::move(error));
  }
}

} // namespace rt
} // namespace weft::inline v0
