// SPDX-License-Identifier: Apache-2.0
// How idle workers sleep without missing work, and how a notifier wakes them one by one. A
// notification costs one load while no worker sleeps.
//
//   worker                                               notifier
//     begin_search(id, most), look around for a while      publish work
//       found some:  found(id)                             notify_one()
//       found none:  end_search(id)                        (or notify_worker(id), notify_all())
//     prepare(id)
//     look at every source of work again
//       found some:  cancel_and_relay(id); found(id)
//       found none:  commit(id, deadline); if true, a notifier chose the worker: it searches
//
// notify_one wakes no worker while another worker searches: the searcher will find the work. When
// the last searcher finds work, it relays: it wakes the next sleeper. So a burst of work wakes the
// sleepers one after the other, as long as there is work for them. notify_worker and notify_all do
// not look for searchers. A worker whose second look finds work relays, too, because a notifier may
// have relied on its last search for more work than the worker takes.
//
// Roles       A worker calls all operations but the notifications, with its own id. Any thread
//             notifies, and reads the counts and announcements, which are guesses. A sleeper is a
//             worker that has announced itself, a searcher one that looks for work.
// Word        m_state: sleepers (announced and not chosen yet) + k_searcher * searchers.
//             m_announced: one bit per id. A seat per id holds the futex word: announced, asleep
//             (in the kernel) or notified. The seat also holds, for its owner only, whether the
//             worker counts as a searcher.
// Invariants  I1  A worker sets its own bit, and exactly one thread clears the bit: the worker
//                 itself, or a notifier. A notifier that clears the bit has chosen this worker and
//                 owes it `notified`. So two notifications choose two sleepers.
//             I2  Each bit is counted as a sleeper once: the count goes up after the bit was set
//                 and down after the bit was cleared. A chosen worker is a searcher from that
//                 moment on, although the notifier counts the searcher a little later. Until then
//                 the number of searchers may be too small by one, and wrap. So may the number of
//                 sleepers, if the notifier takes the worker away before the worker has counted
//                 itself. A notifier that has just counted the searcher, and reads 0 searchers,
//                 knows that the chosen worker has stopped its search; the notifier relays in its
//                 place.
//             I3  A slow notifier may write `notified` into a later round of the seat. That round
//                 ends for no reason, and the worker withdraws its bit.
//             I4  A notifier that wakes no worker because of a searcher read m_state before that
//                 searcher stopped. Each sleeper is in one of two cases:
//                 - The sleeper counts itself in after the searcher stopped. It sees the work in
//                   its second look (O1).
//                 - The sleeper counted itself in before. A searcher that found something and was
//                   the last one wakes a sleeper (O4), and the same holds for the woken sleeper. If
//                   the searcher was not the last one, the same holds for the last searcher. A
//                   searcher that found nothing (end_search) counts itself in next, as in the first
//                   case, or begins another search. What the worker does in between delays the work
//                   that notifiers left to it.
// Orders      O1  The sleeper: announcement (m_state, m_announced), then P::heavy_barrier, in
//                 prepare. The notifier: store of the work, P::light_barrier, then load of m_state
//                 or m_announced. Either the notifier sees the sleeper, or the sleeper's second
//                 look sees the work. Either barrier left out: a lost wake-up.
//             O2  A notifier clears the bit, release, with O3: the worker sees after the
//                 notification what the notifier did before it.
//             O3  The worker reads or clears its own bit, acquire, at the end of every round, with
//                 O2: a missing bit means that a notifier chose the worker. The seat only says when
//                 to read the bit, so its operations are relaxed.
//             O4  m_state counts a sleeper, release. A search stops, or begins by choice, acquire:
//                 a thread that relays sees the bits of all sleepers that it sees counted.
//                 Operations in between are read-modify-writes and pass the release on.
// Progress    commit blocks. A notification is lock-free: a notifier that relays (I2) may have to do
//             so again, each time for another round of a worker. So is found. All else is wait-free
//             except for system calls.
// Reclamation None. The object outlives its notifiers.
// Source      Eventcounts as in Eigen and folly, with a seat per worker; the asymmetric barrier as
//             in P1202; searchers as in the schedulers of Go and tokio.
// Checked by  tests/model/park_models.cpp: eventcount_*
#pragma once

#include <algorithm>
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
  /// Makes an eventcount for ids 0..limit-1.
  explicit eventcount(std::size_t limit)
      : m_limit(std::clamp<std::size_t>(limit, 1, k_searcher - 1)), m_groups((m_limit + 63) / 64),
        m_announced(std::make_unique<bits[]>(m_groups)),
        m_seats(std::make_unique<seat[]>(m_limit)) {}

  eventcount(const eventcount &) = delete;
  eventcount &operator=(const eventcount &) = delete;

  /// Makes worker `id` a searcher, unless `most` others are. Returns whether it is one now; true
  /// also if it was one before.
  bool begin_search(std::size_t id, std::uint32_t most) noexcept {
    check_id("eventcount", id, m_limit);
    if (m_seats[id].searches.get())
      return true;
    if (m_state.load(std::memory_order_relaxed) >= most * k_searcher)
      return false;
    m_state.fetch_add(k_searcher, std::memory_order_relaxed);
    m_seats[id].searches.set(true);
    return true;
  }

  /// Ends the search of worker `id`, which has found work. If the worker was the last searcher, a
  /// sleeper is chosen to search on.
  void found(std::size_t id) noexcept {
    if (unless(bug::eventcount_no_relay, stop_search(id)))
      choose_any();
  }

  /// Ends the search of worker `id`, which has found nothing, and does something else before it
  /// sleeps.
  void end_search(std::size_t id) noexcept { stop_search(id); }

  /// Announces that worker `id` is about to sleep, and ends its search. The worker must look at
  /// every source of work after this.
  void prepare(std::size_t id) noexcept {
    check_id("eventcount", id, m_limit);
    stop_search(id);
    m_seats[id].word.store(k_announced, std::memory_order_relaxed);
    group_of(id).fetch_or(bit_of(id), std::memory_order_relaxed);
    m_state.fetch_add(1, std::memory_order_release); // O4
    unless(bug::eventcount_no_heavy_barrier, [&] { P::heavy_barrier(); }); // O1
  }

  /// Withdraws the announcement of worker `id`, whose second look found work. Returns true if a
  /// notifier has chosen the worker meanwhile: the worker is then a searcher. After false the
  /// worker must call notify_one, because notifiers may have relied on its last search for more
  /// work than it took.
  bool cancel(std::size_t id) noexcept { return !withdraw(id); }
  /// Does the same, and relays the work that notifiers may have left to this worker.
  void cancel_and_relay(std::size_t id) noexcept {
    if (unless(bug::eventcount_cancel_keeps, !cancel(id)))
      notify_one();
  }

  /// Sleeps until a notifier wakes worker `id`, or until `deadline_ns` on the monotonic clock; 0
  /// means no deadline. Returns whether a notifier chose the worker: the worker is then a searcher.
  bool commit(std::size_t id, std::int64_t deadline_ns = 0) noexcept {
    return commit_by(id, [deadline_ns](auto &word, std::uint32_t asleep) {
      return P::futex_wait(word, asleep, deadline_ns);
    });
  }
  /// Does the same, and sleeps by `sleep(word, asleep)`: it sleeps while the word is `asleep`, and
  /// returns false when the sleep is over though the word may not have changed.
  template <class Sleep>
  bool commit_by(std::size_t id, Sleep sleep) noexcept {
    auto &word = m_seats[id].word;
    std::uint32_t seen = unless(bug::eventcount_sleeps_blindly, k_announced,
                                [&] { return word.load(std::memory_order_relaxed); });
    bool in_time = true;
    if (word.compare_exchange_strong(seen, k_asleep, std::memory_order_relaxed,
                                     std::memory_order_relaxed))
      while (word.load(std::memory_order_relaxed) == k_asleep && in_time)
        in_time = sleep(word, k_asleep);
    return !withdraw(id);
  }

  /// Wakes a sleeper that is not chosen yet, unless a worker searches. Returns whether it woke one.
  /// Costs one load while no worker sleeps or one searches.
  bool notify_one() noexcept { return has_sleepers() && choose_any(); }
  /// Returns whether a worker sleeps and none searches: the first half of notify_one(), which says
  /// whether choose_any(), the second half, is needed.
  [[nodiscard]] bool has_sleepers() noexcept {
    P::light_barrier(); // O1
    return wants_one(m_state.load(std::memory_order_relaxed));
  }

  [[gnu::noinline]] bool choose_any() noexcept {
    for (std::size_t g = 0; g < m_groups; ++g)
      for (std::uint64_t rest = m_announced[g].word.load(std::memory_order_relaxed); rest != 0;
           rest &= rest - 1)
        if (choose(64 * g + static_cast<std::size_t>(std::countr_zero(rest))))
          return true;
    return false;
  }

  /// Wakes worker `id` if it is announced and not chosen yet. Returns whether it did.
  bool notify_worker(std::size_t id) noexcept {
    check_id("eventcount", id, m_limit);
    P::light_barrier(); // O1
    if (!(group_of(id).load(std::memory_order_relaxed) & bit_of(id))) [[likely]]
      return false;
    return choose(id);
  }

  /// Wakes every sleeper. Returns their number.
  std::size_t notify_all() noexcept {
    P::light_barrier(); // O1
    if (idle() == 0) [[likely]]
      return 0;
    std::size_t woken = 0;
    for (std::size_t g = 0; g < m_groups; ++g)
      for (std::uint64_t rest = m_announced[g].word.load(std::memory_order_relaxed); rest != 0;
           rest &= rest - 1)
        woken += choose(64 * g + static_cast<std::size_t>(std::countr_zero(rest)));
    return woken;
  }

  /// Returns whether worker `id` is announced and not chosen yet. A guess, but exact while the
  /// worker does not move.
  bool announced(std::size_t id) const noexcept {
    return (m_announced[id / 64].word.load(std::memory_order_relaxed) & bit_of(id)) != 0;
  }

  /// Guesses the number of sleepers that are not chosen yet.
  std::size_t idle() const noexcept { return m_state.load(std::memory_order_relaxed) % k_searcher; }
  /// Guesses the number of sleepers but for `id`, by their announcements: `id` may have announced itself, and may not
  /// be counted yet.
  std::size_t sleepers_beside(std::size_t id) const noexcept {
    if (idle() == 0)
      return 0;
    std::size_t sleepers = 0;
    for (std::size_t g = 0; g < m_groups; ++g) {
      std::uint64_t seen = m_announced[g].word.load(std::memory_order_relaxed);
      if (g == id / 64)
        seen &= ~bit_of(id);
      sleepers += static_cast<std::size_t>(std::popcount(seen));
    }
    return sleepers;
  }
  /// Guesses the number of searchers.
  std::size_t searching() const noexcept {
    return m_state.load(std::memory_order_relaxed) / k_searcher;
  }

 private:
  static constexpr std::uint32_t k_announced = 0, k_asleep = 1, k_notified = 2;
  using group = typename P::template atomic<std::uint64_t>;
  struct alignas(k_line) bits {
    group word{0};
  };
  struct alignas(k_line) seat {
    typename P::template atomic<std::uint32_t> word{k_notified};
    typename P::template var<bool> searches{false}; // owner only
  };
  static constexpr std::uint32_t k_searcher = 1u << 16; // so that both counts hold every id

  group &group_of(std::size_t id) noexcept { return m_announced[id / 64].word; }
  static std::uint64_t bit_of(std::size_t id) noexcept { return std::uint64_t{1} << (id % 64); }

  /// Returns whether, in `state`, a worker sleeps and none searches.
  static bool wants_one(std::uint32_t state) noexcept { return state - 1 < k_searcher - 1; }

  /// Ends the search of `id`. Returns whether it was the last searcher and another worker sleeps.
  bool stop_search(std::size_t id) noexcept {
    if (!m_seats[id].searches.get())
      return false;
    m_seats[id].searches.set(false);
    return wants_one(m_state.fetch_sub(k_searcher, std::memory_order_acquire) - k_searcher); // O4
  }

  /// Clears the bit of worker `id`, which is the caller. Returns false if a notifier has cleared
  /// the bit: the worker then counts as a searcher.
  bool withdraw(std::size_t id) noexcept {
    if (!(group_of(id).load(std::memory_order_acquire) & bit_of(id)) || // O3
        !(group_of(id).fetch_and(~bit_of(id), std::memory_order_acquire) & bit_of(id))) { // O3
      m_seats[id].searches.set(true);
      return false;
    }
    m_state.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }

  bool choose(std::size_t id) noexcept {
    const std::uint64_t before = group_of(id).fetch_and(
        ~bit_of(id), order_unless(bug::eventcount_choice_relaxed, std::memory_order_release)); // O2
    if (unless(bug::eventcount_chosen_twice, !(before & bit_of(id))))
      return false;
    const std::uint32_t state =
        m_state.fetch_add(k_searcher - 1, std::memory_order_acquire) + (k_searcher - 1); // O4
    auto &word = m_seats[id].word;
    if (unless(bug::eventcount_lost_notify,
               word.exchange(k_notified, std::memory_order_relaxed) == k_asleep))
      P::futex_wake(word, 1);
    if (unless(bug::eventcount_forgets_early_end, wants_one(state)))
        [[unlikely]] // the chosen worker has stopped its search
      choose_any();
    return true;
  }

  const std::size_t m_limit;
  const std::size_t m_groups;
  const std::unique_ptr<bits[]> m_announced;
  const std::unique_ptr<seat[]> m_seats;
  alignas(k_apart) typename P::template atomic<std::uint32_t> m_state{0}; // read by every pusher
};

} // namespace rt
} // namespace weft::inline v0
