// SPDX-License-Identifier: Apache-2.0
// A latch that suspends the task, not the core.
#pragma once

#include <weft/detail/async.hpp>
#include <weft/detail/sync_words.hpp>

#include <chrono>
#include <cstddef>
#include <stop_token>

namespace weft::inline v0 {

/// Lets tasks and threads wait until it was counted down to 0, once. The interface is that of
/// std::latch, with waits that a deadline or a stop request ends.
///
/// Cost. One atomic operation for a count, one load for a wait that finds it down. 16 bytes.
/// Threads. Any. A task that has seen it down may destroy it, although the call of count_down() has
/// not returned.
/// Errors. invalid_argument for counts below 0, above max() and for more than is left. Of calls that wait: no_block
/// in a service or an onready function; out_of_resources; shut_down.
/// Source. ISO C++20, [thread.latch].
class WEFT_API latch {
 public:
  /// Makes a latch that `count` counts bring down.
  constexpr explicit latch(std::ptrdiff_t count)
      : m_state(detail::checked_count("the counts that a weft::latch begins with", count)) {}
  latch(const latch &) = delete;
  latch &operator=(const latch &) = delete;
  ~latch() = default;
  /// Returns the largest count.
  [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept { return PTRDIFF_MAX / 2; }

  /// Counts down. Never suspends.
  void count_down(std::ptrdiff_t count = 1);
  /// Returns whether the latch is down.
  [[nodiscard]] bool try_wait() const noexcept { return m_state.is_down(); }
  /// Waits until the latch is down.
  void wait() const {
    if (!m_state.is_down())
      (void)wait_slow({});
  }
  /// Waits until the latch is down or a stop is requested. Returns whether it is down.
  [[nodiscard]] bool wait(const std::stop_token &stop) const { return within({UINT64_MAX, &stop}); }
  /// Waits no longer than `most`. Returns whether the latch is down.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period> &most) const {
    return within(detail::limit_of(most));
  }
  /// Waits until `time`. Returns whether the latch is down.
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(const std::chrono::time_point<Clock, Duration> &time) const {
    return detail::wait_until_time(
        time, [this](const detail::wait_limit &limit) { return within(limit); });
  }

  /// @{ Lets a coroutine wait until the latch is down: `co_await l.async_wait()`. No stack waits. The token
  /// lives until the await is over. async_arrive_and_wait() counts down in the call, not in the await.
  ///
  /// Errors. Of the await: out_of_resources. Of the call, where it counts: as count_down().
  [[nodiscard]] auto async_wait() const noexcept { return awaits<false>(m_state, {}); }
  [[nodiscard]] auto async_wait(const std::stop_token &stop) const noexcept {
    return awaits<true>(m_state, {UINT64_MAX, &stop});
  }
  template <class Rep, class Period>
  [[nodiscard]] auto async_wait_for(const std::chrono::duration<Rep, Period> &most) const {
    return awaits<true>(m_state, detail::limit_of(most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] auto async_wait_until(const std::chrono::time_point<Clock, Duration> &time) const {
    return detail::await_until(time, [this](const detail::wait_limit &limit) {
      return awaits<true>(m_state, limit);
    });
  }
  [[nodiscard]] auto async_arrive_and_wait(std::ptrdiff_t count = 1) {
    count_down(count);
    return async_wait();
  }
  /// @}
  /// Counts down, then waits until the latch is down.
  void arrive_and_wait(std::ptrdiff_t count = 1) {
    count_down(count);
    wait();
  }

 private:
  template <bool MayEnd>
  using awaits = detail::async_take<detail::latch_state<>, detail::async_kind::latch, MayEnd>;
  [[nodiscard]] bool within(const detail::wait_limit &limit) const {
    return m_state.is_down() || wait_slow(limit);
  }
  bool wait_slow(const detail::wait_limit &limit) const;
  mutable detail::latch_state<> m_state;
};

} // namespace weft::inline v0
