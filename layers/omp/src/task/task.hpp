// SPDX-License-Identifier: Apache-2.0
// OpenMP tasks. A ready one is with the member of the team that made it ready (task_stack.hpp) or, if it has a priority, in a list of its team.
// Tasks that depend on others are entered into Weft's dependency system as external tasks, and are ready when that says so.
//
// Who counts: a task's children are counted by the thread that runs it, in plain fields, as long as it makes them and ends them itself; ends on other
// threads are counted in `word`. The two are added up when somebody must wait for the rest, or the task is over (task_count.hpp).
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

/// An implicit or explicit task.
//
// Roles       Runner: the thread that runs the task (`on`). Enders: threads on which a child ends.
// Orders      Of made, ended_here, word: task_count.hpp.
//             O3  complete store release, load acquire: what the task did.
//             O4  ready store release, load acquire: what the tasks before it did.
struct alignas(64) omp_task {
  omp_task *parent = nullptr;
  task_group *group = nullptr;
  const icvs *settings = nullptr;
  omp_team *team = nullptr; // not beside `parent`: of two neighbours in `thread`, the compiler reads both at once, of which one has just been written
  void (*body)(void *) = nullptr;
  int (*kmp_entry)(int, kmp_task *) = nullptr; // of kmp tasks
  void *argument = nullptr;
  omp_task *newer = nullptr, *older = nullptr; // where it is; `newer` links free records, too

  // Of the runner: in lines that others do not ask for while it makes tasks.
  std::int64_t made = 0, ended_here = 0;
  weft::layer::external_task *external = nullptr; // orders its children, and itself if it has dependences
  icvs *own = nullptr; // once changed
  thread *home = nullptr; // whose pool the record came from
  std::uint32_t depth = 0; // below the implicit task
  int priority = 0;
  bool is_final = false, undeferred = false, is_explicit = false;
  bool detachable = false; // it may end later than its body: by a clause, or by an event from outside
  bool is_copied = false; // its data were copied: it runs even when cancelled
  bool has_unmarked = false; // children with dependences that do not read the address of omp_all_memory: see depend.hpp
  bool destroys = false, has_priority = false; // of kmp tasks

  // Of those who end its children.
  alignas(64) std::atomic<std::int64_t> word{0};
  std::atomic<thread *> on{nullptr}; // the runner; null once the body is over
  omp_task *next_of_loop = nullptr;
  std::size_t data_bytes = 0; // of kmp tasks
  basic_hold_state<> holds; // of an implicit task, and of an explicit one that is detachable
  basic_block_state<thread> block;
  wait_flag waits; // the runner, until a descendant is ready
  bool again = false; // untied: the body has returned where a part of it ends, and is to be called for the next one
  std::atomic<bool> ready{false}; // of an undeferred task that had to wait
  std::atomic<bool> complete{false};
  std::uint8_t accesses = 0; // that it waited for; 255: or more
  std::uint8_t pool_class = 0; // last: what precedes is zero in new records, and is written in whole words, as it is read

  void become_implicit(omp_team &c, const icvs &from, unsigned number) noexcept;
  void end_implicit(thread &me) noexcept;
};
static_assert(sizeof(omp_task) == 192);

/// Lives on the heap from start to end. Counted as a task's children are: by the thread that waits for it, and by others (task_count.hpp).
struct task_group {
  task_group *outer = nullptr;
  thread *owner = nullptr; // null: nobody waits for it
  std::int64_t here = 0; // of the owner: tasks that it made less those that ended on it
  wait_flag waits;
  std::atomic<bool> cancelled{false};
  bool of_workshare = false; // made for the reductions of a worksharing region
  std::uintptr_t *reductions = nullptr;
  llvm_reductions *of_llvm = nullptr;
  alignas(64) std::atomic<std::int64_t> others{-k_bias};
};

/// The tasks of the group are over: what they gave to the copies goes to the originals. Of kmpc_reduction.cpp.
void finish_reductions(thread &t, task_group &g);

/// In place of a priority: no member of a team takes it (helpers.hpp).
inline constexpr int k_for_helpers = -1;

/// Clauses of a task.
struct task_clauses {
  bool deferred = true, is_final = false, detachable = false;
  int priority = 0;
  const weft::access *accesses = nullptr;
  std::size_t access_count = 0;
};

/// For it to run when its accesses allow it. The last touch by the caller. See make_task() of task_record.hpp.
void submit(thread &t, omp_task &x, const task_clauses &clauses);
/// The same for one without accesses or priority.
void submit_plain(thread &t, omp_task &x);
/// An undeferred task without accesses, with the creator's data: two dozen stores around the call.
void run_in_place(thread &t, void (*body)(void *), void *argument, bool is_final);
/// Runs it now, when its accesses allow it, and comes back when it is complete.
void run_undeferred(thread &t, omp_task &x, const task_clauses &clauses);

/// An undeferred task whose body the caller calls between these two.
void begin_here(thread &t, omp_task &x);
void end_here(thread &t, omp_task &x);

/// `next`, where given: one that its end makes ready, for the caller to run.
void run_task(thread &t, omp_task &x, omp_task **next = nullptr);
/// Its body is over and nothing else is to be waited for.
void end_task(thread &me, omp_task &x, omp_task **next = nullptr);
/// A record that was never submitted.
void discard(thread &t, omp_task &x) noexcept;
void fulfill(thread &me, omp_task &x);

// Of the running task, by another layer: see outside.cpp. An explicit task is over when its body is and no event is left; an implicit one counts as a task of
// its team meanwhile.
void add_events(thread &t, omp_task &x, std::uint64_t n);
/// Any thread. False: there are fewer.
[[nodiscard]] bool remove_events(omp_task &x, std::uint64_t n);

void wait_for_children(thread &t);
void begin_group(thread &t);
void end_group(thread &t);
[[nodiscard]] bool is_cancelled_where_allowed(const omp_task &x) noexcept;
/// Whether tasks beside this one are not to be begun any more.
[[nodiscard]] inline bool is_cancelled(const omp_task &x) noexcept { return g_globals.cancellation && is_cancelled_where_allowed(x); }

} // namespace weft_omp
