// SPDX-License-Identifier: Apache-2.0
// A mutex for one writer or many readers that suspends the task, not the core.
#pragma once

#include <weft/detail/async.hpp>
#include <weft/detail/sync_words.hpp>

#include <chrono>
#include <stop_token>

namespace weft::inline v0 {

/// Lets one writer or many readers in. Meets the standard's SharedTimedLockable requirements
/// (std::shared_lock, std::unique_lock). The oldest waiter goes first, and with a reader all readers
/// behind it up to the next writer, so that neither side starves; therefore a reader that has it must
/// not take it again.
///
/// Cost. Uncontended: one atomic operation each for lock and unlock. 16 bytes.
/// Threads. Any; what a task has locked it unlocks, on any worker.
/// Errors. Of calls that wait: no_block in a service or an onready function; out_of_resources;
/// shut_down. Of unlock() and unlock_shared(): invalid_argument if it is not locked so.
/// Source. ISO C++17, [thread.sharedtimedmutex.requirements].
class WEFT_API shared_mutex {
 public:
  constexpr shared_mutex() noexcept = default;
  shared_mutex(const shared_mutex &) = delete;
  shared_mutex &operator=(const shared_mutex &) = delete;
  ~shared_mutex() = default;

  /// Takes it for writing, and waits until no one else has it.
  void lock() {
    if (!m_state.try_take())
      (void)lock_slow(false, {});
  }
  /// Takes it for writing unless a stop is requested first. Returns whether it has.
  [[nodiscard]] bool lock(const std::stop_token &stop) { return take({UINT64_MAX, &stop}); }
  /// Takes it for writing if no one has it. Never suspends.
  [[nodiscard]] bool try_lock() noexcept { return m_state.try_take(); }
  /// Takes it for writing, and waits no longer than `most`. Returns whether it has.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period> &most) {
    return take(detail::limit_of(most));
  }
  /// Takes it for writing, and waits until `time`. Returns whether it has.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time) {
    return detail::wait_until_time(time,
                                   [this](const detail::wait_limit &limit) { return take(limit); });
  }
  /// Gives it up after writing.
  void unlock() {
    if (!m_state.try_give_up())
      unlock_slow(false);
  }

  /// Takes it for reading, and waits until no writer has it or waits before the caller.
  void lock_shared() {
    if (!m_state.try_take_shared())
      (void)lock_slow(true, {});
  }
  /// Takes it for reading unless a stop is requested first. Returns whether it has.
  [[nodiscard]] bool lock_shared(const std::stop_token &stop) {
    return take_shared({UINT64_MAX, &stop});
  }
  /// Takes it for reading if no writer has it or waits for it. Never suspends.
  [[nodiscard]] bool try_lock_shared() noexcept { return m_state.try_take_shared(); }
  /// Takes it for reading, and waits no longer than `most`. Returns whether it has.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &most) {
    return take_shared(detail::limit_of(most));
  }
  /// Takes it for reading, and waits until `time`. Returns whether it has.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &time) {
    return detail::wait_until_time(
        time, [this](const detail::wait_limit &limit) { return take_shared(limit); });
  }
  /// Gives it up after reading.
  void unlock_shared() {
    if (!m_state.try_give_up_shared())
      unlock_slow(true);
  }

  /// @{ Lets a coroutine take it for writing or for reading: `co_await m.async_lock_shared()`. No stack waits. The token
  /// lives until the await is over.
  ///
  /// Errors. Of the await: out_of_resources.
  [[nodiscard]] auto async_lock() noexcept { return writes<false>(m_state, {}); }
  [[nodiscard]] auto async_lock(const std::stop_token &stop) noexcept {
    return writes<true>(m_state, {UINT64_MAX, &stop});
  }
  template <class Rep, class Period>
  [[nodiscard]] auto async_try_lock_for(const std::chrono::duration<Rep, Period> &most) {
    return writes<true>(m_state, detail::limit_of(most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] auto async_try_lock_until(const std::chrono::time_point<Clock, Duration> &time) {
    return detail::await_until(
        time, [this](const detail::wait_limit &limit) { return writes<true>(m_state, limit); });
  }
  [[nodiscard]] auto async_lock_shared() noexcept { return reads<false>(m_state, {}); }
  [[nodiscard]] auto async_lock_shared(const std::stop_token &stop) noexcept {
    return reads<true>(m_state, {UINT64_MAX, &stop});
  }
  template <class Rep, class Period>
  [[nodiscard]] auto async_try_lock_shared_for(const std::chrono::duration<Rep, Period> &most) {
    return reads<true>(m_state, detail::limit_of(most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] auto
  async_try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &time) {
    return detail::await_until(
        time, [this](const detail::wait_limit &limit) { return reads<true>(m_state, limit); });
  }
  /// @}

 private:
  template <bool MayEnd>
  using writes =
      detail::async_take<detail::shared_lock_state<>, detail::async_kind::writer, MayEnd>;
  template <bool MayEnd>
  using reads = detail::async_take<detail::shared_lock_state<>, detail::async_kind::reader, MayEnd>;
  [[nodiscard]] bool take(const detail::wait_limit &limit) {
    return m_state.try_take() || lock_slow(false, limit);
  }
  [[nodiscard]] bool take_shared(const detail::wait_limit &limit) {
    return m_state.try_take_shared() || lock_slow(true, limit);
  }
  bool lock_slow(bool shared, const detail::wait_limit &limit);
  void unlock_slow(bool shared);
  detail::shared_lock_state<> m_state;
};

using shared_timed_mutex = shared_mutex; ///< the standard's name for one with deadlines

} // namespace weft::inline v0
