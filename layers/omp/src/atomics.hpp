// SPDX-License-Identifier: Apache-2.0
// What the lock-free parts touch memory through. The model checker puts its own in this place (tests/model/omp_*.cpp).
#pragma once

#include <atomic>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft_omp {

inline void cpu_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The kernel may run another thread of its own. sched_yield() is this layer's: see yield.cpp.
inline void yield_kernel_thread() noexcept { syscall(SYS_sched_yield); }

/// A number that some read while it may change, and that orders nothing.
template <class T, class Atomic = std::atomic<T>>
class loose {
 public:
  constexpr explicit loose(T v = T{}) noexcept : m_value(v) {}
  loose(const loose &other) noexcept : m_value(static_cast<T>(other)) {}
  loose &operator=(const loose &other) noexcept {
    *this = static_cast<T>(other);
    return *this;
  }
  operator T() const noexcept { return m_value.load(std::memory_order_relaxed); }
  T operator=(T v) noexcept {
    m_value.store(v, std::memory_order_relaxed);
    return v;
  }

 private:
  Atomic m_value;
};

/// What some read while it may change: who sees a value sees what was written before that. Written by one at a time.
template <class T, class Atomic = std::atomic<T>>
class shown {
 public:
  constexpr explicit shown(T v = T{}) noexcept : m_value(v) {}
  shown(const shown &) = delete;
  shown &operator=(const shown &) = delete;
  operator T() const noexcept { return m_value.load(std::memory_order_acquire); } // O8 of barrier_words.hpp
  T operator->() const noexcept { return *this; }
  T operator=(T v) noexcept {
    m_value.store(v, std::memory_order_release); // O8 of barrier_words.hpp
    return v;
  }

 private:
  Atomic m_value;
};

struct real_atomics {
  template <class T>
  using atomic = std::atomic<T>;
  /// Memory that something else orders: the checker sees whether it does.
  template <class T>
  using plain = T;
  static void pause() noexcept { cpu_pause(); }
  static void yield() noexcept { yield_kernel_thread(); }
};

} // namespace weft_omp
