// SPDX-License-Identifier: Apache-2.0
// OpenMP tasks. A ready one stands in three queues, all guarded by its team's lock: that of the team, of its parent, of its taskgroup; threads at
// a scheduling point take it from the one that the scheduling point may run. Tasks that depend on others are entered into Weft's
// dependency system as held tasks, and get here when that says they are ready.
#pragma once

#include "icv.hpp"
#include "list.hpp"

#include <utility>

#include <weft/access.hpp>
#include <weft/layer/held_task.hpp>

#include <atomic>
#include <cstdint>

namespace weft_omp {

struct team;
struct thread;
struct task_group;
struct llvm_reductions;
struct llvm_copies;

/// An implicit or explicit task.
//
// Orders      O1  references fetch_sub acq_rel: who frees sees all others done.
//             O2  detached fetch_or acq_rel: body and event, whoever comes second ends the task.
//             O3  complete store release, load acquire: what the task did.
//             O4  ready store release, load acquire: what the tasks before it did.
struct omp_task {
  omp_task *parent = nullptr;
  team *crew = nullptr;
  task_group *group = nullptr;
  const icvs *settings = nullptr;
  icvs *own = nullptr; // once changed
  void (*body)(void *) = nullptr;
  int (*body_of_other)(int, void *) = nullptr; // of the other ABI
  void *argument = nullptr;
  int priority = 0;
  bool is_final = false, undeferred = false, is_explicit = false, detachable = false;
  bool is_copied = false; // its data were copied: it runs even when cancelled
  bool has_unmarked = false; // children with dependences that omp_all_memory does not see: see depend.hpp
  bool destroys = false, has_priority = false; // of the other ABI
  bool again = false; // untied: the body has returned where a part of it ends, and is to be called for the next one
  std::atomic<bool> ready{false}; // of an undeferred task that had to wait
  std::atomic<bool> complete{false};
  omp_task *next_of_loop = nullptr;
  std::size_t data_bytes = 0; // of the other ABI

  // With the lock of the team.
  std::uint32_t children = 0; // not complete
  thread *waiting = nullptr;  // for children, or for its own readiness or end
  link<omp_task> in_team, in_parent, in_group;
  list<omp_task, &omp_task::in_parent> ready_children;

  std::atomic<std::uint32_t> references{1};
  std::atomic<std::uint32_t> detached{0}; // 1: the body is over, 2: the event is fulfilled
  weft::layer::held_task *held = nullptr; // orders its children, and itself if it has dependences

  /// One that was used by run_in_place() before.
  void begin_in_place(omp_task &creator);
  void become_implicit(team &c, const icvs &from, unsigned number) noexcept;
  void end_implicit(thread &me) noexcept;
};

/// Lives on the heap from start to end.
struct task_group {
  task_group *outer = nullptr;
  std::uint32_t count = 0; // of its tasks that are not complete; with the lock of the team
  thread *waiting = nullptr;
  list<omp_task, &omp_task::in_group> ready;
  std::atomic<bool> cancelled{false};
  bool of_share = false; // made for the reductions of a worksharing region
  std::uintptr_t *reductions = nullptr;
  llvm_reductions *of_llvm = nullptr;
};

/// The tasks of the group are over: what they gave to the copies goes to the originals. Of kmpc_reduction.cpp.
void finish_reductions(thread &t, task_group &g);

/// Clauses of a task.
struct task_clauses {
  bool deferred = true, is_final = false, detachable = false;
  int priority = 0;
  const weft::access *accesses = nullptr;
  std::size_t access_count = 0;
};

/// A task with room for `bytes` of data, at `argument`. Ends the program when there is no memory.
omp_task *make_task(thread &t, std::size_t bytes, std::size_t alignment, const task_clauses &clauses);
/// For it to run when its accesses allow it. The last touch by the caller.
void submit(thread &t, omp_task &x, const task_clauses &clauses);
/// An undeferred task without accesses, with the creator's data: two dozen stores around the call.
void run_in_place(thread &t, void (*body)(void *), void *argument, bool is_final);
/// Runs it now, when its accesses allow it, and comes back when it is complete.
void run_undeferred(thread &t, omp_task &x, const task_clauses &clauses);
/// Waits until tasks with such accesses could run.
void wait_for_accesses(thread &t, const task_clauses &clauses);

/// An undeferred task whose body the caller calls between these two.
void begin_here(thread &t, omp_task &x);
void end_here(thread &t, omp_task &x);

void run_task(thread &t, omp_task &x);
/// Its body is over and nothing else is to be waited for.
void end_task(thread *me, omp_task &x);
void drop(omp_task &x) noexcept;
void fulfill(thread *me, omp_task &x);

/// Of the team's queue, while its barrier `number` is not over; null: none.
omp_task *take_any(team &c, std::uint32_t number) noexcept;

void wait_for_children(thread &t);
void begin_group(thread &t);
void end_group(thread &t);
/// Whether tasks of the thread's region are not to be begun any more.
[[nodiscard]] bool is_cancelled(const thread &t, const omp_task &x) noexcept;

} // namespace weft_omp
