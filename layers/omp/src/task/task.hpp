// SPDX-License-Identifier: Apache-2.0
// OpenMP tasks. A ready task is in the stack of the member that made it ready (task_stack.hpp) or,
// if it has a priority, in a list of its team.
// A task with dependences is entered into Weft's dependency system as an external task, which
// reports when the task is ready.
//
// The runner of a task counts the children that it makes, and those that end on it, in plain
// fields. Other threads count the
// ends of children in `word`. The two counts are added when the runner waits for the rest, or when
// the task is over
// (task_count.hpp).
#pragma once

#include "config/icv.hpp"
#include "sync/wait_flag.hpp"
#include "task/outside_words.hpp"
#include "task/task_count.hpp"

#include <utility>

#include <weft/access.hpp>
#include <weft/layer/external_task.hpp>

#include <atomic>
#include <cstdint>

namespace weft_omp {

struct omp_team;
struct thread;
struct task_group;
struct llvm_reductions;
struct llvm_copies;
struct kmp_task;

/// Holds an implicit or explicit task.
//
// Roles       Runner: the thread that runs the task (`on`). Ender: a thread on which a child ends.
//             Creator: the thread that waits for its undeferred task.
// Orders      Of made, ended_here, word: task_count.hpp.
//             O3  complete store release, load acquire: the creator sees what the task did.
//             O4  ready store release, load acquire: the creator sees what the task's predecessors
//                 did.
struct alignas(64) omp_task {
  omp_task *parent = nullptr;
  task_group *group = nullptr;
  const icvs *settings = nullptr;
  omp_team *team =
      nullptr; // not next to `parent`: the compiler reads two neighbours of `thread` at once, and one of the two has just been written
  void (*body)(void *) = nullptr;
  int (*kmp_entry)(int, kmp_task *) = nullptr; // of kmp tasks
  void *argument = nullptr;
  omp_task *newer = nullptr,
           *older = nullptr; // the neighbours in its list; `newer` links free records, too

  // Of the runner: in cache lines that other threads do not read while it makes tasks.
  std::int64_t made = 0, ended_here = 0;
  weft::layer::external_task *external =
      nullptr; // orders its children, and itself if it has dependences
  icvs *own = nullptr; // once changed
  thread *home = nullptr; // whose pool the record came from
  std::uint32_t depth = 0; // below the implicit task
  int priority = 0;
  bool is_final = false, undeferred = false, is_explicit = false;
  bool detachable =
      false; // the task may end later than its body: by a clause, or by an event from outside
  bool is_copied = false; // its data were copied: the task runs even when cancelled
  bool has_unmarked =
      false; // children with dependences that do not read the address of omp_all_memory: see depend.hpp
  bool destroys = false, has_priority = false; // of kmp tasks

  // Of the enders.
  alignas(64) std::atomic<std::int64_t> word{0};
  std::atomic<thread *> on{nullptr}; // the runner; null once the body is over
  omp_task *next_of_loop = nullptr;
  std::size_t data_bytes = 0; // of kmp tasks
  basic_hold_state<> holds; // of an implicit task, and of an explicit one that is detachable
  basic_block_state<thread> block;
  wait_flag waits; // the runner waits until a descendant is ready
  bool again =
      false; // of an untied task: the body has returned at the end of a part, and must be called again for the next part
  std::atomic<bool> ready{false}; // of an undeferred task that had to wait
  std::atomic<bool> complete{false};
  std::uint8_t accesses = 0; // that the task waited for; 255: or more
  std::uint8_t pool_class =
      0; // last: the fields before it are zero in new records, and are written and read in whole words

  void become_implicit(omp_team &team, const icvs &from, unsigned number) noexcept;
  void end_implicit(thread &self) noexcept;
};
static_assert(sizeof(omp_task) == 192);

/// Holds a task group. It lives on the heap from its start to its end.
/// Its owner and the other threads count its tasks as the children of a task are counted
/// (task_count.hpp).
struct task_group {
  task_group *outer = nullptr;
  thread *owner = nullptr; // the thread that waits for the group; null: no thread does
  const omp_task *opener = nullptr; // the task that waits for the group
  std::int64_t here = 0; // of the owner: tasks that it made less those that ended on it
  wait_flag waits;
  std::atomic<bool> cancelled{false};
  bool of_workshare = false; // made for the reductions of a worksharing region
  std::uintptr_t *reductions = nullptr;
  llvm_reductions *of_llvm = nullptr;
  alignas(64) std::atomic<std::int64_t> others{-k_bias};
};

/// Marks, in place of a priority, a task that no member of a team takes (helpers.hpp).
inline constexpr int k_for_helpers = -1;

/// Returns the ICVs of the calling thread's task.
[[nodiscard]] const icvs &my_icvs() noexcept;
/// Returns the task's own copy of them, which the caller may change.
[[nodiscard]] icvs &own_icvs() noexcept;

/// Holds the clauses of a task.
struct task_clauses {
  bool deferred = true, is_final = false, detachable = false;
  int priority = 0;
  const weft::access *accesses = nullptr;
  std::size_t access_count = 0;
};

/// Runs an undeferred task without accesses, with the creator's data. Costs two dozen stores around
/// the call.
void run_in_place(thread &self, void (*body)(void *), void *argument, bool is_final);
/// Runs an undeferred task as soon as its accesses allow it. Returns when the task is complete.
void run_undeferred(thread &self, omp_task &task, const task_clauses &clauses);

/// Begin and end an undeferred task whose body the caller calls between the two.
void begin_here(thread &self, omp_task &task);
void end_here(thread &self, omp_task &task);

/// Runs a task. `next`, if it is given, gets one task that the end of this one made ready; the
/// caller runs it.
void run_task(thread &self, omp_task &task, omp_task **next = nullptr);
/// Ends a task whose body is over and which waits for nothing else. `next` as of run_task().
void end_task(thread &self, omp_task &task, omp_task **next = nullptr);
/// Notes that the body of a task never begins. The task is over without its event.
inline void note_discard(omp_task &task) noexcept {
  if (task.detachable)
    task.holds.discard();
}
/// Frees the record of a task that was never submitted.
void discard(thread &self, omp_task &task) noexcept;
/// Returns an event that any number of threads may fulfil, which changes nothing: for a task that is
/// not made, because its group is cancelled.
[[nodiscard]] omp_task &event_of_no_task() noexcept;
/// Fulfils the event of a detach clause.
void fulfill(thread &self, omp_task &task);

// Another layer adds events to the running task, and takes them away: see outside.cpp.
// - An explicit task is over when its body is over and no event is left.
// - An implicit task counts as one task of its team while it has events.
void add_events(thread &self, omp_task &task, std::uint64_t n);
/// Takes `n` events away, on any thread. False: the task has fewer events.
[[nodiscard]] bool remove_events(omp_task &task, std::uint64_t n);

[[nodiscard]] bool is_cancelled_where_allowed(const omp_task &task) noexcept;
/// Returns whether the team or the group of this task is cancelled, so that no thread begins
/// another task of it.
[[nodiscard]] inline bool is_cancelled(const omp_task &task) noexcept {
  return g_globals.cancellation && is_cancelled_where_allowed(task);
}

} // namespace weft_omp
