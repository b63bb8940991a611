// SPDX-License-Identifier: Apache-2.0
// Says whether something is awaited, and whether a poller looks for it.
//
// Roles       A waiter, or the sender of something that must be found: begin; end when it was found.
//             After begin() it sees to it that a poller looks: where watch() returns true, it enters
//             the object in the poller's list. The poller: forget.
// Word        m_word: 2 for each thing that is awaited, and 1 while the object is in the poller's
//             list.
// Invariants  I1  forget() succeeds only while nothing is awaited. A waiter that comes later finds
//                 the object unwatched, and enters it again.
//             I2  Of several waiters one enters the object.
// Orders      None: one word decides all, and what is awaited has orders of its own.
// Progress    Wait-free; forget may fail.
// Checked by  tests/model/layers/net_models.cpp: net_watch_*
#pragma once

#include "weft_net/sync/atomics.hpp"
#include "weft_net/sync/mutant.hpp"

#include <cstdint>

namespace weft_net {

template <class P = real_atomics>
class watch_word {
 public:
  /// Notes that something is awaited.
  void begin() noexcept { m_word.fetch_add(2, std::memory_order_relaxed); }
  /// Notes that it was found.
  void end() noexcept { m_word.fetch_sub(2, std::memory_order_relaxed); }
  /// Returns how much is awaited.
  [[nodiscard]] std::uint64_t awaited() const noexcept {
    return m_word.load(std::memory_order_relaxed) / 2;
  }

  /// Returns whether the caller must enter the object in the poller's list: something is awaited,
  /// and no poller looks for it.
  [[nodiscard]] bool watch() noexcept {
    const std::uint64_t seen = m_word.load(std::memory_order_relaxed);
    return seen >= 2 && (seen & 1) == 0 && (m_word.fetch_or(1, std::memory_order_relaxed) & 1) == 0;
  }
  /// Returns whether the poller may drop the object from its list, because nothing is awaited.
  [[nodiscard]] bool forget() noexcept {
    std::uint64_t expected = unless(
        bug::net_unwatched, [] { return k_listed; },
        [this] { return m_word.load(std::memory_order_relaxed) | 1; });
    return m_word.compare_exchange_strong(expected, expected & ~std::uint64_t{1},
                                          std::memory_order_relaxed, std::memory_order_relaxed);
  }
  /// Drops the object in any case: its owner ends it, or could not enter it.
  void unwatch() noexcept { m_word.fetch_and(~std::uint64_t{1}, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t k_listed = 1;
  typename P::template atomic<std::uint64_t> m_word{0};
};

} // namespace weft_net
