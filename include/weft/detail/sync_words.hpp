// SPDX-License-Identifier: Apache-2.0
// The states of the synchronization objects and their uncontended sides. The protocols, with the orders named here, are in
// src/sync. Not for users: it changes with the version.
#pragma once

#include <weft/detail/wait_list.hpp>

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace detail {

/// Is the largest count of a semaphore and of a latch: twice as much is still a number.
inline constexpr std::ptrdiff_t k_most_count = PTRDIFF_MAX / 2;
/// Refuses a count of `what` that is below 0 or above the largest one.
[[noreturn]] WEFT_API void refuse_count(const char *what, std::ptrdiff_t count);
/// Returns `count` where it may be one of `what`.
[[nodiscard]] constexpr std::ptrdiff_t checked_count(const char *what, std::ptrdiff_t count) {
  if (count < 0 || count > k_most_count)
    refuse_count(what, count);
  return count;
}

/// Holds the state that is described in src/sync/semaphore.hpp.
template <class P = std_atomics>
struct semaphore_state {
  typename P::template atomic<std::int64_t> word; // twice the count, or 1: there are waiters
  wait_list<P> waiters;

  constexpr explicit semaphore_state(std::int64_t count) noexcept : word(count * 2) {}
  [[nodiscard]] bool try_take() noexcept {
    std::int64_t seen = word.load(std::memory_order_relaxed);
    while (seen >= 2)
      if (word.compare_exchange_weak(seen, seen - 2, std::memory_order_acquire,
                                     std::memory_order_relaxed)) // O1
        return true;
    return false;
  }
  /// Gives `count` back. False: there are waiters, or the count would be above the largest one, and
  /// nothing was given.
  [[nodiscard]] bool try_give(std::int64_t count) noexcept {
    std::int64_t seen = word.load(std::memory_order_relaxed);
    while ((seen & 1) == 0 && seen <= 2 * (k_most_count - count))
      if (word.compare_exchange_weak(seen, seen + 2 * count, std::memory_order_release,
                                     std::memory_order_relaxed)) // O2
        return true;
    return false;
  }
};

/// Holds the state that is described in src/sync/latch.hpp.
template <class P = std_atomics>
struct latch_state {
  typename P::template atomic<std::int64_t> word; // twice the count, plus 1 if there are waiters
  wait_list<P> waiters;

  constexpr explicit latch_state(std::int64_t count) noexcept : word(count * 2) {}
  [[nodiscard]] bool is_down() const noexcept {
    return word.load(std::memory_order_acquire) == 0; // O2
  }
};

/// Holds the state that is described in src/sync/event.hpp.
template <class P = std_atomics>
struct event_state {
  static constexpr std::uint32_t k_clear = 0, k_awaited = 1, k_set = 2;
  typename P::template atomic<std::uint32_t> word{k_clear};
  wait_list<P> waiters;

  [[nodiscard]] bool is_set() const noexcept {
    return word.load(std::memory_order_acquire) == k_set; // O2
  }
  /// Sets the event. False: there are waiters, and it is not set.
  [[nodiscard]] bool try_set() noexcept {
    std::uint32_t seen = word.load(std::memory_order_relaxed);
    while (seen != k_awaited)
      if (word.compare_exchange_weak(seen, k_set, std::memory_order_release,
                                     std::memory_order_relaxed)) // O1
        return true;
    return false;
  }
  void clear() noexcept {
    std::uint32_t seen = k_set;
    word.compare_exchange_strong(seen, k_clear, std::memory_order_acquire,
                                 std::memory_order_relaxed); // O2
  }
};

/// Holds the state that is described in src/sync/shared_lock.hpp.
template <class P = std_atomics>
struct shared_lock_state {
  static constexpr std::uint64_t k_exclusive = 1, k_waiters = 2, k_one_shared = 4;
  typename P::template atomic<std::uint64_t> word{0};
  wait_list<P> waiters;

  /// Returns the word of a lock that a writer has. `by`: an address on the writer's stack or in its
  /// coroutine, or the writer's task, for reports.
  static std::uint64_t exclusive(const void *by) noexcept {
    return (reinterpret_cast<std::uintptr_t>(by) & ~std::uintptr_t{3}) | k_exclusive;
  }
  [[nodiscard]] bool try_take(const void *by = __builtin_frame_address(0)) noexcept {
    std::uint64_t seen = 0;
    return word.compare_exchange_strong(seen, exclusive(by), std::memory_order_acquire,
                                        std::memory_order_relaxed); // O1
  }
  [[nodiscard]] bool try_take_shared() noexcept {
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    while ((seen & (k_exclusive | k_waiters)) == 0)
      if (word.compare_exchange_weak(seen, seen + k_one_shared, std::memory_order_acquire,
                                     std::memory_order_relaxed)) // O1
        return true;
    return false;
  }
  /// False: there are waiters, or the lock is not taken so.
  [[nodiscard]] bool try_give_up() noexcept {
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    return (seen & (k_exclusive | k_waiters)) == k_exclusive &&
           word.compare_exchange_strong(seen, 0, std::memory_order_release,
                                        std::memory_order_relaxed); // O2
  }
  /// False: the caller is the last that holds it, and there are waiters; or it is not taken so.
  [[nodiscard]] bool try_give_up_shared() noexcept {
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    while ((seen & k_exclusive) == 0 && (seen >= 2 * k_one_shared || seen == k_one_shared))
      if (word.compare_exchange_weak(seen, seen - k_one_shared, std::memory_order_release,
                                     std::memory_order_relaxed)) // O2
        return true;
    return false;
  }
};

/// Holds the state that is described in src/sync/barrier.hpp.
template <class P = std_atomics>
struct barrier_state {
  typename P::template atomic<std::uint64_t> word; // the phase above, below those still to arrive
  typename P::template atomic<std::uint32_t> expected;
  wait_list<P> waiters;

  constexpr explicit barrier_state(std::uint32_t count) noexcept : word(count), expected(count) {}
  [[nodiscard]] static constexpr std::uint32_t phase_of(std::uint64_t seen) noexcept {
    return static_cast<std::uint32_t>(seen >> 32);
  }
  [[nodiscard]] bool is_over(std::uint32_t phase) const noexcept {
    return phase_of(word.load(std::memory_order_acquire)) != phase; // O2
  }
};

} // namespace detail
} // namespace weft::inline v0
