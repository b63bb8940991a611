// SPDX-License-Identifier: Apache-2.0
// Runs small joins and tasks as plain calls: which work is small, is what work_estimate knows of its
// type. The first row that applies:
//
//   case                                                        way
//   the thread is not Weft's yet; tune.inline=never             apart
//   a task that something may hold back (holds_back())          apart
//   a task, and less than 16 KiB of stack are left              apart
//   tune.inline=always                                          in_place
//   the caller is in work that runs in place                    in_place
//   the estimate says that the work is small                    in_place_measured
//   a cost of 0: unknown                                        apart
//   other                                                       apart_measured
//
// Work in place looks at the clock now and then, and is over when it has taken too long: what is
// below it from then on is decided anew.
// A time counts where the thread has done the whole work, and nothing else: no frame has left the
// thread to wait, no branch was stolen, and no task below was spawned apart.
#include "base/clock.hpp"
#include "base/log.hpp"
#include "deps/access.hpp"
#include "deps/registration.hpp"
#include "deps/sharing/reduction.hpp"
#include "task/destructor.hpp"
#include "task/failure.hpp"
#include "task/in_place_task.hpp"
#include "task/run_body.hpp"
#include "tune/in_place_types.hpp"
#include "tune/site_table.hpp"
#include "worker/runtime.hpp"

#include <weft/detail/in_place.hpp>

#include <algorithm>
#include <cxxabi.h>

namespace weft::inline v0 {

using namespace rt;

namespace detail {
namespace {

constexpr std::size_t k_least_stack = std::size_t{16} << 10;

/// Is the site of functions of C that are more than sites: nothing is measured, so their work is apart.
constinit work_site g_unknown_bodies;

in_place_mode mode() noexcept { return g_in_place_mode.load(std::memory_order_relaxed); }

std::uint32_t exceptions_in_flight(const thread_context &here) noexcept {
  return here.exceptions->uncaught;
}

/// Returns whether what runs on the thread is part of work in place.
WEFT_INLINE bool is_inside(const thread_context &here) noexcept {
  return here.in_place.task == here.current && here.in_place.timer &&
         here.in_place.suspended == here.counts->suspended;
}

void note_calls(const thread_context &here, work_site &site, std::uint32_t calls) noexcept {
  count(here.counts->in_place, calls);
  note_in_place(site, calls, reinterpret_cast<std::uintptr_t>(&here) / 512);
}

/// Decides anew, outside of work in place.
work_way choose_by_time(const work_site &site, std::uint64_t cost) noexcept {
  if (cost == 0)
    return work_way::apart;
  return site.estimate.fits(cost) ? work_way::in_place_measured : work_way::apart_measured;
}

/// Looks at the clock, and ends work in place that has taken too long.
WEFT_NOINLINE work_way look(thread_context &here, work_site &site, std::uint64_t cost) noexcept {
  work_timer &around = *here.in_place.timer;
  const std::uint64_t now = now_ns();
  if (now < around.began || now - around.began <= k_long_work_ns) {
    around.look_at = next_look(around.calls);
    return work_way::in_place;
  }
  --around.calls;
  around.too_long = true;
  around.site->estimate.note_too_long();
  here.in_place.task = nullptr; // the work goes on, and is not in place any more
  return choose_by_time(site, cost);
}

WEFT_INLINE work_way choose(thread_context &here, work_site &site, std::uint64_t cost) noexcept {
  if (is_inside(here)) [[likely]] {
    work_timer &around = *here.in_place.timer;
    if (++around.calls != around.look_at) [[likely]]
      return work_way::in_place;
    return look(here, site, cost);
  }
  if (mode() == in_place_mode::by_time) [[likely]]
    return choose_by_time(site, cost);
  if (mode() == in_place_mode::never)
    return work_way::apart;
  note_calls(here, site, 1);
  return work_way::in_place;
}

} // namespace

work_site &site_of_body(const void *function) noexcept {
  static constinit site_table<work_site, 1024> sites;
  work_site *const own = sites.find(function);
  return own ? *own : g_unknown_bodies;
}

work_way choose_join(work_site &site, std::uint64_t cost) noexcept {
  thread_context *const here = this_thread_context();
  return here ? choose(*here, site, cost) : work_way::apart;
}

void note_elsewhere() noexcept { ++this_thread_context()->work_elsewhere; }

void begin_timer(work_timer &timer, work_site &site, std::uint64_t cost, work_way way) noexcept {
  thread_context &here = *this_thread_context();
  in_place_scope &scope = here.in_place;
  timer.way = way;
  timer.outer_task = scope.task;
  if (way == work_way::in_place) { // the body of a task within the work in place of its creator
    if (!scope.timer || scope.suspended != here.counts->suspended ||
        scope.task != here.current->parent)
      return;
    timer.thread = &here;
    scope.task = here.current;
    return;
  }
  if (&site == &g_unknown_bodies)
    return;
  // Where the work is apart, the timer keeps the children that are there in the place of the scope.
  timer.outer_suspended = way == work_way::apart_measured
                              ? static_cast<std::uint64_t>(here.current->owned_children)
                              : scope.suspended;
  timer.outer = scope.timer;
  timer.exceptions = exceptions_in_flight(here);
  timer.suspended = here.counts->suspended;
  timer.site = &site;
  timer.cost = cost;
  timer.elsewhere = here.work_elsewhere;
  if (way == work_way::in_place_measured) {
    scope = {here.current, timer.suspended, &timer};
    timer.look_at = k_first_look;
  }
  timer.thread = &here;
  timer.began = now_ns();
}

void work_timer::end() noexcept {
  thread_context *const here = this_thread_context();
  if (way == work_way::in_place) {
    if (here == thread && here->in_place.task == here->current)
      here->in_place.task = outer_task;
    return;
  }
  const bool stayed = here == thread && here->counts->suspended == suspended;
  if (way == work_way::in_place_measured) {
    if (stayed)
      here->in_place = {outer_task, outer_suspended, outer};
    note_calls(*here, *site, calls);
    if (!stayed && !too_long)
      return site->estimate.note_too_long();
  }
  if (!stayed || too_long || exceptions_in_flight(*here) != exceptions ||
      here->work_elsewhere != elsewhere)
    return;
  if (way == work_way::apart_measured &&
      static_cast<std::uint64_t>(here->current->owned_children) != outer_suspended)
    return; // tasks without a cost are left below
  const std::uint64_t now = now_ns();
  const std::uint64_t took = now > began ? now - began : 0;
  if (way == work_way::in_place_measured)
    site->estimate.note_in_place(cost, took);
  else
    site->estimate.note(cost, took);
}

// ---- tasks ---------------------------------------------------------------------------------------------------------

namespace {

/// Returns whether a child of `parent` with this access could run now. Nothing is entered.
bool is_free(task &parent, const access &a) noexcept {
  if (!a.address)
    return true;
  if (a.mode > access_mode::inout)
    return false;
  const domain *const children = parent.children_domain;
  if (children && (children->regional() || children->is_hidden()))
    return false;
  data_access *const *const last = children ? children->find_slot_in_sight(a.address) : nullptr;
  if (!last) {
    const data_access *const own = find_record(parent, a.address);
    return !own || holds_no_child(*own);
  }
  if (!*last)
    return true;
  if (domain::is_cohort(*last))
    return false;
  if (domain::is_own(*last))
    return holds_no_child(*domain::plain(*last));
  return is_released((*last)->flags.load(std::memory_order_acquire)); // O1 of access.hpp
}

bool are_free(task &parent, const access *first, std::size_t count) noexcept {
  return std::all_of(first, first + count, [&](const access &a) { return is_free(parent, a); });
}

/// Returns whether something but its accesses may hold the task back, or keeps it apart: a callback
/// may not wait, the children of a final task and of a taskiter have a way of their own, and a frame
/// that handles an exception keeps it from tasks.
bool holds_back(const thread_context &here, const task_group *group) noexcept {
  return here.in_callback || here.current->has(k_final) || here.exceptions->caught ||
         here.exceptions->uncaught ||
         (group && (const_cast<task_group *>(group)->internals().cancelled.load(
                        std::memory_order_relaxed) ||
                    const_cast<task_group *>(group)->internals().owner->label == k_parent_process));
}

} // namespace

work_way choose_spawn(work_site &site, std::uint64_t cost, task_group *group, const access *first,
                      std::size_t first_count, const access *second,
                      std::size_t second_count) noexcept {
  thread_context *const here = this_thread_context();
  if (!here || mode() == in_place_mode::never)
    return work_way::apart;
  if (stack_left(*here) >= k_least_stack && !holds_back(*here, group) &&
      (first_count + second_count == 0 ||
       (!is_over(*here->current) && !mailbox::needs_general_path() && are_free(*here->current, first, first_count) &&
        are_free(*here->current, second, second_count)))) [[likely]] {
    const work_way way = choose(*here, site, cost);
    if (way == work_way::apart_measured)
      ++here->work_elsewhere;
    if (way != work_way::apart)
      return way;
  }
  ++here->work_elsewhere;
  return work_way::apart;
}

namespace {

WEFT_INLINE void call(in_place_task &self, void (*f)(void *), void *closure) noexcept {
  try {
    f(closure);
  } catch (abi::__forced_unwind &) {
    fatal(
        "task '%s' was ended by pthread_exit() or pthread_cancel(); a task has to return or to throw",
        label_of(self));
  } catch (...) {
    fail(self, std::current_exception());
  }
}

/// Waits for what the task has spawned, and ends what it holds.
WEFT_NOINLINE void settle(in_place_task &self) noexcept {
  wait_for_children(self, exhausted::goes_on);
  if (task_extra *const extra = peek_extra(self))
    pass_on_children_error(self, *extra);
  give_back_copies_of_branch(self);
  ready_list none;
  release_accesses(self, none);
  delete self.extra.exchange(nullptr, std::memory_order_relaxed);
  self.children_domain = nullptr;
}

WEFT_INLINE void settle_if_needed(in_place_task &self) noexcept {
  if (!self.children.done(self.owned_children) || self.children_domain || peek_extra(self))
      [[unlikely]]
    settle(self);
}

WEFT_INLINE void run_body_in_place(in_place_task &running, const task_in_place &self) noexcept {
  call(running, self.invoke, self.closure);
  if (running.has(k_cancelled)) [[unlikely]]
    ++this_thread_context()->work_elsewhere; // an exception says nothing of the time
  settle_if_needed(running);
  if (!self.destroy)
    return;
  self.destroy(self.closure); // as the task, which may have children again
  settle_if_needed(running);
}

} // namespace

void run_task_in_place(const task_in_place &self, work_way way) noexcept {
  worker &here = *this_worker_or_null();
  task &creator = *here.current;
  in_place_task running(self.label, creator, self.group, self.cost);
  count(here.counts->cost, self.cost);
  here.current = &running;
  if (way == work_way::in_place) [[likely]] {
    if (here.in_place.task == &creator)
      here.in_place.task = &running;
    run_body_in_place(running, self);
    in_place_scope &scope = this_thread_context()->in_place;
    if (scope.task == &running) // otherwise it has taken too long, or waited
      scope.task = &creator;
  } else {
    work_timer timer;
    begin_timer(timer, *self.site, self.cost, way);
    run_body_in_place(running, self);
  }
  this_thread_context()->current = &creator;
}

} // namespace detail
} // namespace weft::inline v0
