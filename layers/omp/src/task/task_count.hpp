// SPDX-License-Identifier: Apache-2.0
// How many children of a task, and tasks of a group, are not over; and how long the record of a task lives.
//
// Roles       Runner: the thread that runs the task (`on`). Enders: threads on which a child ends. Owner of a group: who waits for it.
// Words       word: k_over once the body is over and children were left; k_reference for each record that must find this one: of a child that is over and
//             has children left, and of who waits for an undeferred task; the rest is a number of children, see I1. others, of a group: see I4.
// Invariants  I1  made - ended_here + number in `word` is how many children are not over. The number is negative or 0 while the task runs, and at most
//                 that many once its thread has added made - ended_here to it, to wait or at the end.
//             I2  The record is given back by who brings `word` to k_over exactly, or by its last thread when there is nothing to add.
//             I3  A task that is over and has children left keeps its parent's record, and so on upwards.
//             I4  here + others + k_bias is how many tasks of a group are not over. Its owner adds `here` and the bias before it sleeps: so others bring
//                 the number to 0 only while it waits.
// Orders      O1  word fetch_sub acq_rel: what the child did is seen by who finds the sum to be 0, and who gives back sees all others done.
//             O2  word load acquire and fetch_add acq_rel: with O1.
//             O3  others fetch_sub release, with the load acquire of who waits: what the tasks did.
// Progress    Wait-free; a chain of records that are over is as long as the program nests tasks.
// Checked by  tests/model/omp_task_models.cpp: omp_children_*, omp_group_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

inline constexpr std::int64_t k_over = std::int64_t{1} << 43, k_reference = std::int64_t{1} << 44, k_number = k_over - 1;
inline constexpr std::int64_t k_bias = std::int64_t{1} << 40;

/// Children that the runner made, less those that ended on it.
template <class Task>
[[nodiscard]] std::int64_t open_here(const Task &x) noexcept {
  return x.made - x.ended_here;
}

/// Children that ended on other threads, less those that were added up with them. Of the runner.
template <class Task>
[[nodiscard]] std::int64_t ended_elsewhere(const Task &x) noexcept {
  const std::int64_t n = x.word.load(std::memory_order_acquire) & k_number; // O2
  return n > k_over / 2 ? k_over - n : -n;
}

/// Children that are not over. Of the runner.
template <class Task>
[[nodiscard]] std::int64_t children_of(const Task &x) noexcept {
  return open_here(x) - ended_elsewhere(x);
}

/// What the runner has counted, added to the rest.
template <class Task>
void settle_children(Task &x) noexcept {
  if (const std::int64_t mine = open_here(x)) {
    x.made = x.ended_here = 0;
    x.word.fetch_add(mine, std::memory_order_relaxed);
  }
}

/// What was counted elsewhere, added to what the runner has.
template <class Task>
void collect_children(Task &x) noexcept {
  const std::int64_t n = ended_elsewhere(x);
  if (n == 0)
    return;
  x.made -= n;
  if (mutant(bug::omp_children_collected_late))
    x.word.store(0, std::memory_order_relaxed);
  else
    x.word.fetch_add(n, std::memory_order_relaxed); // I1: as many as were seen
}

/// The same as settle_children(), and nobody counts on that thread any more.
template <class Task>
void leave_runner(Task &x) noexcept {
  x.on.store(nullptr, std::memory_order_relaxed);
  settle_children(x);
}

/// The record is kept.
template <class Task>
void keep(Task &x) noexcept {
  x.word.fetch_add(k_reference, std::memory_order_relaxed);
}

/// One who had to find the record is gone; so may be records above.
template <class Task, class Free>
void drop_reference(Task *x, Free free) noexcept {
  while (x->word.fetch_sub(k_reference, std::memory_order_acq_rel) - k_reference == k_over) { // O1
    Task *const parent = x->parent;
    free(*x);
    x = parent;
  }
}

/// is_left() of one with `mine` children that its runner counts, or others elsewhere.
template <class Task>
[[nodiscard, gnu::noinline]] bool is_left_by_children(Task &x, std::int64_t mine) noexcept {
  if (!mutant(bug::omp_children_parent_unkept))
    keep(*x.parent); // I3
  if (x.word.fetch_add(mine + k_over, std::memory_order_acq_rel) + mine != 0) // O2
    return false;
  x.parent->word.fetch_sub(k_reference, std::memory_order_relaxed); // not the last one: x counts as its child
  return true;
}

/// The body is over. True: nobody refers to the record any more; else the last who does gives it back, and until then it keeps its parent's.
template <class Task>
[[nodiscard]] inline bool is_left(Task &x) noexcept {
  const std::int64_t mine = open_here(x);
  x.on.store(nullptr, std::memory_order_relaxed);
  if (mutant(bug::omp_children_left_out) || (mine == 0 && x.word.load(std::memory_order_acquire) == 0)) [[likely]] // O2
    return true;
  return is_left_by_children(x, mine);
}

/// end_child() on another thread than the runner, `on`.
template <class Thread, class Task, class Free, class Wake>
[[gnu::noinline]] void end_child_elsewhere(Thread *on, Task &parent, Free free, Wake wake) noexcept {
  const std::int64_t left = parent.word.fetch_sub(1, order_unless(bug::omp_children_end_unseen, std::memory_order_acq_rel)) - 1; // O1
  if (left == k_over) {
    Task *const above = parent.parent;
    free(parent);
    drop_reference(above, free);
  } else if (on && (left & k_number) == 0) {
    wake(*on);
  }
}

/// A child of `parent` is over on thread `me`. `wake` gets a thread that waits for the last child.
template <class Thread, class Task, class Free, class Wake>
inline void end_child(Thread &me, Task &parent, Free free, Wake wake) noexcept {
  Thread *const on = parent.on.load(std::memory_order_relaxed);
  if (on == &me)
    ++parent.ended_here;
  else
    end_child_elsewhere(on, parent, free, wake);
}

// ---- groups

/// Tasks of the group that are not over. Of the owner, while it is not settled.
template <class Group>
[[nodiscard]] std::int64_t tasks_of(const Group &g) noexcept {
  return g.here + g.others.load(std::memory_order_acquire) + k_bias; // O3
}

/// The owner is about to sleep, unless none is left.
template <class Group>
[[nodiscard]] bool settle_group(Group &g) noexcept {
  const std::int64_t mine = g.here + (mutant(bug::omp_group_unbiased) ? 0 : k_bias); // I4
  g.here = 0;
  return g.others.fetch_add(mine, std::memory_order_relaxed) + mine != 0;
}
/// It is awake again.
template <class Group>
void unsettle_group(Group &g) noexcept {
  g.others.fetch_sub(k_bias, std::memory_order_relaxed);
}

/// A task of the group is over on thread `me`.
template <class Thread, class Group, class Wake>
void end_in_group(Thread &me, Group &g, Wake wake) noexcept {
  Thread *const owner = g.owner;
  if (owner == &me) {
    g.here -= 1;
    return;
  }
  if (g.others.fetch_sub(1, std::memory_order_release) == 1 && owner) // O3
    wake(*owner);
}

} // namespace weft_omp
