// SPDX-License-Identifier: Apache-2.0
// Commutative tasks: any order, one at a time. A task takes all exclusions that it needs at once,
// or waits and holds nothing.
//
// Rule        A waiting task waits for one exclusion that it misses, in a queue ordered by age
//             (when the task became ready). A task that gives up an exclusion tries the waiting
//             tasks of that queue, oldest first, until one has taken the exclusion. A waiting task
//             that then misses another exclusion goes to the queue of that one, and keeps its age.
//             Tasks that need the same exclusions wait as one: only the oldest of them, the head,
//             is in a queue, and the others are in a line behind the head. When the head has taken
//             its exclusions, the next task of its line becomes the head and goes to the queue. A
//             task that does not find the line of its needs in m_heads begins another one.
// Roles       Any thread: take, for a task that is otherwise ready; give_up, for a task that has
//             taken, once for each of its exclusions. The child of a fork: was_used.
// Word        holder: the task that has an exclusion, or null.
//             The arbiter, m_lock and what it guards, serves all exclusions that one task may need
//             together. m_age, its next ticket: the age of a task. Tickets have 32 bits and are
//             compared by the sign of their difference, so fewer than 2^31 tasks may become ready
//             while one waits. m_heads, its table of lines: row i has k_ways places for the heads
//             whose needs hash to i.
// Invariants  I1  A task that waits holds nothing, so holders never wait for each other: no
//                 deadlock.
//             I2  When m_lock is free, a queue is empty, or its exclusion is held. So the holder
//                 tries each head in the queue again, when it gives up. A head that leaves now
//                 holds the exclusion, and the next task of its line waits in that queue.
//             I3  Of tasks that need the same exclusions none overtakes an older one. No other task
//                 overtakes a task that needs a single exclusion. A task that needs several may be
//                 overtaken while not all of them are free: an exclusion that is kept for it could
//                 stop a holder that waits for its children.
//             I4  A line is ordered by age. m_heads[i][k] is null or the head of a line that waits,
//                 once. A new line takes the place of another one if its row is full. No task joins
//                 that other line any more, so of two lines with the same needs every task of the
//                 one is older than every task of the other.
// Orders      O1  holder relaxed: m_lock orders it. An observer (task dump) reads it outside of
//                 the lock, but only while no worker runs.
// Progress    Blocking for as long as m_lock is held. take() walks over the exclusions of the task,
//             and at most over one queue and one row of m_heads. give_up() does that walk for each
//             head in the queue, until one head has taken the exclusion. So the time depends on the
//             number of different needs that wait, and not on the number of tasks.
// Reclamation An exclusion outlives its holder and the tasks that wait for it: they are members of
//             its cohort, or of cohorts below.
// Checked by  tests/model/cohort_models.cpp: exclusion_*
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"
#include "queue/spin_lock.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Represents the right to an address, which the address's commutative tasks take in turns.
template <class P, class Task>
struct exclusion {
  typename P::template atomic<Task *> holder{nullptr};
  typename P::template var<Task *> waiting{}; // oldest first
  typename P::template var<Task *> youngest{}; // of the waiting tasks, if there are any
};

/// Guards the exclusions that one task may need together. All links of a task are null at first.
/// Traits give access to tasks:
/// - for_each(t, f) calls f(exclusion) for each exclusion that `t` needs, as long as f returns true
/// - need_same(t, u) compares the needs of two tasks, and there is a hash of the needs of one
/// - next and set_next: the link of a task in a queue
/// - behind and set_behind: its link in a line
/// - last and set_last: the end of the line of a head
/// - age and set_age: its ticket
template <class P, class Task, class Traits>
class arbiter {
 public:
  [[nodiscard]] bool was_used() const noexcept { return m_age.get() != 0; }

  /// Takes all exclusions that the task needs, and returns true; or puts the task into a queue, and
  /// returns false. A task that gives up later hands over to the waiting one.
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

  /// Gives up an exclusion. Calls handed_over(task) for each task that now has all that it needs,
  /// under the lock: handed_over must only note the task.
  template <class F>
  void give_up(exclusion<P, Task> &object, F handed_over) noexcept {
    m_lock.lock();
    object.holder.store(nullptr, std::memory_order_relaxed); // O1
    while (!object.holder.load(std::memory_order_relaxed)) { // O1
      Task *t = unless(bug::exclusion_not_handed_over, object.waiting.get());
      if (!t)
        break;
      object.waiting.set(Traits::next(*t));
      if (exclusion<P, Task> *missing = missed_by(*t)) {
        put_in(*missing, *t);
        continue;
      }
      hold(*t);
      leave_line(object, *t);
      handed_over(*t);
    }
    m_lock.unlock();
  }

 private:
  static exclusion<P, Task> *missed_by(Task &t) noexcept {
    exclusion<P, Task> *missing = nullptr;
    Traits::for_each(t, [&](exclusion<P, Task> &object) {
      if (unless(bug::exclusion_taken_singly, object.holder.load(std::memory_order_relaxed), // O1
                 [&](Task *holder) {
                   object.holder.store(holder ? holder : &t, std::memory_order_relaxed);
                   return holder;
                 }))
        missing = &object;
      return !missing;
    });
    return missing;
  }
  static void hold(Task &t) noexcept {
    Traits::for_each(t, [&](exclusion<P, Task> &object) {
      object.holder.store(&t, std::memory_order_relaxed); // O1
      return true;
    });
  }

  /// Returns the heads whose line may be that of `t`.
  auto &ways_of(Task &t) noexcept { return m_heads[Traits::hash(t) % Traits::k_sets]; }

  /// Puts the task at the end of its line, and returns true; or makes it the head of a line, and
  /// returns false.
  bool join_line(Task &t) noexcept {
    auto &ways = ways_of(t);
    auto *found =
        &ways[Traits::age(t) %
              Traits::k_ways]; // replaces a line, which is then found no more, unless there is room
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

  /// Makes the next task of the line its head: the head `t` now holds all that its line needs,
  /// `object` included.
  void leave_line(exclusion<P, Task> &object, Task &t) noexcept {
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
    unless(bug::exclusion_not_handed_over, [&] { put_in(object, *next); });
  }

  void put_in(exclusion<P, Task> &object, Task &t) noexcept {
    Task *before = nullptr;
    Task *after = object.waiting.get();
    if (after && is_older(*object.youngest.get(), t)) { // nearly always
      before = object.youngest.get();
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
      object.waiting.set(&t);
    if (!after)
      object.youngest.set(&t);
  }
  static bool is_older(const Task &a, const Task &b) noexcept {
    return static_cast<std::int32_t>(Traits::age(a) - Traits::age(b)) < 0; // the tickets wrap
  }

  spin_lock<P> m_lock;
  typename P::template var<std::uint32_t> m_age{};
  typename P::template var<Task *>
      m_heads[Traits::k_sets][Traits::k_ways]{}; // where a line may be found, by what it needs
};

} // namespace rt
} // namespace weft::inline v0
