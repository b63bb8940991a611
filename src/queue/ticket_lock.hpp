// SPDX-License-Identifier: Apache-2.0
// Partitioned ticket lock: FIFO. Each waiter looks at a slot (a cache line) of its own, and a
// holder wakes sleepers one by one.
//
// Roles       Any thread. The thread that holds the lock, the holder, calls unlock.
// Word        m_head: the next ticket to give out. m_tail: the ticket that may enter after the
//             holder's; not shared (I1). A ticket belongs to slot i if it is i modulo the number of
//             slots. `turn` of slot i: the youngest of the slot's tickets that has been let in.
//             Bits 1 to 31 hold the low 31 bits of that ticket. Bit 0 says that a waiter may sleep
//             on the slot.
// Invariants  I1  While ticket t holds the lock, m_tail == t + 1, and only the holder touches
//                 m_tail. unlock adds one to m_tail and lets ticket t + 1 in, if a thread has drawn
//                 that ticket or not.
//             I2  A slot passes through its tickets in order, and does not pass a holder before the
//                 holder has left. The slot may pass a waiter whose result was delegated
//                 (delegation_lock.hpp); that waiter then sees a later turn. So a waiter asks
//                 whether the slot has reached its ticket, by the sign of the difference. 31 bits
//                 are enough for this while fewer than 2^30 turns pass meanwhile.
//             I3  More waiters than slots share slots: a wake-up wakes all sleepers of the slot,
//                 and those whose turn it is not set bit 0 again.
//             I4  A waiter sets bit 0 only by a compare-exchange on the value that it saw, and
//                 sleeps only while the word has that value with bit 0. Only the exchange that
//                 moves the slot on clears bit 0, and its result says whether to wake. So no
//                 sleeper is missed.
// Orders      O1  turn load acquire (waiters, try_lock), with O2: the new holder sees what the last
//                 holder wrote. try_lock needs the acquire here and not on its compare-exchange:
//                 the last holder releases through the slot, not through m_head.
//             O2  turn exchange release, with O1.
//             Everything else is relaxed: m_head only numbers, and a waiter that sets bit 0
//             continues O2's release sequence.
// Progress    Blocking; starvation-free.
// Reclamation The lock must outlive every unlock call. A wake-up may touch a slot after the next
//             holder has entered.
// Source      Dice's partitioned ticket lock in the form of Alvarez et al., PPoPP 2021, Listing 3.
//             Here the slots have 32 bits and a sleeper bit. A FIFO hand-over to a preempted waiter
//             stalls all waiters, so waiters must park.
// Checked by  tests/model/lock_models.cpp: ticket_lock_*
#pragma once

#include <bit>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
class ticket_lock {
 public:
  /// Makes a free lock. `slots` is rounded up to a power of two. As many slots as cpus keep every
  /// waiter on a line of its own.
  explicit ticket_lock(std::size_t slots = 64)
      : m_count(std::bit_ceil(slots ? slots : 1)), m_slots(std::make_unique<slot[]>(m_count)),
        m_head(m_count) {
    m_tail.set(m_count + 1);
    for (std::size_t i = 0; i < m_count;
         ++i) // ticket m_count may enter; the other slots are one round back
      m_slots[i].turn.store(turn_of(i == 0 ? m_count : i), std::memory_order_relaxed);
  }

  ticket_lock(const ticket_lock &) = delete;
  ticket_lock &operator=(const ticket_lock &) = delete;

  /// Returns whether the thread has slept for the lock.
  bool lock() noexcept { return wait_turn(take_ticket()); }

  [[nodiscard]] bool try_lock() noexcept {
    std::uint64_t ticket = m_head.load(std::memory_order_relaxed);
    const std::uint32_t turn = slot_of(ticket).turn.load(
        order_unless(bug::ticket_try_acquires_late, std::memory_order_acquire)); // O1
    if (!reached(turn, ticket))
      return false;
    return m_head.compare_exchange_strong(
        ticket, ticket + 1,
        unless(bug::ticket_try_acquires_late, std::memory_order_relaxed,
               std::memory_order_acquire), // O1 in the wrong place
        std::memory_order_relaxed);
  }

  void unlock() noexcept {
    const std::uint64_t next = next_ticket();
    if (let_next_in()) [[unlikely]]
      wake(slot_index(next));
  }

 protected:
  /// Lets the next ticket in. Returns whether the caller must wake the sleepers of its slot.
  [[nodiscard]] bool let_next_in() noexcept {
    const std::uint64_t next = next_ticket();
    skip_ticket();
    const std::uint32_t before = slot_of(next).turn.exchange(
        turn_of(next), order_unless(bug::ticket_turn_relaxed, std::memory_order_release)); // O2
    return unless(bug::ticket_wakes_nobody, before & k_sleeper);
  }
  /// Wakes the sleepers of a slot. The caller need not hold the lock any more.
  void wake(std::size_t slot) noexcept {
    P::futex_wake(m_slots[slot].turn, unless(bug::ticket_wakes_one, INT_MAX, 1));
  }

  std::uint64_t take_ticket() noexcept { return m_head.fetch_add(1, std::memory_order_relaxed); }

  /// Waits for the turn of the ticket. Returns whether the thread has slept.
  bool wait_turn(std::uint64_t ticket) noexcept {
    auto &turn = slot_of(ticket).turn;
    for (int spins = 0; spins < P::k_spins; ++spins) {
      if (reached(turn.load(std::memory_order_acquire), ticket)) // O1
        return false;
      P::pause();
    }
    return park(turn, ticket);
  }

  std::size_t slot_index(std::uint64_t ticket) const noexcept { return ticket & (m_count - 1); }
  std::size_t slot_count() const noexcept { return m_count; }
  std::uint64_t next_ticket() const noexcept { return m_tail.get(); } // holder only
  void skip_ticket() noexcept { m_tail.set(m_tail.get() + 1); } // holder only

 private:
  using word = typename P::template atomic<std::uint32_t>;
  struct alignas(k_line) slot {
    word turn{0};
  };
  static constexpr std::uint32_t k_sleeper = 1;

  static std::uint32_t turn_of(std::uint64_t ticket) noexcept {
    return static_cast<std::uint32_t>(ticket << 1);
  }
  static bool reached(std::uint32_t turn, std::uint64_t ticket) noexcept {
    return static_cast<std::int32_t>((turn & ~k_sleeper) - turn_of(ticket)) >= 0;
  }
  slot &slot_of(std::uint64_t ticket) noexcept { return m_slots[slot_index(ticket)]; }

  [[gnu::noinline]] bool park(word &turn, std::uint64_t ticket) noexcept {
    for (bool slept = false;;) {
      std::uint32_t seen = turn.load(std::memory_order_acquire); // O1
      if (reached(seen, ticket))
        return slept;
      if (!(seen & k_sleeper) &&
          !turn.compare_exchange_strong(seen, seen | k_sleeper, std::memory_order_relaxed,
                                        std::memory_order_relaxed))
        continue;
      P::futex_wait(turn, seen | k_sleeper);
      slept = true;
    }
  }

  const std::size_t m_count;
  const std::unique_ptr<slot[]> m_slots;
  alignas(k_apart) typename P::template atomic<std::uint64_t> m_head; // every thread that locks
  alignas(k_apart) typename P::template var<std::uint64_t> m_tail; // the holder
};

} // namespace rt
} // namespace weft::inline v0
