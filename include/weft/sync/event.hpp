// SPDX-License-Identifier: Apache-2.0
// An event that tasks wait for.
#pragma once

#include <weft/detail/async.hpp>
#include <weft/detail/sync_words.hpp>

#include <chrono>
#include <stop_token>

namespace weft::inline v0 {

/// Is set or not, and lets tasks and threads wait until it is set. It stays set until reset(). A
/// task's external events, which hold back its end, are another thing: this_task::increase_events().
///
/// Cost. One atomic operation to set it, one load for a wait that finds it set. 16 bytes.
/// Threads. Any. A task that has seen it set may destroy it, although the call of set() has not
/// returned.
/// Errors. Of calls that wait: no_block in a service or an onready function; out_of_resources;
/// shut_down.
class WEFT_API event {
 public:
  constexpr event() noexcept = default;
  event(const event &) = delete;
  event &operator=(const event &) = delete;
  ~event() = default;

  /// Sets the event, and lets all waiters go on. Never suspends.
  void set() {
    if (!m_state.try_set())
      set_slow();
  }
  /// Makes the event not set. Waiters that were let go before go on.
  void reset() noexcept { m_state.clear(); }
  /// Returns whether the event is set.
  [[nodiscard]] bool is_set() const noexcept { return m_state.is_set(); }
  /// Waits until the event is set.
  void wait() const {
    if (!m_state.is_set())
      (void)wait_slow({});
  }
  /// Waits until the event is set or a stop is requested. Returns whether it was set.
  [[nodiscard]] bool wait(const std::stop_token &stop) const { return within({UINT64_MAX, &stop}); }
  /// Waits no longer than `most`. Returns whether the event was set.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period> &most) const {
    return within(detail::limit_of(most));
  }
  /// Waits until `time`. Returns whether the event was set.
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(const std::chrono::time_point<Clock, Duration> &time) const {
    return detail::wait_until_time(
        time, [this](const detail::wait_limit &limit) { return within(limit); });
  }

  /// @{ Lets a coroutine wait until the event is set: `co_await e.async_wait()`. No stack waits. The token
  /// lives until the await is over.
  ///
  /// Errors. Of the await: out_of_resources.
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
  /// @}

 private:
  template <bool MayEnd>
  using awaits = detail::async_take<detail::event_state<>, detail::async_kind::event, MayEnd>;
  [[nodiscard]] bool within(const detail::wait_limit &limit) const {
    return m_state.is_set() || wait_slow(limit);
  }
  void set_slow();
  bool wait_slow(const detail::wait_limit &limit) const;
  mutable detail::event_state<> m_state;
};

/// @cond
namespace detail {

/// Waits for the end of what refers to the caller's frame. Where it cannot be suspended it gives its
/// thread up again and again.
WEFT_API void wait_surely(const event &awaited) noexcept;

} // namespace detail
/// @endcond

} // namespace weft::inline v0
