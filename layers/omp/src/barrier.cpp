// SPDX-License-Identifier: Apache-2.0
// Barriers of a team, inside of a region and at its end. The protocol stands in team.hpp.
#include "task_queue.hpp"
#include "team.hpp"

namespace weft_omp {
namespace {

// Fields of team::phase.
constexpr std::uint64_t k_arrived = 1, k_ended = std::uint64_t{1} << 20, k_passed = std::uint64_t{1} << 40, k_count = k_ended - 1;

constexpr std::uint64_t passed_of(std::uint64_t phase) noexcept { return phase / k_passed; }

bool all_ended(const team &c, std::uint64_t phase) noexcept { return (phase / k_ended & k_count) == c.size; }

/// Everybody is idle, and nothing is left to do.
bool is_due(const team &c, std::uint64_t phase) noexcept {
  return (all_ended(c, phase) || ((phase & k_count) == c.size && !c.cancelled.load(std::memory_order_relaxed))) &&
         c.tasks.load(std::memory_order_seq_cst) == 0; // O3
}

constexpr unsigned k_batch = 32;

/// Those of [first, end) that are parked.
void wake(thread *me, team &c, unsigned first, unsigned end) noexcept {
  while (first < end) {
    weft::detail::runnable *batch[k_batch];
    unsigned n = 0;
    for (; first < end && n < k_batch; ++first)
      if (thread *const m = c.members[first]; m && m != me)
        if ((batch[n] = m->place_to_wait.take()))
          ++n;
    if (n != 0)
      in_core(me, [&] {
        for (unsigned i = 0; i < n; ++i)
          weft::layer::unpark(*batch[i]);
      });
  }
}

/// The barrier is over, where it is due. `phase`: as last seen.
bool try_to_end(thread &me, team &c, std::uint64_t phase) noexcept {
  while (is_due(c, phase)) {
    const bool at_end = all_ended(c, phase);
    c.share_cancelled.store(false, std::memory_order_relaxed);
    if (!c.phase.compare_exchange_weak(phase, (passed_of(phase) + 1) * k_passed, std::memory_order_seq_cst)) // O1
      continue;
    wake(&me, c, 0, at_end ? 1 : c.size); // at the end the others wait for their next region
    return true;
  }
  return false;
}

enum class outcome { over, cancelled, work };

struct stay {
  std::uint64_t number; // barriers before this one
  std::uint64_t unit;
  bool cancellable;
};

bool is_over(const team &c, const stay &s, std::memory_order order) noexcept { return passed_of(c.phase.load(order)) != s.number; }

bool may_sleep(const parker::reason &r) noexcept {
  const team &c = *static_cast<const team *>(r.object);
  return passed_of(c.phase.load(std::memory_order_seq_cst)) == r.number && // O2
         !(r.flag && c.cancelled.load(std::memory_order_seq_cst)) && !has_work(c); // O4
}

/// With has_tasks unset nobody looks for sleepers.
bool may_sleep_without_tasks(const parker::reason &r) noexcept {
  return !static_cast<const team *>(r.object)->has_tasks.load(std::memory_order_seq_cst) && may_sleep(r); // O7
}

void sleep(thread &t, team &c, const stay &s) noexcept {
  if (!c.has_tasks.load(std::memory_order_relaxed))
    return t.place_to_wait.wait_for(t, {&may_sleep_without_tasks, &c, s.number, s.cancellable});
  c.parked.fetch_add(1, std::memory_order_seq_cst); // O6
  t.place_to_wait.wait_for(t, {&may_sleep, &c, s.number, s.cancellable});
  c.parked.fetch_sub(1, std::memory_order_relaxed);
}

/// No longer idle. False: the barrier is over.
bool take_back(team &c, const stay &s) noexcept {
  std::uint64_t phase = c.phase.load(std::memory_order_relaxed);
  do
    if (passed_of(phase) != s.number)
      return false;
  while (!c.phase.compare_exchange_weak(phase, phase - s.unit, std::memory_order_seq_cst)); // O1
  return true;
}

outcome idle(thread &t, team &c, const stay &s, int spins) noexcept {
  spell looks(t, spins);
  for (bool sleeps = false;;) {
    if (is_over(c, s, std::memory_order_acquire)) { // O2
      if (!sleeps)
        looks.end(true);
      return outcome::over;
    }
    const bool leaves = s.cancellable && c.cancelled.load(std::memory_order_acquire); // O4
    if (leaves || has_work(c)) {
      if (take_back(c, s))
        return leaves ? outcome::cancelled : outcome::work;
      (void)c.phase.load(std::memory_order_acquire); // O2
      return outcome::over;
    }
    if (looks.goes_on())
      continue;
    if (!std::exchange(sleeps, true))
      looks.end(false);
    sleep(t, c, s);
  }
}

void run_tasks(thread &t, team &c) {
  while (omp_task *const x = take_any(t, c))
    run_task(t, *x);
  if (const std::int64_t n = std::exchange(slot_of(t).balance, 0))
    c.tasks.fetch_add(n, std::memory_order_seq_cst); // O3
}

bool wait_for_others(thread &t, team &c, std::uint64_t unit, bool cancellable) {
  const stay s{passed_of(c.phase.load(std::memory_order_relaxed)), unit, cancellable};
  for (const int spins = spins_for(c);;) {
    if (c.has_tasks.load(std::memory_order_relaxed))
      run_tasks(t, c);
    if (try_to_end(t, c, c.phase.fetch_add(unit, std::memory_order_seq_cst) + unit)) // O1
      return true;
    const outcome o = idle(t, c, s, spins);
    if (o != outcome::work)
      return o == outcome::over;
  }
}

} // namespace

void wake_members(thread *me, team &c, unsigned first) noexcept { wake(me, c, first, c.size); }

void begin_tasks(thread &me, team &c) noexcept {
  c.has_tasks.store(true, std::memory_order_seq_cst); // O7
  wake(&me, c, 0, c.size);
}

void wake_one_idle(thread *me, team &c) noexcept {
  std::uint32_t at = c.woken_last.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < c.size; ++i) {
    at = at + 1 < c.size ? at + 1 : 0;
    thread *const m = c.members[at];
    weft::detail::runnable *const r = m != me ? m->place_to_wait.take() : nullptr;
    if (!r)
      continue;
    c.woken_last.store(at, std::memory_order_relaxed);
    return in_core(me, [r] { weft::layer::unpark(*r); });
  }
}

void end_barrier_if_due(thread &me, team &c) noexcept { try_to_end(me, c, c.phase.load(std::memory_order_seq_cst)); } // O3

bool team_barrier(thread &t, bool cancellable) {
  team &c = *t.crew;
  if (cancellable && c.cancelled.load(std::memory_order_acquire)) // O4
    return false;
  if (c.size == 1 && !c.has_tasks.load(std::memory_order_relaxed)) {
    c.share_cancelled.store(false, std::memory_order_relaxed);
    return true;
  }
  return wait_for_others(t, c, k_arrived, cancellable);
}

void final_barrier(thread &t) { wait_for_others(t, *t.crew, k_ended, false); }

void cancel_team(thread &t) noexcept {
  team &c = *t.crew;
  c.cancelled.store(true, std::memory_order_seq_cst); // O4
  wake(&t, c, 0, c.size);
}

} // namespace weft_omp
