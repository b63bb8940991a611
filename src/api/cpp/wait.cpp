// SPDX-License-Identifier: Apache-2.0
#include "api/cpp/wait_limits.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"
#include "task/complete.hpp"
#include "task/destructor.hpp"
#include "task/hooks.hpp"
#include "task/in_place_task.hpp"
#include "task/parent_process.hpp"
#include "task/pending.hpp"
#include "task/poll_hook.hpp"
#include "task/recorded.hpp"
#include "task/run_body.hpp"
#include "task/tracing.hpp"
#include "task/wait/signal_word.hpp"
#include "trace/structure.hpp"
#include "worker/functions.hpp"
#include "worker/runtime.hpp"
#include "worker/search.hpp"

#include <weft/block.hpp>
#include <weft/join.hpp>
#include <weft/task.hpp>

namespace weft::inline v0 {

using namespace rt;

namespace {

/// Returns the task whose children the caller waits for. Throws weft::error where it must not wait.
task &begin_taskwait() {
  worker &w = this_worker();
  if (w.in_callback)
      [[unlikely]] // refused even with nothing to wait for: otherwise the error would come and go
    refuse_wait_in(*w.in_callback);
  task &t = *w.current;
  if (iteration_of(t)) [[unlikely]]
    throw_error(
        errc::invalid_argument,
        "taskwait() while taskiter '%s' records: its tasks have not begun; wait in a task, or after the loop",
        label_of(t));
  return t;
}

} // namespace

void taskwait() {
  task &t = begin_taskwait();
  wait_for_children(t);
  rethrow_children_error(t);
}

bool detail::taskwait_within(const wait_limit &limit) {
  task &t = begin_taskwait();
  if (!wait_within(task_scope(t), limit))
    return false;
  end_wait_for_children(t);
  rethrow_children_error(t);
  return true;
}

namespace {

/// Lets the worker below run other work first: a thread that parks runs no work of others itself.
WEFT_COLD void yield_carried() {
  static_cast<void>(carrier()->park(
      [](detail::runnable &left, void *) { enqueue(this_worker_or_null(), left, origin::yielded); },
      nullptr));
}

} // namespace

void taskyield() {
  worker &w = this_worker();
  if (w.in_callback) [[unlikely]] // what is found could not go first
    return os_yield();
  poll_services(poll_point::scheduling_point);
  runnable *other = take_ready(w);
  // A branch of the caller's that no worker has taken is ready, too: suspend() puts it into a queue.
  if (!other && !w.own_frame.full() && w.joins.empty()) // the thread's own stack is in no queue
    return w.is_carried ? yield_carried() : void();
  // The task that was found goes first: the worker runs it next.
  w.handoff = other;
  try {
    suspend(
        [](thread_context &e, frame &suspended, void *) {
          if (suspended.home) {
            if (can_preempt()) [[unlikely]]
              the_runtime()
                  .watch
                  .look_soon(); // the task that goes first may come to wait for what the caller has
            return make_ready(suspended);
          }
          confine_frame(suspended);
          enqueue(static_cast<worker *>(&e), suspended, origin::yielded);
        },
        nullptr);
  } catch (const error &) { // no stack to go on with; the task that was found is queued again
    if (!this_thread_context()
             ->current
             ->parent) // a thread's own code, for which no task waits: tasks may run on top of it
      get_by();
  }
}

namespace this_task {

namespace {

/// Returns whether the task stands for a branch of its parent that another worker has taken. The
/// destructor of a callable runs as its task, and a posted call as a task of its own.
bool is_branch(const task &t) noexcept {
  return t.has(detail::k_implicit) && t.parent && !is_root_of_functions(*t.parent) &&
         !is_in_place(t) && !is_over(t);
}

/// Returns the task whose code the caller is, or null.
const task *caller() noexcept {
  thread_context *e = this_thread_context();
  const task *t = e ? e->current : nullptr;
  while (t && is_branch(*t))
    t = t->parent;
  return t;
}

} // namespace

const char *label() noexcept {
  const task *t = caller();
  return t ? label_of(*t) : "";
}

std::uint64_t cost() noexcept {
  const task *t = caller();
  if (!t)
    return 0;
  if (is_in_place(*t))
    return static_cast<const in_place_task *>(t)->cost;
  const task_extra *x = peek_extra(*t);
  return x ? x->cost : 0;
}

bool in_final() noexcept {
  thread_context *e = this_thread_context();
  return e && e->current && is_final(*e->current);
}

bool cancelled() noexcept {
  thread_context *e = this_thread_context();
  for (task *t = e ? e->current : nullptr; t; t = t->parent)
    if (is_cancelled(*t) || is_asked_to_stop(*t))
      return true;
  return false;
}

namespace {

struct sleeper {
  std::uint64_t deadline;
  timer::call call;
};

} // namespace

void sleep_for_ns(std::int64_t ns) {
  this_worker();
  if (ns <= 0)
    return taskyield();
  sleeper s{now_ns() + static_cast<std::uint64_t>(ns), {}};
  the_runtime().clock.prepare(s.call);
  suspend(
      [](thread_context &, frame &suspended, void *p) {
        auto &s = *static_cast<sleeper *>(p);
        s.call.f = [](void *frame_of_sleeper) {
          make_ready(*static_cast<frame *>(frame_of_sleeper));
        };
        s.call.context = &suspended;
        the_runtime().clock.at(s.deadline, s.call);
      },
      &s);
}

} // namespace this_task

// ---- block and unblock: the protocol is that of task/wait/block_word.hpp -----------------------------------------------

namespace {

void publish_blocked(thread_context &, frame &suspended, void *word) {
  if (!static_cast<block_word<runnable> *>(word)->publish(suspended))
    make_ready(suspended);
}

struct block_until : timed_block<runnable> {
  block_until(block_word<runnable> &word, std::uint64_t at) noexcept
      : timed_block(word), deadline(at) {}
  std::uint64_t deadline;
  timer::call call;
};

void time_is_over(void *p) {
  if (runnable *f = static_cast<block_until *>(p)->expire())
    make_ready(*static_cast<frame *>(f));
}

void publish_timed(thread_context &, frame &suspended, void *p) {
  auto &b = *static_cast<block_until *>(p);
  b.call.f = &time_is_over;
  b.call.context = &b;
  if (!b.publish(suspended))
    make_ready(suspended);
  the_runtime().clock.at(b.deadline, b.call);
  b.armed();
}

} // namespace

namespace this_task {

task_ref self() { return task_ref(this_worker().current); }

void block() {
  block_word<runnable> &word = extra_of(*this_worker().current).block;
  if (!word.take())
    suspend(&publish_blocked, &word, {waits_for::unblock, nullptr});
}

bool block_for_ns(std::int64_t ns) {
  block_word<runnable> &word = extra_of(*this_worker().current).block;
  if (word.take())
    return true;
  if (ns <= 0)
    return false;
  block_until b(word, now_ns() + static_cast<std::uint64_t>(ns));
  the_runtime().clock.prepare(b.call);
  suspend(&publish_timed, &b);
  b.wait_until_armed();
  the_runtime().clock.cancel(b.call);
  return !b.timed_out();
}

void increase_events(std::uint32_t n) {
  task &t = *this_worker().current;
  if (is_over(t))
    throw_error(
        errc::not_a_task,
        "increase_events() in the destructor of the callable of task '%s', whose end cannot be held back any more; call it in the body",
        label_of(t));
  if (is_in_place(t))
    throw_error(
        errc::not_a_task,
        "increase_events() in task '%s', which runs in place, where its end is that of a call; spawn it without may_inline",
        label_of(t));
  if (t.has(detail::k_implicit))
    throw_error(
        errc::not_a_task,
        "increase_events() outside of a task: a thread has no end that events could hold; spawn a task");
  if (n > 0)
    extra_of(t).events.increase(n);
}

} // namespace this_task

namespace {

/// Refuses a task of the parent process after fork(): the child knows such a task, but has no
/// thread that could go on with it.
void refuse_of_parent_process(const task &t, const char *call) {
  if (functions_generation() != 0 && is_of_parent_process(t)) [[unlikely]]
    throw_error(
        errc::invalid_argument,
        "%s for task '%s', which was spawned before fork(): it goes on in the parent process; call it there",
        call, label_of(t));
}

} // namespace

void unblock(task_ref ref) {
  if (!ref)
    throw_error(errc::invalid_argument,
                "unblock() of no task; pass what this_task::self() returned in the blocked task");
  refuse_of_parent_process(*ref.get(), "unblock()");
  const gate_guard here;
  const auto done = extra_of(*ref.get()).block.unblock();
  if (!done.accepted)
    throw_error(
        errc::no_block,
        "task '%s' is unblocked twice without a block in between; unblock it once per block",
        label_of(*ref.get()));
  if (unless(bug::unblock_wakes_nobody, !done.resumed, true))
    return;
  if (done.resumed->base() == runnable::kind::frame)
    return make_ready(*static_cast<frame *>(done.resumed));
  forget_pending(*peek_extra(*ref.get())); // the task waits to run again
  enqueue_ready(*done.resumed);
}

void decrease_events(task_ref ref, std::uint32_t n) {
  if (!ref)
    throw_error(errc::invalid_argument,
                "decrease_events() of no task; pass what this_task::self() returned in the task");
  if (n == 0)
    return;
  refuse_of_parent_process(*ref.get(), "decrease_events()");
  const gate_guard here;
  task_extra *x = peek_extra(*ref.get());
  switch (x ? x->events.decrease(n) : decreased::underflow) {
  case decreased::underflow:
    throw_error(errc::event_underflow,
                "task '%s' has fewer than %u external events; decrease as often as you increase",
                label_of(*ref.get()), n);
  case decreased::last:
    events_are_over(*ref.get());
    break;
  case decreased::some_left:
    break;
  }
}

// ---- join ----------------------------------------------------------------------------------------------------------

namespace {

/// Offers the branches as if thieves had stolen them: each becomes work like a task, and may run
/// before the other branch has begun.
WEFT_COLD void offer_join_jobs(worker &w) {
  const unsigned choice = the_runtime().ready->choose(3);
  if (choice == 0)
    return;
  while (detail::join_job *job = w.joins.pop()) // the outer ones as well, because they lie below it
    enqueue_job(w, *job);
  if (choice == 1)
    return;
  try {
    taskyield();
  } catch (const error &) { // no stack to go on with: the first branch goes first
  }
}

} // namespace

namespace detail {

/// Does the rare work after a push: wakes a worker, or offers the branch.
WEFT_NOINLINE void after_join_push() {
  runtime &rt = the_runtime();
  if (rt.cfg.sched_seed != 0)
    return offer_join_jobs(this_worker());
  unless(bug::join_push_wakes_nobody, [&] { rt.idle.notify_one(); });
}

WEFT_NOINLINE void join_push_slow(join_job *job) {
  worker &w = this_worker();
  job->parent = w.current;
  w.joins.push(job);
  after_join_push();
}

void join_push(join_job *job) {
  worker *w = this_worker_or_null();
  if (!w) [[unlikely]]
    return join_push_slow(job);
  job->parent = w->current;
  if (!w->joins.try_push(job)) [[unlikely]]
    return join_push_slow(job);
  runtime &rt = the_runtime();
  if (rt.idle.has_sleepers() || rt.cfg.sched_seed != 0) [[unlikely]]
    after_join_push();
}

bool join_pop(join_job *job) noexcept {
  worker *w = this_worker_or_null();
  return w && w->joins.pop() == job;
}

namespace {

/// Waits until another worker has ended the branch.
void wait_for_branch(join_job &job) noexcept {
  try {
    suspend(
        [](thread_context &, frame &suspended, void *p) {
          if (!wait_for_signal(*static_cast<std::atomic<void *> *>(p), suspended))
            make_ready(suspended);
        },
        &job.state, {waits_for::branch, &job});
  } catch (const error &) { // no stack to go on with
    while (!is_raised(job.state, k_done))
      get_by();
  }
}

WEFT_COLD void trace_wait_for_branch(std::uint64_t since) noexcept {
  if (tracer *x = this_thread_context()->trace)
    x->ring.put(trace_event::waited, 0, x->ring.running, since, k_branch_of_join);
}

} // namespace

void join_wait(join_job *job) noexcept {
  if (functions_generation() != 0 && is_of_parent_process(*job->parent))
      [[unlikely]] // the thief of the branch is there
    fatal(
        "join() returns in a process that was forked inside of it; there it may only exec or _exit. Fork outside of join() to use Weft in the child");
  const std::uint64_t since = traces(trace_level::graph) ? read_ticks() : 0;
  if (!is_raised(job->state, k_done))
    wait_for_branch(*job);
  if (since != 0) [[unlikely]]
    trace_wait_for_branch(since);
}

} // namespace detail
} // namespace weft::inline v0
