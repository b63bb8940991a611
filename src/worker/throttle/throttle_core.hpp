// SPDX-License-Identifier: Apache-2.0
// Which producers the throttle holds back, and which threads let them go on.
//
// Roles       Producer: a creator of tasks that has left its stack, because the counter is above
//             m_now, or above m_alarm while its worker has other work; it calls hold. If the
//             counter is at the low mark by then, it releases all held producers, itself included;
//             otherwise it wakes one worker.
//             Accountant: a thread that has changed the counter of live memory; it calls
//             level_changed.
//             Idle worker: it finds nothing to run and calls release_all, which raises the hints
//             and releases all producers. When it has announced that it sleeps, it calls holds_any
//             once more; if a producer is held, it cancels the sleep and begins again.
//             Any thread: over and holds_any, which are hints; set_limits.
// Words       The counter (the world's level): bytes of live tasks, or what else a policy counts
//             (worker/throttle/throttle_policy.hpp). m_any: a producer is held. m_held, under m_lock: the
//             held producers. Written under m_lock: m_limit, the limit of the settings (k_no_limit:
//             no producer is held), m_lowest, where m_alarm begins, m_margin, and m_each: each
//             creator checks. The low mark, low(): three quarters of m_lowest.
//             Hints, where an old value costs one spawn more or less:
//               m_now    the limit in force: m_limit, or more since a hold or a release near it;
//                        back at m_limit when the counter is at the low mark
//               m_alarm  above it a creator checks whether it must be held
//               m_over   the counter was above m_alarm: the next creator checks
// Invariants  I1  A producer enters m_held once, and is made ready once: by the thread that takes
//                 the list.
//             I2  m_any says, under m_lock, whether m_held has a producer.
//             I3  If the counter is at the low mark or below, no producer stays behind in m_held:
//                 the accountant that brought it there sees m_any, or the producer sees the counter
//                 (O1). The one that sees the other's store releases all producers. This holds for
//                 a level that is one counter. Where a policy adds several, and some change without
//                 a report, a producer stays until the next report, the next check, or I4.
//             I4  No producer stays behind while all workers sleep: a worker that announces that it
//                 sleeps sees m_any and cancels, or the producer sees the sleeper and wakes it (the
//                 eventcount's barriers). The worker then calls release_all.
//             I5  A producer that was held under other limits does not stay behind: set_limits takes
//                 all of m_held with the lock under which it writes the limits. A producer that is
//                 entered later compares the counter with the new low mark.
// Orders      O1  the producer stores m_any, then loads the counter; the accountant changes the
//                 counter, then loads m_any: all four seq_cst. If any of them were weaker, both
//                 sides could miss each other.
//             Elsewhere m_any is a hint that m_lock confirms, or is ordered by the eventcount.
// Progress    Blocking; m_lock is held for a few instructions.
// Reclamation No thread touches a held frame after it was made ready.
// Checked by  tests/model/throttle_models.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"
#include "queue/spin_lock.hpp"
#include "worker/throttle/throttle_policy.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace weft::inline v0 {
namespace rt {

/// Decides which producers wait. World has: `item`, `queue` (a movable FIFO of items), level() with
/// seq_cst, wake_one(), make_ready(item &).
template <class P, class World>
class throttle_core {
 public:
  using item = typename World::item;

  throttle_core(World world, const throttle_marks &marks) noexcept
      : m_world(world), m_limit(marks.limit), m_lowest(marks.lowest), m_margin(marks.margin),
        m_each(marks.checks_each_spawn), m_over(marks.checks_each_spawn) {}

  [[nodiscard]] bool over() const noexcept { return m_over.load(std::memory_order_relaxed); }
  [[nodiscard]] bool holds_any() const noexcept { return m_any.load(std::memory_order_relaxed); }

  /// Reacts to a batch that changed the counter to `live`.
  void level_changed(std::int64_t live) {
    if (live <= low()) { // always, without a limit
      reset();
      if (unless(bug::throttle_forgets_producers, m_any.load(std::memory_order_seq_cst))) // O1
        resume_all();
      return;
    }
    const std::int64_t alarm = m_alarm.load(std::memory_order_relaxed);
    if (live > alarm)
      m_over.store(true, std::memory_order_relaxed);
    else if (const std::int64_t follows = std::max(live + lowest() / 4, lowest()); follows < alarm)
      m_alarm.store(follows, std::memory_order_relaxed);
  }

  void hold(item &producer) {
    m_lock.lock();
    m_held.push_back(&producer);
    m_any.store(true, order_unless(bug::throttle_hold_relaxed, std::memory_order_seq_cst)); // O1
    m_lock.unlock();
    if (m_world.level() <= low()) { // O1
      reset();
      return resume_all();
    }
    unless(bug::throttle_hold_wakes_nobody,
           [&] { m_world.wake_one(); }); // a worker that found nothing just before releases it
  }

  /// Changes the marks. All held producers go on: those that must wait under the new marks are held
  /// again.
  void set_limits(const throttle_marks &marks) {
    m_lock.lock();
    m_limit.store(marks.limit, std::memory_order_relaxed);
    m_lowest.store(marks.lowest, std::memory_order_relaxed);
    m_margin.store(marks.margin, std::memory_order_relaxed);
    m_each.store(marks.checks_each_spawn, std::memory_order_relaxed);
    reset();
    m_over.store(marks.limit != throttle_marks::k_no_limit,
                 std::memory_order_relaxed); // the next creator checks
    typename World::queue held =
        unless(bug::throttle_limits_keep_producers, [&] { return take_held(); }); // I5
    m_lock.unlock();
    while (item *producer = held.pop_front())
      m_world.make_ready(*producer);
  }

  /// Releases all producers, and raises the marks for a while, so that producers and idle workers
  /// do not alternate at every task.
  bool release_all() {
    if (!unless(bug::throttle_keeps_producers, m_any.load(std::memory_order_relaxed)))
      return false;
    const std::int64_t live = m_world.level();
    if (live > limit())
      m_now.store(live + limit() / 4, std::memory_order_relaxed);
    raise_alarm(live);
    resume_all();
    return true;
  }

 protected:
  [[nodiscard]] bool is_alarming(std::int64_t live) const noexcept {
    return live > m_alarm.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_beyond(std::int64_t live) const noexcept {
    return live > m_now.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool checks_each_spawn() const noexcept {
    return m_each.load(std::memory_order_relaxed);
  }
  void be_quiet() noexcept {
    m_over.store(unless(bug::throttle_quiet_for_good, checks_each_spawn()),
                 std::memory_order_relaxed);
  }
  /// Raises the limit, above any mark, for producers that are not held yet. A held producer keeps a
  /// stack, so each must be worth it. Tasks that end as fast as they are made hold no further
  /// producer.
  void raise_limit(std::int64_t live) noexcept {
    const std::int64_t room = live + m_margin.load(std::memory_order_relaxed);
    if (is_beyond(room))
      m_now.store(room, std::memory_order_relaxed);
    m_alarm.store(room, std::memory_order_relaxed);
    be_quiet();
  }
  void raise_alarm(std::int64_t live) noexcept {
    m_alarm.store(std::min(live + lowest() / 4, m_now.load(std::memory_order_relaxed)),
                  std::memory_order_relaxed);
    be_quiet();
  }

 private:
  [[nodiscard]] std::int64_t limit() const noexcept {
    return m_limit.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t lowest() const noexcept {
    return m_lowest.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t low() const noexcept { return lowest() / 4 * 3; }
  void reset() noexcept {
    m_now.store(limit(), std::memory_order_relaxed);
    m_alarm.store(lowest(), std::memory_order_relaxed);
    be_quiet();
  }
  /// Takes all producers. The caller holds m_lock.
  typename World::queue take_held() {
    typename World::queue held = std::move(m_held);
    m_any.store(false, std::memory_order_relaxed);
    return held;
  }
  void resume_all() {
    m_lock.lock();
    typename World::queue held = take_held();
    m_lock.unlock();
    while (item *producer = held.pop_front())
      m_world.make_ready(*producer);
  }

  [[no_unique_address]] World m_world;
  typename P::template atomic<std::int64_t> m_limit; // k_no_limit: none
  typename P::template atomic<std::int64_t> m_lowest; // the lower of the two marks
  typename P::template atomic<std::int64_t> m_margin;
  typename P::template atomic<bool> m_each; // a creator checks at each spawn
  typename P::template atomic<std::int64_t> m_now{
      limit()}; // the limit in force: raised when producers were released above it
  typename P::template atomic<std::int64_t> m_alarm{
      lowest()}; // above it a producer checks whether it must be held
  typename P::template atomic<bool> m_over;
  typename P::template atomic<bool> m_any{false};
  spin_lock<P> m_lock;
  typename World::queue m_held; // guarded by m_lock
};

} // namespace rt
} // namespace weft::inline v0
