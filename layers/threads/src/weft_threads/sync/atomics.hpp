// SPDX-License-Identifier: Apache-2.0
// The layers' policy for lock-free components (weft_common/atomics.hpp), which adds P::plain, and
// atomic types for values. The model checker replaces them by its own (tests/model/layers/omp_*.cpp).
#pragma once

#include "weft_threads/arch/arch.hpp"

#include <weft_common/atomics.hpp>

#include <atomic>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft_threads {

/// Yields the cpu to another kernel thread. It does not call sched_yield(), which this library
/// defines itself (yield.cpp).
inline void yield_kernel_thread() noexcept { syscall(SYS_sched_yield); }

/// Holds a value that other threads read while it may change, with relaxed order: it publishes
/// nothing else.
template <class T, class Atomic = std::atomic<T>>
class relaxed_value {
 public:
  constexpr explicit relaxed_value(T value = T{}) noexcept : m_value(value) {}
  relaxed_value(const relaxed_value &other) noexcept : m_value(static_cast<T>(other)) {}
  relaxed_value &operator=(const relaxed_value &other) noexcept {
    *this = static_cast<T>(other);
    return *this;
  }
  operator T() const noexcept { return m_value.load(std::memory_order_relaxed); }
  T operator=(T value) noexcept {
    m_value.store(value, std::memory_order_relaxed);
    return value;
  }

 private:
  Atomic m_value;
};

/// Holds a value that other threads read while it may change, stored with release and loaded with
/// acquire.
/// A reader of a value sees what its writer wrote before it. There is one writer at a time.
template <class T, class Atomic = std::atomic<T>>
class published_value {
 public:
  constexpr explicit published_value(T value = T{}) noexcept : m_value(value) {}
  published_value(const published_value &) = delete;
  published_value &operator=(const published_value &) = delete;
  operator T() const noexcept {
    return m_value.load(std::memory_order_acquire);
  } // O8 of barrier_words.hpp
  T operator->() const noexcept { return *this; }
  T operator=(T value) noexcept {
    m_value.store(value, std::memory_order_release); // O8 of barrier_words.hpp
    return value;
  }

 private:
  Atomic m_value;
};

/// Bounds a spin for a lock, which is held for a few instructions: a holder that takes longer has
/// lost its cpu.
inline constexpr int k_lock_spins = 64;

struct real_atomics : weft_common::std_atomics<&yield_kernel_thread, k_lock_spins> {
  /// Names memory that other operations order: the model checker checks that they do.
  template <class T>
  using plain = T;
};

} // namespace weft_threads
