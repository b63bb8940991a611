// SPDX-License-Identifier: Apache-2.0
// Semaphores that suspend the task, not the core.
#pragma once

#include <weft/detail/async.hpp>
#include <weft/detail/sync_words.hpp>

#include <chrono>
#include <cstddef>
#include <stop_token>

namespace weft::inline v0 {

namespace detail {

/// Holds what semaphores of every limit share.
class WEFT_API semaphore_base {
 public:
  constexpr explicit semaphore_base(std::ptrdiff_t count)
      : m_state(checked_count("the units that a weft::counting_semaphore begins with", count)) {}
  semaphore_base(const semaphore_base &) = delete;
  semaphore_base &operator=(const semaphore_base &) = delete;

 protected:
  ~semaphore_base() = default;
  [[nodiscard]] bool try_take() noexcept { return m_state.try_take(); }
  void take() {
    if (!m_state.try_take())
      (void)take_slow({});
  }
  [[nodiscard]] bool take(const wait_limit &limit) {
    return m_state.try_take() || take_slow(limit);
  }
  void give(std::ptrdiff_t count) {
    count = checked_count("the units that are given to a weft::counting_semaphore", count);
    if (!m_state.try_give(count))
      give_slow(count);
  }
  template <bool MayEnd>
  [[nodiscard]] auto awaits(const wait_limit &limit) noexcept {
    return async_take<semaphore_state<>, async_kind::semaphore, MayEnd>(m_state, limit);
  }

 private:
  bool take_slow(const wait_limit &limit);
  void give_slow(std::ptrdiff_t count);
  semaphore_state<> m_state;
};

} // namespace detail

/// Counts units that tasks and threads take and give back: a taker that finds none is suspended, and
/// its worker goes on. The interface is that of std::counting_semaphore, with waits that a stop
/// request ends. Takers get their units first come, first served.
///
/// Cost. One atomic operation while no taker waits. 16 bytes.
/// Threads. Any. A task that was let in may destroy the semaphore, although the call of release()
/// has not returned.
/// Errors. invalid_argument for counts below 0 or above max(), and of release() where there would be more
/// than max(): then no unit was given. Of calls that wait: no_block in a service or an onready function;
/// out_of_resources when no stack is left to go on with; shut_down. Then no unit was taken.
/// Source. ISO C++20, [thread.sema].
template <std::ptrdiff_t LeastMax = PTRDIFF_MAX / 2>
class counting_semaphore : detail::semaphore_base {
 public:
  static_assert(LeastMax >= 0 && LeastMax <= PTRDIFF_MAX / 2,
                "a semaphore counts to half of PTRDIFF_MAX");

  /// Makes a semaphore with `count` units.
  constexpr explicit counting_semaphore(std::ptrdiff_t count) : semaphore_base(count) {}
  /// Returns how many units there may be at least.
  [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept { return PTRDIFF_MAX / 2; }

  /// Gives `count` units back, and lets as many waiters go on.
  void release(std::ptrdiff_t count = 1) { give(count); }
  /// Takes a unit, and waits for one if there is none.
  void acquire() { take(); }
  /// Takes a unit unless a stop is requested first. Returns whether it has one.
  [[nodiscard]] bool acquire(const std::stop_token &stop) { return take({UINT64_MAX, &stop}); }
  /// Takes a unit if there is one. Never suspends.
  [[nodiscard]] bool try_acquire() noexcept { return try_take(); }
  /// Takes a unit, and waits for one no longer than `most`. Returns whether it has one.
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period> &most) {
    return take(detail::limit_of(most));
  }
  /// Takes a unit, and waits for one until `time`. Returns whether it has one.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &time) {
    return detail::wait_until_time(time,
                                   [this](const detail::wait_limit &limit) { return take(limit); });
  }

  /// @{ Lets a coroutine take a unit: `co_await s.async_acquire()`. No stack waits. The token
  /// lives until the await is over.
  ///
  /// Errors. Of the await: out_of_resources.
  [[nodiscard]] auto async_acquire() noexcept { return this->template awaits<false>({}); }
  [[nodiscard]] auto async_acquire(const std::stop_token &stop) noexcept {
    return this->template awaits<true>({UINT64_MAX, &stop});
  }
  template <class Rep, class Period>
  [[nodiscard]] auto async_try_acquire_for(const std::chrono::duration<Rep, Period> &most) {
    return this->template awaits<true>(detail::limit_of(most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] auto async_try_acquire_until(const std::chrono::time_point<Clock, Duration> &time) {
    return detail::await_until(time, [this](const detail::wait_limit &limit) {
      return this->template awaits<true>(limit);
    });
  }
  /// @}
};

using binary_semaphore = counting_semaphore<1>; ///< one that needs to count to 1 only

} // namespace weft::inline v0
