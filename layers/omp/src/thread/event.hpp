// SPDX-License-Identifier: Apache-2.0
// Waiting on a 32-bit word, as futexes do, for OpenMP threads. The worker below a waiter runs other
// threads.
#pragma once

#include "sync/atomics.hpp"
#include "sync/mutant.hpp"

#include <cstdint>

namespace weft_omp {

struct thread;

/// Waits while the word is `value`. Returns at once if it is not, else after a wake-up, or for no
/// reason.
void wait_while(thread &me, const std::atomic<std::uint32_t> &word, std::uint32_t value) noexcept;
void wake_one(thread *me, const std::atomic<std::uint32_t> &word) noexcept;
void wake_all(thread *me, const std::atomic<std::uint32_t> &word) noexcept;
/// In the child of a fork(): forgets the threads of the parent that wait.
void forget_sleepers() noexcept;

/// The word of a lock: 0 free, 1 held, 2 held and perhaps waited for.
//
// Roles       The holder: has the lock. A waiter: wants it.
// Invariants  I1  A waiter marks the word before it waits. A waiter that was woken and takes the
//                 lock marks it again, because others may still wait.
// Orders      O1  compare_exchange and exchange acquire, with O2.
//             O2  exchange release.
// Checked by  tests/model/layers/omp_wait_models.cpp: omp_event_lock_*
template <class P = real_atomics>
class lock_state {
 public:
  using word = typename P::template atomic<std::uint32_t>;
  static constexpr std::uint32_t k_marked = 2;

  [[nodiscard]] bool try_take() noexcept {
    std::uint32_t free = 0;
    return m_word.compare_exchange_strong(free, 1, std::memory_order_acquire,
                                          std::memory_order_relaxed); // O1
  }
  /// Takes the lock, or marks the word. Returns false if it marked the word: the holder will wake a
  /// waiter. The caller waits while the word is k_marked, and tries again.
  [[nodiscard]] bool take_or_mark() noexcept {
    return m_word.exchange(unless(bug::omp_lock_unmarked, k_marked, 1),
                           std::memory_order_acquire) == 0; // O1, I1
  }
  /// Gives up the lock. Returns true if threads may wait for it: the caller wakes one.
  [[nodiscard]] bool give_up() noexcept {
    return m_word.exchange(0, std::memory_order_release) == k_marked;
  } // O2
  [[nodiscard]] bool seems_free() const noexcept {
    return m_word.load(std::memory_order_relaxed) == 0;
  }
  void clear() noexcept { m_word.store(0, std::memory_order_relaxed); }
  [[nodiscard]] const word &state_word() const noexcept { return m_word; }

 private:
  word m_word{0};
};

/// A lock in one word, which is zero while the lock is free. A waiter suspends.
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
