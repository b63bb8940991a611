// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion that suspends the task, not the core.
#pragma once

#include <weft/detail/core.hpp>
#include <weft/detail/lock_word.hpp>

#include <utility>

namespace weft::inline v0 {

/// A mutex for tasks and threads: a task that finds it taken is suspended and its worker goes on. Meets the standard's
/// Lockable requirements (std::lock_guard, std::unique_lock). Not recursive; first come, first served; may be held across a
/// suspension and unlocked on another worker, but by the same task. Any thread. Cost uncontended: one atomic operation each for lock
/// and unlock; 16 bytes. lock() throws weft::error: no_block in a service or an onready function that finds it taken,
/// out_of_resources when no stack is left to go on with, shut_down. unlock() of a mutex that nobody holds: errc::invalid_argument.
class WEFT_API mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex &) = delete;
  mutex &operator=(const mutex &) = delete;

  /// Takes the mutex; suspends the caller while another has it.
  void lock() {
    if (!m_lock.try_take())
      lock_slow();
  }
  /// Takes the mutex if it is free, and says whether it has. Never suspends.
  [[nodiscard]] bool try_lock() noexcept { return m_lock.try_take(); }
  /// Gives the mutex up. Any thread.
  void unlock() {
    if (!m_lock.try_give_up())
      unlock_slow();
  }

 private:
  void lock_slow();
  void unlock_slow();
  detail::lock_word<> m_lock;
};

namespace detail {
WEFT_API mutex &critical_mutex(const char *name);
}

/// Runs f() while no other critical section of the same name runs; equal text is the same name, null is "". Returns what f returns; an
/// exception of f leaves the section. Cost: a look-up of the name under a lock, then a mutex. Any thread; errors as mutex.lock().
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
/// The section without a name.
template <class F>
decltype(auto) critical(F &&f) {
  return critical("", static_cast<F &&>(f));
}

} // namespace weft::inline v0
