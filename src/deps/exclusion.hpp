// SPDX-License-Identifier: Apache-2.0
// Commutative tasks: any order, one at a time. A task takes all that it needs at once, or waits and holds nothing.
//
// Rule        Who waits, waits for one exclusion that it misses, in a queue ordered by age (when the task became ready). When an
//             exclusion is given up, those who wait for it are tried, oldest first, until one has taken it. Who then misses another
//             one goes to that queue, and keeps its age.
// Roles       Any thread: take, for a task that is otherwise ready; give_up, for a task that has taken.
// Word        holder, the task that has an exclusion, or null. Written under the arbiter's lock.
// Invariants  I1  A task that waits holds nothing, so those who hold never wait for each other: no deadlock.
//             I2  A queue is empty or its exclusion is held; so whoever waits is tried again.
//             I3  Of tasks that need one exclusion only nobody overtakes an older one. Who needs several may be overtaken while not
//                 all are free; keeping one for it could stop a holder that waits for its children.
// Orders      O1  holder relaxed: the lock orders it; outside of the lock only a task asks whether it is itself the holder.
// Progress    Blocking for as long as the lock is held: a walk over the task's exclusions, and over the queue that it is put into.
// Reclamation An exclusion outlives who holds it and who waits for it: they are members of its cohort, or of cohorts below.
// Checked by  tests/model/cohort_models.cpp: exclusion_*
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"
#include "queue/spin_lock.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// What the commutative tasks of one address take in turns.
template <class P, class Task>
struct exclusion {
  typename P::template atomic<Task *> holder{nullptr};
  typename P::template var<Task *> waiting{}; // oldest first
  typename P::template var<Task *> youngest{}; // of them, when there are any
};

/// Guards the exclusions that one task may need together. Traits tell of tasks: for_each(t, f) calls f(exclusion) for each that `t`
/// needs, as long as f returns true; next and set_next its link, age and set_age its ticket.
template <class P, class Task, class Traits>
class arbiter {
 public:
  /// True: the task has all that it needs. False: it waits, and who gives up hands it on.
  [[nodiscard]] bool take(Task &t) noexcept {
    m_lock.lock();
    Traits::set_age(t, m_age.get());
    m_age.set(m_age.get() + 1);
    const bool taken = try_take(t);
    m_lock.unlock();
    return taken;
  }

  /// Calls handed_on(task) for each task that has now all that it needs. Under the lock: it only notes them.
  template <class F>
  void give_up(exclusion<P, Task> &e, F handed_on) noexcept {
    m_lock.lock();
    e.holder.store(nullptr, std::memory_order_relaxed); // O1
    while (!e.holder.load(std::memory_order_relaxed)) { // O1
      Task *t = e.waiting.get();
      if (!t || mutant(bug::exclusion_not_handed_on))
        break;
      e.waiting.set(Traits::next(*t));
      if (try_take(*t))
        handed_on(*t);
    }
    m_lock.unlock();
  }

 private:
  bool try_take(Task &t) noexcept {
    exclusion<P, Task> *missing = nullptr;
    Traits::for_each(t, [&](exclusion<P, Task> &e) {
      if (e.holder.load(std::memory_order_relaxed)) // O1
        missing = &e;
      else if (mutant(bug::exclusion_taken_singly))
        e.holder.store(&t, std::memory_order_relaxed); // O1
      return !missing;
    });
    if (missing) {
      put_in(*missing, t);
      return false;
    }
    Traits::for_each(t, [&](exclusion<P, Task> &e) {
      e.holder.store(&t, std::memory_order_relaxed); // O1
      return true;
    });
    return true;
  }

  void put_in(exclusion<P, Task> &e, Task &t) noexcept {
    Task *before = nullptr;
    Task *after = e.waiting.get();
    if (after && is_older(*e.youngest.get(), t)) { // nearly always
      before = e.youngest.get();
      after = nullptr;
    }
    while (after && is_older(*after, t)) {
      before = after;
      after = Traits::next(*after);
    }
    Traits::set_next(t, after);
    if (before)
      Traits::set_next(*before, &t);
    else
      e.waiting.set(&t);
    if (!after)
      e.youngest.set(&t);
  }
  static bool is_older(const Task &a, const Task &b) noexcept {
    return static_cast<std::int32_t>(Traits::age(a) - Traits::age(b)) < 0; // the tickets wrap
  }

  spin_lock<P> m_lock;
  typename P::template var<std::uint32_t> m_age{};
};

} // namespace rt
} // namespace weft::inline v0
