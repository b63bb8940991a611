// SPDX-License-Identifier: Apache-2.0
// Coroutines: their frames, the states of eager ones, and how they wait for tasks and for other
// libraries. Waits for synchronization objects are in async_sync.cpp; the protocol is in
// task/wait/coroutine.hpp.
#include "api/cpp/coro.hpp"
#include "api/cpp/wait_limits.hpp"

#include "base/error.hpp"
#include "base/mutant.hpp"
#include "deps/sharing/reduction.hpp"
#include "task/recorded.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/signal_word.hpp"
#include "task/wait/waiters.hpp"
#include "worker/runtime.hpp"

#include <weft/coro.hpp>

#include <new>

namespace weft::inline v0 {

using namespace rt;

namespace rt {

void note_wait(const detail::coro_awaiter &awaiter, wait_reason why) noexcept {
  if (awaiter.goes_on->base() != runnable::kind::task)
    return;
  note_reason(*peek_extra(*static_cast<detail::task *>(awaiter.goes_on))->coroutine, why);
}

} // namespace rt

namespace detail {

namespace {

WEFT_NOINLINE void *allocate_slow(std::size_t bytes) {
  if (void *const frame = this_worker().memory->allocate(bytes))
    return frame;
  throw_error(errc::out_of_resources,
              "no memory for the frame of a coroutine, of %zu bytes; keep fewer coroutines alive",
              bytes);
}

} // namespace

void *coro_allocate(std::size_t bytes) {
  thread_context *const here = this_thread_context();
  void *const frame = here ? here->memory->allocate_fast(bytes) : nullptr;
  return frame ? frame : allocate_slow(bytes); // a tail call: the other way needs no stack
}

void coro_free(void *frame) noexcept { heap::deallocate(frame, own_heap()); }

void *coro_allocate_kept(std::size_t bytes) {
  thread_context *const here = this_thread_context();
  void *const frame = here ? here->memory->take_kept(bytes) : nullptr;
  return frame ? frame : coro_allocate(bytes);
}

void coro_keep(void *frame, std::size_t bytes) noexcept {
  const thread_context *const here = this_thread_context();
  if (!here) [[unlikely]]
    return heap::deallocate(frame, nullptr);
  here->memory->keep(frame, bytes);
}

namespace {

WEFT_COLD void go_on_from_outside(runnable &goes_on) noexcept {
  const gate_guard here;
  unless(bug::coroutine_stays, [&] { enqueue_ready(goes_on); });
}

} // namespace

void coro_go_on(runnable *goes_on) noexcept {
  if (!this_thread_context()) [[unlikely]]
    return go_on_from_outside(*goes_on);
  unless(bug::coroutine_stays, [&] { enqueue_ready(*goes_on); });
}

void throw_no_coroutine() {
  throw_error(
      errc::invalid_argument,
      "a weft::task without a coroutine is awaited or run; it was moved from, or awaited before");
}

// ---- coroutines of other libraries, which await objects of this one

namespace {

/// Resumes a coroutine of another library on a worker. Frees itself before that.
struct outside_record : call_record {
  outside_record(void *frame, void (*r)(void *)) noexcept
      : call_record(&run), frame(frame), resume(r) {
    node.record = this;
    node.fire = [](waiter *self, firing &) noexcept {
      enqueue_ready(*static_cast<ending *>(self)->record);
    };
  }
  static void run(call_record *call) noexcept {
    const outside_record known = *static_cast<outside_record *>(call);
    coro_free(call);
    known.resume(known.frame);
  }
  outside_record(const outside_record &) = default;

  struct ending : waiter {
    outside_record *record = nullptr;
  };
  void *frame;
  void (*resume)(void *);
  ending node;
};

} // namespace

runnable *coro_record(void *frame, void (*resume)(void *)) {
  return ::new (coro_allocate(sizeof(outside_record))) outside_record(frame, resume);
}

void coro_drop_record(runnable *record) noexcept {
  coro_free(static_cast<outside_record *>(record));
}

bool coro_resume_after(task *t, runnable *record) {
  if (task_waiters::attach(t->done_word, static_cast<outside_record *>(record)->node))
    return true;
  coro_drop_record(record);
  return false;
}

// ---- coroutines of this library, which await objects of another one

void coro_signal(proxy_signal &signal) noexcept {
  if (void *const waiting = raise_signal(signal.word, k_done))
    coro_go_on(static_cast<runnable *>(waiting));
}

void coro_leave_for_signal(void *awaiter) noexcept {
  auto &self = *static_cast<outside_base *>(awaiter);
  runnable *const goes_on = self.goes_on;
  if (!wait_for_signal(self.signal.word, *goes_on))
    coro_go_on(goes_on);
}

// ---- futures as coroutines

namespace {

/// Refuses a coroutine whose submission would fail, and so free the frame in which it is about to
/// begin.
WEFT_NOINLINE void refuse_start_below(const task &parent, task &begun) {
  if (iteration_of(parent)) {
    task_abandon(&begun);
    throw_error(
        errc::not_supported,
        "a coroutine that returns a future begins while a taskiter records; call it in a task, or outside of the taskiter");
  }
  if (const task *const operation = operation_of(parent)) {
    task_abandon(&begun);
    throw_error(
        errc::not_a_task,
        "a coroutine that returns a future begins in the operation of a reduction below task '%s', which is called between tasks; begin it where the copies are filled",
        label_of(*operation->parent));
  }
}

} // namespace

task *coro_create_future(const body_ops &ops) {
  task *const t = task_create_tracked(ops, nullptr);
  if (t->parent->has(k_final)) [[unlikely]]
    refuse_start_below(*t->parent, *t);
  return t;
}

void coro_begin_future(task *t) { task_launch(t, static_cast<unsigned>(launch::sync)); }

// ---- the end of a task

bool task_end::begin_awaited(task *t) {
  task_start(t);
  if (is_open(t->unsatisfied))
    run_awaited(*t);
  return is_raised(t->done_word, k_done);
}

void task_end::leave(void *p) noexcept {
  auto &self = *static_cast<task_end *>(p);
  runnable &goes_on = *self.goes_on;
  note_wait(self, {waits_for::end_of_task, self.awaited});
  self.fire = [](waiter *w, firing &) noexcept {
    enqueue_ready(*static_cast<task_end *>(w)->goes_on);
  };
  if (!task_waiters::attach(self.awaited->done_word, self))
    enqueue_ready(goes_on);
}

/// Holds what may end a wait early, in a block from the pool.
struct coro_limits : wait_limits {
  using wait_limits::wait_limits;
};

namespace {

/// Throws weft::error or std::bad_alloc.
coro_limits *make_limits(const wait_limit &limit, wait_limits::end_function give_up, void *wait) {
  void *const block = coro_allocate(sizeof(coro_limits));
  try {
    return ::new (block) coro_limits(limit, give_up, wait);
  } catch (...) {
    coro_free(block);
    throw;
  }
}

void disarm_and_drop(coro_limits *limits) noexcept {
  limits->disarm();
  limits->~coro_limits();
  coro_free(limits);
}

void end_task_early(void *p, wait_end why) noexcept {
  auto &wait = *static_cast<limited_task_end *>(p);
  runnable &goes_on = *wait.goes_on;
  if (!task_waiters::detach(wait.awaited->done_word, wait))
    return;
  wait.how = why == wait_end::stopped ? limited_task_end::result::stopped
                                      : limited_task_end::result::timeout;
  enqueue_ready(goes_on);
}

} // namespace

bool limited_task_end::arm() {
  if (awaited->unsatisfied.load(std::memory_order_relaxed) == k_deferred) {
    if (limit.deadline_ns != UINT64_MAX)
      return how = result::deferred, false;
    task_start(awaited);
  }
  switch (over_at_once(limit)) {
  case wait_end::stopped:
    return how = result::stopped, false;
  case wait_end::timed_out:
    return how = result::timeout, false;
  default:
    limits = make_limits(limit, &end_task_early, this);
    return true;
  }
}

void limited_task_end::leave(void *p) noexcept {
  auto &self = *static_cast<limited_task_end *>(p);
  runnable &goes_on = *self.goes_on;
  coro_limits &limits = *self.limits;
  note_wait(self, {waits_for::end_of_task, self.awaited, may_be_stopped(self.limit)});
  self.fire = [](waiter *w, firing &) noexcept {
    enqueue_ready(*static_cast<limited_task_end *>(w)->goes_on);
  };
  if (!task_waiters::attach(self.awaited->done_word, self))
    enqueue_ready(goes_on);
  limits.arm();
}

void limited_task_end::disarm() noexcept { disarm_and_drop(std::exchange(limits, nullptr)); }

// ---- the tasks of a group, or the children of the task

namespace {

task_scope scope_of(const limited_children &wait) noexcept {
  return wait.group ? task_scope(wait.group->internals())
                    : task_scope(*static_cast<task *>(wait.goes_on));
}

void end_children_early(void *p, wait_end why) noexcept {
  auto &wait = *static_cast<limited_children *>(p);
  runnable &goes_on = *wait.goes_on;
  if (!withdraw_waiter(scope_of(wait)))
    return;
  wait.how = why;
  enqueue_ready(goes_on);
}

} // namespace

bool limited_children::arm() {
  how = over_at_once(limit);
  if (how != wait_end::granted)
    return false;
  limits = make_limits(limit, &end_children_early, this);
  return true;
}

void limited_children::leave(void *p) noexcept {
  auto &self = *static_cast<limited_children *>(p);
  runnable &goes_on = *self.goes_on;
  coro_limits &limits = *self.limits;
  const task_scope scope = scope_of(self);
  wait_reason why = scope.reason();
  why.may_be_stopped = may_be_stopped(self.limit);
  note_wait(self, why);
  if (!enter_waiter(scope, goes_on))
    enqueue_ready(goes_on);
  limits.arm();
}

void limited_children::disarm() noexcept { disarm_and_drop(std::exchange(limits, nullptr)); }

} // namespace detail
} // namespace weft::inline v0
