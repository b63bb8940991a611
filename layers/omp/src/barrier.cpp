// SPDX-License-Identifier: Apache-2.0
// Barriers of a team, inside of a region and at its end. The protocol stands in team.hpp.
#include "team.hpp"

#include <mutex>

namespace weft_omp {

thread *take_waiting(team &c) noexcept {
  thread *t = c.waiting;
  if (t) {
    c.waiting = t->next_waiting;
    t->next_waiting = nullptr;
  }
  return t;
}

void leave_waiting(team &c, thread &t) noexcept {
  std::lock_guard lock(c.lock);
  for (thread **at = &c.waiting; *at; at = &(*at)->next_waiting)
    if (*at == &t) {
      *at = t.next_waiting;
      break;
    }
  t.next_waiting = nullptr;
}

namespace {

bool all_there(const team &c) noexcept {
  return c.ended.load(std::memory_order_acquire) == c.size || // O1
         (c.arrived.load(std::memory_order_acquire) == c.size && !c.cancelled.load(std::memory_order_relaxed)); // O1
}

constexpr unsigned k_batch = 32; // signalled at once: a list that is being walked may not change

/// With the lock: up to a batch of those that wait; members that came to the end are only forgotten.
unsigned take_batch(team &c, thread **into, bool all) noexcept {
  unsigned n = 0;
  while (n < k_batch) {
    thread *const w = take_waiting(c);
    if (!w)
      break;
    if (all || !w->waits_for_end)
      into[n++] = w;
  }
  return n;
}

void signal_rest(thread *me, team &c, thread **batch, unsigned n, bool all) noexcept {
  for (;;) {
    for (unsigned i = 0; i < n; ++i)
      batch[i]->place_to_wait.signal(me);
    if (n < k_batch)
      return;
    std::lock_guard lock(c.lock);
    n = take_batch(c, batch, all);
  }
}

/// Runs tasks, then waits, until barrier `number` of the team is over.
bool wait_for_others(thread &t, team &c, std::uint32_t number, bool cancellable) {
  int spins = spins_for(c);
  for (;;) {
    if (c.passed.load(std::memory_order_acquire) != number) // O2
      return true;
    if (cancellable && c.cancelled.load(std::memory_order_acquire)) // O4
      return false;
    if (c.queued.load(std::memory_order_relaxed) != 0)
      if (omp_task *x = take_any(c, number)) {
        run_task(t, *x);
        continue;
      }
    if (all_there(c) && c.tasks.load(std::memory_order_acquire) == 0) { // O3
      end_barrier_if_due(&t, c);
      continue;
    }
    if (spins > 0) {
      --spins;
      cpu_pause();
      continue;
    }
    {
      std::lock_guard lock(c.lock);
      if (c.passed.load(std::memory_order_relaxed) != number || !c.queue.empty() ||
          (cancellable && c.cancelled.load(std::memory_order_relaxed)))
        continue;
      t.next_waiting = c.waiting;
      c.waiting = &t;
    }
    t.place_to_wait.wait(t, 0);
    leave_waiting(c, t);
  }
}

} // namespace

void end_barrier_if_due(thread *me, team &c) noexcept {
  thread *batch[k_batch];
  unsigned n = 0;
  {
    std::lock_guard lock(c.lock);
    if (!all_there(c) || c.tasks.load(std::memory_order_acquire) != 0) // O3
      return;
    c.arrived.store(0, std::memory_order_relaxed);
    c.ended.store(0, std::memory_order_relaxed);
    c.share_cancelled.store(false, std::memory_order_relaxed);
    c.passed.store(c.passed.load(std::memory_order_relaxed) + 1, std::memory_order_release); // O2
    n = take_batch(c, batch, false);
  }
  signal_rest(me, c, batch, n, false);
}

bool team_barrier(thread &t, bool cancellable) {
  team &c = *t.crew;
  if (cancellable && c.cancelled.load(std::memory_order_acquire)) // O4
    return false;
  const std::uint32_t number = c.passed.load(std::memory_order_relaxed);
  c.arrived.fetch_add(1, std::memory_order_acq_rel); // O1
  return wait_for_others(t, c, number, cancellable);
}

void final_barrier(thread &t) {
  team &c = *t.crew;
  const std::uint32_t number = c.passed.load(std::memory_order_relaxed);
  t.waits_for_end = t.number != 0;
  c.ended.fetch_add(1, std::memory_order_acq_rel); // O1
  wait_for_others(t, c, number, false);
  t.waits_for_end = false;
}

void cancel_team(thread &t) noexcept {
  team &c = *t.crew;
  thread *batch[k_batch];
  unsigned n = 0;
  {
    std::lock_guard lock(c.lock);
    c.cancelled.store(true, std::memory_order_release); // O4
    n = take_batch(c, batch, true);
  }
  signal_rest(&t, c, batch, n, true);
}

} // namespace weft_omp
