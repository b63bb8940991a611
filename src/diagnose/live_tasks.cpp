// SPDX-License-Identifier: Apache-2.0
#include "diagnose/live_tasks.hpp"

#include "deps/domain.hpp"
#include "task/claim_word.hpp"
#include "task/pending.hpp"
#include "worker/functions.hpp"
#include "worker/hooks.hpp"
#include "worker/runtime.hpp"

namespace weft::inline v0 {
namespace rt {

live_tasks::live_tasks(runtime &rt, walked when) : m_amid(when == walked::at_safepoint) {
  if (m_amid)
    find_ready(rt);
  find_roots(rt);
  while (!m_todo.empty()) {
    task &t = *m_todo.back();
    m_todo.pop_back();
    follow(t);
  }
}

void live_tasks::find_roots(runtime &rt) {
  for_each_suspended([](frame &f, void *self) { static_cast<live_tasks *>(self)->meet(f); }, this);
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

void live_tasks::meet_ready(runnable &r) {
  if (r.what == runnable::kind::task) {
    auto &t = static_cast<task &>(r);
    if (t.has(detail::k_tracked) && is_left_behind(t.unsatisfied))
      return; // a waiter runs the task, or ran it: this is not its place
    return meet(t);
  }
  if (r.what != runnable::kind::frame || !static_cast<frame &>(r).current)
    return;
  task &t = *static_cast<frame &>(r).current;
  going.insert(&t);
  with_frame.insert(&t);
  meet(t);
}

void live_tasks::meet(task &t) {
  if (tasks.insert(&t).second)
    m_todo.push_back(&t);
}

void live_tasks::meet(frame &f) {
  if (!f.current || (f.why.what == waits_for::nothing && !m_amid))
    return;
  if (f.why.what == waits_for::nothing)
    going.insert(f.current); // the task yields, or was held back
  frames.push_back(&f);
  with_frame.insert(f.current);
  meet(*f.current);
  if (f.why.what == waits_for::end_of_task || f.why.what == waits_for::start_of_task)
    meet(*const_cast<task *>(static_cast<const task *>(f.why.target)));
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
}

void live_tasks::follow(domain &d) {
  d.for_each([&](data_access *last) {
    if (cohort *c = domain::cohort_of(last))
      meet(c->self());
    else if (!domain::is_own(last) && !is_released(flags_of(*last)))
      meet(*last->task);
  });
  if (!d.regional())
    return;
  auto &scope = static_cast<region_scope &>(d);
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

void live_tasks::follow(cohort &c) {
  c.members.for_each_waiting([&](data_access &a) { meet(*a.task); });
  for (task *t = c.turns->waiting.get(); t; t = exclusion_traits::next(*t))
    meet(*t);
}

} // namespace rt
} // namespace weft::inline v0
