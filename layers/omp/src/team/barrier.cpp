// SPDX-License-Identifier: Apache-2.0
// Barriers of a team, inside of a region and at its end. barrier_words.hpp describes the protocol.
#include "team/oversubscribed.hpp"
#include "team/task_queue.hpp"
#include "team/team.hpp"

#include <utility>

namespace weft_omp {

void wake_range(thread *me, omp_team &c, unsigned first, unsigned end) noexcept {
  constexpr unsigned k_batch = 32;
  while (first < end) {
    weft::detail::runnable *batch[k_batch];
    unsigned n = 0;
    for (; first < end && n < k_batch; ++first)
      if (thread *const m = c.members[first]; m && m != me)
        if ((batch[n] = m->own_parker.take()))
          ++n;
    if (n != 0)
      in_core(me, [&] {
        for (unsigned i = 0; i < n; ++i)
          weft::layer::unpark(*batch[i]);
      });
  }
}

namespace {

bool wake_after(thread &me, omp_team &c, barrier_end e) noexcept {
  if (e == barrier_end::not_yet)
    return false;
  wake_range(&me, c, 0,
             e == barrier_end::of_region
                 ? 1
                 : c.size); // at the region's end the others wait for their next region
  return true;
}

enum class outcome { over, cancelled, work };

struct episode {
  std::uint64_t number; // barriers before this one; of an oversubscribed team in full
  std::uint64_t unit;
  bool cancellable;
};

bool may_sleep(const parker::reason &r) noexcept {
  const omp_team &c = *static_cast<const omp_team *>(r.object);
  return c.goes_on(r.number, r.flag) && !has_work(c);
}

/// Returns whether a member that found has_tasks unset may sleep. While it is unset no thread looks
/// for sleepers.
bool may_sleep_without_tasks(const parker::reason &r) noexcept {
  return static_cast<const omp_team *>(r.object)->is_without_tasks() && may_sleep(r);
}

void sleep(thread &t, omp_team &c, const episode &s) noexcept {
  if (!c.has_tasks.load(std::memory_order_relaxed))
    return t.own_parker.wait_for(t, {&may_sleep_without_tasks, &c, s.number, s.cancellable});
  c.begin_to_park();
  t.own_parker.wait_for(t, {&may_sleep, &c, s.number, s.cancellable});
  c.end_to_park();
}

/// Withdraws the member from the barrier, because the region is cancelled or there is work.
outcome cease(omp_team &c, const episode &s, bool leaves) noexcept {
  if (!c.take_back(s.number, s.unit))
    return outcome::over;
  return leaves ? outcome::cancelled : outcome::work;
}

outcome idle(thread &t, omp_team &c, const episode &s, int spins, steal_policy &policy) noexcept {
  adaptive_spin looks(t, spins);
  for (bool sleeps = false;;) {
    if (c.is_over(s.number)) {
      if (!sleeps)
        looks.end(true);
      return outcome::over;
    }
    const bool leaves = s.cancellable && c.is_cancelled();
    if (!leaves && policy.abstains()) { // it stays awake: no thread needs to wake it
      cpu_pause();
      continue;
    }
    if (leaves || has_work(c))
      return cease(c, s, leaves);
    if (looks.goes_on())
      continue;
    if (!std::exchange(sleeps, true))
      looks.end(false);
    sleep(t, c, s);
  }
}

/// Returns a task of the thread's own, or else one of another member. Null: there is none, or none
/// that it should take.
omp_task *next_task(thread &t, omp_team &c, steal_policy &policy) noexcept {
  if (omp_task *const x = take_own(t, c))
    return x;
  (void)policy.was_unprofitable();
  return policy.abstains() ? nullptr : steal(t, c, policy);
}

bool is_released(const parker::reason &r) noexcept {
  return static_cast<const omp_team *>(r.object)->is_released(r.number);
}
/// Returns whether a waiter of an oversubscribed team without tasks may sleep. While there are no
/// tasks no thread looks for sleepers.
bool is_missing(const parker::reason &r) noexcept {
  const omp_team &c = *static_cast<const omp_team *>(r.object);
  return !c.is_released(r.number) && c.is_without_tasks() && !c.is_to_leave(r.flag);
}
bool is_missing_or_work(const parker::reason &r) noexcept {
  const omp_team &c = *static_cast<const omp_team *>(r.object);
  return !c.is_released(r.number) && !has_work(c) && !c.is_to_leave(r.flag);
}

constexpr std::uint64_t watch_for_barrier(std::uint64_t number) noexcept { return 2 * number + 1; }

outcome idle_oversubscribed(thread &t, omp_team &c, const episode &s) noexcept {
  for (;;) {
    if (!c.has_tasks.load(std::memory_order_relaxed)) {
      rest(t, c,
           {watch_for_barrier(s.number),
            &is_released,
            {&is_missing, &c, s.number, s.cancellable},
            s.unit == omp_team::k_arrived});
    } else {
      c.begin_to_park();
      t.own_parker.wait_for(t, {&is_missing_or_work, &c, s.number, s.cancellable});
      c.end_to_park();
    }
    if (c.is_released(s.number))
      return outcome::over;
    const bool leaves = s.cancellable && c.is_cancelled();
    if (leaves || has_work(c))
      return cease(c, s, leaves);
  }
}

void run_tasks(thread &t, omp_team &c, steal_policy &policy) {
  omp_task *next = nullptr;
  while (omp_task *const x = next ? std::exchange(next, nullptr) : next_task(t, c, policy)) {
    const bool stolen = x->home != &t;
    const unsigned accesses = x->accesses;
    run_task(t, *x, &next);
    if (stolen && policy.has_run(accesses) && policy.was_unprofitable())
      give_back(t, c, policy, std::exchange(next, nullptr));
  }
  if (const std::int64_t n = slot_of(t).take_unpublished())
    c.publish(n);
}

bool wait_oversubscribed(thread &t, omp_team &c, std::uint64_t unit, bool cancellable) {
  const episode s{c.passed_as_released(), unit, cancellable};
  barrier_leaf &mine = *slot_of(t).leaf;
  for (steal_policy policy(false);;) {
    if (c.has_tasks.load(std::memory_order_relaxed))
      run_tasks(t, c, policy);
    const std::uint64_t seen = c.arrive_on(mine.arrivals, mine.members, s.number, unit);
    const barrier_end e = seen != 0 ? c.try_to_end(seen) : barrier_end::not_yet;
    if (e == barrier_end::inside)
      wake_leaves(t, c, watch_for_barrier(s.number));
    else if (e == barrier_end::of_region)
      wake_range(&t, c, 0, 1);
    if (e != barrier_end::not_yet) {
      if (unit == omp_team::k_arrived)
        yield_to_pinned(t); // as below
      return true;
    }
    const outcome o = idle_oversubscribed(t, c, s);
    if (o != outcome::work)
      return o == outcome::over;
  }
}

bool wait_for_others(thread &t, omp_team &c, std::uint64_t unit, bool cancellable) {
  if (c.oversubscribed)
    return wait_oversubscribed(t, c, unit, cancellable);
  const int spins = unit == omp_team::k_ended ? c.spins : spins_for(c);
  for (steal_policy policy(spins != 0);;) { // a member that abstains from stealing keeps its cpu
    if (c.has_tasks.load(std::memory_order_relaxed))
      run_tasks(t, c, policy);
    const std::uint64_t seen = c.arrive(unit);
    if (wake_after(t, c, c.try_to_end(seen))) {
      if (spins == 0 && unit == omp_team::k_arrived)
        yield_to_pinned(
            t); // the member that was woken first may be one that only this kernel thread can continue
      return true;
    }
    const outcome o = idle(t, c, {omp_team::passed_of(seen), unit, cancellable}, spins, policy);
    if (o != outcome::work)
      return o == outcome::over;
  }
}

} // namespace

void begin_tasks(thread &me, omp_team &c) noexcept {
  static const bool known = (in_core(&me, &know_cutoff), true);
  (void)known;
  c.set_has_tasks();
  wake_range(&me, c, 0, c.size);
}

void wake_one_idle(thread *me, omp_team &c) noexcept {
  std::uint32_t at = c.woken_last.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < c.size; ++i) {
    at = at + 1 < c.size ? at + 1 : 0;
    thread *const m = c.members[at];
    weft::detail::runnable *const r = m && m != me ? m->own_parker.take() : nullptr;
    if (!r)
      continue;
    c.woken_last.store(at, std::memory_order_relaxed);
    return in_core(me, [r] { weft::layer::unpark(*r); });
  }
}

void end_barrier_if_due(thread &me, omp_team &c) noexcept { wake_after(me, c, c.try_to_end()); }

bool team_barrier(thread &t, bool cancellable) {
  omp_team &c = *t.team;
  if (cancellable && c.is_cancelled())
    return false;
  if (c.size == 1 && !c.has_tasks.load(std::memory_order_relaxed)) {
    c.workshare_cancelled.store(false, std::memory_order_relaxed);
    return true;
  }
  return wait_for_others(t, c, omp_team::k_arrived, cancellable);
}

void final_barrier(thread &t) { wait_for_others(t, *t.team, omp_team::k_ended, false); }

void cancel_team(thread &t) noexcept {
  omp_team &c = *t.team;
  c.cancel();
  wake_range(&t, c, 0, c.size);
}

} // namespace weft_omp
