// SPDX-License-Identifier: Apache-2.0
// The words of a team's barrier: how many members are idle, how many tasks are left, how many
// members may sleep.
//
// Roles       An arriver: a member that comes to a barrier. It is idle until the barrier is over,
//             or until it withdraws to take a task or to leave a cancelled region.
//             A releaser: ends the episode. It is an arriver, or a thread outside of the team that
//             has ended one of the team's tasks. Several threads may find that the episode is
//             over; the compare-exchange of `phase` lets one end it.
//             A waiter: an idle member that spins or sleeps. A canceller: a member that cancels the
//             region.
// Words       size, oversubscribed: the number of members, and whether it exceeds that of the cpus
//             that OpenMP uses. They change between regions only.
//             phase: idle members at a barrier inside the region (20 bits), idle members at the
//             region's end (20 bits), barriers that are over (24 bits). A member that sleeps at the
//             end of a region while the others go through many may miss a multiple of 2^24 of
//             them; fork_mailbox.hpp tells it (barrier.cpp).
//             tasks: explicit tasks that are not complete, as far as members have published them
//             (36 bits, may be negative); above them, the number of changes. A member publishes
//             many creations and ends together, before it is idle. A thread outside of the team
//             publishes each end at once.
//             has_tasks: the region has had a task. Before that no thread looks for sleepers at a
//             push, and `parked` is not counted.
//             parked: idle members that may be asleep. Each has the team in its idle_mark, and no
//             other thread has: I7.
//             cancelled: a member has cancelled the region.
//             workshare_cancelled: 0, or one more than the number of barriers that were over when
//             a member cancelled a worksharing region.
//             released_epoch: of an oversubscribed team, the full number of the barriers that are
//             over, less a multiple of 2^24 where the team has passed so many while it was not
//             oversubscribed. It never goes back. Its waiters read this word, so that arrivers have `phase` to
//             themselves. The releaser moves it on after `phase`, and so does a member that wants
//             to withdraw and finds in `phase` that its barrier is over.
//             leaf_word: of an oversubscribed team, one for each leaf: the number of the barrier,
//             its kind (inside the region or at its end) and arrivals. A word of an earlier barrier
//             counts as empty, so no thread clears it. When there are as many arrivals as the leaf
//             has members, one arriver adds all of them to `phase`. Each later arrival adds itself
//             to `phase` at once, and so does an arrival at a barrier of the other kind.
// Invariants  I1  A barrier is over when all members are idle at it and no task is left. The
//                 releaser sees that, and moves `phase` on: one more barrier is over, and no member
//                 is idle. Then it wakes the others; at the region's end, only member 0. A thread
//                 that sees the region cancelled ends no barrier inside it.
//             I2  A member takes a task only when it is not idle. So no member begins a task of
//                 what follows before it has seen the end of its barrier.
//             I3  A releaser that is no member may read `phase` late, when the next region has
//                 begun. So a releaser reads `size` and `oversubscribed` after `phase`, and changes
//                 `phase` only from the value that it has read.
//             I4  The numbers of idle members in `phase` may under-count, even be negative, but
//                 never over-count. `phase` counts the arrivals of a leaf together, once, and
//                 before the barrier is over; a withdrawal is subtracted at once. A member that
//                 withdraws and re-arrives is counted twice in the leaf word. The leaf then adds
//                 its members to `phase` early. That is harmless, because the withdrawal was
//                 subtracted. Example, a leaf of A and B: A arrives (leaf 1), withdraws (phase -1)
//                 and re-arrives (leaf 2, so phase + 2 = 1). B arrives and adds itself: 2.
//             I5  The number in `tasks` may be zero while tasks are left, because a task's end may
//                 be published before its creation. So zero counts only if `tasks` did not change
//                 around a moment when all members were idle: a thread reads `tasks`, finds all
//                 members idle in `phase`, and reads `tasks` again. Then no task is left, and no
//                 member can create one. A member may withdraw and re-arrive between the two reads:
//                 `phase` and the number of tasks may then be as before, but the number of changes
//                 is not. A thread that finds a change gives up, because the member that made the
//                 change tries after it.
//             I6  The releaser clears `workshare_cancelled` before it moves `phase` on, so no
//                 released member sees it set. A releaser may be late, when another one has ended
//                 the barrier, and a member has cancelled the next worksharing region. So the
//                 releaser clears it only if it has the number of this barrier (one more than the
//                 barriers that were over before it): a member of the next worksharing region
//                 writes another one. All accesses are relaxed: `phase` orders them (O1).
//             I7  A wake-up for a ready task goes to a member that is idle, not to one that waits
//                 for a lock or for children, and that would only sleep on. A member sets its mark
//                 before it is counted in `parked`, and clears it before it does anything else. So
//                 a producer that finds sleepers (O6) finds their marks. A member whose frame the
//                 waker has taken does not go on before it is woken, so its mark, read then, says
//                 for what it waits (O4 of parker_word.hpp); a mark that was read before may be of
//                 an earlier wait.
//             `phase` has two numbers of idle members because members abandon the barriers inside a
//             cancelled region: some may already be idle at its end while others are still idle
//             inside.
// Orders      O1  phase fetch_add (arrive) and compare_exchange (try_to_end) seq_cst: a released
//                 member sees what all members did before they arrived. Also part of O3. The
//                 compare_exchange of a withdrawal is relaxed, and passes the releases on.
//             O2  phase load acquire, with O1: a thread that sees arrivals or the barrier's end
//                 sees what the members did before. So with a compare_exchange of try_to_end that
//                 fails. A waiter about to sleep loads with seq_cst, after it has published itself
//                 (parker_word.hpp).
//             O3  a thread outside of the team ends a task: tasks fetch_add (of -1), then a load of
//                 phase. A member: an arrival, then a load of tasks. All seq_cst, so one of the two
//                 threads sees the other's write.
//             O4  cancelled store seq_cst, load acquire: a member that leaves a cancelled region
//                 sees what the canceller did before. A waiter about to sleep loads with seq_cst,
//                 as in O2: the canceller stores the flag, then looks at all parkers. A releaser
//                 loads it relaxed: a canceller that is idle has arrived after its store (O1).
//             O6  parked fetch_add, then a look at the places of ready tasks; a push (O1 of
//                 task_stack.hpp, or the number of listed tasks), then a load of parked: all
//                 seq_cst, so one of the two threads sees the other's write.
//             O7  has_tasks store seq_cst, then a look at all parkers; a member parks, then
//                 loads has_tasks: as O6.
//             O8  size store release, load acquire, then a load of the team's arrays: they are
//                 never smaller than a size that was read before them (team.hpp).
//             O9  released_epoch compare_exchange seq_cst, load seq_cst: as O1 and O2 of phase,
//                 which it follows. After it the releaser looks for parked members and for watches
//                 (leaf_watch.hpp).
//             O10 leaf_word compare_exchange acq_rel: the arriver that adds a leaf's arrivals to
//                 `phase` sees what the leaf's members did before. O1 passes that on.
//             O11 tasks fetch_add of a member release, with the load of O3: a thread that sees what
//                 a withdrawn member has published sees its withdrawal, too. phase load acquire
//                 (O2) before the second load of tasks: it sees there what members published before
//                 they arrived.
// Progress    Lock-free.
// Checked by  tests/model/layers/omp_barrier_models.cpp
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <bit>
#include <cstdint>

namespace weft_omp {

/// Says which members the releaser has to wake: none, all, or member 0.
enum class barrier_end : std::uint8_t { not_yet, inside, of_region };

template <class P = real_atomics>
struct barrier_words {
  template <class T>
  using atomic = typename P::template atomic<T>;
  using leaf_word = atomic<std::uint64_t>; // see arrive_on(); 0 at first

  static constexpr std::uint64_t k_arrived = 1, k_ended = std::uint64_t{1} << 20,
                                 k_passed = std::uint64_t{1} << 40, k_count = k_ended - 1,
                                 k_numbers = std::uint64_t{1} << 24; // of barriers, in `phase`
  static constexpr std::uint64_t k_nobody =
      std::uint64_t{1} << 19; // added to each number of idle members, which may be negative: I4

  published_value<unsigned, atomic<unsigned>> size{1}; // O8
  relaxed_value<bool, atomic<bool>> oversubscribed{false};
  alignas(64) atomic<std::uint64_t> phase{none_idle(0)};
  alignas(64) atomic<std::int64_t> tasks{0};
  atomic<bool> has_tasks{false}; // in this region
  atomic<std::uint32_t> parked{0};
  alignas(64) atomic<std::uint64_t> released_epoch{0};
  alignas(64) atomic<bool> cancelled{false};
  atomic<std::uint64_t> workshare_cancelled{0}; // I6

  static constexpr std::uint64_t passed_of(std::uint64_t seen) noexcept { return seen / k_passed; }
  static constexpr std::uint64_t none_idle(std::uint64_t passed) noexcept {
    return passed * k_passed + k_nobody * (k_arrived + k_ended);
  }
  /// Returns the number of barriers that are over. The caller is a member that is not idle.
  [[nodiscard]] std::uint64_t passed() const noexcept {
    return passed_of(phase.load(std::memory_order_relaxed));
  }

  /// Makes a member idle, and returns `phase` after that.
  std::uint64_t arrive(std::uint64_t unit) noexcept {
    return phase.fetch_add(unit, std::memory_order_seq_cst) + unit;
  } // O1

  /// Returns whether a barrier is over. `number`: barriers before this one.
  [[nodiscard]] bool is_over(std::uint64_t number) const noexcept {
    return passed_of(phase.load(std::memory_order_acquire)) != number;
  } // O2

  // For an oversubscribed team. `number` has all its bits.

  /// Returns what passed() does, but does not read `phase`.
  [[nodiscard]] std::uint64_t passed_as_released() const noexcept {
    return released_epoch.load(std::memory_order_relaxed);
  }
  /// Returns what is_over() does. A waiter may also call it when it is about to sleep.
  [[nodiscard]] bool is_released(std::uint64_t number) const noexcept {
    return released_epoch.load(std::memory_order_seq_cst) > number;
  } // O9
  /// Sets `released_epoch` to passed(). It is called between regions, because a region of a team
  /// that is not oversubscribed has not counted there.
  void begin_releasing() noexcept {
    const std::uint64_t known = released_epoch.load(std::memory_order_relaxed);
    released_epoch.store(known + (passed() - known) % k_numbers, std::memory_order_relaxed);
  }

  /// Makes one of the `members` of a leaf idle. Returns `phase`, as arrive() does, or 0: members of
  /// the leaf are missing, and the last one of them adds all to `phase`.
  std::uint64_t arrive_on(leaf_word &leaf, unsigned members, std::uint64_t number,
                          std::uint64_t unit) noexcept {
    const std::uint64_t counts = leaf_at(number, unit == k_ended ? k_leaf_ends : k_leaf_counts);
    for (std::uint64_t seen = leaf.load(std::memory_order_relaxed);;) {
      const bool begins = seen / k_leaf_number != number; // the word is from an earlier barrier
      if (!begins && (seen & ~k_count) != counts)
        return arrive(unit);
      const std::uint64_t idle = begins ? 1 : (seen & k_count) + 1;
      const std::uint64_t next = idle != members ? counts + idle
                                                 : unless(bug::omp_leaf_counts_on,
                                                          leaf_at(number, k_leaf_reported), counts);
      if (leaf.compare_exchange_weak(
              seen, next,
              order_unless(bug::omp_leaf_arrival_relaxed, std::memory_order_acq_rel), // O10
              std::memory_order_relaxed))
        return idle == members ? arrive(unit * members) : 0;
    }
  }

  /// Withdraws the member: it is no longer idle. Returns false if the barrier is over. `number` may
  /// have all its bits.
  bool take_back(std::uint64_t number, std::uint64_t unit) noexcept {
    std::uint64_t seen = phase.load(std::memory_order_relaxed);
    do
      if (passed_of(seen) != passed_of(number * k_passed)) {
        seen = phase.load(std::memory_order_acquire); // O2
        if (oversubscribed)
          release_up_to(
              passed_of(seen)); // the releaser may not have done so yet: see passed_as_released()
        return false;
      }
    while (unless(bug::omp_barrier_task_of_idle, [&] {
      return !phase.compare_exchange_weak(seen, seen - unit, std::memory_order_relaxed,
                                          std::memory_order_relaxed);
    }));
    return true;
  }

  /// Ends the barrier if it is due. `seen`: `phase` as last read.
  barrier_end try_to_end(std::uint64_t seen) noexcept { return end_if_due<false>(seen); }
  /// Does the same for a thread that has ended a task.
  barrier_end try_to_end() noexcept {
    return try_to_end(phase.load(std::memory_order_seq_cst));
  } // O3

  /// Adds what a member has counted and not published yet. The member calls it before it arrives.
  void publish(std::int64_t more) noexcept {
    tasks.fetch_add(k_published + more,
                    order_unless(bug::omp_barrier_published_ahead,
                                 std::memory_order_release)); // O11; its arrival comes after it: O1
  }
  /// Counts the end of a task on a thread that is no member. Returns true if no task is left; the
  /// caller then calls try_to_end().
  bool end_task() noexcept {
    return left_in(tasks.fetch_add(k_published - 1, std::memory_order_seq_cst)) == 1;
  } // O3
  /// Returns the number of tasks that are left, as far as members have published it.
  [[nodiscard]] std::int64_t tasks_left() const noexcept {
    return left_in(tasks.load(std::memory_order_relaxed));
  }

  /// Returns whether the barrier goes on. A waiter calls it after it is parked and before it
  /// sleeps.
  [[nodiscard]] bool goes_on(std::uint64_t number, bool cancellable) const noexcept {
    return passed_of(phase.load(std::memory_order_seq_cst)) == number &&
           !is_to_leave(cancellable); // O2
  }
  /// Returns whether the region is cancelled and the waiter may leave it. A waiter calls it as
  /// goes_on().
  [[nodiscard]] bool is_to_leave(bool cancellable) const noexcept {
    return cancellable && cancelled.load(std::memory_order_seq_cst);
  } // O4
  [[nodiscard]] bool is_cancelled() const noexcept {
    return cancelled.load(std::memory_order_acquire);
  } // O4
  void cancel() noexcept { cancelled.store(true, std::memory_order_seq_cst); } // O4

  /// Cancels the worksharing region of the caller, a member that is not idle.
  void cancel_workshare() noexcept {
    workshare_cancelled.store(passed() + 1, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_workshare_cancelled() const noexcept {
    return workshare_cancelled.load(std::memory_order_relaxed) != 0;
  }

  void set_has_tasks() noexcept {
    has_tasks.store(true,
                    order_unless(bug::omp_barrier_tasks_unpublished, std::memory_order_seq_cst));
  } // O7
  /// Returns whether the region has had no task yet. Until its first task no thread looks for
  /// sleepers.
  [[nodiscard]] bool is_without_tasks() const noexcept {
    return !has_tasks.load(std::memory_order_seq_cst);
  } // O7

  /// Names the team at whose barrier a thread sleeps, or is about to, while the region has tasks.
  /// Null: none. Only the thread sets it.
  using idle_mark = relaxed_value<const void *, atomic<const void *>>;

  void begin_to_park(idle_mark &mine) noexcept {
    mine = this; // I7
    parked.fetch_add(1,
                     order_unless(bug::omp_barrier_sleeper_uncounted, std::memory_order_seq_cst));
  } // O6
  void end_to_park(idle_mark &mine) noexcept {
    parked.fetch_sub(1, std::memory_order_relaxed);
    mine = nullptr; // I7
  }
  /// Wakes a member that sleeps. `take()` takes its frame, or returns null; `wake(frame)` wakes it.
  /// Returns whether it is idle at a barrier. A member that has just begun to wait for something
  /// else may be woken, too.
  template <class Take, class Wake>
  bool wake_if_idle(const idle_mark &of_member, Take take, Wake wake) noexcept {
    if (of_member != this)
      return false;
    auto *const frame = take();
    if (!frame)
      return false;
    const bool is_idle =
        unless(bug::omp_barrier_wakes_another, of_member == this, true); // I7
    wake(*frame);
    return is_idle;
  }
  [[nodiscard]] bool may_have_sleepers() const noexcept {
    return parked.load(std::memory_order_seq_cst) != 0;
  } // O6

  /// Clears a flag. It writes only if the flag is set, because members read it all the time.
  template <class T>
  static void forget(atomic<T> &flag) noexcept {
    if (flag.load(std::memory_order_relaxed) != T{})
      flag.store(T{}, std::memory_order_relaxed);
  }

 private:
  static constexpr bool all_ended(std::uint64_t seen, unsigned members) noexcept {
    return (seen / k_ended & k_count) == k_nobody + members;
  }
  // A leaf's word holds, from above: the barrier's number, its state (arrivals inside the region,
  // arrivals at its end, or arrivals that `phase` counts), and the number of arrivals.
  static constexpr std::uint64_t k_leaf_counts = 0, k_leaf_ends = 1, k_leaf_reported = 2,
                                 k_leaf_number = std::uint64_t{1} << 22;
  static constexpr std::uint64_t leaf_at(std::uint64_t number, std::uint64_t state) noexcept {
    return number * k_leaf_number + state * (k_count + 1);
  }
  /// Returns the number nearest to `known` whose lower bits are those of `number`. `phase` has only
  /// these bits.
  static constexpr std::uint64_t near(std::uint64_t known, std::uint64_t number) noexcept {
    constexpr int k_lost = std::countr_zero(k_passed);
    return known + static_cast<std::uint64_t>(
                       static_cast<std::int64_t>((number - known) << k_lost) >> k_lost);
  }
  /// Moves `released_epoch` on, never back: a late releaser that is no member may come after the
  /// releaser of the next barrier.
  void release_up_to(std::uint64_t over) noexcept {
    std::uint64_t seen = released_epoch.load(std::memory_order_relaxed);
    while (seen < near(seen, over) &&
           !released_epoch.compare_exchange_weak(
               seen, near(seen, over), // O9
               order_unless(bug::omp_barrier_released_early, std::memory_order_seq_cst),
               std::memory_order_relaxed)) {
    }
  }
  // `tasks` holds the number of tasks, which may be negative, and above it the number of changes.
  static constexpr int k_published_shift = 36;
  static constexpr std::int64_t k_published = std::int64_t{1} << k_published_shift;
  static constexpr std::int64_t left_in(std::int64_t word) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(word)
                                     << (64 - k_published_shift)) >>
           (64 - k_published_shift);
  }
  /// Does what try_to_end() does. `Forgets`: it clears `workshare_cancelled`, too; this part is apart,
  /// so that other barriers need no registers for it.
  template <bool Forgets>
  barrier_end end_if_due(std::uint64_t seen) noexcept {
    for (unsigned members = size; is_due(seen, members);
         members = unless(bug::omp_barrier_size_of_before, +size, members)) { // I3, O8
      const bool of_region = all_ended(seen, members), releases = oversubscribed;
      if constexpr (Forgets)
        forget_cancelled_workshare(passed_of(seen));
      else if (is_workshare_cancelled()) [[unlikely]]
        return end_after_cancelled(seen);
      if (phase.compare_exchange_weak(seen, none_idle(passed_of(seen) + 1),
                                      std::memory_order_seq_cst,
                                      std::memory_order_acquire)) { // O1, O2, I3
        if (releases)
          release_up_to(passed_of(seen) + 1);
        return of_region ? barrier_end::of_region : barrier_end::inside;
      }
    }
    return barrier_end::not_yet;
  }
  [[gnu::noinline, gnu::cold]] barrier_end end_after_cancelled(std::uint64_t seen) noexcept {
    return end_if_due<true>(seen);
  }
  /// Clears `workshare_cancelled`, if a member has set it before the barrier `number`, which the
  /// caller is about to end: I6.
  void forget_cancelled_workshare(std::uint64_t number) noexcept {
    std::uint64_t seen = workshare_cancelled.load(std::memory_order_relaxed);
    if (seen == number + 1)
      workshare_cancelled.compare_exchange_strong(seen, 0, std::memory_order_relaxed,
                                                  std::memory_order_relaxed);
  }
  /// Returns whether all members are idle and no task is left.
  [[nodiscard]] bool is_due(std::uint64_t seen, unsigned members) const noexcept {
    return (all_ended(seen, members) || ((seen & k_count) == k_nobody + members &&
                                         !cancelled.load(std::memory_order_relaxed))) &&
           unless(bug::omp_barrier_ends_early, nothing_is_left(seen), true);
  }
  /// Returns whether no task was left at a moment when `phase` was `seen` and all members were
  /// idle.
  [[nodiscard]] bool nothing_is_left(std::uint64_t seen) const noexcept {
    const std::int64_t told = tasks.load(std::memory_order_seq_cst); // O3
    if (left_in(told) != 0)
      return false;
    return unless(bug::omp_barrier_zero_in_passing,
                  phase.load(order_unless(bug::omp_barrier_published_unseen,
                                          std::memory_order_acquire)) == seen && // O2
                      tasks.load(std::memory_order_relaxed) == told, // I5
                  true);
  }
};

} // namespace weft_omp
