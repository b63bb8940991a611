// SPDX-License-Identifier: Apache-2.0
// The word that says whether an external thread was asked to suspend itself, or is suspended. A
// suspended thread sleeps for a while, so that other threads get its cpu.
//
// Roles       The watcher: ask, withdraw, recall. The external thread: suspend, in a signal
//             handler.
// Word        runs, asked or suspended. The thread sleeps on it.
// Invariants  I1  Only a thread that was asked suspends itself, once for each time.
//             I2  recall() wakes a suspended thread, and the thread does not sleep until it is
//                 asked again.
// Orders      All relaxed: the word hands over nothing but itself.
// Progress    Wait-free but for the sleep, which has a deadline.
// Checked by  tests/model/external_thread_models.cpp
#pragma once

#include <cstdint>

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
struct suspend_word {
  using word = typename P::template atomic<std::uint32_t>;
  static constexpr std::uint32_t k_runs = 0, k_asked = 1, k_suspended = 2;

  static void ask(word &state) noexcept {
    std::uint32_t runs = k_runs;
    state.compare_exchange_strong(runs, k_asked, std::memory_order_relaxed,
                                  std::memory_order_relaxed);
  }
  /// Takes the request back: a thread that has not suspended itself yet does not do it.
  static void withdraw(word &state) noexcept {
    std::uint32_t asked = k_asked;
    state.compare_exchange_strong(asked, k_runs, std::memory_order_relaxed,
                                  std::memory_order_relaxed);
  }
  static void recall(word &state) noexcept {
    if (unless(bug::suspended_recalled_silently,
               state.exchange(k_runs, std::memory_order_relaxed) == k_suspended)) // I2
      P::futex_wake(state, 1);
  }
  [[nodiscard]] static bool is_suspended(const word &state) noexcept {
    return state.load(std::memory_order_relaxed) == k_suspended;
  }

  /// Suspends the calling thread until recall() or the deadline. Returns false if it was not asked.
  static bool suspend(word &state, std::int64_t deadline_ns) noexcept {
    std::uint32_t asked = k_asked;
    if (!state.compare_exchange_strong(asked, k_suspended, std::memory_order_relaxed,
                                       std::memory_order_relaxed)) // I1
      return false;
    while (is_suspended(state) && P::futex_wait(state, k_suspended, deadline_ns)) {
    }
    std::uint32_t still = k_suspended; // the deadline has passed
    state.compare_exchange_strong(still, k_runs, std::memory_order_relaxed,
                                  std::memory_order_relaxed);
    return true;
  }
};

} // namespace rt
} // namespace weft::inline v0
