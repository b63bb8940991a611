// SPDX-License-Identifier: Apache-2.0
// A mutex that never suspends.
#pragma once

#include <weft/config.hpp>

#include <atomic>

namespace weft::inline v0 {
namespace detail {
WEFT_API void spin_until_clear(const std::atomic<bool> &taken) noexcept;
}

/// Excludes tasks and threads from each other for a few instructions: a caller that finds it taken
/// spins, and after a while yields its processor to other threads, but not its worker to other tasks.
/// So a task must not suspend while it holds it; weft::mutex is for everything longer. Meets the
/// standard's Lockable requirements.
///
/// Cost. One atomic operation to lock, a store to unlock. 1 byte.
/// Threads. Any, also in services and onready functions.
class spin_mutex {
 public:
  constexpr spin_mutex() noexcept = default;
  spin_mutex(const spin_mutex &) = delete;
  spin_mutex &operator=(const spin_mutex &) = delete;
  ~spin_mutex() = default;

  /// Takes the mutex, and spins while it is taken.
  void lock() noexcept {
    while (m_taken.exchange(true, std::memory_order_acquire))
      detail::spin_until_clear(m_taken);
  }
  /// Takes the mutex if it is free.
  [[nodiscard]] bool try_lock() noexcept {
    return !m_taken.load(std::memory_order_relaxed) &&
           !m_taken.exchange(true, std::memory_order_acquire);
  }
  /// Gives the mutex up.
  void unlock() noexcept { m_taken.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> m_taken{false};
};

} // namespace weft::inline v0
