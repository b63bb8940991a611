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
#include "task/wait/signal_word.hpp"
#include "ult/hooks.hpp"
#include "ult/stack_switch.hpp"
#include "worker/functions.hpp"
#include "worker/idle_workers.hpp"
#include "worker/search.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_stack_reserve =
    24 << 10; // a task is run in place only with this much stack left

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

template <class F>
runnable *timed(worker &w, const task &body, F run) noexcept {
  const timed_task t =
      begin_timed(*w.counts, w.time, {body.label, body.ops ? body.ops->closure : nullptr});
  runnable *next = run();
  worker &now = *this_worker_or_null(); // the thread may have changed
  end_timed(t, *now.counts, now.time);
  return next;
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
    r = execute_counted(*w, *static_cast<task *>(r), body_on::frame);
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

namespace {

constexpr std::size_t k_kept_free = 16 << 10; // stack below a body that is run in place

/// Returns whether the stack of the caller has room for what the task asks for.
bool has_room_for(const worker &w, const task &t) noexcept {
  const task_extra *const extra = peek_extra(t);
  const std::size_t asked = extra ? extra->stack_bytes : 0;
  return stack_left(w) >= std::max(k_stack_reserve, asked + k_kept_free);
}

/// Returns whether the task may run on the frame of the current task. It may suspend there and go on
/// on any worker of its set, and then the frame goes on at that worker.
bool may_run_here(const worker &w, const task &t) noexcept {
  const unsigned set = t.confinement();
  const unsigned mine = w.current->confinement();
  return set == mine || (mine == 0 && the_runtime().confined.serves(w.id, set));
}

/// Says whether the frame is on a thread's own stack, or in a call from there.
bool is_on_own_stack(const worker &w) noexcept {
  return !w.pool_stack || root_of(*w.pool_stack)->home;
}

/// Takes the task out of the worker's own queue if it is the newest there.
WEFT_INLINE bool pop_newest(worker &w, const task &t) noexcept {
  work_deque<runnable *> *const own = w.own.deque;
  if (!own || own->newest() != &t)
    return false;
  runnable *const taken = own->pop();
  if (taken == &t)
    return true;
  if (taken) // a thief took the task meanwhile, and the queue has room for what is put back
    own->push(taken);
  return false;
}

WEFT_NOINLINE bool take_newest(worker &w, const task &t) noexcept { return pop_newest(w, t); }

/// Drops the newest entries of the worker's own queue while they are such as a waiter left behind:
/// else a tree whose nodes wait for their children in the order of the spawns piles them up. Returns
/// whether there were any.
WEFT_NOINLINE bool drop_left_behind(worker &w) noexcept {
  work_deque<runnable *> *const own = w.own.deque;
  bool any = false;
  while (runnable *const taken = own->pop()) {
    auto *const t = taken->base() == runnable::kind::task ? static_cast<task *>(taken) : nullptr;
    if (!t || !t->has_meanwhile(detail::k_tracked) || !is_left_behind(t->unsatisfied) ||
        take_entry(t->unsatisfied)) {
      own->push(taken); // there was room for it
      break;
    }
    drop_references(*t, 1);
    any = true;
  }
  w.live_below = own->bottom();
  return any;
}

/// Returns whether the newest entry may be one that was left behind. A waiter leaves entries behind
/// below the newest one, so none comes to the top until the size changes; an entry that a waiter on
/// another worker leaves behind stays until the next look.
bool may_be_left_behind(const worker &w) noexcept {
  return w.own.deque && w.own.deque->bottom() != w.live_below;
}

/// Begins an open task in place of its entry in a queue. Returns none if another thread was first.
WEFT_INLINE awaited_entry begin_awaited(worker &w, task &t) noexcept {
  bool has_entry = pop_newest(w, t);
  if (!has_entry && may_be_left_behind(w) && drop_left_behind(w))
    has_entry = take_newest(w, t);
  if (has_entry) {
    const own_entry what = use_own_entry(t.unsatisfied);
    if (what == own_entry::left_behind)
      drop_references(t, 1);
    else if (what == own_entry::of_later_run)
      w.own.deque->push(&t); // there was room for it
    return what == own_entry::begun ? awaited_entry::taken : awaited_entry::none;
  }
  return claim(t.unsatisfied) ? awaited_entry::left_behind // O2 of claim_word.hpp
                              : awaited_entry::none;
}

/// Runs a task that the caller has begun.
template <awaited_entry Entry>
WEFT_INLINE void run_begun(worker &w, task &awaited) {
  count(w.counts->executed);
  count(w.counts->ran_in_wait);
  const auto run = [&] {
    return Entry == awaited_entry::taken ? execute_awaited(w, awaited)
                                         : execute_claimed(w, awaited);
  };
  runnable *const successor = --w.time.until == 0 ? timed(w, awaited, run) : run();
  worker &now = *this_worker_or_null(); // the thread may have changed
  end_gap(*now.counts, now.time);
  if (successor)
    enqueue(&now, *successor, origin::fresh);
}

} // namespace

void run_awaited(task &awaited) {
  worker &w = *this_worker_or_null();
  // As in help(): on a thread's own stack only that thread could continue the task.
  if (w.in_callback || is_on_own_stack(w) || !has_room_for(w, awaited) ||
      !may_run_here(w, awaited) || the_runtime().ready->choose(2) != 0)
    return;
  switch (begin_awaited(w, awaited)) {
  case awaited_entry::none:
    return;
  case awaited_entry::taken:
    return run_begun<awaited_entry::taken>(w, awaited);
  case awaited_entry::left_behind:
    return run_begun<awaited_entry::left_behind>(w, awaited);
  }
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
