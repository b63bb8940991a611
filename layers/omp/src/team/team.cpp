// SPDX-License-Identifier: Apache-2.0
#include "team/team.hpp"

#include "placement/affinity.hpp"
#include "sync/free_list.hpp"
#include "team/oversubscribed.hpp"
#include "thread/sanitizer.hpp"
#include "thread/thread_count.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace weft_omp {
namespace {

basic_thread_count<> g_busy;

void reserve_members(omp_team &c, unsigned size) {
  if (size <= c.capacity)
    return;
  const unsigned room = std::max(size, 2 * c.capacity);
  auto *const members = new published_value<thread *>[room];
  for (unsigned i = 0; i < c.capacity; ++i)
    members[i] = static_cast<thread *>(c.members[i]);
  ignore_leak(static_cast<published_value<thread *> *>(c.members));
  ignore_leak(static_cast<member_slot *>(c.slots));
  c.members = members; // O8: the former array stays, for late readers
  c.slots = new member_slot[room]; // O8: the same
  c.laid_out_for = 0;
  delete[] c.implicit;
  c.implicit = new omp_task[room];
  c.capacity = room;
}

void begin_oversubscribed(omp_team &c) {
  if (c.laid_out_for != c.size)
    lay_out_leaves(c);
  c.begin_releasing();
}

/// Writes a word only if that changes it, because members read it all the time.
template <class Word, class T>
void change(Word &to, T v) noexcept {
  if (to != v)
    to = v;
}

/// Returns the place that keeps the team of the thread's next region.
omp_team *&slot_of_hot(thread &t) noexcept {
  return t.team->members[0] == &t ? t.team->hot : t.hot;
}

int next_level_threads(const omp_team &c) noexcept {
  if (const level_list *levels = c.settings.levels)
    return levels
        ->threads[std::min<std::size_t>(c.level - levels->first + 1, levels->threads.size() - 1)];
  const auto &all = g_globals.threads_by_level;
  const std::size_t next = c.level; // what regions inside this one get
  return next < all.size() ? all[next] : -1;
}

void set_up(omp_team &c, thread &t, unsigned bind) {
  c.outer = t.team;
  c.number_in_outer = t.number;
  c.outer_task = t.task;
  c.outer_share = t.workshare;
  c.outer_placement = t.placement;
  c.level = t.team->level + 1;
  c.active_level = t.team->active_level + (c.size > 1 ? 1 : 0);
  c.forget(c.cancelled);
  c.forget(c.workshare_cancelled);
  c.singles.store(0, std::memory_order_relaxed);
  c.reductions = nullptr;
  c.settings = *t.task->settings;
  if (const level_list *levels = std::exchange(t.asked.levels, nullptr))
    c.settings.levels = levels;
  if (const int n = next_level_threads(c); n > 0)
    c.settings.threads = n;
  if (c.settings.bind != k_bind_false && (bind & 7) != 0)
    c.settings.bind = static_cast<int>(bind & 7);
  if (const auto &all = g_globals.bind_by_level; c.level < all.size())
    c.settings.bind = all[c.level];
  c.forget(c.has_tasks);
  if (c.used_workshares.load(std::memory_order_relaxed)) {
    c.used_workshares.store(false, std::memory_order_relaxed);
    for (workshare &s : c.workshares)
      s.forget();
  }
  for (unsigned i = 0; i < c.size; ++i) {
    c.implicit[i].become_implicit(c, c.settings, i);
    c.implicit[i].parent = t.task;
  }
  place_members(c, t, bind);
  if (g_globals.display_affinity) [[unlikely]]
    compare_placements(c);
}

/// Enters the team. The member itself calls it.
void join_team(omp_team &c, thread &m, unsigned number, bool in_workshare) noexcept {
  m.team = &c;
  m.number = number;
  m.task = &c.implicit[number];
  m.workshare = {};
  if (in_workshare) {
    m.workshare.entered = 1;
    m.workshare.current = &c.workshares[1 % k_open_workshares];
  }
}

} // namespace

namespace {

free_list<omp_team> g_free_teams;
std::atomic<unsigned> g_leaving{0}; // a count: dismissed members, of all teams, that have not left

omp_team &some_team() {
  omp_team *const c = g_free_teams.take();
  if (c)
    return *c;
  auto *const made = new omp_team;
  ignore_leak(made);
  return *made;
}

} // namespace

void forget_teams_of_parent(const thread *t) noexcept {
  g_free_teams.forget();
  g_leaving.store(0, std::memory_order_relaxed);
  new (&g_busy) basic_thread_count<>;
  for (const omp_team *c = t ? t->team : nullptr; c; c = c->outer)
    g_busy.add(c->size - 1);
}
void put_free_team(omp_team &c) noexcept { g_free_teams.put(c); }

omp_team *make_initial_team(thread &t) {
  omp_team &c = some_team();
  reserve_members(c, 1);
  c.members[0] = &t;
  c.size = 1; // O8
  c.oversubscribed = false;
  c.outer = nullptr;
  c.level = c.active_level = 0;
  c.settings = g_globals.initial;
  c.implicit[0].become_implicit(c, c.settings, 0);
  for (workshare &s : c.workshares)
    s.forget();
  c.forget(c.cancelled);
  c.has_tasks.store(false, std::memory_order_relaxed);
  c.singles.store(0, std::memory_order_relaxed);
  return &c;
}

namespace {

/// Counts up to `n` threads, the caller among them, as busy, and returns how many there may be.
unsigned take_threads(const thread &t, unsigned n, unsigned limit) noexcept {
  if (n <= 1)
    return 1;
  if (limit != UINT_MAX && t.team->level != 0)
    return g_busy.take(n, limit);
  n = std::min(n, std::max(limit, 1u)); // only nested regions with a limit look at the count
  g_busy.add(n - 1);
  return n;
}

} // namespace

unsigned resolve_threads(thread &t, unsigned asked, unsigned most_useful) noexcept {
  const icvs &v = *t.task->settings;
  if (asked == 1 || runtime_is_gone() || static_cast<int>(t.team->active_level) >= v.active_levels)
    return 1;
  unsigned n = std::min(asked ? asked : static_cast<unsigned>(v.threads), k_most_members);
  if (v.dynamic) {
    n = std::min(n, static_cast<unsigned>(effective_cpus()));
    if (most_useful)
      n = std::min(n, most_useful);
  }
  return take_threads(t, n, v.thread_limit);
}

namespace {

bool has_no_message(const parker::reason &r) noexcept {
  return static_cast<const omp_team *>(r.object)->fork_mailbox.is_unchanged(r.number);
}

/// Waits until the member has a message. `known`: see basic_fork_mailbox.
void wait_for_fork(thread &me, omp_team &c, unsigned number, std::uint64_t &known,
                   int spins) noexcept {
  adaptive_spin s(me, spins);
  bool spun = false;
  while (!c.fork_mailbox.is_for(number, known)) {
    if (s.goes_on())
      continue;
    if (!std::exchange(spun, true))
      s.end(false);
    me.own_parker.wait_for(me, {&has_no_message, &c, known, false});
  }
  if (!spun)
    s.end(true);
}

/// Runs a member for all of its life.
void serve(thread &me) {
  omp_team &c = *me.team;
  const unsigned number = me.number;
  std::uint64_t known = c.fork_mailbox.k_none; // no message that was sent before is for this member
  for (int spins = 0;;) {
    wait_for_fork(me, c, number, known, spins);
    const fork_message o = c.fork_mailbox.last();
    if (!o.call)
      return;
    join_team(c, me, number, o.in_workshare);
    me.teams = o.teams;
    me.teams_number = o.teams_number;
    settle(me);
    show_affinity(me);
    o();
    spins = c.spins; // read now: after the barrier the team is another region's
    final_barrier(me);
  }
}

} // namespace

omp_team &begin_team(thread &t, unsigned threads, unsigned bind) {
  if (t.team->level == 0)
    take_part(t);
  omp_team *&kept = slot_of_hot(t);
  if (!kept)
    kept = &some_team();
  omp_team &c = *kept;
  reserve_members(c, threads);
  change(c.members[0], &t);
  unsigned have = 1;
  for (; have < threads; ++have)
    if (!c.members[have] && !(c.members[have] = start_light_thread(t, &serve, 0, &c, have)))
      break;
  if (c.size != have) {
    c.size = have; // O8
    c.oversubscribed = have > leaves_wanted();
  }
  if (c.oversubscribed)
    begin_oversubscribed(c);
  set_up(c, t, bind);
  if (have < threads)
    g_busy.give_back(threads - have);
  const int spins = spins_for(c);
  change(c.spins, spins);
  if (spins == 0)
    change(c.outer->spins, 0);
  join_team(c, t, 0, false);
  settle(t);
  return c;
}

unsigned threads_in_teams() noexcept { return g_busy.now(); }

void launch(thread &t, omp_team &c, const region_body &body, bool in_workshare) {
  if (c.size > 1) {
    c.fork_mailbox.send({body, t, in_workshare}, c.size);
    wake_range(&t, c, 1, c.size);
  }
  show_affinity(t);
}

void end_team(thread &t) {
  omp_team &c = *t.team;
  final_barrier(t);
  for (unsigned i = 0; i < c.size; ++i)
    c.implicit[i].end_implicit(t);
  if (c.size > 1)
    g_busy.give_back(c.size - 1);
  t.team = c.outer;
  t.number = c.number_in_outer;
  t.task = c.outer_task;
  t.workshare = c.outer_share;
  t.placement = c.outer_placement;
  settle(t);
  if (t.team->level == 0)
    take_part(t);
}

namespace {

void drop_team(omp_team &c) noexcept {
  if (!c.leaving.leave())
    return;
  c.fork_mailbox.send({}, 0); // members that come later do not take the last message for theirs
  put_free_team(c);
}

} // namespace

void leave_team(omp_team &c) noexcept {
  drop_team(c);
  g_leaving.fetch_sub(1, std::memory_order_relaxed);
}

/// Also dismisses the members of teams that the team's members keep.
void dismiss(thread &t, omp_team *c) {
  if (!c)
    return;
  dismiss(t, std::exchange(c->hot, nullptr));
  unsigned members = 0;
  for (unsigned i = 1; i < c->capacity; ++i)
    if (thread *const m = c->members[i]) {
      dismiss(t, std::exchange(m->hot, nullptr));
      ++members;
    }
  g_leaving.fetch_add(members, std::memory_order_relaxed);
  c->leaving.begin(members);
  c->fork_mailbox.send({}, k_most_members);
  for (unsigned i = 1; members != 0 && i < c->capacity; ++i)
    if (thread *const m = c->members[i]) {
      c->members[i] = nullptr;
      m->own_parker.signal(
          &t); // perhaps it has left and another thread has its data: a wait may end for no reason
    }
  drop_team(*c);
}

/// The next threads begin with what the dismissed members leave. Where threads come and go faster
/// than members find a worker, there would be more and more members.
void let_members_leave(thread &t) noexcept {
  constexpr unsigned k_most = 64;
  while (g_leaving.load(std::memory_order_relaxed) > k_most && !runtime_is_gone()) {
    yield_now(t); // some members run here
    yield_kernel_thread();
  }
}

bool forget_threads(thread &t) {
  if (t.team->level != 0)
    return false;
  dismiss(t, std::exchange(t.team->hot, nullptr));
  return true;
}

void run_parallel(thread &t, const region_body &body, unsigned threads, unsigned bind) {
  omp_team &c = begin_team(t, threads, bind);
  launch(t, c, body);
  body();
  end_team(t);
}

void run_league(thread &t, const region_body &body, unsigned teams, unsigned limit) {
  if (limit == 0)
    limit = g_globals.teams_thread_limit;
  const unsigned limit_before = t.task->settings->thread_limit;
  if (limit)
    own_icvs().thread_limit = limit;
  const thread_placement before = t.placement;
  t.teams = teams;
  for (t.teams_number = 0; t.teams_number < teams; ++t.teams_number) {
    t.placement = before;
    place_league(t, teams, t.teams_number);
    body();
  }
  t.placement = before;
  settle(t);
  t.teams = 1;
  t.teams_number = 0;
  if (limit)
    own_icvs().thread_limit = limit_before;
}

} // namespace weft_omp
