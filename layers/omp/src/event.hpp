// SPDX-License-Identifier: Apache-2.0
// Waiting on a 32-bit word, as futexes do, for OpenMP threads: the worker below goes on with other threads.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft_omp {

struct thread;

/// Returns at once when the word is not `value`, else after a wake-up, or for no reason.
void wait_while(thread &me, const std::atomic<std::uint32_t> &word, std::uint32_t value) noexcept;
void wake_one(thread *me, const std::atomic<std::uint32_t> &word) noexcept;
void wake_all(thread *me, const std::atomic<std::uint32_t> &word) noexcept;

/// A lock in one word, zero while it is free; who waits suspends.
//
// Word        0 free, 1 held, 2 held and perhaps waited for.
// Orders      O1  compare_exchange and exchange acquire, with O2.
//             O2  exchange release.
class word_lock {
 public:
  static word_lock &at(void *place) noexcept { return *static_cast<word_lock *>(place); }
  void lock(thread &me) noexcept;
  [[nodiscard]] bool try_lock() noexcept;
  void unlock(thread &me) noexcept;
  void clear() noexcept { m_word.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> m_word{0};
};
static_assert(sizeof(word_lock) == 4);

} // namespace weft_omp
