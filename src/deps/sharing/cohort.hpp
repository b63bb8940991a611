// SPDX-License-Identifier: Apache-2.0
// Cohorts: consecutive siblings that share one address as concurrent, commutative or reducing
// tasks.
//
// In the chain of the address a cohort is one access: a writer, of a task without a body. When that
// access is satisfied, the members of the cohort go, in any order. When the registrar has put
// another access behind it and all members have released, the cohort's access is released itself.
// So the state machine of accesses knows nothing of cohorts.
//
// A member's access is in no chain: it starts with its successor known (there is none).
// mailbox::leave_cohort() does what the end of a member means for the cohort.
#pragma once

#include "deps/sharing/cohort_state.hpp"
#include "deps/sharing/exclusion.hpp"
#include "deps/sharing/reduction.hpp"
#include "task/recorded.hpp"
#include "task/task.hpp"

namespace weft::inline v0 {
namespace rt {

class mailbox;

using task_exclusion = exclusion<real_atomics, task>;

/// Gives access to the exclusions of a task: those of its strong commutative accesses.
struct exclusion_traits {
  static constexpr std::size_t k_sets = 64, k_ways = 4;
  template <class F>
  static void for_each(task &t, F f);
  static bool need_same(task &t, task &other) noexcept;
  static std::size_t hash(task &t) noexcept;
  // A member's access is in no chain, and has no child before its task runs. So the links of a line
  // are in the task's first access that takes turns.
  static task *behind(task &t) noexcept { return task_of(first_turn(t).successor.get()); }
  static void set_behind(task &t, task *behind) noexcept {
    first_turn(t).successor.set(behind ? &first_turn(*behind) : nullptr);
  }
  static task *last(task &t) noexcept { return task_of(first_turn(t).child.get()); }
  static void set_last(task &t, task *last) noexcept {
    first_turn(t).child.set(last ? &first_turn(*last) : nullptr);
  }
  static task *next(const task &t) noexcept { return static_cast<task *>(t.next); }
  static void set_next(task &t, task *next) noexcept { t.next = next; }
  // A ready task counts its unsatisfied accesses no more, so its age takes the place of that count.
  static std::uint32_t age(const task &t) noexcept {
    return t.unsatisfied.load(std::memory_order_relaxed);
  } // O1: under the lock
  static void set_age(task &t, std::uint32_t age) noexcept {
    t.unsatisfied.store(age, std::memory_order_relaxed);
  } // O1

 private:
  static task *task_of(const data_access *a) noexcept { return a ? a->task : nullptr; }
  static data_access &first_turn(task &t) noexcept;
  static std::uint32_t next_turn(task &t, std::uint32_t from) noexcept;
};
using task_arbiter = arbiter<real_atomics, task, exclusion_traits>;

/// Holds the cohort that a task without a body stands for, as the closure of the task.
struct cohort {
  explicit cohort(sharing how) noexcept : how(how) {}

  const sharing how;
  bool combines = false;
  // While it takes members, in the list of its domain: the next one, and what refers to this one.
  // Used by the registrar only.
  cohort *next_open = nullptr, **place = nullptr;
  // Of a cohort of reducing tasks. Below a task that reduces by the same operation, the store of
  // that task's cohort, which combines.
  reduction_store *copies = nullptr;
  // Of a cohort of commutative tasks. Below a weakly commutative task `turns` and `guard` are those
  // of that task's cohort, because children of several such tasks take turns. Below a strongly
  // commutative task they are not, because the task itself holds those.
  task_exclusion *turns = &own_turns;
  task_arbiter *guard = nullptr;
  cohort_state<real_atomics, data_access> members;
  task_exclusion own_turns;

  [[nodiscard]] task &self() noexcept {
    return *reinterpret_cast<task *>(reinterpret_cast<char *>(this) - detail::k_storage_offset);
  }
  /// Returns the access of the cohort in the chain.
  [[nodiscard]] data_access &access() noexcept { return self().accesses()[0]; }
};

extern const body_ops k_cohort_ops;
[[nodiscard]] inline bool is_cohort(const task &t) noexcept { return t.ops == &k_cohort_ops; }

/// Returns the task whose accesses cover what runs as `t`. A branch of a join belongs to its task.
/// Children of a final task are not entered, but those that a taskiter records are.
[[nodiscard]] inline task &covering_task(task &t) noexcept {
  task *covers = &t;
  while (covers->parent && !is_recorded(*covers) &&
         (covers->has(detail::k_implicit) ||
          (covers->has(detail::k_final) && covers->parent->has_meanwhile(detail::k_final))))
    covers = covers->parent;
  return *covers;
}

/// Returns the number of the first access from `from` on that takes turns, or the number of
/// accesses if none does.
inline std::uint32_t exclusion_traits::next_turn(task &t, std::uint32_t from) noexcept {
  for (; from < t.extent; ++from) {
    const data_access &a = t.accesses()[from];
    // O4 of access_state.hpp: the kind never changes
    if (a.joined && a.joined->how == sharing::commutative &&
        !(a.flags.load(std::memory_order_relaxed) & k_weak))
      break;
  }
  return from;
}

inline data_access &exclusion_traits::first_turn(task &t) noexcept {
  return t.accesses()[next_turn(t, 0)];
}

template <class F>
void exclusion_traits::for_each(task &t, F f) {
  for (std::uint32_t i = next_turn(t, 0); i < t.extent && f(*t.accesses()[i].joined->turns);
       i = next_turn(t, i + 1)) {
  }
}

/// Returns whether the running task has given the access up, by release(). The cohort may then be
/// gone.
[[nodiscard]] inline bool is_finished(const data_access &a) noexcept {
  return (a.flags.load(std::memory_order_relaxed) & k_finished) != 0; // O4: set by the task itself
}

/// Returns whether one of the task's accesses is a member of a cohort: when such a task ends, it
/// gives back a copy, or its turn.
[[nodiscard]] inline bool shares(task &t) noexcept {
  const data_access *const first = t.accesses();
  for (std::uint32_t i = 0; i < t.extent; ++i)
    if (first[i].joined) [[unlikely]]
      return true;
  return false;
}

/// Takes what the commutative accesses of a task need, whose accesses are all satisfied. Returns
/// false if the task waits: it is announced later. A second call for a task that was handed what it
/// waited for returns true.
[[nodiscard]] bool take_exclusions(task &t) noexcept;
/// Resets the arbiters in the child of a fork(). Tasks that wait for a turn wait in the parent
/// process, and a thread that is gone may have been asking for a turn.
void forget_turns_in_child() noexcept;

/// Returns the copies that children of `t` use which reduce in this way. Returns null if `t` does
/// not reduce so: the children then need copies of their own.
[[nodiscard]] reduction_store *copies_below(task &t, const detail::reduction_spec &how) noexcept;

/// Finds or makes the cohort of each new access of `t` that shares. Throws std::bad_alloc, or what
/// copying an identity throws, with nothing changed.
void find_cohorts(task &t, domain &home);

/// Makes `a`, for which find_cohorts() was called, a member. `last` is the slot of its address.
/// Returns whether `a` is satisfied.
[[nodiscard]] bool join_cohort(data_access *&last, data_access &a, domain &home,
                               mailbox &box) noexcept;

/// Closes the cohort: no member joins any more. Registrar only. Returns the access that stands for
/// the cohort in the chain.
data_access &close_cohort(cohort &joined, mailbox &box) noexcept;

/// Opens a cohort whose access in the chain was satisfied by a delivery outside of a mailbox.
void serve_cohort(task &t);

/// Ends the cohorts that have no member left, so that what they reduce is combined. Called by the
/// parent's frame after a wait for some children.
void end_cohorts(task &parent) noexcept;

} // namespace rt
} // namespace weft::inline v0
