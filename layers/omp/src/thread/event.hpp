// SPDX-License-Identifier: Apache-2.0
// Waiting on a 32-bit word, as futexes do, for OpenMP threads: the worker below goes on with other threads.
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

struct thread;

/// Returns at once when the word is not `value`, else after a wake-up, or for no reason.
void wait_while(thread &me, const std::atomic<std::uint32_t> &word, std::uint32_t value) noexcept;
void wake_one(thread *me, const std::atomic<std::uint32_t> &word) noexcept;
void wake_all(thread *me, const std::atomic<std::uint32_t> &word) noexcept;

/// The word of a lock: 0 free, 1 held, 2 held and perhaps waited for.
//
// Invariants  I1  Who waits has marked the word, and so has who was woken and took the lock: others may wait still.
// Orders      O1  compare_exchange and exchange acquire, with O2.
//             O2  exchange release.
// Checked by  tests/model/omp_wait_models.cpp: omp_event_lock_*
template <class P = real_atomics>
class lock_state {
 public:
  using word = typename P::template atomic<std::uint32_t>;
  static constexpr std::uint32_t k_marked = 2;

  [[nodiscard]] bool try_take() noexcept {
    std::uint32_t free = 0;
    return m_word.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed); // O1
  }
  /// False: whoever holds the lock will wake somebody. The caller waits while the word is k_marked, and tries again.
  [[nodiscard]] bool take_or_mark() noexcept {
    return m_word.exchange(mutant(bug::omp_lock_unmarked) ? 1 : k_marked, std::memory_order_acquire) == 0; // O1, I1
  }
  /// True: somebody may wait.
  [[nodiscard]] bool give_up() noexcept { return m_word.exchange(0, std::memory_order_release) == k_marked; } // O2
  [[nodiscard]] bool seems_free() const noexcept { return m_word.load(std::memory_order_relaxed) == 0; }
  void clear() noexcept { m_word.store(0, std::memory_order_relaxed); }
  [[nodiscard]] const word &state_word() const noexcept { return m_word; }

 private:
  word m_word{0};
};

/// A lock in one word, zero while it is free; who waits suspends.
class word_lock {
 public:
  static word_lock &at(void *memory) noexcept { return *static_cast<word_lock *>(memory); }
  void lock(thread &me) noexcept;
  [[nodiscard]] bool try_lock() noexcept { return m_state.try_take(); }
  void unlock(thread &me) noexcept;
  void clear() noexcept { m_state.clear(); }

 private:
  lock_state<> m_state;
};
static_assert(sizeof(word_lock) == 4);

} // namespace weft_omp
