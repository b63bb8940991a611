// SPDX-License-Identifier: Apache-2.0
// The queues of ready tasks, and which thread takes a task from them.
#include "team/task_queue.hpp"

#include "helper/helpers.hpp"
#include "team/team.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace weft_omp {
namespace {

constexpr std::size_t k_most_per_member =
    64; // tasks with dependences that are not complete, in big teams

/// Holds the sleeping threads that may run a task: its creator, and the thread that waits for its
/// group. The caller calls look() before any thread can take the task, because afterwards the
/// parent and the group may be gone.
struct sleepers {
  thread *of_parent = nullptr, *of_group = nullptr;
  void look(const omp_task &task) noexcept {
    if (task.parent->waits.is_raised())
      of_parent = task.parent->on.load(std::memory_order_relaxed);
    if (task.group && task.group->waits.is_raised())
      of_group = task.group->owner;
  }
  void wake(thread *self) const noexcept {
    if (of_parent) [[unlikely]]
      of_parent->own_parker.signal(self);
    if (of_group && of_group != of_parent) [[unlikely]]
      of_group->own_parker.signal(self);
  }
};

/// Puts a task into the team's list. `self` null: the caller is inside Weft.
void offer_to_all(thread *self, omp_task &task) {
  if (task.priority == k_for_helpers)
    return give_to_helpers(self, task);
  omp_team &team = *task.team;
  sleepers s;
  {
    std::lock_guard lock(team.lock);
    team.others.add(task);
    team.listed.fetch_add(1, std::memory_order_seq_cst); // O6 of barrier_words.hpp
    s.look(task);
  }
  s.wake(self);
  wake_idle(self, team);
}

/// Offers a task by `push(look)`, which puts it into a stack and calls `look` meanwhile.
template <class Push>
[[gnu::always_inline]] inline void offer_by(thread &self, omp_task &task, Push push) {
  omp_team &team = *task.team;
  sleepers s;
  push([&] { s.look(task); });
  s.wake(&self);
  wake_idle(&self, team);
}
[[gnu::always_inline]] inline void offer_at(member_slot &slot, thread &self, omp_task &task) {
  offer_by(self, task, [&](auto look) { slot.ready.push(task, look); });
}

/// Returns whether a task belongs into the thread's own stack.
[[nodiscard]] bool is_for_own_stack(const thread &self, const omp_task &task) noexcept {
  return task.priority == 0 && self.team == task.team;
}

/// Puts a task into the thread's own stack, if it belongs there.
void offer(thread &self, omp_task &task) {
  if (!is_for_own_stack(self, task)) [[unlikely]]
    return offer_to_all(&self, task);
  offer_at(slot_of(self), self, task);
}

/// Wakes the creator of an undeferred task, which waits for it, perhaps on another thread.
void notify_creator(omp_task &task) noexcept {
  thread *const creator = task.on.load(std::memory_order_relaxed);
  task.ready.store(
      true,
      std::memory_order_release); // O4 of task.hpp; from here on its creator may run and end it
  creator->own_parker.signal(nullptr);
}

/// Takes a task that became ready outside of release(). Weft calls it.
void became_ready(void *p) {
  auto &task = *static_cast<omp_task *>(p);
  if (task.undeferred)
    notify_creator(task);
  else
    offer_to_all(nullptr, task);
}

/// Collects what a task's end makes ready. The thread offers it when it has left Weft.
void collect(void *list, void *p) {
  auto &task = *static_cast<omp_task *>(p);
  if (task.undeferred)
    return notify_creator(task);
  auto &first = *static_cast<omp_task **>(list);
  task.newer = first;
  first = &task;
}

weft::layer::external_task *scope_of(thread &self, omp_task &task) {
  if (!task.external)
    in_core(&self, [&task] {
      weft::layer::enter_external_task(nullptr, nullptr, 0, nullptr, nullptr, &task.external);
    });
  return task.external;
}

bool is_below(const omp_task &task, const omp_task &above) noexcept {
  for (const omp_task *p = task.parent; p && p->depth >= above.depth; p = p->parent)
    if (p == &above)
      return true;
    else if (p->depth == 0)
      return false;
  return false;
}

/// Takes the task that goes before all others of the team's list, if it suits.
template <class F>
omp_task *take_first_listed(omp_team &team, F suits) noexcept {
  if (team.listed.load(std::memory_order_relaxed) == 0) [[likely]]
    return nullptr;
  std::lock_guard lock(team.lock);
  const omp_task *const first = team.others.first();
  if (!first || !suits(*first))
    return nullptr;
  team.listed.fetch_sub(1, std::memory_order_relaxed);
  return team.others.take([](const omp_task &) { return true; });
}

/// Runs some ready tasks if the creator has many open ones. A thread calls it after it has created
/// a task with dependences: a task that waits for others takes as much memory as a ready one.
void run_some(thread &self) {
  omp_task &creator = *self.task;
  const auto most =
      std::max<std::size_t>(g_globals.most_tasks, k_most_per_member * self.team->size);
  const auto are_many = [&] {
    const std::int64_t open = open_here(creator);
    return open > 0 && static_cast<std::size_t>(open) >= most;
  };
  if (!are_many()) [[likely]]
    return;
  collect_children(creator);
  while (are_many()) {
    const auto below = [&](const omp_task &candidate) { return is_below(candidate, creator); };
    omp_task *task = slot_of(self).ready.pop(below);
    if (!task && !(task = take_first_listed(*self.team, below)))
      return;
    run_task(self, *task);
  }
}

} // namespace

void release(thread &self, omp_task &task, omp_task **next) {
  weft::layer::external_task *const external = std::exchange(task.external, nullptr);
  omp_task *ready = nullptr;
  in_core(&self,
          [external, &ready] { weft::layer::end_external_task(*external, &collect, &ready); });
  if (ready && next && ready->parent == task.parent && ready->priority == 0 &&
      task.team->listed.load(std::memory_order_relaxed) == 0) {
    *next = ready;
    ready = ready->newer;
  }
  while (ready) {
    omp_task *const after = ready->newer;
    offer(self, *ready);
    ready = after;
  }
}

namespace {

[[gnu::always_inline]] inline void hold_here(thread &self, omp_task &task,
                                             const task_clauses &clauses) {
  task.accesses = static_cast<std::uint8_t>(std::min<std::size_t>(clauses.access_count, UINT8_MAX));
  weft::layer::external_task *const scope = scope_of(self, *task.parent);
  bool is_ready = false, failed = false;
  in_core(&self, [&] {
    try {
      is_ready = weft::layer::enter_external_task(scope, clauses.accesses, clauses.access_count,
                                                  &became_ready, &task, &task.external);
    } catch (const weft::error &) {
      failed = true;
    }
  });
  if (failed) [[unlikely]]
    fatal("no memory for the dependences of a task");
  if (!is_ready)
    return; // it may have ended by now
  if (task.undeferred)
    task.ready.store(true, std::memory_order_relaxed); // O4 of task.hpp: this thread is the waiter
  else
    offer(self, task);
}

} // namespace

void hold(thread &self, omp_task &task, const task_clauses &clauses) {
  hold_here(self, task, clauses);
}
void offer_again(thread &self, omp_task &task) {
  if (!is_for_own_stack(self, task))
    return offer_to_all(&self, task);
  offer_by(self, task, [&](auto look) { slot_of(self).ready.push_oldest(task, look); });
}

namespace {

/// Offers a counted task to the team. If that has many ready tasks in its list, the creator runs one:
/// the first of the list or, if the task goes before that, the task.
void submit_with_priority(thread &self, omp_task &task) {
  omp_team &team = *self.team;
  if (task.priority == k_for_helpers ||
      team.listed.load(std::memory_order_relaxed) < g_globals.most_tasks) [[likely]]
    return offer_to_all(&self, task);
  omp_task *const before = take_first_listed(team, [&](const omp_task &first) {
    return first.priority >= task.priority && is_below(first, *self.task);
  });
  if (!before)
    return run_task(self, task);
  offer_to_all(&self, task);
  run_task(self, *before);
}

} // namespace

void submit(thread &self, omp_task &task, const task_clauses &clauses) {
  if (clauses.access_count != 0) {
    count_in(self, task);
    hold_here(self, task, clauses);
    return run_some(self);
  }
  if (task.priority == 0) [[likely]]
    return submit_plain(self, task);
  count_in(self, task);
  submit_with_priority(self, task);
}

void submit_plain(thread &self, omp_task &task) {
  task_stack &mine = count_in(self, task).ready;
  if (mine.size() >= g_globals.most_tasks) [[unlikely]]
    return run_task(self, task); // there are many: run the newest
  mine.push(task, [] {});
  wake_idle(&self, *self.team);
}

// ---- taking --------------------------------------------------------------------------------------------------------------

namespace {

template <class F>
omp_task *take_listed(omp_team &team, F suits) noexcept {
  if (team.listed.load(std::memory_order_seq_cst) == 0)
      [[likely]] // O6 of barrier_words.hpp, O1 of wait_flag.hpp
    return nullptr;
  std::lock_guard lock(team.lock);
  omp_task *const task = team.others.take(suits);
  if (task)
    team.listed.fetch_sub(1, std::memory_order_relaxed);
  return task;
}

} // namespace

omp_task *take_own(thread &self, omp_team &team) noexcept {
  constexpr auto any = [](const omp_task &) { return true; };
  if (omp_task *task = take_listed(team, any))
    return task;
  return slot_of(self).ready.pop(any);
}

omp_task *steal(thread &self, omp_team &team, steal_policy &policy) noexcept {
  const member_slot *const last = policy.owner();
  unsigned v = last && policy.has_abstained()
                   ? static_cast<unsigned>(last - team.slots)
                   : self.number; // begin at another victim, if there is one
  for (unsigned i = 0; i < team.size; ++i) {
    v = v + 1 == team.size ? 0 : v + 1;
    if (v == self.number)
      continue;
    if (omp_task *task =
            team.slots[v].ready.take_some(policy.most_at_once(), slot_of(self).ready)) {
      policy.took_from(team.slots[v]);
      return task;
    }
  }
  return nullptr;
}

void give_back(thread &self, omp_team &team, const steal_policy &policy, omp_task *next) {
  member_slot &owner = team.slots[policy.owner() - team.slots];
  const auto is_stolen = [&self](const omp_task &task) { return task.home != &self; };
  while (omp_task *const task =
             next ? std::exchange(next, nullptr) : slot_of(self).ready.pop(is_stolen))
    offer_at(owner, self, *task);
}

omp_task *take_below(thread &self, const omp_task &above) noexcept {
  const auto below = [&above](const omp_task &task) { return is_below(task, above); };
  omp_team &team = *self.team;
  if (omp_task *task = slot_of(self).ready.pop(below))
    return task;
  if (omp_task *task = take_listed(team, below))
    return task;
  for (unsigned i = 0, v = self.number; i < team.size;
       ++i) { // the own stack, too: what dependences made ready may be lower in it
    if (omp_task *task = team.slots[v].ready.take(below))
      return task;
    v = v + 1 == team.size ? 0 : v + 1;
  }
  return nullptr;
}

bool has_work(const omp_team &team) noexcept {
  if (!team.has_tasks.load(std::memory_order_relaxed))
    return false;
  if (team.listed.load(std::memory_order_seq_cst) != 0) // O6 of barrier_words.hpp
    return true;
  for (unsigned i = 0; i < team.size; ++i)
    if (team.slots[i].ready.any())
      return true;
  return false;
}

} // namespace weft_omp
