// SPDX-License-Identifier: Apache-2.0
// Mutexes beside weft::mutex: with deadlines and stop requests, and recursive ones.
#pragma once

#include <weft/detail/async.hpp>
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

  /// @{ Lets a coroutine do what the waits of the same names do: `co_await m.async_lock()`. No stack waits. The token
  /// lives until the await is over.
  ///
  /// Errors. Of the await: out_of_resources.
  [[nodiscard]] auto async_lock() noexcept { return awaits<false>(m_state, {}); }
  [[nodiscard]] auto async_lock(const std::stop_token &stop) noexcept {
    return awaits<true>(m_state, {UINT64_MAX, &stop});
  }
  template <class Rep, class Period>
  [[nodiscard]] auto async_try_lock_for(const std::chrono::duration<Rep, Period> &most) {
    return awaits<true>(m_state, detail::limit_of(most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] auto async_try_lock_until(const std::chrono::time_point<Clock, Duration> &time) {
    return detail::await_until(
        time, [this](const detail::wait_limit &limit) { return awaits<true>(m_state, limit); });
  }
  /// @}

 private:
  template <bool MayEnd>
  using awaits =
      detail::async_take<detail::shared_lock_state<>, detail::async_kind::writer, MayEnd>;
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
  /// Lets a coroutine that is a weft::task take the mutex once more: `co_await m.async_lock()`. No
  /// stack waits. Whatever part of the task unlocks it.
  ///
  /// Errors. Of the await: out_of_resources; shut_down.
  [[nodiscard]] auto async_lock() {
    return waits([](Mutex &m) { return m.async_lock(); });
  }

 protected:
  /// Waits for the mutex as `Wait` does, unless the task of the coroutine has it already.
  template <class Wait>
  class [[nodiscard]] awaits : public coro_awaiter_around {
   public:
    template <class Begin>
    awaits(recursive &of, Begin begin) : m_of(of), m_wait(begin(of.m_mutex)) {}
    awaits(awaits &&) = delete;
    awaits &operator=(awaits &&) = delete;
    ~awaits() = default;

    [[nodiscard]] bool await_ready() {
      m_caller = current_owner();
      m_again = m_of.again(m_caller);
      return m_again || m_wait.await_ready();
    }
    template <class Handle>
    auto await_suspend(Handle handle) {
      static_assert(is_own<Handle>,
                    "a recursive mutex belongs to a task: it is awaited in a weft::task");
      return m_wait.await_suspend(handle);
    }
    decltype(std::declval<Wait &>().await_resume()) await_resume() {
      using result = decltype(m_wait.await_resume());
      if (m_again)
        return result(true);
      if constexpr (std::is_void_v<result>) {
        m_wait.await_resume();
        m_of.first(m_caller);
      } else {
        const bool taken = m_wait.await_resume();
        if (taken)
          m_of.first(m_caller);
        return taken;
      }
    }

   private:
    recursive &m_of;
    Wait m_wait;
    const void *m_caller = nullptr;
    bool m_again = false;
  };
  template <class Begin>
  [[nodiscard]] auto waits(Begin begin) {
    return awaits<decltype(begin(m_mutex))>(*this, begin);
  }

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
  using recursive::async_lock;
  /// @{ Lets a coroutine that is a weft::task do the same: `co_await m.async_try_lock_for(1ms)`. No
  /// stack waits. The token lives until the await is over.
  ///
  /// Errors. Of the await: out_of_resources; shut_down.
  [[nodiscard]] auto async_lock(const std::stop_token &stop) {
    return waits([&stop](timed_mutex &m) { return m.async_lock(stop); });
  }
  template <class Rep, class Period>
  [[nodiscard]] auto async_try_lock_for(const std::chrono::duration<Rep, Period> &most) {
    return waits([&most](timed_mutex &m) { return m.async_try_lock_for(most); });
  }
  template <class Clock, class Duration>
  [[nodiscard]] auto async_try_lock_until(const std::chrono::time_point<Clock, Duration> &time) {
    return waits([&time](timed_mutex &m) { return m.async_try_lock_until(time); });
  }
  /// @}
};

} // namespace weft::inline v0
