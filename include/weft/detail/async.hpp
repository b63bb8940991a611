// SPDX-License-Identifier: Apache-2.0
// How a coroutine waits for a synchronization object: without a stack, in the lists in which suspended stacks wait. Not
// for users: it changes with the version.
#pragma once

#include <weft/detail/coro.hpp>
#include <weft/detail/sync_words.hpp>

#include <chrono>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {
namespace detail {

/// Says what a coroutine waits for, and how it is entered there.
enum class async_kind : std::uint8_t {
  writer, // of a mutex with deadlines, or of a shared one
  reader,
  semaphore,
  latch,
  barrier,
  event,
  notification,
  bare_notification,
  channel,
  once, // a semaphore of one unit
  sleep, // nothing but the time and the token
};

struct async_limits;

/// Awaits a coroutine that it owns. weft/coro.hpp defines it.
template <class T>
class owned_call;
template <class T>
concept is_complete = requires { sizeof(T); };

/// Is what the awaiters that `begin(limit)` returns give.
template <class Begin>
using awaited_by =
    decltype(std::declval<Begin &>()(std::declval<const wait_limit &>()).await_resume());

/// Waits until the time has come, also when the clock is set meanwhile: calls `begin` anew each time
/// that a wait has timed out too early. weft/coro.hpp defines it.
template <class Clock, class Duration, class Begin>
[[nodiscard]] owned_call<awaited_by<Begin>>
await_again_until(const std::chrono::time_point<Clock, Duration> &time, Begin begin);

/// Is the clock by which deadlines are kept: it is never set.
template <class Clock>
inline constexpr bool is_clock_of_limits = std::is_same_v<Clock, std::chrono::steady_clock>;

/// Lets a coroutine wait until a time: `begin(limit)` returns the awaiter. It is the await itself for
/// the steady clock, and is in a coroutine of its own for other clocks.
template <class Clock, class Duration, class Begin>
[[nodiscard]] auto await_until(const std::chrono::time_point<Clock, Duration> &time, Begin begin) {
  if constexpr (is_clock_of_limits<Clock>) {
    return begin(limit_of(time - Clock::now()));
  } else {
    static_assert(is_complete<owned_call<awaited_by<Begin>>>,
                  "an await until a time of a clock that may be set is a coroutine: include "
                  "<weft/coro.hpp>, or use std::chrono::steady_clock");
    return await_again_until(time, std::move(begin));
  }
}

/// Is a wait in the list of a synchronization object.
struct async_wait : coro_awaiter, wait_node<> {
  void *object; // its state
  wait_list<> *list = nullptr; // of a condition variable or a channel
  async_kind kind;
  std::uint32_t phase = 0; // of a barrier
  wait_limit limit;
  async_limits *limits = nullptr; // while the wait may end early

  async_wait(void *of, async_kind object_kind, const wait_limit &until) noexcept
      : object(of), kind(object_kind), limit(until) {}
  async_wait(async_wait &&) = delete;
  async_wait &operator=(async_wait &&) = delete;
  ~async_wait() = default;

  /// Takes what is waited for, or enters the node and leaves the coroutine.
  template <class Handle>
  bool await_suspend(Handle handle) {
    return suspend(handle, [this] { return take_or_enter(); });
  }
  /// Does the same; `take_or_enter()` returns whether there is nothing to wait for.
  template <class Handle, class TakeOrEnter>
  bool suspend(Handle handle, TakeOrEnter take_or_enter) {
    this->begin_wait(handle);
    bool waits = false;
    try {
      prepare();
      waits = !take_or_enter() && !arm();
    } catch (...) {
      forget_limits();
      this->forget_wait(handle);
      throw;
    }
    if (waits) {
      this->end_wait(handle, &leave, this);
    } else {
      forget_limits();
      this->forget_wait(handle);
    }
    return waits;
  }
  /// Returns how the wait has ended.
  [[nodiscard]] wait_end ended() {
    forget_limits();
    return end.get();
  }
  /// Returns whether it was the deadline that has ended the wait.
  [[nodiscard]] bool timed_out() const noexcept { return end.get() == wait_end::timed_out; }

 protected:
  friend coro_waits;
  WEFT_API void prepare(); // throws weft::error
  [[nodiscard]] WEFT_API bool take_or_enter();
  WEFT_API bool arm() noexcept; // returns whether the wait is over
  void forget_limits() noexcept {
    if (limits)
      drop_limits();
  }
  WEFT_API static void leave(void *self) noexcept;

 private:
  WEFT_API void drop_limits() noexcept;
};

/// Takes what `State` holds. A wait that may end early returns whether it was taken.
template <class State, async_kind Kind, bool MayEnd>
struct [[nodiscard]] async_take : async_wait {
  async_take(State &state, const wait_limit &until) noexcept : async_wait(&state, Kind, until) {}
  [[nodiscard]] bool await_ready() noexcept {
    State &s = *static_cast<State *>(this->object);
    if constexpr (Kind == async_kind::reader)
      return s.try_take_shared();
    else if constexpr (Kind == async_kind::latch)
      return s.is_down();
    else if constexpr (Kind == async_kind::event)
      return s.is_set();
    else if constexpr (Kind == async_kind::barrier)
      return s.is_over(this->phase);
    else if constexpr (Kind == async_kind::writer)
      return s.try_take(this); // the awaiter is in the coroutine
    else
      return s.try_take();
  }
  std::conditional_t<MayEnd, bool, void> await_resume() {
    if constexpr (MayEnd)
      return this->ended() == wait_end::granted;
  }
};

/// Takes a weft::mutex, in whose queue coroutines and stacks wait.
struct [[nodiscard]] async_lock_wait : coro_awaiter {
  lock_word<> *lock;
  void *node[3] = {}; // of the queue

  explicit async_lock_wait(lock_word<> &word) noexcept : lock(&word) {}
  [[nodiscard]] bool await_ready() const noexcept { return lock->try_take(this); }
  template <class Handle>
  void await_suspend(Handle handle) {
    this->begin_wait(handle);
    this->end_wait(handle, &take_or_leave, this);
  }
  static void await_resume() noexcept {}

  /// Takes the mutex for the coroutine, which goes on then, or enters its node.
  WEFT_API static void take_or_leave(void *self) noexcept;
};

/// Waits for the tasks of a group.
struct [[nodiscard]] async_group : coro_awaiter {
  task_group *group;
  explicit async_group(task_group &awaited) noexcept : group(&awaited) {}
  [[nodiscard]] WEFT_API bool await_ready() const; // throws weft::error
  template <class Handle>
  void await_suspend(Handle handle) {
    static_assert(is_own<Handle>, "a group is awaited in the task that made it: in a weft::task");
    this->begin_wait(handle);
    this->end_wait(handle, &leave, this);
  }
  WEFT_API void await_resume() const; // throws what the group throws

 private:
  friend coro_waits;
  WEFT_API static void leave(void *self) noexcept;
};

/// Waits for the children of the task.
struct [[nodiscard]] async_children : coro_awaiter {
  [[nodiscard]] WEFT_API static bool await_ready() noexcept;
  template <class Handle>
  void await_suspend(Handle handle) {
    static_assert(is_own<Handle>, "the children of a task are awaited by it: in a weft::task");
    this->begin_wait(handle);
    this->end_wait(handle, &leave, this);
  }
  WEFT_API static void await_resume(); // throws what a child has thrown

 private:
  friend coro_waits;
  WEFT_API static void leave(void *self) noexcept;
};

/// Waits for the tasks of a group, or for the children of the task, no longer than a limit says.
/// Returns whether they are complete.
struct [[nodiscard]] limited_children : coro_awaiter {
  task_group *group; // null: the children
  wait_limit limit;
  wait_end how = wait_end::granted;
  coro_limits *limits = nullptr; // while it waits

  limited_children(task_group *awaited, const wait_limit &until) noexcept
      : group(awaited), limit(until) {}
  [[nodiscard]] WEFT_API bool await_ready() const; // throws weft::error
  template <class Handle>
  bool await_suspend(Handle handle) {
    static_assert(is_own<Handle>, "children are awaited in the task that made them: in a weft::task");
    this->begin_wait(handle);
    const bool waits = arm();
    if (waits)
      this->end_wait(handle, &leave, this);
    return waits;
  }
  WEFT_API bool await_resume(); // throws what the group throws, or what a child has thrown
  [[nodiscard]] bool timed_out() const noexcept { return how == wait_end::timed_out; }

 private:
  friend coro_waits;
  WEFT_API bool arm(); // throws weft::error; returns whether to wait
  void disarm() noexcept;
  WEFT_API static void leave(void *self) noexcept;
};

/// Waits for a time.
struct [[nodiscard]] async_sleep : coro_awaiter {
  std::uint64_t until_ns;
  void *call = nullptr; // of the clock
  explicit async_sleep(const wait_limit &limit) noexcept : until_ns(limit.deadline_ns) {}
  static constexpr bool timed_out() noexcept { return true; }
  static constexpr bool await_ready() noexcept { return false; }
  template <class Handle>
  void await_suspend(Handle handle) {
    this->begin_wait(handle);
    try {
      prepare();
    } catch (...) {
      this->forget_wait(handle);
      throw;
    }
    this->end_wait(handle, &leave, this);
  }
  WEFT_API void await_resume() noexcept;

 private:
  WEFT_API void prepare(); // throws weft::error
  WEFT_API static void leave(void *self) noexcept;
};

/// Waits for a time or a stop request, in a list of its own. Returns whether it was the time.
struct [[nodiscard]] async_stoppable_sleep : async_wait {
  wait_list<> only_this;
  explicit async_stoppable_sleep(const wait_limit &until) noexcept
      : async_wait(this, async_kind::sleep, until) {
    list = &only_this;
  }
  static constexpr bool await_ready() noexcept { return false; }
  bool await_resume() { return this->ended() == wait_end::timed_out; }
};

/// Lets other ready work go first.
struct [[nodiscard]] async_turn : coro_awaiter {
  static constexpr bool await_ready() noexcept { return false; }
  template <class Handle>
  void await_suspend(Handle handle) {
    this->begin_wait(handle);
    this->end_wait(handle, &leave, this);
  }
  static void await_resume() noexcept {}

 private:
  WEFT_API static void leave(void *self) noexcept;
};

/// Is in the list of a condition variable.
struct async_in_list : async_wait {
  async_in_list(void *condition, wait_list<> &waiters, async_kind how, const wait_limit &until)
      : async_wait(condition, how, until) {
    list = &waiters;
  }
  static constexpr bool await_ready() noexcept { return false; }

 protected:
  WEFT_API void enter() noexcept;
  WEFT_API void withdraw() noexcept;
};

/// Waits for a notification of a condition variable, and goes on without the lock.
template <class Unlock>
struct [[nodiscard]] async_bare_notification : async_in_list {
  Unlock unlock;

  async_bare_notification(void *condition, wait_list<> &waiters, const wait_limit &until,
                          Unlock give_up)
      : async_in_list(condition, waiters, async_kind::bare_notification, until), unlock(give_up) {}
  template <class Handle>
  bool await_suspend(Handle handle) {
    return this->suspend(handle, [this] {
      this->enter();
      try {
        unlock();
      } catch (...) {
        this->withdraw();
        throw;
      }
      return false;
    });
  }
  wait_end await_resume() { return this->ended(); }
};

/// Waits for a notification of a condition variable; then takes the mutex, before it goes on.
struct [[nodiscard]] async_notification : async_in_list {
  async_lock_wait again;

  async_notification(void *condition, wait_list<> &waiters, lock_word<> &lock,
                     const wait_limit &until)
      : async_in_list(condition, waiters, async_kind::notification, until), again(lock) {}
  /// Enters the node, gives the mutex up by `unlock()`, and leaves the coroutine.
  template <class Handle, class Unlock>
  void suspend_unlocked(Handle handle, Unlock unlock) {
    this->begin_wait(handle);
    bool entered = false;
    try {
      prepare();
      enter();
      entered = true;
      unlock();
    } catch (...) {
      if (entered)
        withdraw();
      forget_limits();
      this->forget_wait(handle);
      throw;
    }
    again.goes_on = this->goes_on;
    arm();
    this->end_wait(handle, &leave_unlocked, this);
  }

 private:
  friend coro_waits;
  WEFT_API static void leave_unlocked(void *self) noexcept;
};

} // namespace detail
} // namespace weft::inline v0
