// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion that suspends the task, not the core.
#pragma once

#include <weft/detail/core.hpp>

#include <utility>

namespace weft::inline v0 {

/// A mutex for tasks and threads: a task that finds it taken is suspended and its worker goes on. Meets the standard's
/// Lockable requirements (std::lock_guard, std::unique_lock). Not recursive; first come, first served; may be held across a
/// suspension and unlocked on another worker. Cost uncontended: one atomic operation each for lock and unlock.
class WEFT_API mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex &) = delete;
  mutex &operator=(const mutex &) = delete;

  void lock() {
    void *expected = nullptr;
    // O1: acquire pairs with the release of unlock
    if (!m_word.compare_exchange_strong(expected, locked(), std::memory_order_acquire, std::memory_order_relaxed))
      lock_slow();
  }
  [[nodiscard]] bool try_lock() noexcept {
    void *expected = nullptr;
    return m_word.compare_exchange_strong(expected, locked(), std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unlock() {
    void *expected = locked();
    // Who is in the queue is no longer in the word. O2: release pairs with the acquire of lock
    if (m_queue || !m_word.compare_exchange_strong(expected, nullptr, std::memory_order_release, std::memory_order_relaxed))
      unlock_slow();
  }

 private:
  static void *locked() noexcept { return reinterpret_cast<void *>(std::uintptr_t{1}); }
  void lock_slow();
  void unlock_slow();
  std::atomic<void *> m_word{nullptr}; // null: free; 1: locked; else the newest waiter, locked
  void *m_queue = nullptr;             // waiters in order of arrival; of the holder
};

namespace detail {
WEFT_API mutex &critical_mutex(const char *name);
}

/// Runs f() while no other critical section of the same name runs; equal text is the same name.
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
template <class F>
decltype(auto) critical(F &&f) {
  return critical("", static_cast<F &&>(f));
}

} // namespace weft::inline v0
