// SPDX-License-Identifier: Apache-2.0
// Mutexes beside weft::mutex: with deadlines and stop requests, and recursive ones.
#pragma once

#include <weft/detail/sync_words.hpp>
#include <weft/mutex.hpp>

#include <chrono>
#include <stop_token>

namespace weft::inline v0 {

/// Excludes tasks and threads from each other, as weft::mutex, and can give up waiting. Meets the
/// standard's TimedLockable requirements.
///
/// Cost. Uncontended: one atomic operation each for lock and unlock. 16 bytes.
/// Threads. Any; the task that locked it unlocks it, on any worker.
/// Errors. As weft::mutex.
class WEFT_API timed_mutex {
 public:
  constexpr timed_mutex() noexcept = default;
  timed_mutex(const timed_mutex &) = delete;
  timed_mutex &operator=(const timed_mutex &) = delete;
  ~timed_mutex() = default;

  /// Takes the mutex, and waits for it if it is taken.
  void lock() {
    if (!m_state.try_take())
      (void)lock_slow({});
  }
  /// Takes the mutex unless a stop is requested first. Returns whether it has.
  [[nodiscard]] bool lock(const std::stop_token &stop) { return within({UINT64_MAX, &stop}); }
  /// Takes the mutex if it is free. Never suspends.
  [[nodiscard]] bool try_lock() noexcept { return m_state.try_take(); }
  /// Takes the mutex, and waits for it no longer than `most`. Returns whether it has.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period> &most) {
    return within(detail::limit_of(most));
  }
  /// Takes the mutex, and waits for it until `time`. Returns whether it has.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time) {
    return detail::wait_until_time(
        time, [this](const detail::wait_limit &limit) { return within(limit); });
  }
  /// Gives the mutex up.
  void unlock() {
    if (!m_state.try_give_up())
      unlock_slow();
  }

 private:
  [[nodiscard]] bool within(const detail::wait_limit &limit) {
    return m_state.try_take() || lock_slow(limit);
  }
  bool lock_slow(const detail::wait_limit &limit);
  void unlock_slow();
  detail::shared_lock_state<> m_state; // with writers only
};

namespace detail {

/// Names the task, or the thread's own code, that runs.
[[nodiscard]] WEFT_API const void *current_owner();
[[noreturn]] WEFT_API void refuse_unlock_of_another(const char *what);

/// Lets the task that holds a mutex take it again.
template <class Mutex>
class recursive {
 public:
  constexpr recursive() noexcept = default;
  recursive(const recursive &) = delete;
  recursive &operator=(const recursive &) = delete;
  ~recursive() = default;

  /// Takes the mutex once more, and waits for it while another task has it.
  void lock() {
    const void *caller = current_owner();
    if (!again(caller)) {
      m_mutex.lock();
      first(caller);
    }
  }
  /// Takes the mutex once more unless another task has it. Never suspends.
  [[nodiscard]] bool try_lock() {
    return take([this] { return m_mutex.try_lock(); });
  }
  /// Gives the mutex up once.
  ///
  /// Errors. invalid_argument if the caller does not hold it.
  void unlock() {
    if (m_owner.load(std::memory_order_relaxed) != current_owner())
      refuse_unlock_of_another("a recursive mutex");
    if (--m_depth > 0)
      return;
    m_owner.store(nullptr, std::memory_order_relaxed);
    m_mutex.unlock();
  }

 protected:
  template <class Take>
  [[nodiscard]] bool take(Take try_take) {
    const void *caller = current_owner();
    if (again(caller))
      return true;
    if (!try_take())
      return false;
    first(caller);
    return true;
  }
  Mutex m_mutex;

 private:
  [[nodiscard]] bool again(const void *caller) noexcept {
    const bool holds =
        m_owner.load(std::memory_order_relaxed) == caller; // only its own value matters
    if (holds)
      ++m_depth;
    return holds;
  }
  void first(const void *caller) noexcept {
    m_owner.store(caller, std::memory_order_relaxed);
    m_depth = 1;
  }
  std::atomic<const void *> m_owner{nullptr};
  std::size_t m_depth = 0; // of the holder
};

} // namespace detail

/// Is a mutex that the task that holds it may take again; it is free when it was unlocked as often.
/// A child of the task is another task.
///
/// Cost. As weft::mutex, and the look-up of the task that runs. 32 bytes.
/// Threads. Any; the task that locked it unlocks it.
/// Errors. As weft::mutex; unlock(): invalid_argument if the caller does not hold it.
class recursive_mutex : public detail::recursive<mutex> {};

/// Is a recursive_mutex whose wait can end at a deadline or by a stop request.
class recursive_timed_mutex : public detail::recursive<timed_mutex> {
 public:
  using recursive::lock;
  /// Takes the mutex once more unless a stop is requested first. Returns whether it has.
  [[nodiscard]] bool lock(const std::stop_token &stop) {
    return take([&] { return m_mutex.lock(stop); });
  }
  /// Takes the mutex once more, and waits for it no longer than `most`. Returns whether it has.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period> &most) {
    return take([&] { return m_mutex.try_lock_for(most); });
  }
  /// Takes the mutex once more, and waits for it until `time`. Returns whether it has.
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration> &time) {
    return take([&] { return m_mutex.try_lock_until(time); });
  }
};

} // namespace weft::inline v0
