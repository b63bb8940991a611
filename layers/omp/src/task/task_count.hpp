// SPDX-License-Identifier: Apache-2.0
// Counts the children of a task, and the tasks of a group, that are not over.
// Decides how long the record of a task lives.
//
// Roles       Runner: the thread that runs the task (`on`). Ender: a thread on which a child ends.
//             Creator: the thread that waits for its undeferred task. Owner: the thread that waits
//             for a group. Opener: the task that waits for a group.
// Words       made, ended_here: children that the runner made, and that ended on the runner. Only
//             the runner uses them.
//             word has three parts:
//             - k_over, once the body is over, if the record had to outlive it (I2);
//             - k_reference, once for each user that must still find this record: a child that is
//               over and whose record is still kept, or the creator of an undeferred task;
//             - a number of children: I1.
//             on: the runner, or null while the task has none. A thread that reads itself there is
//             the runner, because it has cleared the word when it left the task; so relaxed.
//             here, of a group: tasks that the owner made, less those that ended on it. Only the
//             owner uses it. others: I4; -k_bias at first.
// Invariants  I1  made - ended_here + the number in `word` is the number of children that are not
//                 over. An ender that is not the runner takes 1 from the number, so it is negative
//                 or 0 at first. The runner moves made - ended_here to the number before it sleeps,
//                 at the end of a wait for its children, when it leaves the task to another thread,
//                 and at the end of the body. The number alone is then that of the children that
//                 are not over, until the runner makes or ends one. So an ender that brings the
//                 number to 0 wakes the runner. A wake-up that is too early is harmless, because
//                 the runner looks again. To get a fresh count, the runner may also move the number
//                 to `made`.
//             I2  The thread that brings `word` to exactly k_over frees the record. If made equals
//                 ended_here and `word` is 0 at the end of the body, the runner frees the record
//                 without adding k_over.
//             I3  A task that is over and whose record is still kept keeps its parent's record, and
//                 so on upwards.
//             I4  here + others + k_bias is the number of tasks of a group that are not over. A
//                 thread that is not the owner adds 1 to `others` for a task that it makes, and
//                 takes 1 for a task that ends on it. Before the owner sleeps, it moves `here` to
//                 `others` and adds the bias; `others` alone is then the number. When the owner is
//                 awake again, it takes the bias away. So an ender brings `others` to 0, and wakes
//                 the owner, only while the owner waits.
//             I5  A task that has children which are not over, or that has opened a group, stays
//                 with its runner between two parts. An ender reads `on` before it takes its child
//                 from `word`, because the record may be gone afterwards. If the task had moved in
//                 between, the ender would wake the thread that was its runner before. The owner of
//                 a group is the runner of the opener, so it stays the same, too.
// Orders      O1  word fetch_sub acq_rel: the thread that finds the sum to be 0 sees what the child
//                 did, and the thread that frees the record sees that all others are done with it.
//             O2  word load acquire and fetch_add acq_rel: with O1.
//             O3  others fetch_sub release, with the owner's load acquire: the owner sees what the
//                 tasks did.
//             The other operations on word and others are relaxed: with them the runner moves
//             counts, keeps a record that it has another reason to find, or drops a reference that
//             is not the last one. They are read-modify-writes, and pass the releases on.
// Progress    Wait-free. A chain of records that are over is as long as the program nests tasks.
// Checked by  tests/model/layers/omp_task_models.cpp: omp_children_*, omp_group_*, omp_moved_*
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

inline constexpr std::int64_t k_over = std::int64_t{1} << 43, k_reference = std::int64_t{1} << 44,
                              k_number = k_over - 1;
inline constexpr std::int64_t k_bias = std::int64_t{1} << 40;

/// Returns the number of children that the runner made, less those that ended on it.
template <class Task>
[[nodiscard]] std::int64_t open_here(const Task &task) noexcept {
  return task.made - task.ended_here;
}

/// Returns the number of children that ended on other threads and that the runner has not
/// collected.
/// Called by the runner.
template <class Task>
[[nodiscard]] std::int64_t ended_elsewhere(const Task &task) noexcept {
  const std::int64_t n = task.word.load(std::memory_order_acquire) & k_number; // O2
  return n > k_over / 2 ? k_over - n : -n;
}

/// Returns the number of children that are not over. Called by the runner.
template <class Task>
[[nodiscard]] std::int64_t children_of(const Task &task) noexcept {
  return open_here(task) - ended_elsewhere(task);
}

/// Adds the runner's own count to the number in `word`.
template <class Task>
void settle_children(Task &task) noexcept {
  if (const std::int64_t mine = open_here(task)) {
    task.made = task.ended_here = 0;
    task.word.fetch_add(mine, std::memory_order_relaxed);
  }
}

/// Moves what other threads have counted from `word` to the runner's own count.
template <class Task>
void collect_children(Task &task) noexcept {
  const std::int64_t n = ended_elsewhere(task);
  if (n == 0)
    return;
  task.made -= n;
  unless(
      bug::omp_children_collected_late,
      [&] { task.word.fetch_add(n, std::memory_order_relaxed); }, // I1: as many as were seen
      [&] { task.word.store(0, std::memory_order_relaxed); });
}

/// Does what settle_children() does; afterwards no thread is the runner, and all enders count in
/// `word`.
template <class Task>
void leave_runner(Task &task) noexcept {
  task.on.store(nullptr, std::memory_order_relaxed);
  settle_children(task);
}

/// Returns whether the next part of an untied task may run on another thread. Called by the runner,
/// between two parts.
template <class Task>
[[nodiscard]] bool may_move(const Task &task) noexcept {
  return unless(bug::omp_children_of_a_moved_task,
                children_of(task) == 0 && !(task.group && task.group->opener == &task), // I5
                true);
}

/// Keeps the record until drop_reference().
template <class Task>
void keep(Task &task) noexcept {
  task.word.fetch_add(k_reference, std::memory_order_relaxed);
}

/// Drops one reference. Frees the record with the last one, and then, upwards, each record that
/// this one alone kept.
template <class Task, class Free>
void drop_reference(Task *task, Free free) noexcept {
  while (task->word.fetch_sub(k_reference, std::memory_order_acq_rel) - k_reference ==
         k_over) { // O1
    Task *const parent = task->parent;
    free(*task);
    task = parent;
  }
}

/// Does is_left() for a task with `mine` children in its runner's count, or with children that
/// others have counted.
template <class Task>
[[nodiscard, gnu::noinline]] bool is_left_by_children(Task &task, std::int64_t mine) noexcept {
  unless(bug::omp_children_parent_unkept, [&] { keep(*task.parent); }); // I3
  if (task.word.fetch_add(mine + k_over, std::memory_order_acq_rel) + mine != 0) // O2
    return false;
  task.parent->word.fetch_sub(
      k_reference,
      std::
          memory_order_relaxed); // not the last reference: the parent still counts this task as its child
  return true;
}

/// Ends the task's use of its record; the body is over.
/// True: nothing refers to the record any more, and the caller frees it.
/// False: the thread that drops the last reference frees it. Until then the record keeps its
/// parent's.
template <class Task>
[[nodiscard]] inline bool is_left(Task &task) noexcept {
  const std::int64_t mine = open_here(task);
  task.on.store(nullptr, std::memory_order_relaxed);
  if (unless(bug::omp_children_left_out,
             mine == 0 && task.word.load(std::memory_order_acquire) == 0, // O2
             true)) [[likely]]
    return true;
  return is_left_by_children(task, mine);
}

/// Does end_child() on a thread that is not the runner, `on`.
template <class Thread, class Task, class Free, class Wake>
[[gnu::noinline]] void end_child_elsewhere(Thread *on, Task &parent, Free free,
                                           Wake wake) noexcept {
  const std::int64_t left = parent.word.fetch_sub(1, order_unless(bug::omp_children_end_unseen,
                                                                  std::memory_order_acq_rel)) -
                            1; // O1
  if (left == k_over) {
    Task *const above = parent.parent;
    free(parent);
    drop_reference(above, free);
  } else if (on && (left & k_number) == 0) {
    wake(*on);
  }
}

/// Counts the end of a child of `parent` on thread `self`. Calls `wake` with the runner if that was
/// the last child that the runner waits for.
template <class Thread, class Task, class Free, class Wake>
inline void end_child(Thread &self, Task &parent, Free free, Wake wake) noexcept {
  Thread *const on = parent.on.load(std::memory_order_relaxed);
  if (on == &self)
    ++parent.ended_here;
  else
    end_child_elsewhere(on, parent, free, wake);
}

// ---- groups

/// Returns the number of tasks of the group that are not over. Called by the owner, while the group
/// is not settled.
template <class Group>
[[nodiscard]] std::int64_t tasks_of(const Group &group) noexcept {
  return group.here + group.others.load(std::memory_order_acquire) + k_bias; // O3
}

/// Settles the group before its owner sleeps. False: no task is left, and the owner need not sleep.
template <class Group>
[[nodiscard]] bool settle_group(Group &group) noexcept {
  const std::int64_t mine = group.here + unless(bug::omp_group_unbiased, k_bias); // I4
  group.here = 0;
  return group.others.fetch_add(mine, std::memory_order_relaxed) + mine != 0;
}
/// Undoes settle_group() when the owner is awake again.
template <class Group>
void unsettle_group(Group &group) noexcept {
  group.others.fetch_sub(k_bias, std::memory_order_relaxed);
}

/// Counts the end of a task of the group on thread `self`. Calls `wake` with the owner if it waits
/// and that was the last task.
template <class Thread, class Group, class Wake>
void end_in_group(Thread &self, Group &group, Wake wake) noexcept {
  Thread *const owner = group.owner;
  if (owner == &self) {
    group.here -= 1;
    return;
  }
  if (group.others.fetch_sub(1, std::memory_order_release) == 1 && owner) // O3
    wake(*owner);
}

// ---- tasks

/// Counts the end of a task whose body is over with its group and its parent, and ends its use of
/// its record. `free` as of end_child(); `wake` gets each thread to wake. Calls complete(task,
/// creator) for an undeferred task, whose record its creator keeps.
template <class Thread, class Task, class Free, class Wake, class Complete>
[[gnu::always_inline]] inline void end_counted(Thread &self, Task &task, Free free, Wake wake,
                                               Complete complete) noexcept {
  // All that is needed of the record afterwards: unless `gone`, another thread may free it at once.
  Task &parent = *task.parent;
  auto *const group = +task.group;
  const bool undeferred = task.undeferred;
  const bool gone = is_left(task);
  if (group)
    end_in_group(self, *group, wake);
  end_child(self, parent, free, wake);
  if (gone) [[likely]]
    free(task);
  else if (undeferred)
    complete(task, *parent.on.load(std::memory_order_relaxed)); // it runs the parent, and waits
}

} // namespace weft_omp
