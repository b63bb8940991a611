// SPDX-License-Identifier: Apache-2.0
// Delegation ticket lock with combining: a waiter leaves its id, and the owner may hand it a result
// instead of the lock. The owner takes several waiters at once, serves them together and lets them
// go. If the owner leaves instead, the next waiter gets the lock.
//
// Roles       Any thread: lock, try_lock, lock_or_delegate(id, item). The owner, which has the
//             lock: take_waiters, set_item, dismiss, unlock. Only one thread at a time uses an id.
// Word        The ticket lock's m_head, turns and m_tail (the next ticket that may enter).
//             waiting[ticket % slots] = ticket + id, written by lock_or_delegate; lock and try_lock
//             write no entry, so their callers never get a result. There are at least as many slots
//             as ids. result[id] = {ticket, item}, written by the owner for the waiter that has
//             this ticket: a waiter whose turn comes has an item if result[id] names its ticket,
//             else the lock. A run, on the owner's stack: the ids that wait with the tickets
//             m_tail, m_tail + 1, ..., and the slots whose sleepers the owner has to wake.
// Invariants  I1  While ticket t holds the lock, m_tail == t + 1. dismiss gives the turn to the
//                 tickets of the run and adds their number to m_tail: the owner keeps the lock, and
//                 goes on as if it had the ticket of the last waiter that left with an item. (The
//                 paper's Listing 4 increments the tail once more on entry, and deadlocks.)
//             I2  The entry of ticket t's slot is valid exactly if 0 <= entry - t < ids, for m_tail
//                 and for the tickets of a run. An entry of an earlier round is below this range, an
//                 entry of a later round a whole round above. So threads beyond the slots may
//                 overwrite an entry: the waiter that wrote the entry then gets the lock instead of
//                 a result, and nothing is lost. A run ends at the first ticket without a valid
//                 entry, because turns are given in order. It has no id twice, because a thread
//                 waits with one ticket; so it is not longer than the slots.
//             I3  The owner writes result[id] only while the thread of that id waits with a ticket
//                 of the run: from take_waiters until dismiss gives that ticket its turn. A waiter
//                 that has left may come back, with a later ticket, while dismiss is at the others.
//             I4  The owner wakes the sleepers of the run after it has left the lock, so that no
//                 system call holds up other threads. The owner takes no further run before that.
// Orders      O1, O2 as in ticket_lock.hpp (turn load acquire; turn exchange release, in dismiss,
//             too): they also carry result[id] to the waiter.
//             O3  waiting store release, with O4: the owner writes result[id] after the waiter's
//                 last read of result[id], which is in the waiter's previous call. Relaxed (as in
//                 Nanos6): a race on result[id]. So the owner also sees what the waiter wrote
//                 before its call, such as the wish of delegated_queue.hpp.
//             O4  waiting load acquire, with O3.
// Progress    Blocking; FIFO. take_waiters, set_item and dismiss are wait-free.
// Reclamation As ticket_lock.
// Source      Alvarez et al., PPoPP 2021, Listing 4, without its second increment of the tail, and
//             with a check of the entry's upper bound (there, more threads than slots corrupt
//             front()). To serve several waiters at once is the paper's future work, after flat
//             combining (Hendler et al., SPAA 2010): its list of requests is the run here.
// Checked by  tests/model/lock_models.cpp: delegation_lock_*, listing4_*
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"
#include "queue/id_check.hpp"
#include "queue/ticket_lock.hpp"

namespace weft::inline v0 {
namespace rt {

enum class delegation { owner, delegated };

template <class T, class P = real_atomics>
class delegation_lock : private ticket_lock<P> {
  static_assert(std::is_trivially_copyable_v<T>,
                "delegation_lock hands over pointers and small plain structs");
  using base = ticket_lock<P>;

 public:
  /// Bounds a run, so that its first waiter does not wait for long.
  static constexpr std::size_t k_run = 32;

  /// Holds the waiters that the owner serves together, and those that it has to wake. It is on the
  /// owner's stack, and is used for one ownership.
  class run {
   public:
    [[nodiscard]] std::size_t size() const noexcept { return m_size; }
    [[nodiscard]] std::size_t id(std::size_t i) const noexcept { return m_ids[i]; }

   private:
    friend delegation_lock;
    std::size_t m_size = 0, m_sleepers = 0;
    std::array<std::size_t, k_run> m_ids, m_asleep; // as many as the sizes say
  };

  /// Makes a lock for ids 0..size-1. Any number of threads may call lock and try_lock.
  explicit delegation_lock(std::size_t size)
      : base(size), m_size(size ? size : 1),
        m_waiting(std::make_unique<entry[]>(base::slot_count())),
        m_results(std::make_unique<result[]>(m_size)) {}

  using base::lock;
  using base::try_lock;
  using base::unlock;

  std::size_t size() const noexcept { return m_size; }

  /// Waits for its turn. Returns `owner` if the caller now holds the lock, or `delegated` if the
  /// holder filled in `item`: the caller then does not hold the lock. `slept`: whether the thread
  /// has slept meanwhile.
  [[nodiscard]] delegation lock_or_delegate(std::size_t id, T &item, bool &slept) noexcept {
    check_id("delegation_lock", id, m_size);
    const std::uint64_t ticket = base::take_ticket();
    m_waiting[base::slot_index(ticket)].word.store(
        ticket + id, order_unless(bug::delegation_log_relaxed, std::memory_order_release)); // O3
    slept = base::wait_turn(ticket);
    if (unless(bug::delegation_result_for_nobody, m_results[id].ticket.get() != ticket))
      return unless(bug::delegation_tail_increment, delegation::owner, [&](delegation owner) {
        base::skip_ticket();
        return owner;
      });
    item = m_results[id].item.get();
    return delegation::delegated;
  }

  [[nodiscard]] delegation lock_or_delegate(std::size_t id, T &item) noexcept {
    bool slept;
    return lock_or_delegate(id, item, slept);
  }

  /// Takes the waiters of the next tickets into the run, as far as each has left its id. Returns
  /// whether there is one. A waiter may be on its way in. Takes none if a waiter that was let go
  /// sleeps: the owner is to leave (I4). Owner only.
  [[nodiscard]] bool take_waiters(run &of) noexcept {
    if (of.m_sleepers != 0) [[unlikely]]
      return false;
    const std::uint64_t first = base::next_ticket();
    for (of.m_size = 0; of.m_size != k_run; ++of.m_size) {
      const std::uint64_t ticket = first + of.m_size;
      const std::uint64_t entry = m_waiting[base::slot_index(ticket)].word.load(
          order_unless(bug::delegation_log_relaxed, std::memory_order_acquire)); // O4
      if (unless(bug::delegation_no_upper_bound, entry - ticket >= m_size, entry < ticket))
        break;
      of.m_ids[of.m_size] = static_cast<std::size_t>(entry - ticket);
    }
    return of.m_size != 0;
  }

  /// Sets the result of the run's waiter `i`. Owner only.
  void set_item(const run &of, std::size_t i, T item) noexcept {
    result &r = m_results[of.id(i)];
    r.item.set(item);
    r.ticket.set(base::next_ticket() + unless(bug::delegation_run_has_one_ticket, i));
  }

  /// Sends the waiters of the run away with their results. Owner only; the owner keeps the lock.
  void dismiss(run &of) noexcept {
    for (std::size_t i = 0; i != of.m_size; ++i) {
      const std::size_t slot = base::slot_index(base::next_ticket());
      if (base::let_next_in()) [[unlikely]]
        of.m_asleep[of.m_sleepers++] = slot;
    }
    of.m_size = 0;
  }

  /// Leaves the lock, and wakes the waiters of the run that sleep. Owner only.
  void unlock(run &of) noexcept {
    base::unlock();
    unless(bug::delegation_sleepers_forgotten, [&] {
      for (std::size_t i = 0; i != of.m_sleepers; ++i)
        base::wake(of.m_asleep[i]);
    }); // I4
  }

 private:
  struct alignas(k_line) entry {
    typename P::template atomic<std::uint64_t> word{0};
  };
  struct alignas(k_line) result {
    typename P::template var<std::uint64_t> ticket{0}; // tickets start at the number of slots
    typename P::template var<T> item{};
  };

  const std::size_t m_size;
  const std::unique_ptr<entry[]> m_waiting;
  const std::unique_ptr<result[]> m_results;
};

} // namespace rt
} // namespace weft::inline v0
