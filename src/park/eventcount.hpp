// SPDX-License-Identifier: Apache-2.0
// How idle workers sleep without missing work, and are woken one by one at no cost while nobody sleeps.
//
//   sleeper                                    pusher
//     prepare(id)                                publish work
//     look at every source of work again         notify_one()          (or notify_worker(id), notify_all())
//     found some:  cancel(id)
//     found none:  commit(id, deadline)
//
// Roles       A worker calls prepare, then commit or cancel, with its own id. Anyone notifies.
// Word        m_idle: how many sleepers are announced and not chosen yet. m_announced: one bit per id. A seat
// per id: the
//             futex word, awake (nobody announced), announced, asleep (in the kernel) or notified.
// Invariants  I1  A bit is set by its worker and cleared by exactly one thread: a notifier, which thereby
// chose this
//                 worker and owes it `notified`, or the worker itself. So two notifications choose two
//                 sleepers.
//             I2  Each set or cleared bit is counted in m_idle once; the count is raised before the bit is
//             set, so it is
//                 never below the number of bits.
//             I3  A notifier that was slow may write `notified` into a later round of the seat: that round
//             wakes for no
//                 reason, looks again, and withdraws its bit.
// Orders      O1  The announcement (m_idle, m_announced) then P::heavy_barrier, in prepare; with the pusher's
// store of
//                 the work, P::light_barrier, then load of m_idle or m_announced: either the pusher sees the
//                 sleeper or the sleeper's second look sees the work. Either barrier left out: a lost
//                 wake-up. No operation on these words needs an order of its own.
//             O2  bit cleared by a notifier, release, with O3: what was done before the notification is seen
//             after it. O3  own bit looked at or cleared, acquire, at the end of every round, with O2: by the
//             missing bit the worker
//                 learns that it was chosen. The seat only says when to look, so its operations are relaxed.
// Progress    prepare, cancel and the notifications are wait-free but for system calls.
// Reclamation None. The object outlives its notifiers.
// Source      Eventcounts as in Eigen and folly, with a seat per worker; the asymmetric barrier as in P1202.
// Checked by  tests/model/park_models.cpp: eventcount_*
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"
#include "queue/id_check.hpp"

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class eventcount {
 public:
  /// For ids 0..limit-1.
  explicit eventcount(std::size_t limit)
      : m_limit(limit ? limit : 1), m_groups((m_limit + 63) / 64),
        m_announced(std::make_unique<bits[]>(m_groups)), m_seats(std::make_unique<seat[]>(m_limit)) {}

  eventcount(const eventcount &) = delete;
  eventcount &operator=(const eventcount &) = delete;

  /// Announces that worker `id` is about to sleep. It must look at every source of work after this.
  void prepare(std::size_t id) noexcept {
    check_id("eventcount", id, m_limit);
    m_seats[id].word.store(k_announced, std::memory_order_relaxed);
    m_idle.fetch_add(1, std::memory_order_relaxed);
    group_of(id).fetch_or(bit_of(id), std::memory_order_relaxed);
    if (!mutant(bug::eventcount_no_heavy_barrier))
      P::heavy_barrier(); // O1
  }

  /// The second look found work. True when a notification had chosen this worker meanwhile: if the work found
  /// is not what it was meant for, pass it on with notify_one.
  bool cancel(std::size_t id) noexcept { return !withdraw(id); }

  /// Sleeps until notified; `deadline_ns` on the monotonic clock, 0 for none. False when the deadline passed
  /// first. True may rarely come for no reason (I3).
  bool commit(std::size_t id, std::int64_t deadline_ns = 0) noexcept {
    auto &word = m_seats[id].word;
    std::uint32_t seen = k_announced;
    bool in_time = true;
    if (mutant(bug::eventcount_sleeps_blindly))
      word.store(k_asleep, std::memory_order_relaxed);
    if (mutant(bug::eventcount_sleeps_blindly) ||
        word.compare_exchange_strong(seen, k_asleep, std::memory_order_relaxed, std::memory_order_relaxed))
      while (word.load(std::memory_order_relaxed) == k_asleep && in_time)
        in_time = P::futex_wait(word, k_asleep, deadline_ns);
    return !withdraw(id) || in_time;
  }

  /// Wakes a sleeper that nobody has chosen yet. False when there is none. Costs a load while nobody sleeps.
  bool notify_one() noexcept { return somebody_sleeps() && choose_any(); }
  /// notify_one() in two halves: whether the second is needed, and the second.
  [[nodiscard]] bool somebody_sleeps() noexcept {
    P::light_barrier(); // O1
    return m_idle.load(std::memory_order_relaxed) != 0;
  }

  [[gnu::noinline]] bool choose_any() noexcept {
    for (std::size_t g = 0; g < m_groups; ++g)
      for (std::uint64_t rest = m_announced[g].word.load(std::memory_order_relaxed); rest != 0;
           rest &= rest - 1)
        if (choose(64 * g + static_cast<std::size_t>(std::countr_zero(rest))))
          return true;
    return false;
  }

  /// Wakes worker `id` if it is announced and not chosen yet.
  bool notify_worker(std::size_t id) noexcept {
    check_id("eventcount", id, m_limit);
    P::light_barrier(); // O1
    if (!(group_of(id).load(std::memory_order_relaxed) & bit_of(id))) [[likely]]
      return false;
    return choose(id);
  }

  /// Wakes every sleeper; returns how many.
  std::size_t notify_all() noexcept {
    P::light_barrier(); // O1
    if (m_idle.load(std::memory_order_relaxed) == 0) [[likely]]
      return 0;
    std::size_t woken = 0;
    for (std::size_t g = 0; g < m_groups; ++g)
      for (std::uint64_t rest = m_announced[g].word.load(std::memory_order_relaxed); rest != 0;
           rest &= rest - 1)
        woken += choose(64 * g + static_cast<std::size_t>(std::countr_zero(rest)));
    return woken;
  }

  /// Whether worker `id` is announced and not chosen yet. A guess, but about one that does not move.
  bool announced(std::size_t id) const noexcept {
    return (m_announced[id / 64].word.load(std::memory_order_relaxed) & bit_of(id)) != 0;
  }

  /// A guess at how many sleepers nobody has chosen yet.
  std::size_t idle() const noexcept { return m_idle.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t k_announced = 0, k_asleep = 1, k_notified = 2;
  using group = typename P::template atomic<std::uint64_t>;
  struct alignas(k_line) bits {
    group word{0};
  };
  struct alignas(k_line) seat {
    typename P::template atomic<std::uint32_t> word{k_notified};
  };

  group &group_of(std::size_t id) noexcept { return m_announced[id / 64].word; }
  static std::uint64_t bit_of(std::size_t id) noexcept { return std::uint64_t{1} << (id % 64); }

  /// Own bit, by its worker. False when a notifier has cleared it.
  bool withdraw(std::size_t id) noexcept {
    if (!(group_of(id).load(std::memory_order_acquire) & bit_of(id))) // O3
      return false;
    if (!(group_of(id).fetch_and(~bit_of(id), std::memory_order_acquire) & bit_of(id))) // O3
      return false;
    m_idle.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

  bool choose(std::size_t id) noexcept {
    const std::uint64_t before =
        group_of(id).fetch_and(~bit_of(id), order_unless(bug::eventcount_choice_relaxed, std::memory_order_release)); // O2
    if (!(before & bit_of(id)) && !mutant(bug::eventcount_chosen_twice))
      return false;
    m_idle.fetch_sub(1, std::memory_order_relaxed);
    auto &word = m_seats[id].word;
    if (word.exchange(k_notified, std::memory_order_relaxed) == k_asleep && !mutant(bug::eventcount_lost_notify))
      P::futex_wake(word, 1);
    return true;
  }

  const std::size_t m_limit;
  const std::size_t m_groups;
  const std::unique_ptr<bits[]> m_announced;
  const std::unique_ptr<seat[]> m_seats;
  alignas(k_apart) typename P::template atomic<std::uint32_t> m_idle{0}; // read by every pusher
};

} // namespace rt
} // namespace weft::inline v0
