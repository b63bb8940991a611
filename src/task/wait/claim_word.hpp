// SPDX-License-Identifier: Apache-2.0
// Decides which thread begins a task with a handle: the one that took it out of its queue, or a
// waiter, which runs it in place.
//
// Roles       Announcer: the thread that makes the task ready; it calls open_to_waiters before it
//             gives the task to a queue, or to the thread that runs it next.
//             Runner: the thread that took the entry of the task out of its queue; it calls
//             take_entry before it touches anything but the block, and runs the task or drops the
//             entry.
//             Looker: a runner that may have to put the entry back; it calls hold, and then
//             put_back or take_entry.
//             Waiter: it holds a handle until the task has ended. Without the entry it calls claim,
//             and leaves the reference of completion to the entry; with the entry, of its own
//             queue, it calls use_own_entry, and runs the task, drops the entry, or puts it back.
//             Starter of a deferred task: the first waiter; it calls start_deferred.
// Word        0 and up: the accesses that the task still waits for, before it is ready; a task that
//             is never opened keeps 0. k_open: ready, and begun by no thread. k_started: a thread
//             that has the entry has begun it, or looks at it. k_claimed: a waiter has begun it,
//             and its entry is left behind. k_deferred: in no queue, for the first waiter. The
//             messages that post a task's end to managers count in the word, too; so a task whose
//             entry is left behind posts none (may_post).
// Invariants  I1  A thread leaves k_open by a compare-exchange, or alone (I4); so one thread begins the task.
//             I2  An entry that finds k_claimed is the one that was left behind, or it is the entry
//                 of a later run of the same task (its destructor, for example) and the one left
//                 behind is still queued. Either entry may be dropped in place of the other: both
//                 refer to the same block, and the exchange lets one of them be dropped.
//             I3  The reference of an entry that is left behind keeps the block. Nothing else of
//                 the task may be alive: neither its parent nor its closure.
//             I4  A waiter that has the entry, finds all references its own (has_all of countdown.hpp)
//                 and then k_open, is the one thread that knows the task: it calls begin_alone. In the
//                 other order the entry may be one that is left behind, by a waiter that has run the
//                 task and dropped its handle since. The body may hand the task on; so the waiter looks
//                 at the references again behind the body, before it ends the task alone, too.
// Orders      O1  k_open is stored, release, with O2: the waiter sees what the predecessors of the
//                 task wrote, and the task as it was announced.
//             O2  the compare-exchange of claim, acquire, with O1 and O3.
//             O3  put_back stores k_open, release, with O2: passes on what the queue had handed
//                 over.
//             O4  take_entry, acquire, and acq_rel where it exchanges, with itself: a runner that
//                 goes on with the other entry of I2 sees what the queue handed over with the entry
//                 that was dropped.
//             The others are relaxed: the queue orders what the runner sees, and a deferred task is
//             handed over with its handle.
// Progress    Wait-free.
// Reclamation Each entry has a reference: the one of completion. After claim the handle of the
//             waiter keeps the block, until the body has ended: then the task is complete and needs
//             none, or the waiter takes another one for completion.
// Source      Own. HPX runs a task in place of a wait by the same rule (its thread states).
// Checked by  tests/model/claim_models.cpp
#pragma once

#include "base/mutant.hpp"

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

inline constexpr std::uint32_t k_open = 0xFFFFFFF0u;
inline constexpr std::uint32_t k_started = 0xFFFFFFF1u;
inline constexpr std::uint32_t k_claimed = 0xFFFFFFF2u;
inline constexpr std::uint32_t k_deferred = 0xFFFFFFF3u;

/// Allows waiters to begin the task.
template <class Word>
void open_to_waiters(Word &word) noexcept {
  word.store(k_open, order_unless(bug::claim_open_relaxed, std::memory_order_release)); // O1
}

/// Returns whether a waiter may try to begin the task. A hint.
template <class Word>
[[nodiscard]] bool is_open(const Word &word) noexcept {
  return word.load(std::memory_order_relaxed) == k_open;
}

/// Returns whether the entry that the caller has is to be dropped. A hint until take_entry.
template <class Word>
[[nodiscard]] bool is_left_behind(const Word &word) noexcept {
  return word.load(std::memory_order_relaxed) == k_claimed;
}

namespace claiming {

template <class Word>
[[nodiscard]] bool leave(Word &word, std::uint32_t from, std::uint32_t to) noexcept {
  return word.compare_exchange_strong(from, to, std::memory_order_acquire, // O2
                                      std::memory_order_relaxed);
}

template <class Word>
[[nodiscard]] bool leave_relaxed(Word &word, std::uint32_t from, std::uint32_t to) noexcept {
  return word.compare_exchange_strong(from, to, std::memory_order_relaxed,
                                      std::memory_order_relaxed);
}

} // namespace claiming

/// Begins the task in place of its entry, to which the reference of completion belongs from then on.
/// False: another thread has begun it.
template <class Word>
[[nodiscard]] bool claim(Word &word) noexcept {
  return claiming::leave(word, k_open, k_claimed); // O2
}

/// Begins, or submits, a task that no thread has waited for.
template <class Word>
[[nodiscard]] bool start_deferred(Word &word) noexcept {
  return claiming::leave_relaxed(word, k_deferred, k_started);
}

/// Uses an entry up. True: the caller runs the task. False: it drops the entry's reference.
template <class Word>
[[nodiscard]] bool take_entry(Word &word) noexcept {
  const std::uint32_t seen = word.load(std::memory_order_acquire); // O4
  if (seen < k_open || seen == k_started) // no waiter can begin it
    return true;
  const auto both = order_unless(bug::claim_entry_relaxed, std::memory_order_acq_rel);
  return unless(bug::claim_entry_runs, word.exchange(k_started, both), k_started) != // O4
         k_claimed;
}

/// Says what a waiter does that has an entry of the task.
enum class own_entry {
  begun, // runs the task
  left_behind, // drops the entry's reference
  of_later_run // puts the entry back: another thread has dropped the one left behind (I2)
};

/// Begins the task whose entry the waiter has, if no other thread has begun it.
template <class Word>
[[nodiscard]] own_entry use_own_entry(Word &word) noexcept {
  if (claiming::leave_relaxed(word, k_open, k_started))
    return own_entry::begun;
  const bool runs = unless(bug::claim_own_entry_kept, [&word] { return take_entry(word); });
  return runs ? own_entry::of_later_run : own_entry::left_behind;
}

/// Begins the task for a waiter that has the entry, and all references of the task (I4).
template <class Word>
void begin_alone(Word &word) noexcept {
  word.store(k_started, std::memory_order_relaxed);
}

/// Keeps waiters from the task whose entry the caller has. False: there is nothing to let go.
template <class Word>
[[nodiscard]] bool hold(Word &word) noexcept {
  return claiming::leave_relaxed(word, k_open, k_started);
}
template <class Word>
void put_back(Word &word) noexcept {
  word.store(k_open, order_unless(bug::claim_put_back_relaxed, std::memory_order_release)); // O3
}

} // namespace rt
} // namespace weft::inline v0
