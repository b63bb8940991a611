// SPDX-License-Identifier: Apache-2.0
// A team: the threads of a parallel region, their barrier, the tasks they run, and their worksharing regions.
#pragma once

#include "share.hpp"
#include "task.hpp"
#include "thread.hpp"

#include <atomic>
#include <memory>

namespace weft_omp {

/// Places for worksharing regions that are open at once. More hang on these when a thread runs further ahead of the slowest.
inline constexpr unsigned k_open_shares = 8;

/// Lives as long as the process: the next region of the same thread uses it again.
//
// Roles       Members of the team; whoever ends a task of it.
// Words       arrived: members at a barrier inside of the region. ended: members at its end. passed: barriers that are over. tasks: explicit tasks that are not complete.
// Invariants  I1  A barrier is over when all have arrived and no task is left; who sees that does so under the lock, once.
//             I2  The queue and the list of waiting members are changed under the lock; who appends to the queue wakes one who waits.
// Orders      O1  arrived fetch_add acq_rel, with the load acquire of who ends the barrier: what members did before is seen after.
//             O2  passed store release, load acquire: the same from there to the members.
//             O3  tasks fetch_sub acq_rel, with the load acquire of who ends the barrier.
//             O4  cancelled store release, load acquire: what who cancels did before is seen by who leaves because of it.
//             O5  copied store release, load acquire: the data that it points to.
struct team {
  unsigned size = 1;
  unsigned capacity = 1;
  thread **members = nullptr;   // [capacity]; the first is who began the region
  omp_task *implicit = nullptr; // [capacity]
  team *outer = nullptr;
  unsigned number_in_outer = 0;
  omp_task *outer_task = nullptr;
  share_state outer_share;
  standing outer_standing;
  unsigned level = 0, active_level = 0;
  void (*body)(void *) = nullptr;
  void *argument = nullptr;
  icvs settings; // of the implicit tasks
  team *hot = nullptr; // of regions that member 0 begins
  team *next_retired = nullptr;
  bool begins_in_share = false; // members begin in a worksharing region that is set up

  alignas(64) std::atomic<std::uint32_t> arrived{0};
  std::atomic<std::uint32_t> ended{0};
  alignas(64) std::atomic<std::uint32_t> passed{0};
  alignas(64) std::atomic<std::uint32_t> tasks{0};
  std::atomic<std::uint32_t> queued{0}; // ready ones; a hint outside of the lock
  spin_lock lock;
  list<omp_task, &omp_task::in_team> queue; // ready
  thread *waiting = nullptr;

  alignas(64) std::atomic<std::uint64_t> singles{0};
  std::atomic<void *> copied{nullptr};
  std::atomic<bool> cancelled{false};
  std::atomic<bool> share_cancelled{false};
  std::uintptr_t *reductions = nullptr; // of GOMP_parallel_reductions
  llvm_copies *of_llvm[2] = {};         // of reduction(task, ...) of the region, of a worksharing region; with the lock
  work_share shares[k_open_shares];
};

/// Of level 0, for a thread by itself.
team *make_initial_team(thread &t);
/// It is no longer used; its threads wait for the next who gets it.
void retire_team(team &c) noexcept;

/// Threads of a region that asks for `asked` (0: as the ICVs say).
unsigned resolve_threads(thread &t, unsigned asked, unsigned most_useful = 0) noexcept;
/// The calling thread becomes member 0 of a team of `threads` or, if they cannot be had, fewer.
team &begin_team(thread &t, unsigned threads, unsigned bind = 0);
/// The others begin.
void launch(thread &t, team &crew, void (*body)(void *), void *argument);
/// The end of the region, of member 0: the other members are done with it afterwards.
void end_team(thread &t);
/// The threads kept for the next region end; the next one gets new ones, with new thread-local blocks. False: inside of a region.
bool forget_threads(thread &t);
/// Of this process.
unsigned threads_in_teams() noexcept;
void run_parallel(thread &t, void (*body)(void *), void *argument, unsigned threads, unsigned bind = 0);

/// False: the region was cancelled (only where `cancellable`).
bool team_barrier(thread &t, bool cancellable = false);
/// A member comes to the end of the region, and does not go on.
void final_barrier(thread &t);
void end_barrier_if_due(thread *me, team &crew) noexcept;
void cancel_team(thread &t) noexcept;

enum cancel_kind : int { k_cancel_parallel = 1, k_cancel_loop = 2, k_cancel_sections = 4, k_cancel_group = 8 };
/// Whether the innermost region of that kind is cancelled; `cancel_here` cancels it first, where `doit`, and where OMP_CANCELLATION allows it.
[[nodiscard]] bool is_cancelled_here(int which) noexcept;
[[nodiscard]] bool cancel_here(int which, bool doit) noexcept;
/// Under the lock: somebody who waits at the barrier, taken off the list; or null.
thread *take_waiting(team &crew) noexcept;
/// Takes the thread off the list of those that wait, if it is there.
void leave_waiting(team &crew, thread &t) noexcept;

} // namespace weft_omp
