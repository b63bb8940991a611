// SPDX-License-Identifier: Apache-2.0
// Counts the tasks that a waiter or a parent still waits for.
//
// Roles       Owner: the frame that spawns and waits; it adds, asks done, settles and resets.
//             Canceller: what ends a wait early; it takes the settlement of a waiting owner back.
//             Remover: any other thread; it removes what has ended.
//             Non-owner: a thread that spawns into the same scope; it adds through the shared word.
//             Observer: a thread that asks settled.
// Words       m_word: before the owner settles -k_bias + (added by non-owners) - (removed by
//             removers); after that, the number outstanding.
//             `owned`: spawned by the owner, less those that it ran on its own stack, which no
//             remover counts; modulo 2^32, because an owner may spawn for ever before it waits. It
//             is an argument here, and a plain field of the caller that only the owner uses:
//             task::owned_children, for example.
//             settle() makes m_word the number outstanding. done() says, before that, whether the
//             number is zero. withdraw() takes k_bias + owned away again, while something is
//             outstanding. reset() begins anew at -k_bias when nothing is.
// Invariants  I1  Before settle() m_word <= -k_bias + (added by non-owners) < 0, as fewer than
//                 k_bias are ever added by non-owners, so no remove() returns true.
//             I2  After settle() m_word is exactly the number outstanding. Exactly one remove(), or
//                 settle() itself, brings it to zero: if the last remover and the owner race, the
//                 one whose read-modify-write is second.
//             I3  A non-owner adds only while something of the scope that it runs in is
//                 outstanding, so the word cannot come back from zero.
//             I4  Of remove() to zero and withdraw() exactly one succeeds, and acts for the owner,
//                 which does nothing until then. Of several cancellers the first one succeeds: the word
//                 is negative for the others. The owner settles anew only when none of them is left.
//             I5  Fewer than 2^32 are outstanding at any time. k_bias is a multiple of 2^32, so before
//                 settle() m_word + owned, modulo 2^32, is the number outstanding, however often
//                 `owned` has wrapped.
// Orders      O1  remove: acq_rel. Release hands over what the finished task wrote. Acquire lets
//                 the remover that reaches zero act on what all earlier removers wrote.
//             O2  settle: acq_rel. Release pairs with O1's acquire: the remover that reaches zero
//                 sees the waiter that the owner has stored before. Acquire pairs with O1's release
//                 when settle itself finds zero. Its load is relaxed: the value that it sees says with
//                 `owned` how many were outstanding then (I5), and so what has to be added to any
//                 later value.
//             O3  done: acquire, pairs with O1's release. settled: acquire, pairs with
//                 O2's release; an observer calls it.
//             O4  add by a non-owner: relaxed; the non-owner's own later remove() publishes.
//             O5  withdraw: relaxed. What lets the owner go on orders it; the additions and removals
//                 before it stay in the word's release sequence for O2 and O3.
//             reset is relaxed: the owner is alone, and what it spawns later publishes the store.
//             A worker that runs several children of one parent, one after the other, may remove
//             them at once. It removes them before it runs a task of another parent or of a group,
//             applies messages, or waits for work.
// Progress    Wait-free.
// Reclamation A remover that did not reach zero does not touch the scope again.
// Source      Own; the bias is the trick of Rayon's and Go's counters.
// Checked by  tests/model/completion_models.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// Counts for one scope. The shared half is on a cache line that the owner's spawns do not write;
/// see task.hpp for the layout.
template <class P = real_atomics>
class completion_word {
 public:
  static constexpr std::int64_t k_bias = std::int64_t{1} << 48; // I5

  void add_by_non_owner(std::int64_t n = 1) noexcept {
    m_word.fetch_add(n, std::memory_order_relaxed);
  } // O4

  /// Removes `n`. True: the word reached zero, and the caller acts for all removers.
  [[nodiscard]] bool remove(std::int64_t n = 1) noexcept {
    const std::int64_t before = m_word.fetch_sub(
        n, order_unless(bug::completion_remove_relaxed, std::memory_order_acq_rel)); // O1
    return unless(bug::completion_read_again, before == n,
                  [&] { return m_word.load(std::memory_order_acquire) == 0; }); // O1
  }

  /// Ends the owner's additions and makes `owned` visible to the removers. True: nothing is
  /// outstanding.
  [[nodiscard]] bool settle(std::uint32_t owned) noexcept {
    const std::int64_t seen = m_word.load(std::memory_order_relaxed); // O2
    const std::int64_t added =
        unless(bug::completion_settles_wrapped, left_of(seen, owned) - seen, k_bias + owned); // I5
    return m_word.fetch_add(added, std::memory_order_acq_rel) + added == 0; // O2
  }

  /// Takes settle(owned) back. False: nothing is outstanding, and the remover that brought the word
  /// to zero acts, or another canceller was first.
  [[nodiscard]] bool withdraw(std::uint32_t owned) noexcept {
    std::int64_t seen = m_word.load(std::memory_order_relaxed); // O5
    do {
      if (unless(bug::completion_withdraws_zero, seen <= 0, seen < 0)) // I4
        return false;
    } while (!m_word.compare_exchange_weak(seen, seen - k_bias - owned, std::memory_order_relaxed,
                                           std::memory_order_relaxed)); // O5
    return true;
  }

  /// Returns whether everything that was added has been removed. Only the owner calls it, before
  /// settle().
  [[nodiscard]] bool done(std::uint32_t owned) const noexcept {
    return left_of(m_word.load(std::memory_order_acquire), owned) == 0; // O3: pairs with remove
  }

  /// Returns whether the owner has settled: it waits, or has ended.
  [[nodiscard]] bool settled() const noexcept {
    return m_word.load(std::memory_order_acquire) >= 0;
  } // O3: what settle published

  /// Returns the number outstanding. For an observer that has found the owner settled.
  [[nodiscard]] std::int64_t left() const noexcept {
    return m_word.load(std::memory_order_acquire); // O3
  }

  /// Makes the word new. The owner calls it when nothing is outstanding.
  void reset() noexcept { m_word.store(-k_bias, std::memory_order_relaxed); } // owner is alone

 private:
  static std::uint32_t left_of(std::int64_t unsettled, std::uint32_t owned) noexcept {
    return static_cast<std::uint32_t>(unsettled) + owned;
  } // I5

  typename P::template atomic<std::int64_t> m_word{-k_bias};
};

} // namespace rt
} // namespace weft::inline v0
