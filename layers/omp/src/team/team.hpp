// SPDX-License-Identifier: Apache-2.0
// A team: the threads of a parallel region, their barrier, the tasks they run, and their worksharing regions.
#pragma once

#include "sync/free_list.hpp"
#include "task/steal_policy.hpp"
#include "task/task.hpp"
#include "task/task_stack.hpp"
#include "team/barrier_words.hpp"
#include "team/fork_mailbox.hpp"
#include "team/leaf_watch.hpp"
#include "thread/thread.hpp"
#include "workshare/workshare.hpp"

#include <atomic>
#include <memory>
#include <utility>

namespace weft_omp {

/// Slots for worksharing regions that are open at once. More hang on these when a thread runs further ahead of the slowest.
inline constexpr unsigned k_open_workshares = 8;

inline constexpr unsigned k_most_members = (1u << 19) - 1; // see barrier_words::phase

using task_stack = basic_task_stack<omp_task>;

/// A leaf of the barrier of an oversubscribed team: members that share a worker; see oversubscribed.hpp.
struct alignas(64) barrier_leaf {
  basic_leaf_watch<> watch;
  alignas(64) barrier_words<>::leaf_word arrivals{0}; // on a line that others leave alone
  unsigned first = 0, members = 0; // changed between regions
};

/// What a member has to itself of its team's tasks and loops.
struct alignas(64) member_slot {
  task_stack ready;
  relaxed_value<std::int64_t> made, ended; // tasks that it made, and that ended on it
  std::int64_t published = 0;      // of the difference, to the team
  barrier_leaf *leaf = nullptr;         // of an oversubscribed team

  [[nodiscard]] std::int64_t activity() const noexcept { return made + ended; }
  /// Of the member.
  [[nodiscard]] std::int64_t take_unpublished() noexcept {
    const std::int64_t open = made - ended;
    return open - std::exchange(published, open);
  }
  alignas(64) chunk_range chunk_ranges[k_open_workshares]; // of static_steal loops, by the loop's slot
};

using steal_policy = basic_steal_policy<member_slot>;

/// What the members of a region need of it at once.
struct fork_message : region_body {
  unsigned teams = 1, teams_number = 0;
  bool in_workshare = false; // they begin in a worksharing region that is set up

  fork_message() = default; // their lives end
  fork_message(const region_body &b, const thread &first, bool s) noexcept
      : region_body(b), teams(first.teams), teams_number(first.teams_number), in_workshare(s) {}
};

/// Lives as long as the process; the next region of the same thread uses it again, and when that thread has ended another one does. The protocol of its barrier is in barrier_words.hpp.
//
// Who is late Somebody may still look at the team when a region is over, and another one has begun or its threads were given up: a member that has just seen the end of the barrier, the kernel
//             thread on which one went to sleep there, an external thread whose call made the team's last task ready or ended it. It finds what it wakes or looks for in `members` and `slots`, as many
//             of them as `size` said. So these never shrink, and what they pointed to before they grew is kept. No OpenMP thread's own data are ever freed: who ends leaves its data, and its teams, to who comes, as the end of a
//             region leaves a team to the next one. A team is left when all members that were dismissed have gone.
// Orders      O5  copied store release, load acquire: the data that it points to.
//             O8  members and slots store release, and then size; size load acquire, and then those: there are as many as the size says. What each of them holds was written before.
//             leaving: free_list.hpp.
struct omp_team : barrier_words<> {
  bool shows_affinity = false;
  relaxed_value<int> spins{0}; // before a member is parked at the end: as of the begin, or none, once regions inside want the cpus
  unsigned capacity = 0;
  published_value<published_value<thread *> *> members; // O8. [capacity]; the first is who began the region
  omp_task *implicit = nullptr; // [capacity]
  published_value<member_slot *> slots; // O8. [capacity]

  alignas(64) basic_fork_mailbox<fork_message> fork_mailbox; // one line brings a member all that it needs
  static_assert(sizeof(fork_mailbox) <= 64);

  alignas(64) omp_team *outer = nullptr; // from here on written in every region, and seldom read by other members
  std::atomic<bool> used_workshares{false};
  unsigned number_in_outer = 0;
  omp_task *outer_task = nullptr;
  workshare_state outer_share;
  thread_placement outer_placement;
  unsigned level = 0, active_level = 0;
  icvs settings; // of the implicit tasks
  omp_team *hot = nullptr; // of regions that member 0 begins
  omp_team *next_free = nullptr;
  basic_leaving_count<> leaving;

  alignas(64) std::atomic<std::uint32_t> woken_last{0}; // number of the member
  std::atomic<std::uint32_t> listed{0};
  spin_lock lock;
  omp_task *first = nullptr, *last = nullptr; // ready ones that no member has to itself, by priority; with the lock

  alignas(64) std::atomic<std::uint64_t> singles{0};
  std::atomic<void *> copied{nullptr};
  std::uintptr_t *reductions = nullptr; // of GOMP_parallel_reductions
  llvm_copies *of_llvm[2] = {}; // of reduction(task, ...) of the region, of a worksharing region; with the lock
  workshare workshares[k_open_workshares];

  barrier_leaf *leaves = nullptr; // [leaf_count], of a team that has been oversubscribed
  unsigned leaf_count = 0, laid_out_for = 0; // members
};

/// Of level 0, for a thread by itself.
omp_team *make_initial_team(thread &t);
/// It is no longer used; its threads wait for the next who gets it.
void put_free_team(omp_team &c) noexcept;
/// Of a member that was dismissed, and has used the team for the last time.
void leave_team(omp_team &c) noexcept;
/// In the child of a fork. `t`: the thread that forked, if OpenMP knows it; all others are the parent's.
void forget_teams_of_parent(const thread *t) noexcept;

/// Threads of a region that asks for `asked` (0: as the ICVs say). They count as busy from now on; begin_team() is to follow.
unsigned resolve_threads(thread &t, unsigned asked, unsigned most_useful = 0) noexcept;
/// The calling thread becomes member 0 of a team of `threads` or, if they cannot be had, fewer.
omp_team &begin_team(thread &t, unsigned threads, unsigned bind = 0);
/// The others begin.
void launch(thread &t, omp_team &team, const region_body &body, bool in_workshare = false);
/// The end of the region, of member 0: the other members are done with it afterwards.
void end_team(thread &t);
/// The threads kept for the next region end; the next one gets new ones, with new thread-local blocks. False: inside of a region.
bool forget_threads(thread &t);
/// The same of a team that a member kept.
void dismiss(thread &t, omp_team *kept);
/// Waits while many that were dismissed, of any thread's teams, have not ended.
void let_members_leave(thread &t) noexcept;
/// Of this process.
unsigned threads_in_teams() noexcept;
void run_parallel(thread &t, const region_body &body, unsigned threads, unsigned bind = 0);
/// The teams of a teams region, one after the other. `limit`: threads of each; 0: as the ICVs say.
void run_league(thread &t, const region_body &body, unsigned teams, unsigned limit);

/// False: the region was cancelled (only where `cancellable`).
bool team_barrier(thread &t, bool cancellable = false);
/// A member comes to the end of the region, and does not go on.
void final_barrier(thread &t);
void end_barrier_if_due(thread &me, omp_team &team) noexcept;
void cancel_team(thread &t) noexcept;
/// The first task of the region.
[[gnu::cold]] void begin_tasks(thread &me, omp_team &team) noexcept;
[[gnu::cold]] void wake_one_idle(thread *me, omp_team &team) noexcept;
/// Those of [first, end) that are parked.
void wake_range(thread *me, omp_team &team, unsigned first, unsigned end) noexcept;
/// A task was made ready: somebody who sleeps at the barrier may take it. `me` null: inside of Weft.
inline void wake_idle(thread *me, omp_team &team) noexcept {
  if (team.may_have_sleepers()) [[unlikely]]
    wake_one_idle(me, team);
}
/// A chunk of the member's own range of a static_steal loop, which is what most calls for the next chunk come to. False: see next_chunk().
[[nodiscard]] inline bool take_own_chunk(const thread &t, std::uint32_t &chunk) noexcept {
  chunk_range *const mine = t.workshare.range;
  return mine && !t.team->workshare_cancelled.load(std::memory_order_relaxed) && mine->take(chunk);
}
inline member_slot &slot_of(const thread &t) noexcept { return t.team->slots[t.number]; }

enum cancel_kind : int { k_cancel_parallel = 1, k_cancel_loop = 2, k_cancel_sections = 4, k_cancel_group = 8 };
/// Whether the innermost region of that kind is cancelled; `cancel_here` cancels it first, where `doit`, and where OMP_CANCELLATION allows it.
[[nodiscard]] bool is_cancelled_here(int which) noexcept;
[[nodiscard]] bool cancel_here(int which, bool doit) noexcept;

} // namespace weft_omp
