// SPDX-License-Identifier: Apache-2.0
// The worker loop: what a worker does with the work that it found (search.cpp), and how work
// reaches a worker.
#include "base/mutant.hpp"
#include "deps/access.hpp"
#include "deps/hooks.hpp"
#include "deps/messages.hpp"
#include "deps/registration.hpp"
#include "iter/hooks.hpp"
#include "iter/iteration.hpp"
#include "managers/hooks.hpp"
#include "managers/managers.hpp"
#include "task/failure.hpp"
#include "task/hooks.hpp"
#include "task/locals.hpp"
#include "task/tracing.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/run_in_place.hpp"
#include "task/wait/signal_word.hpp"
#include "ult/hooks.hpp"
#include "ult/stack_switch.hpp"
#include "worker/functions.hpp"
#include "worker/idle_workers.hpp"
#include "worker/in_place.hpp"
#include "worker/search.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Returns the newest own task, unless something goes before it. It is the common case of look().
WEFT_INLINE runnable *next_own(worker &w) {
  work_deque<runnable *> *const deque = w.own.deque;
  if (!deque || w.own.urgent->load(std::memory_order_relaxed) != 0 || w.own_frame.full())
      [[unlikely]]
    return nullptr;
  if (++w.own_in_a_row < k_own_in_a_row) [[likely]]
    return deque->pop();
  w.own_in_a_row = 0;
  poll_services_between_tasks(w);
  return take_shared_first(w);
}

WEFT_NOINLINE bool goes_first_of_all(worker &w, const runnable &item) {
  runtime &rt = the_runtime();
  if (rt.has_priorities.load(std::memory_order_relaxed) && rt.ready->outranks(item.priority))
    return false;
  const std::uint32_t odds = rt.successor_odds.load(std::memory_order_relaxed);
  if (odds == UINT32_MAX)
    return true;
  w.seed = w.seed * 1664525u + 1013904223u;
  return w.seed <= odds && odds != 0;
}

/// Returns whether the worker that made an immediate successor ready runs it at once.
WEFT_INLINE bool goes_first(worker &w, const runnable &item) {
  if (w.own_frame.full()) [[unlikely]] // the frame would wait for the whole chain of successors
    return false;
  return the_runtime().plain_odds.load(std::memory_order_relaxed) == UINT32_MAX ||
         goes_first_of_all(w, item);
}

WEFT_COLD runnable *execute_round_timed(worker &w, runnable &item) noexcept {
  auto &node = static_cast<recorded_node &>(item);
  return timed(w, *node.body, [&] { return execute_recorded_alone(w, node); });
}

/// Runs a task, and its immediate successors.
WEFT_INLINE void run_task(worker &w, runnable *item) {
  worker *here = &w;
  for (;;) {
    item = execute_counted(*here, *static_cast<task *>(item), body_on::loop);
    if (!item)
      return;
    here = this_worker_or_null(); // the thread may have changed
    count(here->counts->successors);
    if (!goes_first(*here, *item)) [[unlikely]]
      return enqueue(here, *item, origin::fresh);
  }
}

WEFT_NOINLINE void run_confined(worker &w, runnable *item) { run_task(w, item); }

/// Runs a round of a recorded task, and the rounds that follow from it. This may go on for very
/// long, so the worker looks at other work as well.
void run_recorded(worker &w, runnable *item) {
  worker *here = &w;
  for (;;) {
    item = --here->time.until == 0 ? execute_round_timed(*here, *item)
                                   : execute_recorded(*here, *static_cast<recorded_node *>(item));
    if (!item)
      return;
    here = this_worker_or_null(); // the thread may have changed
    count(here->counts->successors);
    if (!goes_first(*here, *item)) [[unlikely]]
      return enqueue(here, *item, origin::fresh);
    if (++here->own_in_a_row < k_own_in_a_row) [[likely]]
      continue;
    here->own_in_a_row = 0;
    poll_services(poll_point::scheduling_point);
    if (runnable *other = take_shared_first(*here)) {
      here->handoff = other;
      return enqueue(here, *item, origin::fresh);
    }
  }
}

/// Returns the newest own task if it may run on a frame that waits for `waited_for`.
WEFT_INLINE runnable *newest_of(worker &w, const lineage &waited_for) {
  if (!w.own.deque || w.own.urgent->load(std::memory_order_relaxed) != 0) [[unlikely]]
    return the_runtime().ready->take_newest(w.id, waited_for);
  return w.own.take_newest(waited_for);
}

void run(worker &w, runnable *item) {
  if (item->what == runnable::kind::task) [[likely]]
    return run_task(w, item);
  flush_child_count(w);
  switch (item->base()) {
  case runnable::kind::frame:
    leave_for_frame(*static_cast<frame *>(item));
  case runnable::kind::join:
    end_gap(*w.counts, w.time);
    run_job(w, *item);
    return begin_gap(this_worker_or_null()->time);
  case runnable::kind::recorded:
    return run_recorded(w, item);
  case runnable::kind::task:
    return run_confined(w, item);
  }
}

} // namespace

void enqueue_elsewhere(worker *here, runnable &item, origin from) {
  if (item.confinement() != 0) [[unlikely]]
    return enqueue_confined(item);
  runtime &rt = the_runtime();
  rt.ready->add(&item, here ? here->id : k_outside, from);
  unless(bug::enqueue_wakes_nobody, [&] { rt.idle.notify_one(); });
}

void enqueue_confined(runnable &item) {
  const unsigned set = item.confinement();
  the_runtime().confined.add(item);
  wake_one_of(set);
}

void enqueue_job(worker &w, detail::join_job &job) {
  job.confine(job.parent->confinement());
  enqueue(&w, job, origin::fresh);
}

runnable *execute_timed(worker &w, task &t, body_on where) noexcept {
  const auto run = [&] { return where == body_on::frame ? execute_in_place(w, t) : execute(w, t); };
  // Of an entry that was left behind only the block is sure to be there: nothing names it.
  if (t.has_meanwhile(detail::k_tracked) && is_left_behind(t.unsatisfied)) {
    w.time.until = 1; // the next task is timed
    return run();
  }
  return timed(w, t, run);
}

bool successors_go_first() noexcept {
  return the_runtime().successor_odds.load(std::memory_order_relaxed) == UINT32_MAX;
}
bool goes_at_once(const thread_context &here, const runnable &successor) noexcept {
  if (here.own_frame.full()) [[unlikely]]
    return false;
  const runtime &rt = the_runtime();
  if (rt.plain_odds.load(std::memory_order_relaxed) == UINT32_MAX) [[likely]]
    return true;
  return successors_go_first() && !rt.ready->outranks(successor.priority);
}
void look_at_other_work(thread_context &here) noexcept {
  static_cast<worker &>(here).own_in_a_row = k_own_in_a_row;
}

void enqueue_ready(runnable &item) { enqueue(this_worker_or_null(), item, origin::fresh); }
void enqueue_resumed(thread_context *here, runnable &item) {
  if (item.base() == runnable::kind::frame)
    confine_frame(static_cast<frame &>(item));
  enqueue(static_cast<worker *>(here), item, origin::resumed);
}
void wake_for_message() noexcept {
  runtime &rt = the_runtime();
  if (!rt.manage.is_restricted())
    return unless(bug::message_wakes_nobody, [&] { rt.idle.notify_one(); });
  unless(bug::message_wakes_nobody, [&] { wake_first_of(rt, rt.manage.chosen()); });
}

bool any_worker_idles() noexcept { return any_worker_is_idle(the_runtime()); }

std::uint64_t tasks_begun() noexcept {
  runtime &rt = the_runtime();
  std::uint64_t n = 0;
  const unsigned used = rt.used_slots.load(std::memory_order_acquire); // O2
  for (unsigned id = 0; id < used; ++id)
    if (const worker *w = rt.slots[id].load(std::memory_order_acquire)) // O2
      n += peek(w->counts->executed);
  return n;
}

std::size_t ready_at(const thread_context &e) noexcept {
  const own_queue &own = static_cast<const worker &>(e).own;
  return own.deque ? own.deque->size() : ~std::size_t{0};
}
void wake(thread_context &home) {
  runtime &rt = the_runtime();
  worker &w = static_cast<worker &>(home);
  if (runnable *const parked = w.bed.claim()) [[unlikely]]
    return unless(bug::carried_wakes_nobody, [&] { make_ready(static_cast<frame &>(*parked)); });
  const unsigned id = w.id;
  // leave(): O1 of nap.hpp, after the barrier of notify_worker
  if (!rt.idle.notify_worker(id) && !rt.apart.wake(id) && !w.nap.leave() && can_preempt())
      [[unlikely]]
    rt.watch.look_soon(); // the watcher may have to ask the thread there to let go
}

void wait_on_own_stack(thread_context &e, frame &suspended) noexcept {
  constexpr unsigned k_retry_us = 100; // after the thread could not be parked
  worker &w = static_cast<worker &>(e);
  if (!std::exchange(w.leaves_loop, false)) [[likely]]
    return;
  const auto publish = [](runnable &left, void *p) {
    worker &self = *static_cast<worker *>(p);
    if (!self.bed.publish(left, [&self] { return self.own_frame.full(); }))
      make_ready(static_cast<frame &>(left));
  };
  e.suspended = &suspended; // for observers
  task *const waiting = std::exchange(e.current, nullptr);
  do {
    if (!w.own_frame.full() && !carrier()->park(publish, &w))
      usleep(k_retry_us);
    the_runtime().gate.pass();
  } while (!w.own_frame.take());
  e.current = waiting;
  e.suspended = nullptr;
}

void worker_loop() {
  for (;;) {
    worker &w = *this_worker_or_null();
    runnable *r = w.handoff;
    if (r) [[unlikely]]
      w.handoff = nullptr;
    else
      r = next_own(w);
    if (!r)
      r = find_work(w);
    if (r)
      run(w, r);
    else if (w.thread_frame)
      leave_for_frame(*w.thread_frame);
    else if (w.leaves_loop)
      leave_for_frame(*w.suspended);
  }
}

/// Picks what the worker of a frame that is being suspended goes on with. Join jobs of the stack
/// that is left become available to all workers.
runnable *pick(thread_context &e) {
  worker &w = static_cast<worker &>(e);
  unless(bug::suspension_keeps_count, [&] { flush_child_count_now(w); });
  poll_services(poll_point::scheduling_point);
  while (detail::join_job *job = w.joins.pop())
    enqueue_job(w, *job);
  if (runnable *kept = std::exchange(w.handoff, nullptr)) {
    if (kept == &g_nothing)
      return nullptr;
    if (std::exchange(w.forks, false))
      return kept;
    enqueue(&w, *kept, origin::fresh);
  }
  if (runnable *f = own_frame(w))
    return f;
  return take_ready(w);
}

namespace {

/// Runs a task on the frame of a waiter that is not its parent, and notes that for reports.
WEFT_COLD runnable *run_of_other(worker &w, task &t) {
  task *const waiter = w.current;
  const run_in_place noted(*root_of(*w.pool_stack), *waiter);
  waiter->next = &t; // it waits for no children meanwhile
  runnable *const successor = execute_counted(w, t, body_on::frame);
  waiter->next = nullptr;
  return successor;
}

WEFT_INLINE runnable *run_for_waiter(worker &w, const lineage &waited_for, task &t) {
  if (waited_for.group && t.parent != w.current) [[unlikely]]
    return run_of_other(w, t);
  return execute_counted(w, t, body_on::frame);
}

} // namespace

bool help(const lineage &waited_for, const completion_word<> &word, const std::uint32_t &owned) {
  worker *w = this_worker_or_null();
  // On a thread's own stack a child that waits could be continued by that thread only, and another
  // task may block the thread.
  if (home_of(*w) || stack_left(*w) < k_stack_reserve) [[unlikely]]
    return false;
  runnable *r = newest_of(*w, waited_for);
  if (!r)
    return false;
  do {
    r = run_for_waiter(*w, waited_for, *static_cast<task *>(r));
    w = this_worker_or_null(); // the thread may have changed
    if (!r) {
      if (word.done(owned)) // the next one in the queue is older than the wait
        break;
      r = newest_of(*w, waited_for);
    } else if (count(w->counts->successors); !goes_first(*w, *r) || !waited_for.includes(*r))
        [[unlikely]] {
      enqueue(w, *r, origin::fresh);
      break;
    }
  } while (r);
  end_gap(*w->counts, w->time);
  return true;
}

void run_job(worker &w, runnable &item) {
  if ((item.flags & detail::call_record::k_call) == 0)
    return run_join(static_cast<detail::join_job &>(item));
  task posted("posted call", &functions_root());
  w.current = &posted;
  auto &record = static_cast<detail::call_record &>(item);
  record.invoke(&record);
  try {
    wait_for_children(posted, exhausted::goes_on);
    rethrow_children_error(posted);
  } catch (...) {
    report_unasked(posted.label, std::current_exception());
  }
  ready_list none;
  release_accesses(posted, none);
  delete posted.extra.load(std::memory_order_relaxed);
  this_worker_or_null()->current = nullptr;
}

void get_by() {
  worker &w = *this_worker_or_null();
  runnable *r = nullptr;
  if (!w.in_callback && stack_left(w) >= k_stack_reserve) {
    r = take_ready(w);
    if (!r)
      r = steal_join(w);
  }
  if (!r)
    return has_managers() && apply_messages(w, poll_point::idle) ? void() : os_yield();
  task *const waiting = w.current;
  switch (r->base()) {
  case runnable::kind::frame: // the next attempt to suspend finds it
    enqueue(&w, *r, origin::resumed);
    return os_yield();
  case runnable::kind::join:
    run_job(w, *r);
    break;
  case runnable::kind::recorded:
    if (runnable *successor = execute_recorded_in_place(w, *static_cast<recorded_node *>(r)))
      enqueue(this_worker_or_null(), *successor, origin::fresh);
    break;
  case runnable::kind::task:
    if (runnable *successor = execute_counted(w, *static_cast<task *>(r), body_on::frame))
      enqueue(this_worker_or_null(), *successor, origin::fresh);
    break;
  }
  this_worker_or_null()->current = waiting;
}

void run_join(detail::join_job &job) {
  task branch("join branch", job.parent);
  branch.confine(job.parent->confinement());
  if (job.parent->has_meanwhile(detail::k_final) && !iteration_of(*job.parent))
    branch.set(detail::k_final); // what it spawns runs in place, too
  branch.done_word.store(&job, std::memory_order_relaxed); // for reports: which job ends with it
  worker &w = *this_worker_or_null();
  w.current = &branch;
  const std::uint32_t outer = w.trace ? trace_branch_begins(*w.trace, branch) : 0;
  try {
    job.invoke(&job);
  } catch (...) {
    job.error = std::current_exception();
  }
  if (task_extra *const extra = peek_extra(branch))
    end_locals(*extra); // their destructors may spawn
  try {
    wait_for_children(branch, exhausted::goes_on);
    rethrow_children_error(branch);
  } catch (...) {
    if (!job.error)
      job.error = std::current_exception();
    else // that of the branch itself is the one that is rethrown
      report_lost(branch.label, std::current_exception());
  }
  if (tracer *x = this_worker_or_null()->trace)
    trace_branch_ends(*x, branch.trace_id, outer);
  give_back_copies_of_branch(branch);
  ready_list none;
  release_accesses(branch, none);
  delete branch.extra.load(std::memory_order_relaxed);
  this_worker_or_null()->current = nullptr;
  void *waiter =
      unless(bug::join_done_missed, raise_signal(job.state, k_done)); // the last touch of the job
  if (waiter)
    make_ready(*static_cast<frame *>(waiter));
}

} // namespace rt
} // namespace weft::inline v0
