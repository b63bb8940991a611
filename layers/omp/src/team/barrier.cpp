// SPDX-License-Identifier: Apache-2.0
// Barriers of a team, inside of a region and at its end.
#include "team/barrier.hpp"

#include "config/once.hpp"
#include "team/oversubscribed.hpp"
#include "team/task_queue.hpp"
#include "team/team.hpp"

#include <utility>

namespace weft_omp {

void wake_range(thread *self, omp_team &team, unsigned first, unsigned end) noexcept {
  constexpr unsigned k_batch = 32;
  while (first < end) {
    weft::detail::runnable *batch[k_batch];
    unsigned n = 0;
    for (; first < end && n < k_batch; ++first)
      if (thread *const member = team.members[first]; member && member != self)
        if ((batch[n] = member->own_parker.take()))
          ++n;
    if (n != 0)
      in_core(self, [&] {
        for (unsigned i = 0; i < n; ++i)
          weft::layer::unpark(*batch[i]);
      });
  }
}

namespace {

bool wake_after(thread &self, omp_team &team, barrier_end how) noexcept {
  if (how == barrier_end::not_yet)
    return false;
  wake_range(&self, team, 0,
             how == barrier_end::of_region
                 ? 1
                 : team.size); // at the region's end the others wait for their next region
  return true;
}

enum class outcome { over, cancelled, work };

struct episode {
  std::uint64_t number; // barriers before this one; of an oversubscribed team in full
  std::uint64_t unit;
  bool cancellable;
};

bool may_sleep(const parker::reason &why) noexcept {
  const omp_team &team = *static_cast<const omp_team *>(why.object);
  return team.goes_on(why.number, why.flag) && !has_work(team);
}

/// Returns whether a member that found has_tasks unset may sleep. While it is unset no thread looks
/// for sleepers.
bool may_sleep_without_tasks(const parker::reason &why) noexcept {
  return static_cast<const omp_team *>(why.object)->is_without_tasks() && may_sleep(why);
}

// A member that waits at the end of a region, but for member 0, may sleep while the other threads of
// the team go through many regions. Then it is called for one, and 2^24 barriers, or a multiple, may
// be over, so that `phase` has the number of its barrier again. The mailbox tells it apart: what the
// member knows of it, in a reason to wait above the number in `phase`.

bool may_sleep_at_end(const parker::reason &why) noexcept {
  const omp_team &team = *static_cast<const omp_team *>(why.object);
  return team.goes_on(why.number % omp_team::k_numbers, false) &&
         !team.fork_mailbox.has_changed(why.number / omp_team::k_numbers) && !has_work(team);
}
bool may_sleep_at_end_without_tasks(const parker::reason &why) noexcept {
  return static_cast<const omp_team *>(why.object)->is_without_tasks() && may_sleep_at_end(why);
}
static_assert(omp_team::k_numbers == std::uint64_t{1} << (64 - decltype(omp_team::fork_mailbox)::k_kept_bits));

/// Returns whether the team has begun a later region, with the member or with fewer threads.
bool has_gone_on(const thread &self, const omp_team &team) noexcept {
  return team.fork_mailbox.has_changed(self.regions) || self.number >= team.size;
}

void sleep_at_end(thread &self, omp_team &team, std::uint64_t number) noexcept {
  const std::uint64_t both = self.regions * omp_team::k_numbers + number;
  if (!team.has_tasks.load(std::memory_order_relaxed))
    return self.own_parker.wait_for(self, {&may_sleep_at_end_without_tasks, &team, both, false});
  team.begin_to_park(self.idle);
  self.own_parker.wait_for(self, {&may_sleep_at_end, &team, both, false});
  team.end_to_park(self.idle);
}

void sleep(thread &self, omp_team &team, const episode &phase) noexcept {
  if (!team.has_tasks.load(std::memory_order_relaxed))
    return self.own_parker.wait_for(
        self, {&may_sleep_without_tasks, &team, phase.number, phase.cancellable});
  team.begin_to_park(self.idle);
  self.own_parker.wait_for(self, {&may_sleep, &team, phase.number, phase.cancellable});
  team.end_to_park(self.idle);
}

/// Withdraws the member from the barrier, because the region is cancelled or there is work.
outcome cease(omp_team &team, const episode &phase, bool leaves) noexcept {
  if (!team.take_back(phase.number, phase.unit))
    return outcome::over;
  return leaves ? outcome::cancelled : outcome::work;
}

outcome idle(thread &self, omp_team &team, const episode &phase, int spins,
             steal_policy &policy) noexcept {
  adaptive_spin looks(self, spins);
  for (bool sleeps = false;;) {
    if (team.is_over(phase.number)) {
      if (!sleeps)
        looks.end(spin_result::came);
      return outcome::over;
    }
    const bool leaves = phase.cancellable && team.is_cancelled();
    if (!leaves && policy.abstains()) { // it stays awake: no thread needs to wake it
      cpu_pause();
      continue;
    }
    if (leaves || has_work(team))
      return cease(team, phase, leaves);
    if (looks.goes_on())
      continue;
    if (!std::exchange(sleeps, true))
      looks.end(spin_result::fruitless);
    if (phase.unit == omp_team::k_arrived || self.number == 0) {
      sleep(self, team, phase);
      continue;
    }
    sleep_at_end(self, team, phase.number);
    if (has_gone_on(self, team))
      return outcome::over;
  }
}

/// Returns a task of the thread's own, or else one of another member. Null: there is none, or none
/// that it should take.
omp_task *next_task(thread &self, omp_team &team, steal_policy &policy) noexcept {
  if (omp_task *const task = take_own(self, team))
    return task;
  (void)policy.was_unprofitable();
  return policy.abstains() ? nullptr : steal(self, team, policy);
}

bool is_released(const parker::reason &why) noexcept {
  return static_cast<const omp_team *>(why.object)->is_released(why.number);
}
/// Returns whether a waiter of an oversubscribed team without tasks may sleep. While there are no
/// tasks no thread looks for sleepers.
bool is_missing(const parker::reason &why) noexcept {
  const omp_team &team = *static_cast<const omp_team *>(why.object);
  return !team.is_released(why.number) && team.is_without_tasks() && !team.is_to_leave(why.flag);
}
bool is_missing_or_work(const parker::reason &why) noexcept {
  const omp_team &team = *static_cast<const omp_team *>(why.object);
  return !team.is_released(why.number) && !has_work(team) && !team.is_to_leave(why.flag);
}

constexpr std::uint64_t watch_for_barrier(std::uint64_t number) noexcept { return 2 * number + 1; }

outcome idle_oversubscribed(thread &self, omp_team &team, const episode &phase) noexcept {
  for (;;) {
    if (!team.has_tasks.load(std::memory_order_relaxed)) {
      rest(self, team,
           {watch_for_barrier(phase.number),
            &is_released,
            {&is_missing, &team, phase.number, phase.cancellable},
            phase.unit == omp_team::k_arrived});
    } else {
      team.begin_to_park(self.idle);
      self.own_parker.wait_for(self, {&is_missing_or_work, &team, phase.number, phase.cancellable});
      team.end_to_park(self.idle);
    }
    if (team.is_released(phase.number))
      return outcome::over;
    const bool leaves = phase.cancellable && team.is_cancelled();
    if (leaves || has_work(team))
      return cease(team, phase, leaves);
  }
}

void run_tasks(thread &self, omp_team &team, steal_policy &policy) {
  omp_task *next = nullptr;
  while (omp_task *const task =
             next ? std::exchange(next, nullptr) : next_task(self, team, policy)) {
    const bool stolen = task->home != &self;
    const unsigned accesses = task->accesses;
    run_task(self, *task, &next);
    if (stolen && policy.has_run(accesses) && policy.was_unprofitable())
      give_back(self, team, policy, std::exchange(next, nullptr));
  }
  if (const std::int64_t n = slot_of(self).take_unpublished())
    team.publish(n);
}

bool wait_oversubscribed(thread &self, omp_team &team, std::uint64_t unit, barrier_kind kind) {
  const episode s{team.passed_as_released(), unit, kind == barrier_kind::cancellable};
  barrier_leaf &mine = *slot_of(self).leaf;
  for (steal_policy policy(steal_patience::impatient);;) {
    if (team.has_tasks.load(std::memory_order_relaxed))
      run_tasks(self, team, policy);
    const std::uint64_t seen = team.arrive_on(mine.arrivals, mine.members, s.number, unit);
    const barrier_end e = seen != 0 ? team.try_to_end(seen) : barrier_end::not_yet;
    if (e == barrier_end::inside)
      wake_leaves(self, team, watch_for_barrier(s.number));
    else if (e == barrier_end::of_region)
      wake_range(&self, team, 0, 1);
    if (e != barrier_end::not_yet) {
      if (unit == omp_team::k_arrived)
        yield_to_pinned(self); // as below
      return true;
    }
    const outcome o = idle_oversubscribed(self, team, s);
    if (o != outcome::work)
      return o == outcome::over;
  }
}

bool wait_for_others(thread &self, omp_team &team, std::uint64_t unit, barrier_kind kind) {
  if (team.oversubscribed)
    return wait_oversubscribed(self, team, unit, kind);
  const int spins = unit == omp_team::k_ended ? team.spins : spins_for(team);
  for (steal_policy policy(spins != 0 ? steal_patience::patient : steal_patience::impatient);
       ;) { // a member that abstains from stealing keeps its cpu
    if (team.has_tasks.load(std::memory_order_relaxed))
      run_tasks(self, team, policy);
    const std::uint64_t seen = team.arrive(unit);
    if (wake_after(self, team, team.try_to_end(seen))) {
      if (spins == 0 && unit == omp_team::k_arrived)
        yield_to_pinned(
            self); // the member that was woken first may be one that only this kernel thread can continue
      return true;
    }
    const outcome o =
        idle(self, team, {omp_team::passed_of(seen), unit, kind == barrier_kind::cancellable},
             spins, policy);
    if (o != outcome::work)
      return o == outcome::over;
  }
}

} // namespace

void begin_tasks(thread &self, omp_team &team) noexcept {
  static const once known([&self] { in_core(&self, &know_cutoff); });
  team.set_has_tasks();
  wake_range(&self, team, 0, team.size);
}

void wake_one_idle(thread *self, omp_team &team) noexcept {
  std::uint32_t at = team.woken_last.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < team.size; ++i) {
    at = at + 1 < team.size ? at + 1 : 0;
    thread *const member = team.members[at];
    if (!member || member == self)
      continue;
    const auto wake = [self](weft::detail::runnable &r) {
      in_core(self, [&r] { weft::layer::unpark(r); });
    };
    if (team.wake_if_idle(member->idle, [member] { return member->own_parker.take(); }, wake))
      return team.woken_last.store(at, std::memory_order_relaxed);
  }
}

void end_barrier_if_due(thread &self, omp_team &team) noexcept {
  wake_after(self, team, team.try_to_end());
}

bool team_barrier(thread &self, barrier_kind kind) {
  omp_team &team = *self.team;
  if (kind == barrier_kind::cancellable && team.is_cancelled())
    return false;
  if (team.size == 1 && !team.has_tasks.load(std::memory_order_relaxed)) {
    team.workshare_cancelled.store(0, std::memory_order_relaxed);
    return true;
  }
  return wait_for_others(self, team, omp_team::k_arrived, kind);
}

void final_barrier(thread &self) {
  wait_for_others(self, *self.team, omp_team::k_ended, barrier_kind::plain);
}

void cancel_team(thread &self) noexcept {
  omp_team &team = *self.team;
  team.cancel();
  wake_range(&self, team, 0, team.size);
}

} // namespace weft_omp
