// SPDX-License-Identifier: Apache-2.0
// Condition variables that suspend the task, not the core.
#pragma once

#include <weft/detail/async.hpp>
#include <weft/detail/wait_list.hpp>
#include <weft/mutex.hpp>
#include <weft/sync/event.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>

namespace weft::inline v0 {

using std::cv_status; ///< whether a wait ended by a notification or by its deadline

namespace detail {
/// Is a node that passes a notification on to an event. So a wait asks a clock of the user as often
/// as it has to, and stays in the list meanwhile: no notification passes it by.
struct notified_event : wait_node<> {
  event came;
  notified_event() noexcept {
    this->resume = [](wait_node<> &self) { static_cast<notified_event &>(self).came.set(); };
  }
};
} // namespace detail

/// Lets tasks and threads wait for a condition over data that a lock guards: any lock that the
/// standard calls BasicLockable. The interface is that of std::condition_variable_any. No wait ends
/// without a notification, a deadline or a stop request.
///
/// Cost. A notification without waiters: one load. A wait is a suspension. 8 bytes.
/// Threads. Any. It may be destroyed when all waiters were notified, although they have not returned.
/// Errors. Of calls that wait: no_block in a service or an onready function; out_of_resources;
/// shut_down; the lock is taken again before the exception leaves the call.
/// Source. ISO C++20, [thread.condition.condvarany].
class WEFT_API condition_variable_any {
 public:
  /// Lets a coroutine give the lock up by `unlock()` and wait for a notification. For the library:
  /// weft/coro.hpp has async_wait(), which takes the lock again.
  template <class Unlock>
  [[nodiscard]] auto async_notified(Unlock unlock, const detail::wait_limit &limit) {
    return detail::async_bare_notification<Unlock>(this, m_waiters, limit, unlock);
  }
  /// Enters a node that is to set its event, and gives the lock up. For the library.
  template <class Lock>
  void begin_wait_by_event(detail::notified_event &self, Lock &lock) {
    begin_wait(self);
    try {
      lock.unlock();
    } catch (...) {
      (void)end_wait_by_event(self);
      throw;
    }
  }
  /// Takes the node out. Returns whether it was notified before; then its event is set. For the
  /// library.
  bool end_wait_by_event(detail::notified_event &self) noexcept;

  constexpr condition_variable_any() noexcept = default;
  condition_variable_any(const condition_variable_any &) = delete;
  condition_variable_any &operator=(const condition_variable_any &) = delete;
  ~condition_variable_any() = default;

  /// Lets the oldest waiter go on.
  void notify_one() noexcept { notify(false); }
  /// Lets all waiters go on.
  void notify_all() noexcept { notify(true); }

  /// Gives the lock up, waits for a notification, and takes the lock again.
  template <class Lock>
  void wait(Lock &lock) {
    (void)wait_within(lock, {});
  }
  /// Waits until `condition()` holds, which it asks with the lock taken.
  template <class Lock, class Predicate>
  void wait(Lock &lock, Predicate condition) {
    while (!condition())
      wait(lock);
  }
  /// Waits for a notification no longer than `most`.
  template <class Lock, class Rep, class Period>
  cv_status wait_for(Lock &lock, const std::chrono::duration<Rep, Period> &most) {
    return wait_within(lock, detail::limit_of(most)) ? cv_status::no_timeout : cv_status::timeout;
  }
  /// Waits until `condition()` holds, no longer than `most`. Returns whether it holds.
  template <class Lock, class Rep, class Period, class Predicate>
  bool wait_for(Lock &lock, const std::chrono::duration<Rep, Period> &most, Predicate condition) {
    return wait_until_limit(lock, detail::limit_of(most), condition);
  }
  /// Waits for a notification until `time`.
  template <class Lock, class Clock, class Duration>
  cv_status wait_until(Lock &lock, const std::chrono::time_point<Clock, Duration> &time) {
    bool notified = false;
    if constexpr (detail::is_clock_of_limits<Clock>)
      notified = wait_within(lock, detail::limit_of(time - Clock::now()));
    else
      notified = wait_by_event(lock, time);
    return notified ? cv_status::no_timeout : cv_status::timeout;
  }
  /// Waits until `condition()` holds, until `time`. Returns whether it holds.
  template <class Lock, class Clock, class Duration, class Predicate>
  bool wait_until(Lock &lock, const std::chrono::time_point<Clock, Duration> &time,
                  Predicate condition) {
    while (!condition())
      if (wait_until(lock, time) == cv_status::timeout)
        return condition();
    return true;
  }
  /// Waits until `condition()` holds or a stop is requested. Returns whether it holds.
  template <class Lock, class Predicate>
  bool wait(Lock &lock, const std::stop_token &stop, Predicate condition) {
    return wait_until_limit(lock, {UINT64_MAX, &stop}, condition);
  }
  /// Waits until `condition()` holds or a stop is requested, no longer than `most`. Returns whether
  /// it holds.
  template <class Lock, class Rep, class Period, class Predicate>
  bool wait_for(Lock &lock, const std::stop_token &stop,
                const std::chrono::duration<Rep, Period> &most, Predicate condition) {
    detail::wait_limit limit = detail::limit_of(most);
    limit.stop = &stop;
    return wait_until_limit(lock, limit, condition);
  }
  /// Waits until `condition()` holds or a stop is requested, until `time`. Returns whether it holds.
  template <class Lock, class Clock, class Duration, class Predicate>
  bool wait_until(Lock &lock, const std::stop_token &stop,
                  const std::chrono::time_point<Clock, Duration> &time, Predicate condition) {
    while (!condition()) {
      detail::wait_limit limit = detail::limit_of(time - Clock::now());
      limit.stop = &stop;
      if (stop.stop_requested() || (!wait_within(lock, limit) && Clock::now() >= time))
        return condition();
    }
    return true;
  }

 private:
  friend class condition_variable;
  template <class Lock, class Predicate>
  bool wait_until_limit(Lock &lock, const detail::wait_limit &limit, Predicate &condition) {
    while (!condition())
      if ((limit.stop && limit.stop->stop_requested()) || !wait_within(lock, limit))
        return condition();
    return true;
  }
  template <class Lock>
  struct taken_again {
    Lock &lock;
    ~taken_again() { lock.lock(); } // ends the program if it throws, as the standard says
  };
  /// Returns whether a notification came.
  template <class Lock>
  bool wait_within(Lock &lock, const detail::wait_limit &limit) {
    detail::wait_node<> self;
    begin_wait(self);
    std::unique_ptr<detail::wait_node<>, withdraw> entered(&self, withdraw{this});
    lock.unlock();
    const taken_again<Lock> again{lock};
    entered.release();
    return end_wait(self, limit);
  }
  /// Returns whether a notification came before `time`, by a clock that may be set meanwhile.
  template <class Lock, class Clock, class Duration>
  bool wait_by_event(Lock &lock, const std::chrono::time_point<Clock, Duration> &time) {
    detail::notified_event self;
    begin_wait_by_event(self, lock);
    const taken_again<Lock> again{lock};
    bool notified = false;
    try {
      notified = self.came.wait_until(time);
    } catch (...) {
      if (!end_wait_by_event(self))
        throw;
      return true;
    }
    return notified || end_wait_by_event(self);
  }
  struct withdraw {
    condition_variable_any *from;
    void operator()(detail::wait_node<> *node) const { from->withdraw_wait(*node); }
  };

  void notify(bool all) noexcept;
  void begin_wait(detail::wait_node<> &self);
  bool end_wait(detail::wait_node<> &self, const detail::wait_limit &limit);
  void withdraw_wait(detail::wait_node<> &self) noexcept;
  detail::wait_list<> m_waiters;
};

namespace detail {
/// Waits for a notification until the time has come, also when the clock is set meanwhile.
/// weft/coro.hpp defines it.
template <class Lock, class Clock, class Duration>
[[nodiscard]] owned_call<cv_status>
await_notification_until(condition_variable_any &variable, Lock &lock,
                         const std::chrono::time_point<Clock, Duration> &time);
} // namespace detail

/// Is a condition variable for std::unique_lock<weft::mutex>. The interface is that of
/// std::condition_variable.
class condition_variable : condition_variable_any {
 public:
  using lock_type = std::unique_lock<mutex>; ///< what a wait takes
  using condition_variable_any::notify_all;
  using condition_variable_any::notify_one;
  /// Gives the lock up, waits for a notification, and takes the lock again.
  void wait(lock_type &lock) { condition_variable_any::wait(lock); }
  /// Waits until `condition()` holds.
  template <class Predicate>
  void wait(lock_type &lock, Predicate condition) {
    condition_variable_any::wait(lock, std::move(condition));
  }
  /// Waits for a notification no longer than `most`.
  template <class Rep, class Period>
  cv_status wait_for(lock_type &lock, const std::chrono::duration<Rep, Period> &most) {
    return condition_variable_any::wait_for(lock, most);
  }
  /// Waits until `condition()` holds, no longer than `most`. Returns whether it holds.
  template <class Rep, class Period, class Predicate>
  bool wait_for(lock_type &lock, const std::chrono::duration<Rep, Period> &most,
                Predicate condition) {
    return condition_variable_any::wait_for(lock, most, std::move(condition));
  }
  /// Waits for a notification until `time`.
  template <class Clock, class Duration>
  cv_status wait_until(lock_type &lock, const std::chrono::time_point<Clock, Duration> &time) {
    return condition_variable_any::wait_until(lock, time);
  }
  /// Waits until `condition()` holds, until `time`. Returns whether it holds.
  template <class Clock, class Duration, class Predicate>
  bool wait_until(lock_type &lock, const std::chrono::time_point<Clock, Duration> &time,
                  Predicate condition) {
    return condition_variable_any::wait_until(lock, time, std::move(condition));
  }

  /// @{ Waits until `condition()` holds or a stop is requested, with a time no longer than that. Returns
  /// whether it holds.
  template <class Predicate>
  bool wait(lock_type &lock, const std::stop_token &stop, Predicate condition) {
    return condition_variable_any::wait(lock, stop, std::move(condition));
  }
  template <class Rep, class Period, class Predicate>
  bool wait_for(lock_type &lock, const std::stop_token &stop,
                const std::chrono::duration<Rep, Period> &most, Predicate condition) {
    return condition_variable_any::wait_for(lock, stop, most, std::move(condition));
  }
  template <class Clock, class Duration, class Predicate>
  bool wait_until(lock_type &lock, const std::stop_token &stop,
                  const std::chrono::time_point<Clock, Duration> &time, Predicate condition) {
    return condition_variable_any::wait_until(lock, stop, time, std::move(condition));
  }
  /// @}

  /// @{ Lets a coroutine give the lock up, wait for a notification, and take the lock again:
  /// `co_await c.async_wait(lock)`; with a time it returns a cv_status. No stack waits. The lock and the
  /// token live until the await is over. weft/coro.hpp has the same with a condition.
  ///
  /// Errors. Of the await: out_of_resources; then the lock is as it was.
  [[nodiscard]] auto async_wait(lock_type &lock) { return notified<void>(*this, lock, {}); }
  [[nodiscard]] auto async_wait(lock_type &lock, const std::stop_token &stop) {
    return notified<bool>(*this, lock, {UINT64_MAX, &stop});
  }
  template <class Rep, class Period>
  [[nodiscard]] auto async_wait_for(lock_type &lock,
                                    const std::chrono::duration<Rep, Period> &most) {
    return notified<cv_status>(*this, lock, detail::limit_of(most));
  }
  template <class Clock, class Duration>
  [[nodiscard]] auto async_wait_until(lock_type &lock,
                                      const std::chrono::time_point<Clock, Duration> &time) {
    if constexpr (detail::is_clock_of_limits<Clock>)
      return notified<cv_status>(*this, lock, detail::limit_of(time - Clock::now()));
    else
      return detail::await_notification_until(*this, lock, time);
  }
  /// @}
  /// Lets a coroutine do the same within a limit. For the library.
  [[nodiscard]] auto async_notified(lock_type &lock, const detail::wait_limit &limit) {
    return notified<detail::wait_end>(*this, lock, limit);
  }

 private:
  template <class Result>
  class [[nodiscard]] notified : public detail::async_notification {
   public:
    notified(condition_variable_any &variable, lock_type &lock, const detail::wait_limit &most)
        : async_notification(&variable, variable.m_waiters, lock.mutex()->m_lock, most),
          m_lock(lock) {}
    template <class Handle>
    void await_suspend(Handle handle) {
      this->suspend_unlocked(handle, [this] { m_lock.unlock(); });
    }
    Result await_resume() {
      m_lock = lock_type(*m_lock.release(), std::adopt_lock);
      const detail::wait_end how = this->ended();
      const bool granted = how == detail::wait_end::granted;
      if constexpr (std::is_same_v<Result, detail::wait_end>)
        return how;
      else if constexpr (std::is_same_v<Result, cv_status>)
        return granted ? cv_status::no_timeout : cv_status::timeout;
      else
        return Result(granted);
    }

   private:
    lock_type &m_lock;
  };
};

} // namespace weft::inline v0
