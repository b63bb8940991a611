// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion that suspends the task, not the core.
#pragma once

#include <weft/detail/async.hpp>
#include <weft/detail/core.hpp>
#include <weft/detail/lock_word.hpp>

#include <utility>

namespace weft::inline v0 {

/// Excludes tasks and threads from each other: a task that finds the mutex taken is suspended, and
/// its worker goes on. The mutex meets the standard's Lockable requirements (std::lock_guard,
/// std::unique_lock).
///
/// - It is not recursive. Waiters get it first come, first served.
/// - A task may hold it across a suspension, and unlock it on another worker; but the task that
///   locked it unlocks it.
///
/// Cost. Uncontended: one atomic operation each for lock and unlock. 16 bytes.
/// Threads. Any.
/// Errors. lock(): no_block in a service or an onready function that finds it taken;
/// out_of_resources when no stack is left to go on with; shut_down. unlock(): invalid_argument if
/// no task holds the mutex.
class WEFT_API mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex &) = delete;
  mutex &operator=(const mutex &) = delete;

  /// Takes the mutex, and suspends the caller while another task has it.
  void lock() {
    if (!m_lock.try_take())
      lock_slow();
  }
  /// Lets a coroutine take the mutex: `co_await m.async_lock()`. No stack waits. Whatever part of the
  /// same task unlocks it.
  ///
  /// Errors. Of the await: out_of_resources.
  [[nodiscard]] auto async_lock() noexcept { return detail::async_lock_wait(m_lock); }
  /// Takes the mutex if it is free, and returns whether it has. Never suspends.
  [[nodiscard]] bool try_lock() noexcept { return m_lock.try_take(); }
  /// Gives the mutex up.
  ///
  /// Threads. Any.
  void unlock() {
    if (!m_lock.try_give_up())
      unlock_slow();
  }

 private:
  friend class condition_variable;
  void lock_slow();
  void unlock_slow();
  detail::lock_word<> m_lock;
};

namespace detail {
WEFT_API mutex &critical_mutex(const char *name);
}

/// Runs f() while no other critical section of the same name runs, and returns what f returns.
/// Equal text is the same name, null is "". An exception of f leaves the section.
///
/// Cost. A look-up of the name under a lock, then a mutex.
/// Threads. Any.
/// Errors. As mutex::lock().
template <class F>
decltype(auto) critical(const char *name, F &&f) {
  struct guard {
    mutex &m;
    ~guard() { m.unlock(); }
  };
  mutex &m = detail::critical_mutex(name);
  m.lock();
  guard g{m};
  return static_cast<F &&>(f)();
}
/// Runs f() in the critical section without a name.
template <class F>
decltype(auto) critical(F &&f) {
  return critical("", static_cast<F &&>(f));
}

} // namespace weft::inline v0
