// SPDX-License-Identifier: Apache-2.0
// Counts what a waiter or a parent still waits for.
//
// Roles: the owner (the frame that spawns and waits) adds and settles; anybody else removes; non-owners that spawn into the same
//   scope add through the shared word.
// Word: m_word = -k_bias + (added by non-owners) - (removed by others) before the owner settles, the number outstanding after.
//   m_owned: spawned by the owner and not yet settled or removed in place; plain, owner only.
// Invariants: I1 before settle() m_word <= -k_bias + additions of non-owners < 0, so no remove() returns true.
//   I2 after settle() m_word counts exactly what is outstanding; exactly one remove(), or settle() itself, brings it to zero.
//   I3 a non-owner adds only while something of the scope that it runs in is outstanding, so the word cannot come back from zero.
// Orders: O1 remove: acq_rel; release hands over what the finished task wrote, acquire lets the remover that reaches zero act on
//   what all the earlier ones wrote. O2 settle: acq_rel, release pairs with O1's acquire: who reaches zero sees the waiter that
//   the owner has put down before; acquire pairs with O1's release when settle itself finds zero. O3 done: acquire, pairs
//   with O1's release. O4 add by a non-owner: relaxed; its own later remove() is what publishes.
//   Whoever removes several at once (a worker that runs one child after the other) removes them before it does anything else.
// Progress: wait-free. Reclamation: a remover that did not reach zero must not touch the scope again.
// Source: own; the bias is the trick of Rayon's and Go's counters. Checked by: tests/model/completion_models.cpp
#pragma once

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {

/// The shared half is on a cache line that the owner's spawns do not write; see task.hpp for the layout.
template <class P = real_atomics>
class completion_word {
 public:
  static constexpr std::int64_t k_bias = std::int64_t{1} << 48;

  void add_by_non_owner(std::int64_t n = 1) noexcept { m_word.fetch_add(n, std::memory_order_relaxed); } // O4

  /// True: the word reached zero, the caller acts for all.
  [[nodiscard]] bool remove(std::int64_t n = 1) noexcept {
    const std::int64_t before = m_word.fetch_sub(n, order_unless(bug::completion_remove_relaxed, std::memory_order_acq_rel)); // O1
    if (mutant(bug::completion_read_again))
      return m_word.load(std::memory_order_acquire) == 0; // O1
    return before == n;
  }

  /// The owner stops adding; `owned` becomes visible to the removers. True: nothing is outstanding.
  [[nodiscard]] bool settle(std::int64_t owned) noexcept {
    return m_word.fetch_add(k_bias + owned, std::memory_order_acq_rel) + k_bias + owned == 0; // O2
  }

  /// Owner, before settle(): everything that was added has been removed.
  [[nodiscard]] bool done(std::int64_t owned) const noexcept {
    return m_word.load(std::memory_order_acquire) + k_bias + owned == 0; // O3: pairs with remove
  }

  /// While nothing runs: the owner waits, or has ended.
  [[nodiscard]] bool settled() const noexcept { return m_word.load(std::memory_order_acquire) >= 0; } // O3: what settle published

  /// Owner, when nothing is outstanding.
  void reset() noexcept { m_word.store(-k_bias, std::memory_order_relaxed); } // owner is alone

 private:
  typename P::template atomic<std::int64_t> m_word{-k_bias};
};

} // namespace rt
} // namespace weft::inline v0
