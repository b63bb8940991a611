// SPDX-License-Identifier: Apache-2.0
// Whether a thread of the program was asked to stand aside, or does: it sleeps for a while, so that others get its cpu.
//
// Roles       The watcher asks, withdraws and recalls. The thread itself stands aside, in a signal handler.
// Word        runs, asked, aside; what the thread sleeps on.
// Invariants  I1  Only a thread that was asked stands aside, once for each time.
//             I2  After recall() it does not sleep until it is asked again; whoever sleeps is woken.
// Orders      All relaxed: nothing but the word is handed over.
// Progress    Wait-free but for the sleep, which has a deadline.
// Checked by  tests/model/aside_models.cpp
#pragma once

#include <cstdint>

#include "atomic/atomic.hpp"
#include "base/mutant.hpp"

namespace weft::inline v0 {
namespace rt {

template <class P = real_atomics>
struct aside {
  using word = typename P::template atomic<std::uint32_t>;
  static constexpr std::uint32_t k_runs = 0, k_asked = 1, k_aside = 2;

  static void ask(word &w) noexcept {
    std::uint32_t runs = k_runs;
    w.compare_exchange_strong(runs, k_asked, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  /// Who has not done it yet need not.
  static void withdraw(word &w) noexcept {
    std::uint32_t asked = k_asked;
    w.compare_exchange_strong(asked, k_runs, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  static void recall(word &w) noexcept {
    if (w.exchange(k_runs, std::memory_order_relaxed) == k_aside && !mutant(bug::aside_recalled_silently)) // I2
      P::futex_wake(w, 1);
  }
  [[nodiscard]] static bool stands(const word &w) noexcept { return w.load(std::memory_order_relaxed) == k_aside; }

  /// False: it was not asked.
  static bool stand(word &w, std::int64_t deadline_ns) noexcept {
    std::uint32_t asked = k_asked;
    if (!w.compare_exchange_strong(asked, k_aside, std::memory_order_relaxed, std::memory_order_relaxed)) // I1
      return false;
    while (stands(w) && P::futex_wait(w, k_aside, deadline_ns)) {
    }
    std::uint32_t still = k_aside; // its time is over
    w.compare_exchange_strong(still, k_runs, std::memory_order_relaxed, std::memory_order_relaxed);
    return true;
  }
};

} // namespace rt
} // namespace weft::inline v0
