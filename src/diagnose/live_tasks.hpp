// SPDX-License-Identifier: Apache-2.0
// Finds the live tasks of a runtime in which nothing runs, without a register of tasks. Walks from
// the suspended frames and from the tasks kept by external events to their parents, along the
// chains of accesses that have not been released, and through cohorts and streams.
#pragma once

#include "deps/regions/region_scope.hpp"
#include "deps/sharing/cohort.hpp"
#include "task/task.hpp"
#include "task/wait/listed_states.hpp"
#include "ult/thread_context.hpp"

#include <set>
#include <unordered_map>
#include <vector>

namespace weft::inline v0 {
namespace rt {

class runtime;
struct run_in_place;

/// Returns the regions that a task and its children touch; null if there are none.
inline region_scope *regions_of(const task &t) noexcept {
  domain *d = t.children_domain;
  return d && d->regional() ? static_cast<region_scope *>(d) : nullptr;
}

inline std::uint32_t flags_of(const data_access &a) noexcept {
  return a.flags.load(std::memory_order_acquire);
} // O1 of access_state.hpp: links

/// Says when all tasks are walked: while nothing runs, or with workers stopped at a safepoint.
enum class walked { at_rest, at_safepoint };

class live_tasks {
 public:
  using access_map = std::unordered_map<const data_access *, data_access *>;

  /// Collects the live tasks. The caller ensures that no worker runs and no thread is inside the
  /// gate. `when`: at a safepoint some tasks could go on (worker/safepoint.hpp). `externals`: tasks of
  /// layers that have not ended. Throws std::bad_alloc.
  live_tasks(runtime &rt, walked when, const std::vector<task *> &externals);

  /// Says whether nothing runs: no task is ready.
  [[nodiscard]] bool at_rest() const noexcept { return !m_amid; }

  std::vector<frame *> frames;
  std::set<task *> tasks; // also those that represent cohorts
  std::set<task *> with_frame; // running or suspended
  std::unordered_map<const task *, unsigned>
      beginning; // about to begin when their worker stopped at a safepoint, and this worker
  std::set<const task *> going; // suspended, and ready to go on
  std::size_t elsewhere = 0; // ready, in queues that cannot be looked through
  std::set<task *> pending; // by external events only
  /// Maps an access that has not been released to the one that passes on to it in its chain
  /// (before), to its parent's access that does so (above), and to the last access of the chain
  /// below it (last_below).
  access_map before, above, last_below;
  std::unordered_map<const cohort *, std::vector<data_access *>> members;
  /// What a task waits for before it begins, or a state of several before it is ready. Of a task
  /// whose result is another one's: that one.
  std::unordered_map<const task *, std::vector<task *>> awaited;
  std::set<const task *> held; // by what is not known

  /// Returns the task below this one on the same stack if that waits for it, and else its parent.
  [[nodiscard]] task *below(const task &t) const {
    const auto waiter = m_in_place.find(&t);
    return waiter == m_in_place.end() ? t.parent : waiter->second;
  }
  /// Says whether the task runs in place another one that it waits for, and that is not its child.
  [[nodiscard]] bool waits_in_place(const task &t) const { return m_waiting_in_place.count(&t) != 0; }

 private:
  void find_roots(runtime &rt);
  void find_ready(runtime &rt);
  void meet(task &t);
  void meet(frame &suspended);
  void meet(const run_in_place &run);
  void meet_ready(runnable &item);
  void meet_behind(task &waiting, task &before);
  void meet_awaited(task &t);
  void follow_waiters(task &t);
  void find_awaited(task &t);
  void follow(task &t);
  void follow(domain &home);
  void follow(data_access &a);
  void follow(cohort &joined);

  const bool m_amid;
  const bool m_sees_waiters; // no deadline takes a waiter away meanwhile
  std::vector<task *> m_todo;
  std::set<const task *> m_combined; // states whose inputs were met
  std::unordered_map<const task *, task *> m_in_place; // the waiter, by the task that it runs
  std::set<const task *> m_waiting_in_place;
};

} // namespace rt
} // namespace weft::inline v0
