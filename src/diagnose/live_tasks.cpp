// SPDX-License-Identifier: Apache-2.0
#include "diagnose/live_tasks.hpp"

#include "deps/domain.hpp"
#include "task/pending.hpp"
#include "task/recorded.hpp"
#include "task/wait/claim_word.hpp"
#include "task/wait/coroutine.hpp"
#include "task/wait/hold.hpp"
#include "task/wait/run_in_place.hpp"
#include "ult/stack_switch.hpp"
#include "worker/functions.hpp"
#include "worker/hooks.hpp"
#include "worker/runtime.hpp"

#include <weft/detail/future.hpp>

#include <algorithm>

namespace weft::inline v0 {
namespace rt {

live_tasks::live_tasks(runtime &rt, walked when, const std::vector<task *> &externals)
    : m_amid(when == walked::at_safepoint), m_sees_waiters(!m_amid || !rt.clock.is_busy()) {
  if (m_amid)
    find_ready(rt);
  find_roots(rt);
  for (task *t : externals)
    meet(*t);
  while (!m_todo.empty()) {
    task &t = *m_todo.back();
    m_todo.pop_back();
    follow(t);
  }
}

void live_tasks::find_roots(runtime &rt) {
  for_each_suspended([](frame &f, void *self) { static_cast<live_tasks *>(self)->meet(f); }, this);
  for_each_root(
      [](const stack_root &of_stack, void *self) {
        for (const run_in_place *run = of_stack.runs; run; run = run->below)
          static_cast<live_tasks *>(self)->meet(*run);
      },
      this);
  for (unsigned i = 0; i < rt.spare_threads.slots(); ++i)
    if (worker *w = rt.slots[i].load(std::memory_order_acquire);
        w && w->suspended) // O1: pairs with make_worker
      meet(*w->suspended);
  for_each_pending(
      [](task &t, void *self) {
        static_cast<live_tasks *>(self)->pending.insert(&t);
        static_cast<live_tasks *>(self)->meet(t);
      },
      this);
  if (m_sees_waiters)
    for_each_listed_state(
        [](task &state, void *self) {
          if (!is_raised(state.done_word, k_done)) // its end is on the way
            static_cast<live_tasks *>(self)->meet_awaited(state);
        },
        this);
}

/// Meets the tasks that workers hold, and those in their own queues.
void live_tasks::find_ready(runtime &rt) {
  for (unsigned i = 0; i < rt.spare_threads.slots(); ++i) {
    worker *w = rt.slots[i].load(std::memory_order_acquire); // O1
    if (!w)
      continue;
    if (w->at_safepoint.load(std::memory_order_acquire) && w->current) { // O1 of safepoint_core.hpp
      beginning.emplace(w->current, i);
      with_frame.insert(w->current);
      meet(*w->current);
    }
    if (w->suspended && w->own_frame.full())
      meet_ready(*w->suspended);
    if (w->own.deque)
      w->own.deque->for_each([&](runnable *r) { meet_ready(*r); });
    else
      elsewhere += rt.ready->length(i);
  }
  elsewhere += rt.ready->length(k_outside);
}

void live_tasks::meet_ready(runnable &item) {
  if (item.what == runnable::kind::task) {
    auto &t = static_cast<task &>(item);
    if (t.has_meanwhile(detail::k_tracked) && is_left_behind(t.unsatisfied))
      return; // a waiter runs the task, or ran it: this is not its place
    return meet(t);
  }
  if (item.what != runnable::kind::frame || !static_cast<frame &>(item).current)
    return;
  task &t = *static_cast<frame &>(item).current;
  going.insert(&t);
  with_frame.insert(&t);
  meet(t);
}

void live_tasks::meet(task &t) {
  if (tasks.insert(&t).second)
    m_todo.push_back(&t);
}

void live_tasks::meet(frame &suspended) {
  if (!suspended.current || (suspended.why.what == waits_for::nothing && !m_amid))
    return;
  if (suspended.why.what == waits_for::nothing)
    going.insert(suspended.current); // the task yields, or was held back
  frames.push_back(&suspended);
  with_frame.insert(suspended.current);
  meet(*suspended.current);
  if (suspended.why.what == waits_for::end_of_task ||
      suspended.why.what == waits_for::start_of_task)
    meet_awaited(*const_cast<task *>(static_cast<const task *>(suspended.why.target)));
}

void live_tasks::meet(const run_in_place &run) {
  m_waiting_in_place.insert(run.waiter);
  meet(*run.waiter);
  runnable *const on_top = run.waiter->next;
  if (!on_top || on_top->base() != runnable::kind::task) // its body is over: what it owned is destroyed
    return;
  m_in_place.emplace(static_cast<task *>(on_top), run.waiter);
  meet(static_cast<task &>(*on_top));
}

/// Meets all tasks that can be reached from a live task.
void live_tasks::follow(task &t) {
  if (t.parent)
    meet(*t.parent);
  if (t.children_domain)
    follow(*t.children_domain);
  for_each_behind(
      t,
      [](task &behind, const char *, void *self) { static_cast<live_tasks *>(self)->meet(behind); },
      this);
  for (std::uint32_t i = 0; i < t.extent; ++i)
    follow(t.accesses()[i]);
  if (is_cohort(t))
    follow(*static_cast<cohort *>(detail::storage(&t)));
  else
    find_awaited(t);
  if (m_sees_waiters)
    follow_waiters(t);
}

void live_tasks::meet_behind(task &waiting, task &before) {
  std::vector<task *> &all = awaited[&waiting];
  if (std::find(all.begin(), all.end(), &before) == all.end())
    all.push_back(&before);
  meet(waiting);
  meet(before);
}

/// Meets what is waited for. If that is a state of several futures, also those that are not ready:
/// its waiter keeps it, and no other thread may take them out of it before it is ready.
void live_tasks::meet_awaited(task &t) {
  meet(t);
  std::vector<task *> todo{&t};
  while (!todo.empty()) {
    task &state = *todo.back();
    todo.pop_back();
    if (!is_state(state) || !state.ops->inputs || is_raised(state.done_word, k_done) ||
        !m_combined.insert(&state).second)
      continue;
    const detail::input_list inputs = state.ops->inputs(detail::storage(&state));
    std::set<task *> left(inputs.first, inputs.first + inputs.count);
    std::erase_if(left, [](const task *input) { return is_raised(input->done_word, k_done); });
    awaited[&state].assign(left.begin(), left.end());
    for (task *input : left) {
      meet(*input);
      todo.push_back(input);
    }
  }
}

/// Meets what a coroutine waits for, and what a task waits for before it begins.
void live_tasks::find_awaited(task &t) {
  if (t.has(detail::k_implicit) || is_state(t) || is_external(t) || with_frame.count(&t) || waits_in_place(t))
    return;
  const task_extra *const extra = peek_extra(t);
  if (const detail::coro_root *root = extra ? extra->coroutine : nullptr) {
    if (noted_reason(*root).what == waits_for::end_of_task)
      meet_awaited(*const_cast<task *>(static_cast<const task *>(root->awaited)));
    return;
  }
  std::pair<live_tasks *, task *> here(this, &t);
  const holding how = for_each_holder(
      t,
      [](task &before, void *p) {
        auto &[self, waiting] = *static_cast<std::pair<live_tasks *, task *> *>(p);
        self->meet_behind(*waiting, before);
        self->meet_awaited(before);
      },
      &here);
  if (how == holding::unknown)
    held.insert(&t);
}

/// Meets the tasks and the states that wait for the end of `t`.
void live_tasks::follow_waiters(task &t) {
  if (!t.has(detail::k_tracked) || t.has(detail::k_implicit) || is_recorded(t) || is_cohort(t))
    return;
  void *const seen =
      t.done_word.load(std::memory_order_acquire); // O1 of waiter_list.hpp: the nodes
  if (!seen || task_waiters::is_token(seen) || task_waiters::is_changing(seen))
    return;
  for (auto *w = static_cast<waiter *>(seen); w; w = w->next)
    if (task *const waiting = held_by(*w))
      meet_behind(*waiting, t);
    else if (task *const whole = whole_of(*w))
      meet_behind(*whole, t);
    else if (w->fire == &detail::fire_by_post)
      for (task *const p : pending) // whose result is that of `t`: the waiter is in its closure
        if (const char *const low = static_cast<const char *>(detail::storage(p));
            reinterpret_cast<const char *>(w) >= low &&
            reinterpret_cast<const char *>(w) < low + p->ops->bytes)
          meet_behind(*p, t);
}

void live_tasks::follow(domain &home) {
  home.for_each([&](data_access *last) {
    if (cohort *c = domain::cohort_of(last))
      meet(c->self());
    else if (!domain::is_own(last) && !is_released(flags_of(*last)))
      meet(*last->task);
  });
  if (!home.regional())
    return;
  auto &scope = static_cast<region_scope &>(home);
  scope.for_each_successor([&](task &behind) { meet(behind); });
  if (scope.addresses_before)
    follow(*scope.addresses_before);
}

void live_tasks::follow(data_access &a) {
  const std::uint32_t flags = flags_of(a);
  if (is_released(flags))
    return;
  if (a.joined) { // its successor is only another access that waits for the cohort
    members[a.joined].push_back(&a);
    meet(a.joined->self());
  } else if (data_access *next = flags & k_next_known ? a.successor.get() : nullptr) {
    (flags & k_next_parent ? last_below : before)[next] = &a;
    meet(*next->task);
  }
  // A child access that has got everything from this one may be freed.
  if (data_access *child =
          flags & k_child_link && (flags & k_both_ok) != k_both_ok ? a.child.get() : nullptr) {
    above[child] = &a;
    meet(*child->task);
  }
}

void live_tasks::follow(cohort &joined) {
  joined.members.for_each_waiting([&](data_access &a) { meet(*a.task); });
  for (task *t = joined.turns->waiting.get(); t; t = exclusion_traits::next(*t))
    meet(*t);
}

} // namespace rt
} // namespace weft::inline v0
