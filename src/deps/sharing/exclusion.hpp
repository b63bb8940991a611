// SPDX-License-Identifier: Apache-2.0
// Commutative tasks: any order, one at a time. A task takes all that it needs at once, or waits and holds nothing.
//
// Rule        Who waits, waits for one exclusion that it misses, in a queue ordered by age (when the task became ready). When an
//             exclusion is given up, those who wait for it are tried, oldest first, until one has taken it. Who then misses another
//             one goes to that queue, and keeps its age.
//             Tasks that need the same wait as one: behind the oldest of them, which alone is in a queue, the others are in a line of
//             their own. Where a line is not found, a task begins another.
// Roles       Any thread: take, for a task that is otherwise ready; give_up, for a task that has taken.
// Word        holder, the task that has an exclusion, or null. Written under the arbiter's lock.
// Invariants  I1  A task that waits holds nothing, so those who hold never wait for each other: no deadlock.
//             I2  A queue is empty or its exclusion is held; so the head of a line is tried again, and who leaves makes the next the head.
//             I3  Of tasks that need the same nobody overtakes an older one, nor do others overtake one that needs a single exclusion. Who needs several may be overtaken while not
//                 all are free; keeping one for it could stop a holder that waits for its children.
//             I4  A line is ordered by age. m_heads[i][k] is null or the head of a line that waits, once.
// Orders      O1  holder relaxed: the lock orders it; outside of the lock only a task asks whether it is itself the holder.
// Progress    Blocking for as long as the lock is held: a walk over the task's exclusions and over the heads in a queue, for each head in the
//             queue of what is given up. So the time depends on how many different needs wait, and not on how many tasks.
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
/// needs, as long as f returns true; need_same(t, u) and a hash of what t needs; next and set_next its link in a queue, behind and
/// set_behind that in a line, last and set_last, of a head, the end of its line; age and set_age its ticket. All links are null at first.
template <class P, class Task, class Traits>
class arbiter {
 public:
  [[nodiscard]] bool was_used() const noexcept { return m_age.get() != 0; }

  /// True: the task has all that it needs. False: it waits, and who gives up hands over to it.
  [[nodiscard]] bool take(Task &t) noexcept {
    m_lock.lock();
    Traits::set_age(t, m_age.get());
    m_age.set(m_age.get() + 1);
    exclusion<P, Task> *const missing = missed_by(t);
    if (!missing)
      hold(t);
    else if (!join_line(t))
      put_in(*missing, t);
    m_lock.unlock();
    return !missing;
  }

  /// Calls handed_over(task) for each task that has now all that it needs. Under the lock: it only notes them.
  template <class F>
  void give_up(exclusion<P, Task> &e, F handed_over) noexcept {
    m_lock.lock();
    e.holder.store(nullptr, std::memory_order_relaxed); // O1
    while (!e.holder.load(std::memory_order_relaxed)) { // O1
      Task *t = e.waiting.get();
      if (!t || mutant(bug::exclusion_not_handed_over))
        break;
      e.waiting.set(Traits::next(*t));
      if (exclusion<P, Task> *missing = missed_by(*t)) {
        put_in(*missing, *t);
        continue;
      }
      hold(*t);
      leave_line(e, *t);
      handed_over(*t);
    }
    m_lock.unlock();
  }

 private:
  static exclusion<P, Task> *missed_by(Task &t) noexcept {
    exclusion<P, Task> *missing = nullptr;
    Traits::for_each(t, [&](exclusion<P, Task> &e) {
      if (e.holder.load(std::memory_order_relaxed)) // O1
        missing = &e;
      else if (mutant(bug::exclusion_taken_singly))
        e.holder.store(&t, std::memory_order_relaxed); // O1
      return !missing;
    });
    return missing;
  }
  static void hold(Task &t) noexcept {
    Traits::for_each(t, [&](exclusion<P, Task> &e) {
      e.holder.store(&t, std::memory_order_relaxed); // O1
      return true;
    });
  }

  /// The heads that may be of the line of `t`.
  auto &ways_of(Task &t) noexcept { return m_heads[Traits::hash(t) % Traits::k_sets]; }

  /// False: it is the head of a line now.
  bool join_line(Task &t) noexcept {
    auto &ways = ways_of(t);
    auto *found = &ways[Traits::age(t) % Traits::k_ways]; // some line is found no more, unless there is room
    for (auto &way : ways) {
      Task *const head = way.get();
      if (!head) {
        found = &way;
      } else if (Traits::need_same(*head, t)) {
        Task *const last = Traits::last(*head);
        Traits::set_behind(last ? *last : *head, &t);
        Traits::set_last(*head, &t);
        return true;
      }
    }
    found->set(&t);
    return false;
  }

  /// The head `t` holds all that its line needs, `e` among that: the next is the head.
  void leave_line(exclusion<P, Task> &e, Task &t) noexcept {
    Task *const next = Traits::behind(t);
    for (auto &way : ways_of(t))
      if (way.get() == &t)
        way.set(next);
    if (!next)
      return;
    Task *const last = Traits::last(t);
    Traits::set_last(*next, last != next ? last : nullptr);
    Traits::set_behind(t, nullptr);
    Traits::set_last(t, nullptr);
    if (!mutant(bug::exclusion_not_handed_over))
      put_in(e, *next);
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
  typename P::template var<Task *> m_heads[Traits::k_sets][Traits::k_ways]{}; // where a line may be found, by what it needs
};

} // namespace rt
} // namespace weft::inline v0
