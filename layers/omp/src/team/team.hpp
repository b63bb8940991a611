// SPDX-License-Identifier: Apache-2.0
// A team: the threads of a parallel region, their barrier, the tasks that they run, and their
// worksharing regions.
#pragma once

#include "sync/free_list.hpp"
#include "task/steal_policy.hpp"
#include "task/task.hpp"
#include "task/task_stack.hpp"
#include "task/tasks_by_priority.hpp"
#include "team/barrier_words.hpp"
#include "team/fork_mailbox.hpp"
#include "team/leaf_watch.hpp"
#include "thread/thread.hpp"
#include "thread/thread_count.hpp"
#include "workshare/workshare.hpp"

#include <atomic>
#include <memory>
#include <utility>

namespace weft_omp {

/// Counts the slots for worksharing regions that are open at once. Further slots are linked
/// to these when a member runs further ahead of the slowest one.
inline constexpr unsigned k_open_workshares = 8;

inline constexpr unsigned k_most_members = (1u << 19) - 1; // see barrier_words::phase

using task_stack = basic_task_stack<omp_task>;

/// A leaf of the barrier of an oversubscribed team: the members that one worker counts and
/// wakes; see oversubscribed.hpp.
struct alignas(64) barrier_leaf {
  basic_leaf_watch<> watch;
  alignas(64) barrier_words<>::leaf_word arrivals{0}; // on a line of its own
  unsigned first = 0, members = 0; // changed between regions
};

/// Holds a member's own part of its team's tasks and loops.
struct alignas(64) member_slot {
  task_stack ready;
  relaxed_value<std::int64_t> made, ended; // tasks that the member created, and that ended on it
  std::int64_t published = 0;      // the part of the difference that the team knows
  barrier_leaf *leaf = nullptr;         // of an oversubscribed team

  [[nodiscard]] std::int64_t activity() const noexcept { return made + ended; }
  /// Returns what the member has to publish, and notes it as published. Only the member calls it.
  [[nodiscard]] std::int64_t take_unpublished() noexcept {
    const std::int64_t open = made - ended;
    return open - std::exchange(published, open);
  }
  alignas(64)
      chunk_range chunk_ranges[k_open_workshares]; // of static_steal loops, by the loop's slot
};

/// Says where the members begin a region: outside of worksharing regions, or in one that is set up.
enum class region_entry : bool { plain, in_workshare };

using steal_policy = basic_steal_policy<member_slot>;

/// Holds what the members of a region need to begin it.
struct fork_message : region_body {
  unsigned teams = 1, teams_number = 0;
  region_entry entry = region_entry::plain;

  fork_message() = default; // the members end
  fork_message(const region_body &body, const thread &first, region_entry at) noexcept
      : region_body(body), teams(first.teams), teams_number(first.teams_number), entry(at) {}
};

/// A team, which lives as long as the process. The same thread uses it for its next region; when
/// that thread has ended, another thread uses it. barrier_words.hpp describes its barrier.
//
// Roles       Late readers: read the team when a region is over, and its threads have begun another
//             one or were dismissed. Such a reader is one of these:
//             - a member that has just seen the end of the barrier;
//             - the kernel thread on which a member went to sleep at the barrier;
//             - an external thread whose call made the team's last task ready or ended it.
// Reclamation A late reader looks in `members` and `slots` for the members that it wakes, and for
//             their tasks. It reads as many entries as `size` said.
//             So these arrays never shrink, and a smaller array is kept after the team has grown.
//             The data of an OpenMP thread are never freed, either: a thread that ends leaves its
//             data and its teams to later threads, as a region leaves a team to the next region.
//             Another thread may take the team when all dismissed members have left it.
// Orders      O5  copied store release, load acquire: a member that reads the pointer sees the
//                 data.
//             O8  members and slots store release, then size; size load acquire, then those: a
//                 reader finds as many entries as the size says, and what was written to them
//                 before.
//             leaving: free_list.hpp.
struct omp_team : barrier_words<> {
  bool shows_affinity = false;
  relaxed_value<int> spins{
      0}; // before a member parks at the region's end; 0 once nested regions want the cpus
  unsigned capacity = 0;
  published_value<published_value<thread *> *>
      members; // O8. [capacity]; the first one began the region
  omp_task *implicit = nullptr; // [capacity]
  published_value<member_slot *> slots; // O8. [capacity]

  alignas(64)
      basic_fork_mailbox<fork_message> fork_mailbox; // one line brings a member all that it needs
  static_assert(sizeof(fork_mailbox) <= 64);

  alignas(64) omp_team *outer =
      nullptr; // from here on: written in every region, and seldom read by other members
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
  basic_thread_count<> threads_of_group; // of a team of level 0, whose regions have a limit

  alignas(64) std::atomic<std::uint32_t> woken_last{0}; // number of the member
  std::atomic<std::uint32_t> listed{0};
  spin_lock lock;
  tasks_by_priority<omp_task> others; // ready tasks in no member's slot; with the lock

  alignas(64) std::atomic<std::uint64_t> singles{0};
  std::atomic<void *> copied{nullptr};
  std::uintptr_t *reductions = nullptr; // of GOMP_parallel_reductions
  llvm_copies *of_llvm[2] =
      {}; // of reduction(task, ...) of the region, of a worksharing region; with the lock
  workshare workshares[k_open_workshares];

  barrier_leaf *leaves = nullptr; // [leaf_count], of a team that has been oversubscribed
  unsigned leaf_count = 0, laid_out_for = 0; // members
};

/// Makes a team of level 0, which has the thread as its only member.
omp_team *make_initial_team(thread &self);
/// Puts away a team that is no longer used, for the next thread that needs one.
void put_free_team(omp_team &team) noexcept;
/// Leaves the team. A member that was dismissed calls it when it has used the team for the last
/// time.
void leave_team(omp_team &team) noexcept;
/// Forgets the parent's teams, in the child of a fork. `self`: the thread that forked, if OpenMP knows
/// it; the child has no other thread.
void forget_teams_of_parent(const thread *self) noexcept;

/// Returns the number of threads of a region that asks for `asked` (0: as the ICVs say). They count
/// as busy from now on; the caller calls begin_team() next.
unsigned resolve_threads(thread &self, unsigned asked, unsigned most_useful = 0) noexcept;
/// Makes the calling thread member 0 of a team of `threads`, or of fewer if not all can be started.
omp_team &begin_team(thread &self, unsigned threads, unsigned bind = 0);
/// Lets the other members begin.
void launch(thread &self, omp_team &team, const region_body &body,
            region_entry entry = region_entry::plain);
/// Ends the region. Member 0 calls it; afterwards the other members are done with the region.
void end_team(thread &self);
/// Ends the threads that are kept for the next region; that region gets new ones, with new
/// thread-local blocks. Returns false inside a region, and does nothing.
bool forget_threads(thread &self);
/// Ends the members of a team that a member kept, and those of the teams that they keep.
void dismiss(thread &self, omp_team *kept);
/// Waits while many dismissed members, of any thread's teams, have not ended.
void let_members_leave(thread &self) noexcept;
/// Waits until no dismissed member is left, at the end of a watched process. `self` null: the
/// caller is no OpenMP thread.
void wait_for_leaving_members(thread *self) noexcept;
/// Returns the number of this process's threads in teams.
unsigned threads_in_teams() noexcept;
void run_parallel(thread &self, const region_body &body, unsigned threads, unsigned bind = 0);
/// Runs the teams of a teams region, one after the other. `limit`: threads of each; 0: as the ICVs
/// say.
void run_league(thread &self, const region_body &body, unsigned teams, unsigned limit);

/// Takes chunks of the member's own range of a static_steal loop, as most calls for the next chunk
/// do: adjacent ones, from `first` on. Returns how many; 0: the caller calls next_chunk().
[[nodiscard]] inline std::uint32_t take_own_chunks(thread &self, std::uint32_t &first) noexcept {
  chunk_range *const mine = self.workshare.range;
  if (!mine || self.team->is_workshare_cancelled())
    return 0;
  return mine->take(self.pace.next(mine->left()), first);
}
inline member_slot &slot_of(const thread &self) noexcept { return self.team->slots[self.number]; }

} // namespace weft_omp
