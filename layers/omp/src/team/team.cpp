// SPDX-License-Identifier: Apache-2.0
#include "team/team.hpp"

#include "team/hooks.hpp"
#include "placement/affinity.hpp"
#include "placement/affinity_text.hpp"
#include "sync/free_list.hpp"
#include "team/barrier.hpp"
#include "team/oversubscribed.hpp"
#include "thread/hooks.hpp"
#include "thread/thread_count.hpp"

#include <weft_threads/block/sanitizer.hpp>

#include <algorithm>
#include <mutex>
#include <new>

namespace weft_omp {
namespace {

basic_thread_count<> g_busy;

void reserve_members(omp_team &team, unsigned size) {
  if (size <= team.capacity)
    return;
  const unsigned room = std::max(size, 2 * team.capacity);
  auto *const members = new published_value<thread *>[room];
  for (unsigned i = 0; i < team.capacity; ++i)
    members[i] = static_cast<thread *>(team.members[i]);
  ignore_leak(static_cast<published_value<thread *> *>(team.members));
  ignore_leak(static_cast<member_slot *>(team.slots));
  team.members = members; // O8: the former array stays, for late readers
  team.slots = new member_slot[room]; // O8: the same
  team.laid_out_for = 0;
  delete[] team.implicit;
  team.implicit = new omp_task[room];
  team.capacity = room;
}

/// Writes a word only if that changes it, because members read it all the time.
template <class Word, class T>
void change(Word &to, T value) noexcept {
  if (to != value)
    to = value;
}

int next_level_threads(const omp_team &team) noexcept {
  if (const level_list *levels = team.settings.levels)
    return levels->threads[std::min<std::size_t>(team.level - levels->first + 1,
                                                 levels->threads.size() - 1)];
  const auto &all = g_globals.threads_by_level;
  const std::size_t next = team.level; // what regions inside this one get
  return next < all.size() ? all[next] : -1;
}

/// Enters the team. The member itself calls it.
void join_team(omp_team &team, thread &member, unsigned number, region_entry entry) noexcept {
  member.team = &team;
  member.number = number;
  member.task = &team.implicit[number];
  member.workshare = {};
  if (entry == region_entry::in_workshare) {
    member.workshare.entered = 1;
    member.workshare.current = &team.workshares[1 % k_open_workshares];
  }
}

} // namespace

namespace {

free_list<omp_team> g_free_teams;
std::atomic<unsigned> g_leaving{0}; // a count: dismissed members, of all teams, that have not left

omp_team &some_team() {
  omp_team *const team = g_free_teams.take();
  if (team)
    return *team;
  auto *const made = new omp_team;
  ignore_leak(made);
  return *made;
}

} // namespace

void forget_teams_of_parent(const thread *self) noexcept {
  g_free_teams.forget();
  g_leaving.store(0, std::memory_order_relaxed);
  new (&g_busy) basic_thread_count<>;
  for (const omp_team *team = self ? self->team : nullptr; team; team = team->outer)
    g_busy.add(team->size - 1);
}
void put_free_team(omp_team &team) noexcept { g_free_teams.put(team); }

omp_team *make_initial_team(thread &self) {
  omp_team &team = some_team();
  reserve_members(team, 1);
  team.members[0] = &self;
  team.size = 1; // O8
  team.oversubscribed = false;
  team.outer = nullptr;
  team.level = team.active_level = 0;
  team.settings = g_globals.initial;
  new (&team.threads_of_group) basic_thread_count<>;
  if (team.of_llvm[0] || team.of_llvm[1]) // of a cancelled region
    forget_reductions(team);
  team.implicit[0].become_implicit(team, team.settings, 0);
  for (workshare &s : team.workshares)
    s.forget();
  team.forget(team.cancelled);
  team.has_tasks.store(false, std::memory_order_relaxed);
  team.singles.store(0, std::memory_order_relaxed);
  return &team;
}

namespace {

/// Returns the count of the thread's contention group: an initial thread, or one of a league or of
/// a target region, with all the threads of regions below it.
basic_thread_count<> &threads_of_group(const thread &self) noexcept {
  omp_team *team = self.team;
  while (team->level != 0)
    team = team->outer;
  return team->threads_of_group;
}

/// Counts up to `n` threads, the caller among them, as busy, and returns how many there may be.
unsigned take_threads(const thread &self, unsigned n, unsigned limit) noexcept {
  if (n > 1 && limit != UINT_MAX) // without a limit no one looks at the count of the group
    n = threads_of_group(self).take(n, limit);
  if (n <= 1)
    return 1;
  g_busy.add(n - 1);
  return n;
}

/// Gives back `n` threads of a region that the thread has begun with these ICVs, or has ended.
void give_threads_back(const thread &self, const icvs &settings, unsigned n) noexcept {
  if (n == 0)
    return;
  g_busy.give_back(n);
  if (settings.thread_limit != UINT_MAX)
    threads_of_group(self).give_back(n);
}

} // namespace

unsigned resolve_threads(thread &self, unsigned asked, unsigned most_useful) noexcept {
  const icvs &v = *self.task->settings;
  if (asked == 1 || runtime_is_gone() ||
      static_cast<int>(self.team->active_level) >= v.active_levels)
    return 1;
  unsigned n = std::min(asked ? asked : static_cast<unsigned>(v.threads), k_most_members);
  if (v.dynamic) {
    n = std::min(n, static_cast<unsigned>(effective_cpus()));
    if (most_useful)
      n = std::min(n, most_useful);
  }
  return take_threads(self, n, v.thread_limit);
}

namespace {

bool has_no_message(const parker::reason &why) noexcept {
  return static_cast<const omp_team *>(why.object)->fork_mailbox.is_unchanged(why.number);
}

/// Waits until the member has a message. `known`: see basic_fork_mailbox.
void wait_for_fork(thread &self, omp_team &team, unsigned number, std::uint64_t &known,
                   int spins) noexcept {
  adaptive_spin s(self, spins);
  bool spun = false;
  while (!team.fork_mailbox.is_for(number, known)) {
    if (s.goes_on())
      continue;
    if (!std::exchange(spun, true))
      s.end(spin_result::fruitless);
    self.own_parker.wait_for(self, {&has_no_message, &team, known, false});
  }
  if (!spun)
    s.end(spin_result::came);
}

/// What a member does in a region.
struct member_work {
  static void begin(thread &) noexcept {}
  static void run(thread &, const fork_message &order) { order(); }
  static void wait(thread &self) { final_barrier(self); }
};
/// The same, reported to a tool.
struct watched_member_work {
  static void begin(thread &self) { begin_watched(self, watched_as::member); }
  static void run(thread &self, const fork_message &order) {
    run_watched(self, order, order.entry == region_entry::in_workshare);
  }
  static void wait(thread &self) { wait_watched(self); }
};

/// Runs a member for all of its life.
template <class Work>
void serve(thread &self) {
  omp_team &team = *self.team;
  const unsigned number = self.number;
  Work::begin(self);
  std::uint64_t known =
      team.fork_mailbox.k_none; // no message that was sent before is for this member
  for (int spins = 0;;) {
    wait_for_fork(self, team, number, known, spins);
    const fork_message o = team.fork_mailbox.last();
    if (!o.call)
      return;
    join_team(team, self, number, o.entry);
    self.regions = known;
    self.teams = o.teams;
    self.teams_number = o.teams_number;
    settle(self);
    show_affinity(self);
    Work::run(self, o);
    spins = team.spins; // read now: after the barrier the team is another region's
    Work::wait(self);
  }
}

} // namespace

// ---- begin_team, step by step ---------------------------------------------------------------------

namespace {

/// Returns the team that the thread keeps for its next region.
omp_team &kept_team(thread &self) {
  omp_team *&kept = self.team->members[0] == &self ? self.team->hot : self.hot;
  if (!kept)
    kept = &some_team();
  return *kept;
}

/// Makes the thread member 0, and starts the other members that the team does not have. Returns how
/// many of `threads` there are.
unsigned fill(omp_team &team, thread &self, unsigned threads) {
  reserve_members(team, threads);
  change(team.members[0], &self);
  unsigned have = 1;
  for (; have < threads; ++have)
    if (!team.members[have] &&
        !(team.members[have] = start_light_thread(
              self, g_is_watched ? &serve<watched_member_work> : &serve<member_work>, 0, &team,
              have)))
      break;
  return have;
}

/// Prepares the barrier for so many members.
void resize(omp_team &team, unsigned size) {
  if (team.size != size) {
    team.size = size; // O8
    team.oversubscribed = size > leaves_wanted();
  }
  if (!team.oversubscribed)
    return;
  if (team.laid_out_for != team.size)
    lay_out_leaves(team);
  team.begin_releasing();
}

/// Notes the region around this one, to which end_team() returns.
void note_outer(omp_team &team, const thread &self) noexcept {
  team.outer = self.team;
  team.number_in_outer = self.number;
  team.outer_task = self.task;
  team.outer_share = self.workshare;
  team.outer_placement = self.placement;
  team.level = self.team->level + 1;
  team.active_level = self.team->active_level + (team.size > 1 ? 1 : 0);
}

/// Clears what the last region has left in the team.
void clear(omp_team &team) noexcept {
  team.forget(team.cancelled);
  team.forget(team.workshare_cancelled);
  team.singles.store(0, std::memory_order_relaxed);
  team.reductions = nullptr;
  team.forget(team.has_tasks);
  if (!team.used_workshares.load(std::memory_order_relaxed))
    return;
  team.used_workshares.store(false, std::memory_order_relaxed);
  for (workshare &s : team.workshares)
    s.forget();
  if (team.of_llvm[0] || team.of_llvm[1]) [[unlikely]]
    forget_reductions(team);
}

/// Gives the team the ICVs of the thread's task, as the clauses and the level change them.
void inherit_icvs(omp_team &team, thread &self, unsigned bind) {
  team.settings = *self.task->settings;
  if (const level_list *levels = std::exchange(self.asked.levels, nullptr))
    team.settings.levels = levels;
  if (const int n = next_level_threads(team); n > 0)
    team.settings.threads = n;
  if (team.settings.bind != k_bind_false && (bind & 7) != 0)
    team.settings.bind = static_cast<int>(bind & 7);
  if (const auto &all = g_globals.bind_by_level; team.level < all.size())
    team.settings.bind = all[team.level];
}

/// Makes the members' tasks, as children of the task that begins the region.
void make_implicit_tasks(omp_team &team, const thread &self) noexcept {
  for (unsigned i = 0; i < team.size; ++i) {
    team.implicit[i].become_implicit(team, team.settings, i);
    team.implicit[i].parent = self.task;
  }
}

/// Gives each member its place.
void give_places(omp_team &team, thread &self, unsigned bind) {
  place_members(team, self, bind);
  if (g_globals.display_affinity) [[unlikely]]
    compare_placements(team);
}

/// Sets how long the members spin at the region's end. If there are more threads in teams than
/// workers, neither they nor the members of the outer region spin.
void set_spins(omp_team &team) noexcept {
  const int spins = spins_for(team);
  change(team.spins, spins);
  if (spins == 0)
    change(team.outer->spins, 0);
}

} // namespace

omp_team &begin_team(thread &self, unsigned threads, unsigned bind) {
  if (self.team->level == 0)
    take_part(self);
  omp_team &team = kept_team(self);
  const unsigned have = fill(team, self, threads);
  resize(team, have);
  note_outer(team, self);
  clear(team);
  inherit_icvs(team, self, bind);
  make_implicit_tasks(team, self);
  give_places(team, self, bind);
  give_threads_back(self, team.settings, threads - have);
  set_spins(team);
  join_team(team, self, 0, region_entry::plain);
  settle(self);
  return team;
}

unsigned threads_in_teams() noexcept { return g_busy.now(); }

void launch(thread &self, omp_team &team, const region_body &body, region_entry entry) {
  if (team.size > 1) {
    team.fork_mailbox.send({body, self, entry}, team.size);
    wake_range(&self, team, 1, team.size);
  }
  show_affinity(self);
}

void end_team(thread &self) {
  omp_team &team = *self.team;
  final_barrier(self);
  for (unsigned i = 0; i < team.size; ++i)
    team.implicit[i].end_implicit(self);
  self.team = team.outer;
  give_threads_back(self, team.settings, team.size - 1);
  self.number = team.number_in_outer;
  self.task = team.outer_task;
  self.workshare = team.outer_share;
  self.pace.lose_time(); // a loop of the inner region may have used it
  self.placement = team.outer_placement;
  settle(self);
  if (self.team->level == 0)
    take_part(self);
}

namespace {

void drop_team(omp_team &team) noexcept {
  if (!team.leaving.leave())
    return;
  team.fork_mailbox.send({}, 0); // members that come later do not take the last message for theirs
  put_free_team(team);
}

} // namespace

void leave_team(omp_team &team) noexcept {
  drop_team(team);
  g_leaving.fetch_sub(1, std::memory_order_relaxed);
}

/// Also dismisses the members of teams that the team's members keep.
void dismiss(thread &self, omp_team *team) {
  if (!team)
    return;
  dismiss(self, std::exchange(team->hot, nullptr));
  unsigned members = 0;
  for (unsigned i = 1; i < team->capacity; ++i)
    if (thread *const member = team->members[i]) {
      dismiss(self, std::exchange(member->hot, nullptr));
      ++members;
    }
  g_leaving.fetch_add(members, std::memory_order_relaxed);
  team->leaving.begin(members);
  team->fork_mailbox.send({}, k_most_members);
  for (unsigned i = 1; members != 0 && i < team->capacity; ++i)
    if (thread *const member = team->members[i]) {
      team->members[i] = nullptr;
      member->own_parker.signal(
          &self); // perhaps it has left and another thread has its data: a wait may end for no reason
    }
  drop_team(*team);
}

/// The next threads begin with what the dismissed members leave. Where threads come and go faster
/// than members find a worker, there would be more and more members.
void let_members_leave(thread &self) noexcept {
  constexpr unsigned k_most = 64;
  while (g_leaving.load(std::memory_order_relaxed) > k_most && !runtime_is_gone()) {
    yield_now(self); // some members run here
    yield_kernel_thread();
  }
}

void wait_for_leaving_members(thread *self) noexcept {
  while (g_leaving.load(std::memory_order_relaxed) != 0 && !runtime_is_gone()) {
    if (self)
      yield_now(*self);
    yield_kernel_thread();
  }
}

bool forget_threads(thread &self) {
  if (self.team->level != 0)
    return false;
  dismiss(self, std::exchange(self.team->hot, nullptr));
  return true;
}

void run_parallel(thread &self, const region_body &body, unsigned threads, unsigned bind) {
  omp_team &team = begin_team(self, threads, bind);
  launch(self, team, body);
  body();
  end_team(self);
}

void run_league(thread &self, const region_body &body, unsigned teams, unsigned limit) {
  if (limit == 0)
    limit = g_globals.teams_thread_limit;
  const unsigned limit_before = self.task->settings->thread_limit;
  if (limit)
    own_icvs().thread_limit = limit;
  const thread_placement before = self.placement;
  self.teams = teams;
  for (self.teams_number = 0; self.teams_number < teams; ++self.teams_number) {
    self.placement = before;
    place_league(self, teams, self.teams_number);
    body();
  }
  self.placement = before;
  settle(self);
  self.teams = 1;
  self.teams_number = 0;
  if (limit)
    own_icvs().thread_limit = limit_before;
}

} // namespace weft_omp
