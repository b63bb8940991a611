// SPDX-License-Identifier: Apache-2.0
// The policy through which every lock-free component touches memory. Production code uses `real_atomics`, which is
// std::atomic and nothing else; the model checker in tests/model supplies a policy of the same shape that explores
// interleavings and stale reads. A component is a template `template <class P = real_atomics>` and uses only:
//   P::atomic<T>            std::atomic's load, store, exchange, compare_exchange_*, fetch_*
//   P::var<T>               plain memory; the checker reports a data race on it
//   P::await(a, pred, mo)   spin until pred(a.load(mo)) holds; returns the value
//   P::pause()              a spin hint inside a hand-written retry loop
//   P::light_barrier(), P::heavy_barrier()
//                           the two halves of an asymmetric StoreLoad barrier (see below)
#pragma once

#include <atomic>

namespace weft::inline v0 {
namespace rt {

inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

/// Slow half of the asymmetric barrier: after it returns, every other thread of the process has executed a full
/// barrier since the call began. membarrier(2) where the kernel has it; see os/membarrier.cpp.
void os_heavy_barrier() noexcept;

/// True when light barriers must be real ones (no membarrier, or a thread sanitizer build). Written once at load time.
extern bool g_light_barrier_is_full;
void full_barrier() noexcept;

struct real_atomics {
  template <class T>
  using atomic = std::atomic<T>;

  template <class T>
  struct var {
    T value{};
    T get() const noexcept { return value; }
    void set(T v) noexcept { value = v; }
  };

  template <class A, class Pred>
  static auto await(const A &a, Pred pred, std::memory_order order) noexcept {
    auto v = a.load(order);
    while (!pred(v)) {
      cpu_pause();
      v = a.load(order);
    }
    return v;
  }

  static void pause() noexcept { cpu_pause(); }

  /// Orders earlier stores before later loads against a thread that calls heavy_barrier() between its own store and
  /// load. Costs nothing but a compiler barrier where membarrier exists.
  static void light_barrier() noexcept {
    if (g_light_barrier_is_full) [[unlikely]]
      full_barrier();
    else
      std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  static void heavy_barrier() noexcept { os_heavy_barrier(); }
};

} // namespace rt
} // namespace weft::inline v0
