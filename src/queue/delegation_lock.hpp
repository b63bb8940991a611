// SPDX-License-Identifier: Apache-2.0
// Delegation ticket lock: a waiter leaves its id, and the owner may hand it a result instead of the
// lock. If the owner leaves instead, the next waiter gets the lock.
//
// Roles       Any thread: lock, try_lock, lock_or_delegate(id, item). The owner, which has the
//             lock: unlock, empty, front, set_item, pop_front. Only one thread at a time uses an
//             id.
// Word        The ticket lock's m_head, turns and m_tail (the next ticket that may enter).
//             waiting[ticket % slots] = ticket + id, written by lock_or_delegate; lock and try_lock
//             write no entry, so their callers never get a result. There are at least as many slots
//             as ids. result[id] = {ticket, item}, written by the owner for the waiter that has
//             this ticket: a waiter whose turn comes has an item if result[id] names its ticket,
//             else the lock. m_front, of the owner: the id that empty found.
// Invariants  I1  While ticket t holds the lock, m_tail == t + 1. pop_front gives the turn to
//                 ticket m_tail and increments m_tail: the owner keeps the lock, and goes on as if
//                 it had the ticket of the waiter that left with an item. (The paper's Listing 4
//                 increments the tail once more on entry, and deadlocks.)
//             I2  The entry of m_tail's slot is valid exactly if 0 <= entry - m_tail < ids. An
//                 entry of an earlier round is below this range, an entry of a later round a whole
//                 round above. So threads beyond the slots may overwrite an entry: the waiter that
//                 wrote the entry then gets the lock instead of a result, and nothing is lost.
//             I3  The owner writes result[id] only while the thread of that id waits with the
//                 ticket m_tail.
// Orders      O1, O2 as in ticket_lock.hpp (turn load acquire; turn exchange release, in pop_front,
//             too): they also carry result[id] to the waiter.
//             O3  waiting store release, with O4: the owner writes result[id] after the waiter's
//                 last read of result[id], which is in the waiter's previous call. Relaxed (as in
//                 Nanos6): a race on result[id]. So the owner also sees what the waiter wrote
//                 before its call, such as the wish of delegated_queue.hpp.
//             O4  waiting load acquire, with O3.
// Progress    Blocking; FIFO. empty, front, set_item and pop_front are wait-free.
// Reclamation As ticket_lock.
// Source      Alvarez et al., PPoPP 2021, Listing 4, without its second increment of the tail, and
//             with a check of the entry's upper bound (there, more threads than slots corrupt
//             front()).
// Checked by  tests/model/lock_models.cpp: delegation_lock_*, listing4_*
#pragma once

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
  /// holder filled in `item`: the caller then does not hold the lock.
  [[nodiscard]] delegation lock_or_delegate(std::size_t id, T &item) noexcept {
    check_id("delegation_lock", id, m_size);
    const std::uint64_t ticket = base::take_ticket();
    m_waiting[base::slot_index(ticket)].word.store(
        ticket + id, order_unless(bug::delegation_log_relaxed, std::memory_order_release)); // O3
    base::wait_turn(ticket);
    if (unless(bug::delegation_result_for_nobody, m_results[id].ticket.get() != ticket))
      return unless(bug::delegation_tail_increment, delegation::owner, [&](delegation owner) {
        base::skip_ticket();
        return owner;
      });
    item = m_results[id].item.get();
    return delegation::delegated;
  }

  /// Returns whether the owner sees no waiter. Owner only. A waiter may be on its way in.
  [[nodiscard]] bool empty() noexcept {
    const std::uint64_t ticket = base::next_ticket();
    const std::uint64_t entry = m_waiting[base::slot_index(ticket)].word.load(
        order_unless(bug::delegation_log_relaxed, std::memory_order_acquire)); // O4
    m_front.set(static_cast<std::size_t>(entry - ticket));
    return unless(bug::delegation_no_upper_bound, entry - ticket >= m_size, entry < ticket);
  }

  /// Returns the id of the waiter that the last empty() == false saw. Owner only.
  [[nodiscard]] std::size_t front() const noexcept { return m_front.get(); }

  /// Sets the result for front(). Owner only.
  void set_item(std::size_t id, T item) noexcept {
    check_id("delegation_lock", id, m_size);
    m_results[id].item.set(item);
    m_results[id].ticket.set(base::next_ticket());
  }

  /// Sends front() away with its result. Owner only; the owner keeps the lock.
  void pop_front() noexcept { base::unlock(); }

 private:
  struct alignas(k_line) entry {
    typename P::template atomic<std::uint64_t> word{0};
  };
  struct alignas(k_line) result {
    typename P::template var<std::uint64_t> ticket{0}; // tickets start at the number of slots
    typename P::template var<T> item{};
  };

  const std::size_t m_size;
  typename P::template var<std::size_t> m_front{0}; // owner only
  const std::unique_ptr<entry[]> m_waiting;
  const std::unique_ptr<result[]> m_results;
};

} // namespace rt
} // namespace weft::inline v0
