// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "deps/domain.hpp"
#include "task/signal_word.hpp"
#include "worker/runtime.hpp"

#include <algorithm>
#include <new>

namespace weft::inline v0 {
namespace {

using namespace rt;

/// Counts a child where it will be waited for.
void count_child(task &t, task &parent) noexcept {
  if (!t.group) {
    ++parent.owned_children;
    return;
  }
  group_state &g = t.group->internals();
  if (g.owner == &parent) {
    ++g.owned;
  } else { // a stranger: its own parent has to outlive it as well
    g.word.add_by_stranger();
    ++parent.owned_children;
  }
}

void uncount_child(task &t, task &parent) noexcept {
  group_state *g = t.group ? &t.group->internals() : nullptr;
  if (g && g->owner == &parent) {
    --g->owned;
    return;
  }
  if (g)
    g->word.add_by_stranger(-1);
  --parent.owned_children;
}

WEFT_COLD void put_options(task &t, const detail::spawn_options &o) {
  t.label = o.label;
  t.group = o.group;
  t.priority = static_cast<std::int16_t>(std::clamp(o.priority, -32768, 32767));
  t.flags = o.flags;
  if (o.flags & detail::k_tracked)
    t.references.store(2, std::memory_order_relaxed); // O1: nobody else knows the task yet
  if (!o.onready && !o.stack_bytes)
    return;
  if (o.stack_bytes > (std::size_t{1} << 40))
    throw_error(errc::invalid_argument, "stack_bytes(%zu) is more than any machine has; give the number of bytes", o.stack_bytes);
  task_extra &x = extra_of(t);
  x.onready = o.onready;
  x.onready_context = o.onready_context;
  x.stack_bytes = o.stack_bytes;
  t.set(detail::k_special);
}

/// The creator runs the task itself, on its own stack.
void run_here(task &t) {
  worker &w = *this_worker_or_null();
  count(w.counts.executed);
  if (runnable *successor = execute_in_place(t))
    enqueue(this_worker_or_null(), *successor, origin::fresh);
}

/// A child of a final task: its accesses are not entered, so its creator waits until it would have released them.
void run_in_final(task &t) {
  t.set(detail::k_final);
  t.set(detail::k_undeferred); // its end is signalled
  t.references.store(t.references.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); // O1: not shared yet
  call_onready(t);
  run_here(t);
  wait_until_done(t, exhausted::goes_on);
  drop_references(t, 1);
}

void run_undeferred(task &t, bool ready) {
  // ready: onready is still to be called; else whoever made it ready has done so
  if (ready) {
    t.done_word.store(k_runnable_now, std::memory_order_relaxed); // O2: not shared yet
    call_onready(t);
    t.done_word.store(nullptr, std::memory_order_relaxed); // O2
  } else {
    wait_until_runnable(t);
  }
  run_here(t);
}

} // namespace

namespace detail {

task *task_create(const body_ops &ops, std::size_t accesses, const spawn_options *options) {
  worker &w = this_worker();
  void *block = w.memory.allocate(task::block_bytes(ops, accesses));
  if (!block) [[unlikely]]
    throw_error(errc::out_of_resources, "no memory for a task; spawn fewer at a time or lower throttle.bytes");
  task *t = ::new (block) task;
  t->ops = &ops;
  t->parent = w.current;
  t->references.store(1, std::memory_order_relaxed); // O1: nobody else knows the task yet
  if (options) {
    try {
      put_options(*t, *options);
    } catch (...) {
      task_abandon(t);
      throw;
    }
  }
  return t;
}

void task_abandon(task *t) noexcept {
  delete t->extra.load(std::memory_order_relaxed);
  worker *w = this_worker_or_null();
  heap::deallocate(t, w ? &w->memory : nullptr);
}

void task_submit(task *t, const access *first, std::size_t first_count, const access *second, std::size_t second_count) {
  worker &w = *this_worker_or_null();
  task &parent = *t->parent;
  count_child(*t, parent);
  count(w.counts.spawned);
  if (parent.has(k_final)) [[unlikely]]
    return run_in_final(*t);
  bool ready = true;
  const bool undeferred = t->has(k_undeferred);
  if (first_count + second_count != 0) {
    try {
      ready = enter_accesses(*t, first, first_count, second, second_count);
    } catch (const std::bad_alloc &) {
      uncount_child(*t, parent);
      if (t->ops->destroy)
        t->ops->destroy(storage(t));
      task_abandon(t);
      throw_error(errc::out_of_resources, "no memory for the accesses of a task; name fewer of them");
    }
  }
  if (undeferred) [[unlikely]]
    return run_undeferred(*t, ready);
  if (ready && announce_ready(*t))
    enqueue(&w, *t, origin::fresh);
  runtime &rt = the_runtime();
  if (rt.producers.over()) [[unlikely]]
    rt.producers.hold_back(w);
}

void task_wait_done(task *t) {
  if (!t)
    throw_error(errc::invalid_argument, "a handle without a task is waited for; it was moved from, or get() was called");
  this_worker();
  wait_until_done(*t);
}

bool task_is_done(const task *t) noexcept {
  return t && is_raised(t->done_word, k_done);
}

std::exception_ptr task_take_exception(task *t) noexcept {
  task_extra *x = peek_extra(*t);
  return x ? std::exchange(x->own_error, nullptr) : nullptr;
}

void task_drop_handle(task *t) noexcept { drop_references(*t, 1); }

} // namespace detail
} // namespace weft::inline v0
