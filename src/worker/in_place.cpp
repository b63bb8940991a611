// SPDX-License-Identifier: Apache-2.0
// Waits that run in place what they wait for (docs/design/futures.md).
#include "worker/in_place.hpp"

#include "deps/sharing/cohort.hpp"
#include "task/execute.hpp"
#include "task/hooks.hpp"
#include "task/run_body.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/wait.hpp"
#include "task/wait/waiters.hpp"
#include "ult/stack_switch.hpp"
#include "worker/functions.hpp"

#include <algorithm>

namespace weft::inline v0 {
namespace rt {
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
WEFT_INLINE bool pop_newest(worker &w, task &t) noexcept { return w.own.deque && w.own.deque->pop_if(&t); }

WEFT_NOINLINE bool take_newest(worker &w, task &t) noexcept { return pop_newest(w, t); }

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

/// Begins an open task whose entry the worker has taken out of its own queue.
awaited_entry begin_popped(worker &w, task &t) noexcept {
  const own_entry what = use_own_entry(t.unsatisfied);
  if (what == own_entry::left_behind)
    drop_references(t, 1);
  else if (what == own_entry::of_later_run)
    w.own.deque->push(&t); // there was room for it
  return what == own_entry::begun ? awaited_entry::taken : awaited_entry::none;
}

/// Begins an open task in place of its entry in a queue. Returns none if another thread was first.
WEFT_INLINE awaited_entry begin_awaited(worker &w, task &t) noexcept {
  bool has_entry = pop_newest(w, t);
  if (!has_entry && may_be_left_behind(w) && drop_left_behind(w))
    has_entry = take_newest(w, t);
  if (has_entry)
    return begin_popped(w, t);
  return claim(t.unsatisfied) ? awaited_entry::left_behind // O2 of claim_word.hpp
                              : awaited_entry::none;
}

/// Counts a task that runs in a wait, also for the task after which the next one is timed.
WEFT_INLINE void count_run(worker &w) noexcept {
  count(w.counts->executed);
  count(w.counts->ran_in_wait);
  --w.time.until;
}

/// Ends a run, with a task that it made ready, or none.
WEFT_INLINE void end_run(runnable *successor) {
  worker &now = *this_worker_or_null(); // the thread may have changed
  end_gap(*now.counts, now.time);
  if (successor)
    enqueue(&now, *successor, origin::fresh);
}

/// Runs a task that the caller has begun, and has counted.
template <awaited_entry Entry>
WEFT_INLINE void run_counted(worker &w, task &awaited) {
  const auto run = [&] {
    return Entry == awaited_entry::taken ? execute_awaited(w, awaited)
                                         : execute_claimed(w, awaited);
  };
  end_run(w.time.until == 0 ? timed(w, awaited, run) : run());
}

/// Runs a task that the caller may have begun.
WEFT_INLINE void run_begun(worker &w, task &awaited, awaited_entry entry) {
  if (entry == awaited_entry::none)
    return;
  count_run(w);
  if (entry == awaited_entry::taken)
    run_counted<awaited_entry::taken>(w, awaited);
  else
    run_counted<awaited_entry::left_behind>(w, awaited);
}

// ---- the lone waiter
//
// A task that its parent runs, and that has no accesses, no group and no options, is known to no other thread if its
// parent has both references: the one of completion, with the entry, and the only handle. Then neither its begin nor
// its end needs an atomic operation (I4 of claim_word.hpp).

constexpr std::uint32_t k_both = 2; // references

WEFT_INLINE bool is_bare(const task &t) noexcept {
  return (reinterpret_cast<std::uintptr_t>(t.group) | reinterpret_cast<std::uintptr_t>(peek_extra(t))) == 0;
}

/// Returns whether the task is one without options that its parent, `outer`, may run on the frame. run_awaited() asks
/// more, of other tasks, and the policy; but a policy that draws has no queues of its workers.
WEFT_INLINE bool may_run_alone(const worker &w, const task &t, const task &outer) noexcept {
  return !w.in_callback && !is_on_own_stack(w) && stack_left(w) >= k_stack_reserve &&
         t.parent == &outer && t.is_simple(detail::k_special | detail::k_undeferred) && is_bare(t) &&
         outer.confinement() == 0 && !w.exceptions->caught && !w.exceptions->uncaught;
}

/// Returns whether the body has left nothing behind: the end of the task is known to the caller alone.
WEFT_INLINE bool ends_alone(const task &t) noexcept {
  const bool bare = (reinterpret_cast<std::uintptr_t>(peek_extra(t)) |
                     reinterpret_cast<std::uintptr_t>(t.children_domain)) == 0;
  return bare && !t.has(detail::k_destroys) && t.children.done(t.owned_children) && has_all(t.references, k_both) &&
         !t.done_word.load(std::memory_order_relaxed);
}

/// Ends a wait for a task. Returns whether the task may have failed.
WEFT_INLINE bool end_wait(const task &awaited, task &outer) {
  if (outer.children_domain) [[unlikely]]
    end_cohorts(outer);
  return peek_extra(awaited) != nullptr;
}

WEFT_COLD bool wait_among_others(task &awaited) {
  wait_until_done(awaited);
  return end_wait(awaited, *this_worker_or_null()->current);
}

WEFT_COLD bool run_popped(worker &w, task &awaited) {
  run_begun(w, awaited, begin_popped(w, awaited));
  return wait_among_others(awaited);
}

WEFT_COLD bool run_counted_timed(worker &w, task &awaited) {
  run_counted<awaited_entry::taken>(w, awaited);
  return wait_among_others(awaited);
}

WEFT_COLD bool end_among_others(task &t, task &outer) {
  end_run(end_awaited(t, outer));
  return wait_among_others(t);
}

} // namespace

void run_awaited(task &awaited) {
  worker &w = *this_worker_or_null();
  // As in help(): on a thread's own stack only that thread could continue the task.
  if (w.in_callback || is_on_own_stack(w) || !has_room_for(w, awaited) ||
      !may_run_here(w, awaited) || the_runtime().ready->choose(2) != 0)
    return;
  run_begun(w, awaited, begin_awaited(w, awaited));
}

bool wait_as_holder(thread_context &here, task &awaited) {
  worker &w = static_cast<worker &>(here);
  task &outer = *w.current;
  if (!may_run_alone(w, awaited, outer) || !pop_newest(w, awaited)) [[unlikely]]
    return wait_among_others(awaited);
  // The word behind the references: the entry may be one that a waiter left behind whose handle is gone by now.
  if (!has_all(awaited.references, k_both) || !is_open(awaited.unsatisfied)) [[unlikely]]
    return run_popped(w, awaited);
  begin_alone(awaited.unsatisfied);
  count_run(w);
  if (w.time.until == 0) [[unlikely]]
    return run_counted_timed(w, awaited);
  w.current = &awaited;
  outer.next = &awaited; // for reports; it waits for no children meanwhile
  run_body(awaited);
  outer.next = nullptr;
  if (!ends_alone(awaited)) [[unlikely]]
    return end_among_others(awaited, outer);
  worker &now = *this_worker_or_null(); // the thread may have changed
  now.current = &outer;
  task_waiters::raise_unshared(awaited.done_word, k_done);
  keep(awaited.references, k_both - 1);
  --outer.owned_children;
  end_gap(*now.counts, now.time);
  if (outer.children_domain) [[unlikely]]
    end_cohorts(outer);
  return false;
}

} // namespace rt
} // namespace weft::inline v0
