// SPDX-License-Identifier: Apache-2.0
// The state of weft::mutex and its uncontended side. The protocol, with the orders O1 and O2 named here, is in
// src/task/wait/lock_queue.hpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace detail {

/// Gives the protocol its access to memory. The tests put a model checker in its place.
struct std_atomics {
  template <class T>
  using atomic = std::atomic<T>;
  template <class T>
  struct var {
    T value{};
    T get() const noexcept { return value; }
    void set(T to) noexcept { value = to; }
  };
};

template <class P = std_atomics>
struct lock_word {
  typename P::template atomic<void *> word{
      nullptr}; // null: free; odd: taken, see held(); else the newest waiter, taken
  typename P::template var<void *> queue{}; // waiters in order of arrival; of the holder

  /// Returns the word of a mutex that is taken and has no waiter. `by`: an address on the holder's
  /// stack or in its coroutine, for reports.
  static void *held(const void *by) noexcept {
    return reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(by) | 1);
  }
  static bool is_held(const void *seen) noexcept {
    return (reinterpret_cast<std::uintptr_t>(seen) & 1) != 0;
  }

  [[nodiscard, gnu::always_inline]] bool
  try_take(const void *by = __builtin_frame_address(0)) noexcept {
    void *seen = nullptr;
    return word.compare_exchange_strong(seen, held(by),
                                        std::memory_order_acquire, // O1
                                        std::memory_order_relaxed);
  }
  /// Frees the mutex; the holder calls it. False: a waiter exists.
  [[nodiscard]] bool try_give_up() noexcept {
    void *seen = word.load(std::memory_order_relaxed);
    return is_held(seen) && !queue.get() && // a waiter in the queue is no longer in the word
           word.compare_exchange_strong(seen, nullptr, std::memory_order_release,
                                        std::memory_order_relaxed); // O2
  }
};

} // namespace detail
} // namespace weft::inline v0
