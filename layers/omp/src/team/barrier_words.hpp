// SPDX-License-Identifier: Apache-2.0
// The words of a team's barrier: who is idle, what is left to do, who sleeps.
//
// Roles       Members of the team; whoever ends a task of it. A member is idle from its arrival at a barrier to the end of that, or until it takes a task.
// Words       size, oversubscribed: members, and whether there are more than workers; changed between regions only. phase: idle members that came to a barrier inside of the region (20 bits), to its end (20 bits), barriers that are over (24 bits). tasks: explicit tasks
//             that are not complete (36 bits), as far as members have published them, and how often that was changed; an idle member has published all. parked: idle members that may be asleep.
//             released_epoch: of an oversubscribed team, the barriers that are over, once the members are released: they look there, and `phase` is left to those who arrive.
//             leaf_word: of an oversubscribed team, for each part of the members: arrivals there, until there were as many as members; then they are counted in `phase`, and so is each that follows.
// Invariants  I1  A barrier is over when all are idle and no task is left; who sees that moves `phase` on, and wakes the others.
//             I2  A member takes a task only when it is not idle: so nobody begins a task of what follows before it has seen the end of its barrier.
//             I3  Who looks may be late, and the next region may have begun: so the former are read after `phase`, which is then changed from that value only.
//             I4  An arrival on a leaf is counted in `phase` with those of all others there, once and at last before the barrier is over; when a member takes its own back, `phase` changes at once. So
//                 what `phase` counts may be too small, and less than nothing, but never too much. (That the word counts who takes itself back and comes again twice only changes `phase` earlier.)
//             I5  `tasks` may pass zero while tasks are left: the end of one may be published before its maker has published that it was made. So zero counts only where it was there, unchanged, at a moment
//                 when all were idle: it is read before and after such a look at `phase`. Then nothing is left, and nobody can make more. (That a member has taken itself back and come again does not
//                 show in `phase`, nor in the sum; that something was published shows in `tasks`.) Who finds a change gives up: who made it tries after it.
//             The two numbers in `phase` differ because a cancelled region leaves the former behind.
// Orders      O1  phase fetch_add and compare_exchange seq_cst: what members did before is seen after; and O3.
//             O2  phase load acquire: the same from there to the members. seq_cst by who is about to sleep, after it has published itself (parker_word.hpp).
//             O3  tasks fetch_add and fetch_sub, then a look at phase; an arrival, then a look at tasks: all seq_cst, one of the two sees the other.
//             O4  cancelled store seq_cst, load acquire: what who cancels did before is seen by who leaves because of it.
//             O6  parked fetch_add, then the places of ready tasks; a push, then parked: all seq_cst, one of the two sees the other.
//             O7  has_tasks store seq_cst, then who is parked; who parks, then has_tasks: the same.
//             O8  size store release, load acquire, and the team's arrays: which are never smaller than a size that was seen before them (team.hpp).
//             O9  released_epoch compare_exchange seq_cst, load seq_cst: as phase, O1 and O2, which it follows; then who is parked, or watches (leaf_watch.hpp).
//             O10 leaf_word compare_exchange acq_rel: what members of the leaf did before is seen by who counts them in `phase`, with O1.
//             O11 tasks fetch_add release, with the load of O3: what is published by a member that has taken itself back is not seen before it has; and phase load acquire, O2, before the second look at tasks: what
//                 members published before they came is seen there.
// Progress    Lock-free.
// Checked by  tests/model/omp_barrier_models.cpp
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <bit>
#include <cstdint>

namespace weft_omp {

/// Who is to be woken when something was moved on.
enum class barrier_end : std::uint8_t { not_yet, inside, of_region };

template <class P = real_atomics>
struct barrier_words {
  template <class T>
  using atomic = typename P::template atomic<T>;
  using leaf_word = atomic<std::uint64_t>; // see arrive_on(); 0 at first

  static constexpr std::uint64_t k_arrived = 1, k_ended = std::uint64_t{1} << 20, k_passed = std::uint64_t{1} << 40, k_count = k_ended - 1;
  static constexpr std::uint64_t k_nobody = std::uint64_t{1} << 19; // so much the numbers of idle members are above what they count: I4

  published_value<unsigned, atomic<unsigned>> size{1}; // O8
  relaxed_value<bool, atomic<bool>> oversubscribed{false};
  alignas(64) atomic<std::uint64_t> phase{none_idle(0)};
  alignas(64) atomic<std::int64_t> tasks{0};
  atomic<bool> has_tasks{false}; // in this region
  atomic<std::uint32_t> parked{0};
  alignas(64) atomic<std::uint64_t> released_epoch{0};
  alignas(64) atomic<bool> cancelled{false};
  atomic<bool> workshare_cancelled{false};

  static constexpr std::uint64_t passed_of(std::uint64_t seen) noexcept { return seen / k_passed; }
  static constexpr std::uint64_t none_idle(std::uint64_t passed) noexcept { return passed * k_passed + k_nobody * (k_arrived + k_ended); }
  /// Barriers that are over, of a member that is not idle.
  [[nodiscard]] std::uint64_t passed() const noexcept { return passed_of(phase.load(std::memory_order_relaxed)); }

  /// A member has become idle; `phase` after that.
  std::uint64_t arrive(std::uint64_t unit) noexcept { return phase.fetch_add(unit, std::memory_order_seq_cst) + unit; } // O1

  /// `number`: barriers before the one that is meant.
  [[nodiscard]] bool is_over(std::uint64_t number) const noexcept { return passed_of(phase.load(std::memory_order_acquire)) != number; } // O2

  // Of an oversubscribed team. `number`: in full.

  /// passed(), without a look at `phase`.
  [[nodiscard]] std::uint64_t passed_as_released() const noexcept { return released_epoch.load(std::memory_order_relaxed); }
  /// is_over(), also of who is about to sleep.
  [[nodiscard]] bool is_released(std::uint64_t number) const noexcept { return released_epoch.load(std::memory_order_seq_cst) > number; } // O9
  /// Between regions: what the next one releases follows what the former passed.
  void begin_releasing() noexcept { released_epoch.store(near(released_epoch.load(std::memory_order_relaxed), passed()), std::memory_order_relaxed); }

  /// arrive() of one of the `members` that a leaf has. 0: others of the leaf are missing, the last of which counts them all.
  std::uint64_t arrive_on(leaf_word &leaf, unsigned members, std::uint64_t number, std::uint64_t unit) noexcept {
    const std::uint64_t counts = leaf_at(number, unit == k_ended ? k_leaf_ends : k_leaf_counts);
    for (std::uint64_t seen = leaf.load(std::memory_order_relaxed);;) {
      const bool begins = seen / k_leaf_number != number; // what it holds is of barriers that are over
      if (!begins && (seen & ~k_count) != counts)
        return arrive(unit);
      const std::uint64_t idle = begins ? 1 : (seen & k_count) + 1;
      const std::uint64_t next = idle != members ? counts + idle : mutant(bug::omp_leaf_counts_on) ? counts : leaf_at(number, k_leaf_reported);
      if (leaf.compare_exchange_weak(seen, next, order_unless(bug::omp_leaf_arrival_relaxed, std::memory_order_acq_rel), // O10
                                     std::memory_order_relaxed))
        return idle == members ? arrive(unit * members) : 0;
    }
  }

  /// The member is no longer idle. False: the barrier is over. `number`: perhaps in full.
  bool take_back(std::uint64_t number, std::uint64_t unit) noexcept {
    std::uint64_t seen = phase.load(std::memory_order_relaxed);
    do
      if (passed_of(seen) != passed_of(number * k_passed)) {
        seen = phase.load(std::memory_order_acquire); // O2
        if (oversubscribed)
          release_up_to(passed_of(seen)); // who ended it may not have done so yet: see passed_as_released()
        return false;
      }
    while (!mutant(bug::omp_barrier_task_of_idle) &&
           !phase.compare_exchange_weak(seen, seen - unit, std::memory_order_relaxed, std::memory_order_relaxed));
    return true;
  }

  /// The barrier is over, where it is due. `seen`: phase as last seen.
  barrier_end try_to_end(std::uint64_t seen) noexcept {
    for (unsigned members = size; is_due(seen, members); members = mutant(bug::omp_barrier_size_of_before) ? members : size) { // I3, O8
      const bool of_region = all_ended(seen, members), releases = oversubscribed;
      forget(workshare_cancelled);
      if (phase.compare_exchange_weak(seen, none_idle(passed_of(seen) + 1), std::memory_order_seq_cst, std::memory_order_acquire)) { // O1, I3
        if (releases)
          release_up_to(passed_of(seen) + 1);
        return of_region ? barrier_end::of_region : barrier_end::inside;
      }
    }
    return barrier_end::not_yet;
  }
  /// The same for who has ended a task.
  barrier_end try_to_end() noexcept { return try_to_end(phase.load(std::memory_order_seq_cst)); } // O3

  /// Adds what a member has counted and not published yet. Before it is idle.
  void publish(std::int64_t more) noexcept {
    tasks.fetch_add(k_published + more,
                    order_unless(bug::omp_barrier_published_ahead, std::memory_order_release)); // O11; its arrival comes after it: O1
  }
  /// A task ended elsewhere than on a member. True: none is left, see try_to_end().
  bool end_task() noexcept { return left_in(tasks.fetch_add(k_published - 1, std::memory_order_seq_cst)) == 1; } // O3
  /// As far as members have published.
  [[nodiscard]] std::int64_t tasks_left() const noexcept { return left_in(tasks.load(std::memory_order_relaxed)); }

  /// Of who is parked, before it sleeps.
  [[nodiscard]] bool goes_on(std::uint64_t number, bool cancellable) const noexcept {
    return passed_of(phase.load(std::memory_order_seq_cst)) == number && !is_to_leave(cancellable); // O2
  }
  /// Likewise.
  [[nodiscard]] bool is_to_leave(bool cancellable) const noexcept { return cancellable && cancelled.load(std::memory_order_seq_cst); } // O4
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled.load(std::memory_order_acquire); } // O4
  void cancel() noexcept { cancelled.store(true, std::memory_order_seq_cst); } // O4

  void set_has_tasks() noexcept { has_tasks.store(true, order_unless(bug::omp_barrier_tasks_unpublished, std::memory_order_seq_cst)); } // O7
  /// Without tasks nobody looks for sleepers.
  [[nodiscard]] bool is_without_tasks() const noexcept { return !has_tasks.load(std::memory_order_seq_cst); } // O7

  void begin_to_park() noexcept { parked.fetch_add(1, order_unless(bug::omp_barrier_sleeper_uncounted, std::memory_order_seq_cst)); } // O6
  void end_to_park() noexcept { parked.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] bool may_have_sleepers() const noexcept { return parked.load(std::memory_order_seq_cst) != 0; } // O6

  /// Members read it all the time: it is written only when it changes.
  static void forget(atomic<bool> &flag) noexcept {
    if (flag.load(std::memory_order_relaxed))
      flag.store(false, std::memory_order_relaxed);
  }

 private:
  static constexpr bool all_ended(std::uint64_t seen, unsigned members) noexcept { return (seen / k_ended & k_count) == k_nobody + members; }
  // What a leaf's word holds: a barrier's number in full, what those who arrive come to, or that they are counted in `phase`, and how many have come.
  static constexpr std::uint64_t k_leaf_counts = 0, k_leaf_ends = 1, k_leaf_reported = 2, k_leaf_number = std::uint64_t{1} << 22;
  static constexpr std::uint64_t leaf_at(std::uint64_t number, std::uint64_t state) noexcept {
    return number * k_leaf_number + state * (k_count + 1);
  }
  /// The number next to `known` whose lower bits are those of `number`, which are all that `phase` has.
  static constexpr std::uint64_t near(std::uint64_t known, std::uint64_t number) noexcept {
    constexpr int k_lost = std::countr_zero(k_passed);
    return known + static_cast<std::uint64_t>(static_cast<std::int64_t>((number - known) << k_lost) >> k_lost);
  }
  /// Never back: who is late, and no member, may come after the next one.
  void release_up_to(std::uint64_t over) noexcept {
    std::uint64_t seen = released_epoch.load(std::memory_order_relaxed);
    while (seen < near(seen, over) && !released_epoch.compare_exchange_weak(seen, near(seen, over), // O9
                                                                            order_unless(bug::omp_barrier_released_early, std::memory_order_seq_cst),
                                                                            std::memory_order_relaxed)) {
    }
  }
  // What `tasks` holds: the number of tasks, negative or not, and above it how often it was changed.
  static constexpr int k_published_shift = 36;
  static constexpr std::int64_t k_published = std::int64_t{1} << k_published_shift;
  static constexpr std::int64_t left_in(std::int64_t word) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(word) << (64 - k_published_shift)) >> (64 - k_published_shift);
  }
  /// Everybody is idle, and nothing is left to do.
  [[nodiscard]] bool is_due(std::uint64_t seen, unsigned members) const noexcept {
    return (all_ended(seen, members) || ((seen & k_count) == k_nobody + members && !cancelled.load(std::memory_order_relaxed))) &&
           (mutant(bug::omp_barrier_ends_early) || nothing_is_left(seen));
  }
  /// At a moment when `phase` was `seen`, and all were idle.
  [[nodiscard]] bool nothing_is_left(std::uint64_t seen) const noexcept {
    const std::int64_t told = tasks.load(std::memory_order_seq_cst); // O3
    if (left_in(told) != 0)
      return false;
    return mutant(bug::omp_barrier_zero_in_passing) ||
           (phase.load(order_unless(bug::omp_barrier_published_unseen, std::memory_order_acquire)) == seen && // O2
            tasks.load(std::memory_order_relaxed) == told); // I5
  }
};

} // namespace weft_omp
